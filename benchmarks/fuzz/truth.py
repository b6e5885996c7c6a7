"""The right answer to a saved instance, by trying every solution; nothing of cpx is used.

Instances are the JSON objects of the page "file format", and must be tiny: all sets of features,
all rows that a tree model tells apart, and all rules are gone through.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property, reduce
from itertools import chain, combinations, product
from typing import Any

import numpy as np

__all__ = ["Truth", "truth"]

Instance = Mapping[str, Any]
Value = int | Fraction


class Truth:
    """What is right about an instance.

    Attributes
    ----------
    n : int
        Number of features that solutions are sets of.
    maximised : bool
    """

    n: int
    maximised = False

    def value(self, features: Iterable[int]) -> Value | None:
        """Return the value of a solution, None when it is not allowed."""
        raise NotImplementedError

    def every(self) -> Iterator[tuple[int, ...]]:
        """Yield solutions, a best one among them."""
        return subsets(range(self.n))

    @cached_property
    def best(self) -> tuple[Value, tuple[int, ...]] | None:
        """The optimum and a solution that has it, None when nothing is allowed."""
        found: tuple[Value, tuple[int, ...]] | None = None
        for features in self.every():
            value = self.value(features)
            if value is not None and (found is None or self.better(value, found[0])):
                found = value, features
        return found

    @property
    def optimum(self) -> Value | None:
        """The best value, None when nothing is allowed."""
        return None if self.best is None else self.best[0]

    def better(self, a: Value, b: Value) -> bool:
        """Say whether the value a is better than b."""
        return a > b if self.maximised else a < b

    @property
    def magnitude(self) -> int:
        """What engines have to add up: the greatest sum in the statement."""
        raise NotImplementedError


def truth(instance: Instance) -> Truth:
    """Return what is right about a saved instance.

    Examples
    --------
    >>> instance = {"problem": "k-monomial", "parameters": {"k": 1}, "samples": ["10", "01"],
    ...             "labels": "10"}
    >>> truth(instance).best
    (0, (0,))
    """
    return _KINDS[instance["problem"]](instance)


def subsets(things: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield all subsets, the smaller ones first."""
    listed = list(things)
    return chain.from_iterable(combinations(listed, size) for size in range(len(listed) + 1))


def share(value: Any) -> Fraction:
    """Return a share as it is written."""
    return Fraction(str(value))


class _Rows:
    """Samples of bits: what a conjunction covers, as a bit set of samples, and weights."""

    def __init__(self, samples: list[str], weights: list[int] | None) -> None:
        self.samples, self.m, self.d = samples, len(samples), len(samples[0])
        self.weights = weights or [1] * self.m
        self.everything = (1 << self.m) - 1
        self.true = [
            sum(1 << i for i, row in enumerate(samples) if row[j] == "1") for j in range(self.d)
        ]

    def cover(self, literals: Iterable[int]) -> int:
        return reduce(lambda rows, j: rows & self.true[j], literals, self.everything)

    def weight(self, rows: int, weights: list[int] | None = None) -> int:
        listed = self.weights if weights is None else weights
        return sum(w for i, w in enumerate(listed) if rows >> i & 1)


class _Labelled(Truth):
    def __init__(self, instance: Instance) -> None:
        self.parameters = instance["parameters"]
        self.rows = _Rows(instance["samples"], instance.get("weights"))
        self.n = self.rows.d
        self.same = sum(1 << i for i, label in enumerate(instance["labels"]) if label == "1")
        self.other = self.rows.everything & ~self.same
        self.required = set(self.parameters.get("required") or ())
        self.forbidden = set(self.parameters.get("forbidden") or ())

    def refused(self, features: tuple[int, ...]) -> bool:
        return not self.required <= set(features) or bool(self.forbidden & set(features))

    @cached_property
    def magnitude(self) -> int:
        return sum(self.rows.weights)


# --------------------------------------------------------------------- one rule


class Monomial(_Labelled):
    """A conjunction of at most k features: least loss, greatest precision or coverage."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.kind = instance["problem"]
        self.maximised = self.kind in ("max-precision", "max-coverage")
        self.groups = instance.get("groups") if self.parameters.get("one_per_group") else None
        given = dict(self.parameters)
        if self.kind == "max-precision":
            given.setdefault("min_coverage", "1/20")
        if self.kind == "max-coverage":
            given.setdefault("min_precision", "19/20")
        names = ("min_coverage", "max_coverage", "min_precision")
        self.limits = [
            share(given[name]) if given.get(name) is not None else None for name in names
        ]

    def value(self, features: Iterable[int]) -> Value | None:
        chosen = tuple(sorted(set(features)))
        if len(chosen) > self.parameters["k"] or self.refused(chosen):
            return None
        if self.groups is not None:
            groups = [self.groups[j] for j in chosen]
            if len(set(groups)) < len(groups):
                return None
        covered = self.rows.cover(chosen)
        c, g = self.rows.weight(covered), self.rows.weight(covered & self.same)
        total = self.rows.weight(self.rows.everything)
        floor, ceiling, precise = self.limits
        if floor is not None and c < floor * total:
            return None
        if ceiling is not None and c > ceiling * total:
            return None
        if precise is not None and (c == 0 or g < precise * c):
            return None
        if self.kind == "max-coverage":
            return c
        if self.kind == "max-precision":
            return None if c == 0 else Fraction(g, c)
        missed = self.rows.weight(self.same & ~covered) if self.kind == "k-monomial" else 0
        return c - g + missed

    @cached_property
    def magnitude(self) -> int:
        # Limits are stated in integers; so is a ratio, whose terms have the other's weights.
        total = self.rows.weight(self.rows.everything)
        scale = math.prod(limit.denominator for limit in self.limits if limit is not None)
        return total * scale * (total if self.kind == "max-precision" else 1)


# -------------------------------------------------------------- smallest sets


class Certificate(_Labelled):
    """The lightest features that leave little covered and disagreeing."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.costs = self.parameters.get("weights") or [1] * self.n

    def value(self, features: Iterable[int]) -> Value | None:
        chosen = tuple(features)
        wrong = self.rows.weight(self.rows.cover(chosen) & self.other)
        total = self.rows.weight(self.rows.everything)
        if self.refused(chosen) or wrong > share(self.parameters["epsilon"]) * total:
            return None
        return sum(self.costs[j] for j in chosen)


class SufficientReason(Truth):
    """The lightest features that force the class of x, by any of the three definitions.

    A row is what each feature is: at the level of attributes the number of thresholds below the
    value, or None when it is missing; at the level of conditions whether each test holds.
    """

    def __init__(self, instance: Instance) -> None:
        self.parameters, self.model = instance["parameters"], instance["model"]
        self.required = set(self.parameters.get("required") or ())
        self.forbidden = set(self.parameters.get("forbidden") or ())
        self.thresholds = [[float.fromhex(t) for t in ts] for ts in self.model["thresholds"]]
        self.trees = [self._tree(tree) for tree in self.model["trees"]]
        self.base = [Fraction(float.fromhex(v)) for v in self.model["base"]]
        tested = {test for tree in self.trees for test in _tests(tree)}
        self.tests = sorted((a, j) for a, j in tested if 0 <= j < len(self.thresholds[a]))
        cells = [self._cell(a, v) for a, v in enumerate(instance["x"])]
        if self.parameters["level"] == "attributes":
            choices: list[list[Any]] = [
                list(dict.fromkeys(self._cell(a, v) for v in self._values(a, instance["x"][a])))
                for a in range(len(cells))
            ]
            self.x = tuple(cells)
        else:
            choices = [[True, False] for _ in self.tests]
            self.x = tuple(cells[a] <= j for a, j in self.tests)
        self.n = len(self.x)
        self.own = self._reached(self.x)
        self.label = self._class(self.own)
        assert self.model["classes"][self.label] == instance["class"], "not the class of x"
        self.rivals = [r for r in range(len(self.model["classes"])) if r != self.label]
        self.costs = self.parameters.get("weights") or [1] * self.n
        # Where each row differs from x, and what it reaches.
        self.every_row = [
            (frozenset(j for j, (v, own) in enumerate(zip(row, self.x)) if v != own), leaves)
            for row in product(*choices)
            for leaves in [self._reached(row)]
        ]
        self.changes = {
            where for where, leaves in self.every_row if self._class(leaves) != self.label
        }

    # ------------------------------------------------------------ the model

    def _tree(self, tree: Mapping[str, Any]) -> Any:
        width = len(tree["outputs"])
        numbers = iter(tree["values"])
        tests = iter(zip(tree["split"], tree["missing"]))

        def node(attributes: Iterator[int]) -> Any:
            a = next(attributes)
            if a < 0:
                leaf = [Fraction(0)] * len(self.model["base"])
                for score, _ in zip(tree["outputs"], range(width)):
                    leaf[score] = Fraction(float.fromhex(next(numbers)))
                return tuple(leaf)
            split, missing = next(tests)
            left = node(attributes)
            return a, split, missing, left, node(attributes)

        return node(iter(tree["attribute"]))

    def _cast(self, value: float) -> float:
        if self.model["cast"] == "float64":
            return value
        with np.errstate(over="ignore"):
            return float(np.float32(value))

    def _cell(self, a: int, value: float | None) -> int | None:
        if value is None:
            return None
        return sum(threshold < self._cast(value) for threshold in self.thresholds[a])

    def _values(self, a: int, own: float | None) -> list[float | None]:
        """Return values of an attribute, one at least for each cell that has any."""
        attribute = self.model["attributes"][a]
        kind = attribute.get("kind", "real")
        missing = [None] if attribute.get("missing") else []
        if kind == "boolean":
            return [own, 0.0, 1.0, *missing]
        if "values" in attribute:
            return [own, *(float.fromhex(v) for v in attribute["values"]), *missing]
        low = float.fromhex(attribute["lower"]) if "lower" in attribute else -np.finfo(float).max
        high = float.fromhex(attribute["upper"]) if "upper" in attribute else np.finfo(float).max
        found = [low, high]
        for t in self.thresholds[a]:
            if kind == "integer":
                found += [float(math.floor(t)), float(math.floor(t) + 1)]
            else:
                found += [t, math.nextafter(t, math.inf)]
                found.append(float(np.nextafter(np.float32(t), np.float32(np.inf))))
        if kind == "integer":
            found = [float(math.ceil(low)), float(math.floor(high)), *found[2:]]
        return [own, *(v for v in found if low <= v <= high), *missing]

    def _reached(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the leaf of each tree."""
        at = dict(zip(self.tests, row)) if self.parameters["level"] != "attributes" else None
        return tuple(self._walk(tree, row, at) for tree in self.trees)

    def _walk(self, node: Any, row: tuple[Any, ...], at: Mapping[Any, bool] | None) -> Any:
        while not isinstance(node[0], Fraction):
            a, j, missing, left, right = node
            if at is None:
                goes_left = missing == "l" if row[a] is None else row[a] <= j
            else:
                goes_left = at.get((a, j), j >= 0)
            node = left if goes_left else right
        return node

    def _class(self, leaves: tuple[Any, ...]) -> int:
        scores = [sum(column) for column in zip(self.base, *leaves)]
        if self.model["decision"] == "first":
            return scores.index(max(scores))
        return int(scores[0] > 0 or (scores[0] == 0 and self.model["decision"] == "nonnegative"))

    # ------------------------------------------------------ the definitions

    def value(self, features: Iterable[int]) -> Value | None:
        chosen = frozenset(features)
        if not self.required <= chosen or self.forbidden & chosen or not self.enough(chosen):
            return None
        return sum(self.costs[j] for j in chosen)

    def enough(self, chosen: frozenset[int]) -> bool:
        """Say whether features are a reason."""
        if self.parameters["definition"] == "sufficient":
            return not any(where.isdisjoint(chosen) for where in self.changes)
        agreeing = [leaves for where, leaves in self.every_row if where.isdisjoint(chosen)]
        reached = [set(leaves) for leaves in zip(*agreeing)]
        if self.parameters["definition"] == "majoritary":
            sure = sum(all(leaf[self.label] for leaf in leaves) for leaves in reached)
            trees = len(self.trees)
            return 2 * sure > trees or (2 * sure == trees and self.label == 0)
        return all(self._wins_tree_by_tree(reached, rival) for rival in self.rivals)

    def _margin(self, scores: Any, rival: int) -> Fraction:
        if self.model["decision"] == "first":
            return Fraction(scores[self.label] - scores[rival])
        return Fraction(scores[0] if self.label == 1 else -scores[0])

    def _wins_tree_by_tree(self, reached: list[set[Any]], rival: int) -> bool:
        own = [self._margin(leaf, rival) for leaf in self.own]
        lead = self._margin(self.base, rival) + sum(own)
        losses = [
            max(mine - self._margin(leaf, rival) for leaf in leaves)
            for mine, leaves in zip(own, reached)
        ]
        if self.model["decision"] == "first":
            wins_ties = self.label < rival
        else:
            wins_ties = (self.model["decision"] == "nonnegative") == (self.label == 1)
        if unit := Fraction(self.parameters["unit"]):
            # Losses rounded up and the lead down, below it where a tie is lost.
            losses = [math.ceil(loss / unit) * unit for loss in losses]
            steps = math.floor(lead / unit) if wins_ties else math.ceil(lead / unit) - 1
            return sum(losses) <= steps * unit
        return sum(losses) <= lead if wins_ties else sum(losses) < lead

    @cached_property
    def magnitude(self) -> int:
        numbers = [abs(v) for leaf in self.own for v in leaf]
        scale = max(
            (v.denominator for _, row in self.every_row for leaf in row for v in leaf), default=1
        )
        return sum(self.costs) + int(sum(numbers) * scale)


def _tests(node: Any) -> Iterator[tuple[int, int]]:
    if not isinstance(node[0], Fraction):
        yield node[0], node[1]
        yield from _tests(node[3])
        yield from _tests(node[4])


# ------------------------------------------------------------------- rule sets


class RuleSet(_Labelled):
    """A set of rules: errors, and a price for each rule."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.candidates = self._candidates()
        self.n = len(self.candidates)
        self.masks = [self.rows.cover(rule) for rule in self.candidates]
        other, own = self.parameters.get("class_weights") or (1, 1)
        self.errors = [
            w * (own if self.same >> i & 1 else other) for i, w in enumerate(self.rows.weights)
        ]
        price = share(self.parameters["penalty"]) * sum(self.errors)
        # Units are the largest in which the price of a rule is an integer.
        self.scale, self.price = price.denominator, price.numerator
        self.lengths = self.parameters.get("lengths") or [len(r) for r in self.candidates]

    def _candidates(self) -> list[tuple[int, ...]]:
        return [tuple(rule) for rule in self.parameters["rules"]]

    def value(self, features: Iterable[int]) -> Value | None:
        chosen = tuple(features)
        if self.refused(chosen) or self._beyond_limits(chosen):
            return None
        masks = [self.masks[r] for r in chosen]
        covered = reduce(int.__or__, masks, 0)
        wrong = [mask & self.other for mask in masks]
        if self.parameters.get("loss", "zero-one") == "zero-one":
            wrong = [covered & self.other]
        error = sum(self.rows.weight(rows, self.errors) for rows in wrong)
        error += self.rows.weight(self.same & ~covered, self.errors)
        return self.scale * error + self.price * len(chosen)

    def _beyond_limits(self, chosen: tuple[int, ...]) -> bool:
        once = twice = 0
        for r in chosen:
            twice |= once & self.masks[r]
            once |= self.masks[r]
        figures = {
            "max_rules": len(chosen),
            "max_literals": sum(self.lengths[r] for r in chosen),
            "max_overlap": self.rows.weight(twice),
        }
        given = {name: self.parameters.get(name) for name in figures}
        return any(most is not None and figures[name] > most for name, most in given.items())

    @cached_property
    def magnitude(self) -> int:
        return self.scale * sum(self.errors) * (self.n + 1)


class Learning(RuleSet):
    """A set of any conjunctions of at most L literals."""

    def _candidates(self) -> list[tuple[int, ...]]:
        most = min(self.parameters["max_literals"], self.rows.d)
        return [
            rule for size in range(most + 1) for rule in combinations(range(self.rows.d), size)
        ]

    def _beyond_limits(self, chosen: tuple[int, ...]) -> bool:
        return False  # its max_literals is of one rule


class KernelRule(Truth):
    """A disjunction of 1 to D conjunctions of 1 to C features, of greatest weight."""

    maximised = True

    def __init__(self, instance: Instance) -> None:
        self.rows = _Rows(instance["samples"], instance["weights"])
        self.clauses = instance["parameters"]["max_clauses"]
        self.literals = instance["parameters"]["max_literals"]
        self.n = self.clauses * self.rows.d

    def value(self, features: Iterable[int]) -> Value | None:
        rule: dict[int, list[int]] = {}
        for j in features:
            rule.setdefault(j // self.rows.d, []).append(j % self.rows.d)
        if not rule or any(len(clause) > self.literals for clause in rule.values()):
            return None
        return self.rows.weight(reduce(int.__or__, map(self.rows.cover, rule.values())))

    def every(self) -> Iterator[tuple[int, ...]]:
        """Yield a rule for each set of rows that rules cover."""
        d, clauses = self.rows.d, {}
        for size in range(1, self.literals + 1):
            for clause in combinations(range(d), size):
                clauses.setdefault(self.rows.cover(clause), clause)
        found: dict[int, tuple[int, ...]] = dict(clauses)
        last = dict(found)
        for t in range(1, self.clauses):
            longer = {}
            for (rows, rule), (more, clause) in product(last.items(), clauses.items()):
                if rows | more not in found:
                    longer.setdefault(rows | more, (*rule, *(t * d + j for j in clause)))
            found |= longer
            last = longer
        yield from found.values()

    @cached_property
    def magnitude(self) -> int:
        return sum(map(abs, self.rows.weights))


_KINDS: dict[str, Any] = {
    **dict.fromkeys(("k-monomial", "negative-only", "max-precision", "max-coverage"), Monomial),
    "min-certificate": Certificate,
    "sufficient-reason": SufficientReason,
    "rule-set": RuleSet,
    "rule-set-learning": Learning,
    "kernel-rule": KernelRule,
}
