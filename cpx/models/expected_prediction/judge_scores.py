"""Exact expected scores of a model, where the states of some attributes are known."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Any

from cpx.check.claims import broken_by
from cpx.check.forest import Forest
from cpx.models.expected_prediction.judge_leaf_sums import LeafSums
from cpx.models.expected_prediction.judge_regions import BITS, as_leaves, probability, regions
from cpx.models.expected_prediction.judge_states import Event, Leaf, Probabilities, States

_BITS = 30
_KEPT = 4  # sets whose leaves are remembered
_NOTHING = frozenset[int]()
_MOST_BITS = 2**31  # of different events on the paths of all leaves
_MEASURES = {"sum": "score", "average": "probability", "vote": "share of votes"}
_PREDICTED = {
    "probability": "probability",
    "posterior": "probability",
    "decision": "same-decision probability",
}

_FINE = 2**20  # what is less than this part of the greatest score is little

MOST_WORK = 2 * 10**5
"""Sets, or rows of states, times leaves times components: what is gone through at most."""


class TooLong(Exception):
    """There is no time left, or too much memory would be needed."""


def _measure(model: Mapping[str, Any]) -> str:
    """Say what the score of a class is: an average is a probability where its leaves are."""
    leaves = [*model["base"], *(value for tree in model["trees"] for value in tree["values"])]
    shares = all(0 <= float.fromhex(value) <= 1 for value in leaves)
    return _MEASURES[model["rule"]] if shares or model["rule"] != "average" else "average"


class ExactScores:
    """What a model says for the class of x, and how probable it is, where some states are known.

    instance: A saved instance.
    deadline: When ``TooLong`` is raised; or earlier, where the model needs too much memory.
    """

    def __init__(self, instance: Mapping[str, Any], deadline: float = math.inf) -> None:
        self.instance, self.parameters = instance, instance["parameters"]
        self.deadline, self._room = deadline, _MOST_BITS
        self.forest = forest = Forest(instance["model"], instance["x"], self.look)
        self.states = states = States(instance["coding"], forest, self.look)
        self.chances = Probabilities(instance["distribution"])
        self.unit = Fraction(self.parameters["unit"])
        self.n = len(states.names)
        self.required = {*self.parameters.get("required", ())}
        self.forbidden = {*self.parameters.get("forbidden", ())}
        self.side = broken_by(instance)
        rule = instance["model"]["rule"]
        self.prediction = self.parameters.get("prediction", "score")
        self.measure = _PREDICTED.get(self.prediction) or _measure(instance["model"])
        self.divisor = divisor = forest.scale * (1 if rule == "sum" else len(forest.trees))
        self.reached = lru_cache(_KEPT)(self._reached)
        kept = lru_cache(MOST_WORK // len(self.chances.weights))
        self.in_units = kept(self._in_units)
        if not self._all_known() or not self._has_classes():
            return
        self.label = self.class_of()
        self.rival = self._runner_up(rule)
        if self.prediction == "score":
            self.leaves: list[Leaf] = states.leaves
            self.base = Fraction(self._for_class(forest.base), divisor)
            self.leaf_values = [self._for_class(leaf.values) for leaf in states.leaves]
            self.threshold, self.tied = self._threshold(rule, divisor)
        elif self.prediction == "posterior":
            self.leaves, self.leaf_values = [Leaf(0, (0,), {})], [1]
            self.base, self.divisor = Fraction(0), 1
            self.threshold, self.tied = Fraction(1, 2), False
        else:
            self._of_regions()
        self.expected, self.chance = cache(self._expected), cache(self._chance)

    def _of_regions(self) -> None:
        """Take the regions of the class, or the probability of all regions, for leaves."""
        decided, forest = self.prediction == "decision", self.forest
        asked = forest.base, self.label, forest.decision if decided else None
        found = regions(self.states.leaves, *asked, self.look)
        self.leaves, self.leaf_values = as_leaves(
            found, lambda margins: 1 if decided else probability(margins, forest.scale)
        )
        self.base, self.divisor = Fraction(0), 1 if decided else 1 << BITS
        self.threshold, self.tied = Fraction(0 if decided else 1, 2), False

    @property
    def by_leaf(self) -> bool:
        """Whether scores are rounded leaf by leaf."""
        return self.chances.factorised and self.prediction == "score"

    @property
    def roundings(self) -> int:
        """How many numbers are rounded for a set: all leaves and the base, under independence.

        For a bound on a probability, the greatest leaf of each tree as well.
        """
        if not self.by_leaf:
            return 0
        bounded: bool = self.parameters.get("measure") == "probability-bound"
        return len(self.leaves) + 1 + bounded * len(self.forest.trees)

    @cached_property
    def forgiven(self) -> int:
        """How many units rounding may take from a set, where that is little: else 0."""
        most: dict[int, int] = {}
        for leaf, value in zip(self.leaves, self.leaf_values, strict=True):
            most[leaf.tree] = max(most.get(leaf.tree, 0), abs(value))
        score = abs(self.base) + Fraction(sum(most.values()), self.divisor)
        little: bool = self.roundings * self.unit * _FINE <= score
        return self.roundings if little else 0

    def broken(self) -> list[str]:
        """Say why nothing can be judged."""
        if not self._all_known():
            return ["x: it has no state of some attribute, or the distribution other attributes"]
        if not self._has_classes():
            return ["distribution: it has no component for each class"]
        if self.states.lost:
            return [f"coding: states are not told apart by the test of {self.states.lost[0]}"]
        given, said = self.forest.classes[self.label], self.instance["class"]
        return [] if given == said else [f"class: x is {given!r}, the instance says {said!r}"]

    def _has_classes(self) -> bool:
        """Whether the distribution has the classes that a posterior is of, if one is asked."""
        alike = len(self.chances.weights) == len(self.forest.classes)
        return self.prediction != "posterior" or (self.chances.edgeless and alike)

    def _all_known(self) -> bool:
        sizes = [len(states) for states in self.states.states]
        return min(self.states.own) >= 0 and sizes == self.chances.sizes

    # ------------------------------------------------------------------ scores

    def _reached(
        self,
        held: frozenset[int],
        row: Sequence[int] | None = None,
        leaves: Sequence[Leaf] | None = None,
    ) -> dict[int, frozenset[int]]:
        """Return the leaves that rows reach which have some states of a row, that of x.

        Each with the attributes on its path whose state is known.
        """
        own, found = self.states.own if row is None else row, dict[int, frozenset[int]]()
        for i, leaf in enumerate(self.leaves if leaves is None else leaves):
            known = _NOTHING if held.isdisjoint(leaf.tests) else held.intersection(leaf.tests)
            if all(leaf.tests[a] >> own[a] & 1 for a in known):
                found[i] = known
        return found

    def _sums(self, row: Sequence[int] | None = None) -> list[int]:
        """Return the scores of a row, that of x unless one is given."""
        leaves, every = self.states.leaves, frozenset(range(self.n))
        own = [leaves[i].values for i in self._reached(every, row, leaves)]
        return [sum(column) for column in zip(self.forest.base, *own, strict=True)]

    def _runner_up(self, rule: str) -> int | None:
        """Return the class that x gets the next greatest score of, of more than two."""
        if self.prediction != "score" or rule != "sum" or len(self.forest.base) < 3:
            return None
        ranked = sorted(enumerate(self._sums()), key=lambda pair: (-pair[1], pair[0]))
        return next(k for k, _ in ranked if k != self.label)

    def class_of(self, row: Sequence[int] | None = None) -> int:
        forest, sums = self.forest, self._sums(row)
        if forest.decision == "first":
            return sums.index(max(sums))
        return int(sums[0] > 0 or (sums[0] == 0 and forest.decision == "nonnegative"))

    def _for_class(self, values: Iterable[int]) -> int:
        """Return what scores say for the class of x."""
        scores = list(values)
        if len(scores) == 1:
            return scores[0] if self.label == 1 else -scores[0]
        if self.rival is not None:
            return scores[self.label] - scores[self.rival]
        if self.measure == "score":
            return 2 * scores[self.label] - sum(scores)
        return scores[self.label]

    def _threshold(self, rule: str, divisor: int) -> tuple[Fraction, bool]:
        """Return the score above which a row has the class, and whether all ties are alike."""
        if self.rival is not None:  # no score bounds a probability
            most = self._for_class(self.forest.base)
            for root in self.forest.trees:
                most += max(self._for_class(values) for values in _leaf_values(root))
            return Fraction(most, divisor), False
        if rule == "sum" or len(self.forest.base) == 1:
            return Fraction(0), True
        most = least = sum(self.forest.base)
        for tree in range(len(self.forest.trees)):
            # Also of leaves that no state reaches.
            sums = [sum(values) for values in _leaf_values(self.forest.trees[tree])]
            most, least = most + max(sums), least + min(sums)
        return Fraction(most, 2 * divisor), len(self.forest.base) == 2 and most == least

    def event(self, held: Iterable[int]) -> dict[int, int]:
        """Return the event that some attributes have the states of x."""
        return {a: 1 << self.states.own[a] for a in held}

    def _chance(self, held: frozenset[int]) -> Fraction:
        return self.chances.of(self.event(held))

    def _expected(self, held: frozenset[int]) -> Fraction:
        """Return the expected score."""
        chances, known = self.chances, self.event(held)
        if self.prediction == "posterior":
            each = self._classes(known)
            return Fraction(each[self.label], sum(each))
        if chances.edgeless:
            return self._by_components(held, known)
        events = (
            (self.leaf_values[i], {a: some for a, some in tests.items() if a not in held})
            for i in self.reached(held)
            for tests in [self.leaves[i].tests]
        )
        return self.base + chances.dependent.mean(known, events, self.look) / self.divisor

    def _classes(self, event: Event) -> list[int]:
        """Return the probability of an event with each class, scaled."""
        found = [*self.chances.weights]
        for a, some in event.items():
            found = [f * m for f, m in zip(found, self.chances.masses(a, some), strict=True)]
        return found

    def _rival(self, held: frozenset[int], c: int) -> Fraction:
        """Return how probable another class is at least, in the probability of the class of x.

        Of rows with the states of x in a set: each other attribute has the state that speaks most
        against that class.
        """
        each, tables = self._classes(self.event(held)), self.chances.tables
        odds = Fraction(each[c], each[self.label])
        for a in set(range(self.n)) - held:
            pairs = zip(tables[c][a][0], tables[self.label][a][0], strict=True)
            odds *= min(Fraction(other, own) for other, own in pairs)
        return odds

    def _by_components(self, held: frozenset[int], known: Event) -> Fraction:
        chances = self.chances
        shares, sums = [*chances.weights], self._leaf_sums.of(held)
        for a, some in known.items():
            shares = [s * m for s, m in zip(shares, chances.masses(a, some), strict=True)]
        scale = self.divisor << _BITS * self._leaf_sums.deepest
        weighted = sum(share * total for share, total in zip(shares, sums, strict=True))
        return self.base + Fraction(weighted, scale * sum(shares))

    @cached_property
    def _leaf_sums(self) -> LeafSums:
        own = self.states.own
        return LeafSums(self.leaves, self.leaf_values, own, self.chances, self.look)

    def _in_units(self, i: int, known: frozenset[int], down: bool) -> int:
        """Return what a leaf that can be reached adds under independent attributes, in units.

        Rounded down, or to the nearest integer, of two to the even one.
        """
        self.look()
        tests = self.leaves[i].tests.items()
        factors = [self.chances.masses(a, some)[0] for a, some in tests if a not in known]
        return self._rounded([self.leaf_values[i] * math.prod(factors)], len(factors), down)[0]

    def all_in_units(self, i: int, down: bool, component: int) -> list[int]:
        """Return the same of a component, for all sets of what the leaf tests that are known.

        Bit j of a place says that the test j is of something known.
        """
        self.look()
        tests, adds = self.leaves[i].tests, [self.leaf_values[i]]
        for a, some in tests.items():
            mass = self.chances.masses(a, some)[component]
            adds = [add * mass for add in adds] + [add << _BITS for add in adds]
        return self._rounded(adds, len(tests), down)

    def _rounded(self, numerators: list[int], factors: int, down: bool) -> list[int]:
        """Return in units what is counted in leaf values times so many probabilities."""
        of, times = (self.divisor << _BITS * factors) * self.unit.numerator, self.unit.denominator
        if down:
            return [add * times // of for add in numerators]
        parts = (divmod(add * times, of) for add in numerators)
        return [units + (2 * left > of - units % 2) for units, left in parts]

    def look(self, bits: int = 0) -> None:
        """Raise ``TooLong`` where no time is left, or no room for more events."""
        self._room -= bits
        if time.monotonic() > self.deadline or self._room < 0:
            raise TooLong

    def greatest_leaves(self, held: frozenset[int]) -> list[Fraction]:
        """Return the greatest leaf of each tree that is reached."""
        best: dict[int, int] = {}
        for i in self.reached(held):
            tree, value = self.leaves[i].tree, self.leaf_values[i]
            best[tree] = max(best.get(tree, value), value)
        return [Fraction(value, self.divisor) for value in best.values()]

    def greatest(self, held: frozenset[int]) -> Fraction:
        """Return the sum of the greatest leaves of all trees that are reached.

        Of a posterior, the greatest one that a row has, or more where there are more than two
        classes: each other one is as improbable as it can be by itself.
        """
        if self.prediction == "posterior":
            others = (c for c in range(len(self.chances.weights)) if c != self.label)
            return 1 / sum((self._rival(held, c) for c in others), Fraction(1))
        return self.base + sum(self.greatest_leaves(held))

    def bound(self, held: frozenset[int]) -> Fraction:
        """Return the least probability of the class that follows from the expected score."""
        U, T = self.greatest(held), self.threshold
        if U <= T:
            return Fraction(int(self.tied and U == T == self.expected(held)))
        return max(Fraction(0), (self.expected(held) - T) / (U - T))

    def penalty(self, held: frozenset[int]) -> int:
        """Return by how much a set is the less likely choice."""
        if self.chances.factorised:
            return sum(_bits(self.chance(frozenset([a]))) + 1 for a in held)
        return _bits(self.chance(held)) + len(held)

    def same_decision(self, held: frozenset[int]) -> Fraction | None:
        """Return the probability that rows with these states get the class, if they are few."""
        tested = sorted({a for leaf in self.states.leaves for a in leaf.tests} - held)
        sizes = [self.chances.sizes[a] for a in tested]
        if math.prod(sizes) * len(self.states.leaves) > MOST_WORK:
            return None
        known, total, row = self.event(held), Fraction(0), [*self.states.own]
        for states in itertools.product(*map(range, sizes)):
            event = dict(known)
            for a, state in zip(tested, states, strict=True):
                row[a] = state
                event[a] = 1 << state
            if self.class_of(row) == self.label:
                total += self.chances.of(event)
        return total / self.chance(held)


def bits(chance: Fraction) -> float:
    """Return the logarithm to the base 2 of the inverse of a probability."""
    return math.log2(chance.denominator) - math.log2(chance.numerator)


def _bits(chance: Fraction) -> int:
    return round(2**20 * bits(chance))


def _leaf_values(root: Any) -> Iterable[tuple[int, ...]]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.left is None:
            yield node.values
        else:
            waiting += [node.left, node.right]
