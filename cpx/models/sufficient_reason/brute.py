"""Brute force for sufficient reasons: one row for each cell of the tree model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from cpx.testing.truth import Instance, Side, Truth, Value


class SufficientReason(Truth):
    """The lightest features that force the class of x, by any of the three definitions.

    A row is what each column is: the number of thresholds below the value, or None when it is
    missing; at the level of conditions whether each test holds. At the level of intervals the
    features are the sides of x on which some row has a column.
    """

    def __init__(self, instance: Instance) -> None:
        self.parameters, self.model = instance["parameters"], instance["model"]
        self.side = Side(instance)
        self.required = set(self.parameters.get("required") or ())
        self.forbidden = set(self.parameters.get("forbidden") or ())
        self.thresholds = [[float.fromhex(t) for t in ts] for ts in self.model["thresholds"]]
        given = self.model.get("sets") or [[] for _ in self.thresholds]
        self.sets = [[{*cells} for cells in own] for own in given]
        self.trees = [self._tree(tree) for tree in self.model["trees"]]
        self.base = [Fraction(float.fromhex(v)) for v in self.model["base"]]
        tested = {test for tree in self.trees for test in _tests(tree)}
        self.tests = sorted((a, j) for a, j in tested if j not in (-1, len(self.thresholds[a])))
        cells = [self._cell(a, v) for a, v in enumerate(instance["x"])]
        self.free = self.parameters["level"] == "conditions"
        if not self.free:
            choices: list[list[Any]] = [
                list(dict.fromkeys(self._cell(a, v) for v in self._values(a, instance["x"][a])))
                for a in range(len(cells))
            ]
            self.x = tuple(cells)
        else:
            choices = [[True, False] for _ in self.tests]
            # No value is missing at this level.
            self.x = tuple(self._goes_left(a, j, int(cells[a] or 0)) for a, j in self.tests)
        self.ends = self._ends(choices) if self.parameters["level"] == "intervals" else None
        self.n = len(self.x) if self.ends is None else len(self.ends)
        self.own = self._reached(self.x)
        self.label = self._class(self.own)
        assert self.model["classes"][self.label] == instance["class"], "not the class of x"
        self.rivals = [r for r in range(len(self.model["classes"])) if r != self.label]
        self.costs: list[int] = self.parameters.get("weights") or [1] * self.n
        # Where each row differs from x, and what it reaches.
        self.every_row = [
            (self._differs(row), leaves)
            for row in product(*choices)
            for leaves in [self._reached(row)]
        ]
        self.changes = {
            where for where, leaves in self.every_row if self._class(leaves) != self.label
        }

    def _ends(self, choices: list[list[Any]]) -> list[tuple[int, int]]:
        """Return column and sign of each side; 0 for a column without an order or x itself."""
        ends = []
        for a in sorted({a for tree in self.trees for a, _ in _tests(tree)}):
            own, others = self.x[a], {*choices[a]} - {self.x[a]}
            category = self.model["attributes"][a].get("kind") == "categorical"
            signs = {1 if v > own else -1 for v in others - {None} if own is not None}
            if own is None or category or self.sets[a] or (others and not signs):
                signs = {0}
            ends += [(a, sign) for sign in sorted(signs)]
        return ends

    def _differs(self, row: tuple[Any, ...]) -> frozenset[int]:
        """Return the features in which a row differs from x."""
        where = {a: v for a, (v, own) in enumerate(zip(row, self.x)) if v != own}
        if self.ends is None:
            return frozenset(where)

        def beyond(a: int, sign: int) -> bool:
            both = sign == 0 or where[a] is None
            return bool(both or (sign > 0) == (where[a] > self.x[a]))

        return frozenset(
            j for j, (a, sign) in enumerate(self.ends) if a in where and beyond(a, sign)
        )

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

    def _goes_left(self, a: int, j: int, cell: int) -> bool:
        above = j - len(self.thresholds[a])
        return cell in self.sets[a][above - 1] if above > 0 else cell <= j

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
        at = dict(zip(self.tests, row)) if self.free else None
        return tuple(self._walk(tree, row, at) for tree in self.trees)

    def _walk(self, node: Any, row: tuple[Any, ...], at: Mapping[Any, bool] | None) -> Any:
        while not isinstance(node[0], Fraction):
            a, j, missing, left, right = node
            if at is None:
                gone = row[a] is None
                goes_left = missing == "l" if gone else self._goes_left(a, j, row[a])
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
        if not self.required <= chosen or self.forbidden & chosen or self.side.broken(chosen):
            return None
        if not self.enough(chosen):
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

    @property
    def magnitude(self) -> int:
        leaves = {leaf for _, reached in self.every_row for leaf in reached}
        scale = max((v.denominator for leaf in leaves for v in leaf), default=1)
        greatest = max((abs(v) for leaf in leaves for v in leaf), default=Fraction(0))
        return int(sum(self.costs)) + int(greatest * scale) * len(self.trees)


class MinimumChange(SufficientReason):
    """The lightest columns of which some row that differs in them has a wanted class."""

    def __init__(self, instance: Instance) -> None:
        given = instance["parameters"]
        whole = {"level": "attributes", "definition": "sufficient", "unit": "0"}
        super().__init__({**instance, "parameters": whole})
        classes, target = self.model["classes"], given.get("target")
        self.wanted = {c for c in self.rivals if target is None or classes[c] == target}
        self.frozen = {*(given.get("frozen") or ())}
        self.costs = given.get("weights") or [1] * self.n
        self.changes = {
            where for where, leaves in self.every_row if self._class(leaves) in self.wanted
        }

    def value(self, features: Iterable[int]) -> Value | None:
        chosen = frozenset(features)
        if self.frozen & chosen or not any(where <= chosen for where in self.changes):
            return None
        return sum(self.costs[j] for j in chosen)


def _tests(node: Any) -> Iterator[tuple[int, int]]:
    if not isinstance(node[0], Fraction):
        yield node[0], node[1]
        yield from _tests(node[3])
        yield from _tests(node[4])
