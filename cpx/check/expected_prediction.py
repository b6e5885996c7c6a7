"""The check of expected predictions, from the saved trees, states and probabilities alone."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from cpx.check.claims import (
    beaten,
    class_name,
    compare,
    compare_shares,
    having,
    nothing_found,
    plural,
    proof,
    wrong_features,
    wrong_rule,
    wrong_sentences,
    wrong_types,
)
from cpx.check.forest import Forest
from cpx.check.intervals import Intervals
from cpx.check.shape import shown
from cpx.check.states import Event, Probabilities, States

__all__ = ["KINDS", "judge"]

KINDS = ("mlse", "fewest-expected")
"""Kinds of problem that are judged here."""

_ONE = 2**30
_LIKELIER = "; of these sets no other one is more likely"
_MEASURES = {"sum": "score", "average": "probability", "vote": "share of votes"}

_MOST_SETS, _MOST_WORK = 300, 2 * 10**5
"""Sets that a claim is tried on, and sets times leaves times components."""


def judge(instance: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it."""
    reading = _Greatest(instance) if instance["problem"] == "mlse" else _Fewest(instance)
    broken = reading.broken()

    def complaints(result: Mapping[str, Any]) -> list[str]:
        return broken or reading.complaints(result)

    return complaints


class _Expectation:
    """What both problems share: exact scores of sets of attributes."""

    sign = 1

    def __init__(self, instance: Mapping[str, Any]) -> None:
        self.instance, self.parameters = instance, instance["parameters"]
        self.forest = forest = Forest(instance["model"], instance["x"])
        self.states = states = States(instance["coding"], forest)
        self.chances = Probabilities(instance["distribution"])
        self.unit = Fraction(self.parameters["unit"])
        self.n = len(states.names)
        self.required = {*self.parameters.get("required", ())}
        self.forbidden = {*self.parameters.get("forbidden", ())}
        rule = instance["model"]["rule"]
        self.measure = _MEASURES[rule]
        divisor = forest.scale * (1 if rule == "sum" else len(forest.trees))
        if not self._all_known():
            return
        self.label = self._class()
        self.base = Fraction(self._for_class(forest.base), divisor)
        self.values = [Fraction(self._for_class(leaf.values), divisor) for leaf in states.leaves]
        self.threshold, self.tied = self._threshold(rule, divisor)
        self.expected, self.chance = cache(self._expected), cache(self._chance)

    def broken(self) -> list[str]:
        """Say why nothing can be judged."""
        if not self._all_known():
            return ["x: it has no state of some attribute, or the distribution other attributes"]
        if self.states.lost:
            return [f"coding: states are not told apart by the test of {self.states.lost[0]}"]
        given, said = self.forest.classes[self.label], self.instance["class"]
        return [] if given == said else [f"class: x is {given!r}, the instance says {said!r}"]

    def _all_known(self) -> bool:
        sizes = [len(states) for states in self.states.states]
        return min(self.states.own) >= 0 and sizes == self.chances.sizes

    # ------------------------------------------------------------------ scores

    def _reached(self, held: frozenset[int], row: Sequence[int] | None = None) -> list[int]:
        """Return the leaves that rows reach which have some states of a row, that of x."""
        own = self.states.own if row is None else row
        return [
            i
            for i, leaf in enumerate(self.states.leaves)
            if all(a not in held or some[own[a]] for a, some in leaf.tests.items())
        ]

    def _class(self, row: Sequence[int] | None = None) -> int:
        forest, every = self.forest, frozenset(range(self.n))
        own = [self.states.leaves[i].values for i in self._reached(every, row)]
        sums = [sum(column) for column in zip(forest.base, *own, strict=True)]
        if forest.decision == "first":
            return sums.index(max(sums))
        return int(sums[0] > 0 or (sums[0] == 0 and forest.decision == "nonnegative"))

    def _for_class(self, values: Iterable[int]) -> int:
        """Return what scores say for the class of x."""
        scores = list(values)
        if len(scores) == 1:
            return scores[0] if self.label == 1 else -scores[0]
        if self.measure == "score":
            return 2 * scores[self.label] - sum(scores)
        return scores[self.label]

    def _threshold(self, rule: str, divisor: int) -> tuple[Fraction, bool]:
        """Return the score above which a row has the class, and whether all ties are alike."""
        if rule == "sum" or len(self.forest.base) == 1:
            return Fraction(0), True
        most = least = sum(self.forest.base)
        for tree in range(len(self.forest.trees)):
            # Also of leaves that no state reaches.
            sums = [sum(values) for values in _leaf_values(self.forest.trees[tree])]
            most, least = most + max(sums), least + min(sums)
        return Fraction(most, 2 * divisor), len(self.forest.base) == 2 and most == least

    def _event(self, held: Iterable[int]) -> dict[int, list[bool]]:
        own, sizes = self.states.own, self.chances.sizes
        return {a: [s == own[a] for s in range(sizes[a])] for a in held}

    def _chance(self, held: frozenset[int]) -> Fraction:
        return self.chances.of(self._event(held))

    def _expected(self, held: frozenset[int]) -> Fraction:
        """Return the expected score."""
        chances, known = self.chances, self._event(held)
        if chances.edgeless:
            return self._by_components(held, known)
        total = Fraction(0)
        for i in self._reached(held):
            event: Event = {**self.states.leaves[i].tests, **known}
            total += self.values[i] * chances.of(event)
        return self.base + total / self.chance(held)

    def _by_components(self, held: frozenset[int], known: Event) -> Fraction:
        chances, weighted, whole = self.chances, Fraction(0), 0
        for c, weight in enumerate(chances.weights):
            share = weight
            for a, some in known.items():
                share *= chances.mass(c, a, some)
            mean = sum((self._adds(c, i, held) for i in self._reached(held)), Fraction(0))
            weighted += share * mean
            whole += share
        return self.base + weighted / whole

    def _adds(self, c: int, i: int, held: frozenset[int]) -> Fraction:
        """Return what a leaf that can be reached adds under one component."""
        numerator, power = 1, 0
        for a, some in self.states.leaves[i].tests.items():
            if a not in held:
                numerator *= self.chances.mass(c, a, some)
                power += 1
        return self.values[i] * Fraction(numerator, _ONE**power)

    def greatest(self, held: frozenset[int]) -> Fraction:
        """Return the sum of the greatest leaves of all trees that are reached."""
        best: dict[int, Fraction] = {}
        for i in self._reached(held):
            tree = self.states.leaves[i].tree
            best[tree] = max(best.get(tree, self.values[i]), self.values[i])
        return self.base + sum(best.values())

    def bound(self, held: frozenset[int]) -> Fraction:
        """Return the least probability of the class that follows from the expected score."""
        U, T = self.greatest(held), self.threshold
        if U <= T:
            return Fraction(int(self.tied and U == T == self.expected(held)))
        return max(Fraction(0), (self.expected(held) - T) / (U - T))

    def allowed(self, held: frozenset[int]) -> bool:
        """Whether a set has what is required and nothing forbidden."""
        return held >= self.required and not held & self.forbidden

    def penalty(self, held: frozenset[int]) -> int:
        """Return by how much a set is the less likely choice."""
        if self.chances.factorised:
            return sum(_bits(self.chance(frozenset([a]))) + 1 for a in held)
        return _bits(self.chance(held)) + len(held)

    # ------------------------------------------------------------------ what is claimed

    def objective(self, held: frozenset[int]) -> int:
        """Return the objective of a set."""
        raise NotImplementedError

    def feasible(self, held: frozenset[int]) -> bool:
        """Whether a set is a solution."""
        raise NotImplementedError

    def proved(self, result: Mapping[str, Any], held: frozenset[int], called: str) -> str:
        """Return what was proved, in words."""
        raise NotImplementedError

    def others(self, held: frozenset[int] | None) -> list[frozenset[int]]:
        """Return sets that a claim is tried on: all that there are, or those next to a set."""
        some = len(self.states.leaves) * len(self.chances.weights)
        if not self.chances.edgeless:
            some *= self.n
        most = min(_MOST_SETS, _MOST_WORK // max(1, some))
        every = range(self.n)
        if self.n < 9 and 2**self.n <= most:
            sets = (itertools.combinations(every, size) for size in range(self.n + 1))
            return [frozenset(S) for S in itertools.chain.from_iterable(sets)]
        if held is None:
            return [frozenset(every) - self.forbidden, frozenset(self.required)]
        near = [held - {a} for a in sorted(held)] + [held | {a} for a in every if a not in held]
        return near[:most]

    def complaints(self, result: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with a result."""
        found, status = result["explanation"], result["status"]
        if found is None:
            out = nothing_found(result)
            if status == "INFEASIBLE":
                known = next((S for S in self.others(None) if self.feasible(S)), None)
                if known is not None:
                    out.append(f"status: INFEASIBLE, but {sorted(known)} is a solution")
            return out
        out = wrong_features(found["features"], self.n) + wrong_types(result, int)
        if out:
            return out
        held = frozenset(found["features"])
        if missing := sorted(self.required - held):
            out.append(f"features: the required {missing} are not chosen")
        if present := sorted(self.forbidden & held):
            out.append(f"features: the forbidden {present} are chosen")
        if not out and not self.feasible(held):
            out.append(self.too_bad(held))
        if not out and status == "INFEASIBLE":
            out.append(f"status: INFEASIBLE, but {sorted(held)} is a solution")
        objective = self.objective(held)
        compare(out, "objective", result["objective"], objective)
        out += proof(result, objective, self.sign)
        if not out:
            out += self._beaten(result, held)
        return out + self._words(result, held)

    def too_bad(self, held: frozenset[int]) -> str:
        """Say why a set is no solution that has what is required and nothing forbidden."""
        raise NotImplementedError

    def _beaten(self, result: Mapping[str, Any], held: frozenset[int]) -> list[str]:
        likeliest = _LIKELIER in result["explanation"].get("proved", "")
        for S in self.others(held):
            if not self.feasible(S):
                continue
            value = self.objective(S)
            if out := beaten(result, sorted(S), value, self.sign):
                return out
            better = value == result["objective"] and self.penalty(S) < self.penalty(held)
            if likeliest and better:
                return [f"proved: {sorted(S)} is as good, and more likely"]
        return []

    # ------------------------------------------------------------------ words and figures

    def _words(self, result: Mapping[str, Any], held: frozenset[int]) -> list[str]:
        found, out = result["explanation"], list[str]()
        called = class_name(self.instance, self.instance["class"])
        names = self._names()
        compare_shares(out, found, None, None)
        out += wrong_rule(found, {a: names[a] for a in held}, called)
        bound = math.floor(self.bound(held) * 1000) / 1000
        out += self._figures(found.get("expectation"), held, bound)
        told = self.proved(result, held, called)
        likeliest = [told + _LIKELIER] if result["status"] == "OPTIMAL" else []
        values = "these values" if held else "all values"
        follows = (
            f"of the rows with {values} at least the share {bound:g} gets {called}, under the "
            f"{self.chances.structure} distribution"
        )
        if found.get("guarantee") and not bound:
            out.append("guarantee: nothing follows from the expected score")
        rounded = f"each leaf is rounded {self.rounded}"
        unit = f"scores are counted in units of {float(self.unit):.3g}: "
        note = unit + (rounded if self.chances.factorised else "their sum is rounded")
        return out + wrong_sentences(found, [told, *likeliest], [note], follows if bound else None)

    rounded = ""

    def _names(self) -> list[str]:
        """Return what each attribute says of x."""
        states, cut = self.states, copy.copy(self.forest)
        cut.thresholds = states.cuts
        cut.tested = {*range(len(states.cuts))}
        words, found = Intervals(cut), []
        for a, (name, columns) in enumerate(zip(states.names, states.columns, strict=True)):
            if len(columns) == 1:
                place, _ = words.own(columns[0])
                found.append(words.text(columns[0], place, place))
            else:
                found.append(self._group(name, a))
        return found

    def _group(self, name: str, a: int) -> str:
        columns = self.states.columns[a]
        values = {self.states.titles[c]: self.forest.given[c] for c in columns}
        if None in values.values():
            return f"{name} is missing"
        present = {title: value for title, value in values.items() if value}
        if not present:
            return f"{name} = none of its {len(columns)} columns"
        if [*present.values()] == [1]:
            (title,) = present
            rest = title[len(name) :] if title.startswith(name) else title
            return f"{name} = {rest.lstrip('_=: ') or title}"
        return f"{name}: " + ", ".join(f"{title} = {v:g}" for title, v in present.items())

    def _figures(self, said: Any, held: frozenset[int], bound: float) -> list[str]:
        if not isinstance(said, Mapping):
            return ["expectation: is missing"]
        out: list[str] = []
        every = frozenset(range(self.n))
        figures = {
            "measure": self.measure,
            "expected": float(self.expected(held)),
            "of_x": float(self.greatest(every)),
            "of_nothing": float(self.expected(frozenset())),
            "threshold": float(self.threshold),
            "greatest": float(self.greatest(held)),
            "bound": bound,
        }
        for name, given in figures.items():
            compare(out, name, said.get(name), given)
        chance, likely = self.chance(held), said.get("log_likelihood")
        given = math.log(chance.numerator) - math.log(chance.denominator)
        if not isinstance(likely, float) or abs(likely - given) > 1e-9 * max(1.0, abs(given)):
            out.append(f"log_likelihood: the result says {likely}, the data give {given}")
        if (same := said.get("same")) is not None:
            share = self._same(held)
            if not isinstance(same, float) or not 0 <= same <= 1:
                out.append(f"same: must be a probability, got {shown(same)}")
            elif share is not None:
                compare(out, "same", same, float(share))
        return out

    def _same(self, held: frozenset[int]) -> Fraction | None:
        """Return the probability that rows with these states get the class, if they are few."""
        tested = sorted({a for leaf in self.states.leaves for a in leaf.tests} - held)
        sizes = [self.chances.sizes[a] for a in tested]
        if math.prod(sizes) * len(self.states.leaves) > _MOST_WORK:
            return None
        known, total, row = self._event(held), Fraction(0), [*self.states.own]
        for states in itertools.product(*map(range, sizes)):
            event = dict(known)
            for a, state in zip(tested, states, strict=True):
                row[a] = state
                event[a] = [s == state for s in range(self.chances.sizes[a])]
            if self._class(row) == self.label:
                total += self.chances.of(event)
        return total / self.chance(held)


class _Greatest(_Expectation):
    """At most k attributes of greatest expected score."""

    sign = -1
    rounded = "to the nearest"

    def objective(self, held: frozenset[int]) -> int:
        """Return the expected score in units."""
        if not self.chances.factorised:
            return round(self.expected(held) / self.unit)
        adds = (round(self._adds(0, i, held) / self.unit) for i in self._reached(held))
        return round(self.base / self.unit) + sum(adds)

    def feasible(self, held: frozenset[int]) -> bool:
        """Whether the set is small enough."""
        return self.allowed(held) and len(held) <= self.parameters["k"]

    def too_bad(self, held: frozenset[int]) -> str:
        """Say that it is too large."""
        return f"features: {len(held)} are chosen, k is {self.parameters['k']}"

    def proved(self, result: Mapping[str, Any], held: frozenset[int], called: str) -> str:
        """Say whether any set has a greater expected score."""
        told = f"expected {self.measure} {float(self.expected(held)):.6g} of {called}"
        rival = having(
            f"set of at most {plural(self.parameters['k'], 'attribute')}", _asked(self.parameters)
        )
        if result["status"] == "OPTIMAL":
            return f"{told}, greatest: no {rival} has more"
        if result["bound"] is None:
            return f"{told}, without a bound"
        most = float(result["bound"] * self.unit)
        return f"{told}, not proved greatest: no {rival} has more than {most:.6g}"


class _Fewest(_Expectation):
    """The fewest attributes that reach a threshold."""

    rounded = "down"

    def __init__(self, instance: Mapping[str, Any]) -> None:
        super().__init__(instance)
        self.tau = Fraction(self.parameters["threshold"])
        self.bounded = self.parameters["measure"] == "probability-bound"

    def objective(self, held: frozenset[int]) -> int:
        """Return the number of attributes."""
        return len(held)

    def feasible(self, held: frozenset[int]) -> bool:
        """Whether the set reaches the threshold; in units where these are counted."""
        if not self.allowed(held):
            return False
        if not self.chances.factorised:
            return (self.bound(held) if self.bounded else self.expected(held)) >= self.tau
        down = [self._adds(0, i, held) for i in self._reached(held)]
        if not self.bounded:
            needed = math.ceil(self.tau / self.unit)
            return sum(math.floor(v / self.unit) for v in [self.base, *down]) >= needed
        best: dict[int, Fraction] = {}
        for i in self._reached(held):
            tree = self.states.leaves[i].tree
            best[tree] = max(best.get(tree, self.values[i]), self.values[i])
        down += [(1 - self.tau) * self.base, *(-self.tau * v for v in best.values())]
        needed = math.ceil((1 - self.tau) * self.threshold / self.unit)
        return sum(math.floor(v / self.unit) for v in down) >= needed

    def too_bad(self, held: frozenset[int]) -> str:
        """Say that it does not reach the threshold."""
        reached = self.bound(held) if self.bounded else self.expected(held)
        return f"threshold: {float(reached):.6g} is reached, {float(self.tau):g} is asked for"

    def proved(self, result: Mapping[str, Any], held: frozenset[int], called: str) -> str:
        """Say whether fewer attributes are enough."""
        what = "a probability bound" if self.bounded else f"an expected {self.measure}"
        text = f"{float(self.tau):g}"
        least = text if Fraction(text) == self.tau else str(self.tau)
        rival = having(f"set with {what} of at least {least}", _asked(self.parameters))
        told = plural(len(held), "attribute")
        if result["status"] == "OPTIMAL":
            return f"{told}, minimum: no {rival} is smaller"
        if result["bound"] is None:
            return f"{told}, without a bound"
        return f"{told}, not proved minimum: every {rival} has at least {result['bound']}"


def _asked(parameters: Mapping[str, Any]) -> list[str]:
    parts = ["has what is required"] * bool(parameters.get("required"))
    return parts + ["has nothing forbidden"] * bool(parameters.get("forbidden"))


def _bits(chance: Fraction) -> int:
    return round(2**20 * (math.log2(chance.denominator) - math.log2(chance.numerator)))


def _leaf_values(root: Any) -> Iterable[tuple[int, ...]]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.left is None:
            yield node.values
        else:
            waiting += [node.left, node.right]
