"""Tree models as the checker reads them: exact numbers from JSON, trees walked test by test."""

from __future__ import annotations

import bisect
import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Node:
    """A leaf with its values, or the test ``value <= threshold`` of a column.

    lefts: For the test of a set, the cells between thresholds that go left; the threshold is NaN.
    """

    values: tuple[int, ...] = ()
    column: int = -1
    place: int = -1
    threshold: float = math.nan
    missing: str = "-"
    lefts: frozenset[int] | None = None
    left: Node | None = None
    right: Node | None = None


class Forest:
    """A saved model and row.

    trees: Leaf values have one integer per score, in units of ``1 / scale``.
    base: In the same unit.
    given, x: The row as it is saved, and as the tests see it.
    tested: The columns that some tree tests.
    refusing: The columns that some tree takes no missing value of.
    sets: For each column, the cells between thresholds that each of its sets has.
    conditions: Column and place of each test that can go both ways, in order: that of its
        threshold, or those after all thresholds for sets.
    derived: What judges derive from the trees for all rows alike.
    """

    def __init__(
        self,
        model: Mapping[str, Any],
        x: list[float | None],
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self.attributes, self.classes = model["attributes"], model["classes"]
        self.decision, self.strict = model["decision"], bool(model["strict"])
        self.single = model["cast"] == "float32"
        self.cast: Callable[[float], float] = _single if self.single else float
        self.given = x
        self.x = [None if v is None else self.cast(v) for v in x]
        self.thresholds = [[float.fromhex(t) for t in ts] for ts in model["thresholds"]]
        self._sorted: dict[int, list[float]] = {}
        given = model.get("sets") or [[] for _ in self.thresholds]
        self.sets = [[frozenset(cells) for cells in own] for own in given]
        numbers = [float.fromhex(v) for tree in model["trees"] for v in tree["values"]]
        start = [float.fromhex(v) for v in model["base"]]
        self.scale = max((v.as_integer_ratio()[1] for v in [*numbers, *start]), default=1)
        self.base = [self._integer(v) for v in start]
        self.trees = []
        for tree in model["trees"]:
            look()
            self.trees.append(self._tree(tree))
        self.tested = {a for tree in model["trees"] for a in tree["attribute"] if a >= 0}
        self.refusing = {
            column
            for tree in model["trees"]
            for (column, _), way in zip(_tests(tree), tree["missing"], strict=True)
            if way == "-"
        }
        places = {test for tree in model["trees"] for test in _tests(tree)}
        self.conditions = sorted(p for p in places if p[1] not in (-1, len(self.thresholds[p[0]])))
        self.derived: dict[object, Any] = {}

    def of_row(self, x: list[float | None]) -> Forest:
        """Return the same model with another row."""
        other = copy.copy(self)
        other.given, other.x = x, [None if v is None else self.cast(v) for v in x]
        return other

    def _integer(self, value: float) -> int:
        numerator, denominator = value.as_integer_ratio()
        return numerator * (self.scale // denominator)

    def _tree(self, tree: Mapping[str, Any]) -> Node:
        """Build the nodes from the last to the first: children come after their parent."""
        width, tests, end = len(tree["outputs"]), len(tree["split"]), len(tree["values"])
        done: list[Node] = []
        for column in reversed(tree["attribute"]):
            if column < 0:
                part = tree["values"][end - width : end]
                end -= width
                values = [0] * len(self.base)
                for score, text in zip(tree["outputs"], part, strict=True):
                    values[score] = self._integer(float.fromhex(text))
                done.append(Node(tuple(values)))
            else:
                tests -= 1
                place, limits = tree["split"][tests], self.thresholds[column]
                above, lefts = math.nan, None
                if place > len(limits):
                    lefts = self.set_of(column, place)
                elif 0 <= place < len(limits):
                    above = limits[place]
                else:
                    above = math.copysign(math.inf, place)
                way, left, right = tree["missing"][tests], done.pop(), done.pop()
                done.append(Node((), column, place, above, way, lefts, left, right))
        return done[0]

    # ------------------------------------------------------------- columns

    def some(self, column: int, low: float, high: float) -> bool:
        """Say whether a column can have a value v with low < v <= high."""
        if low >= high:
            return False
        attribute = self.attributes[column]
        kind = attribute.get("kind", "real")
        value = self.x[column]
        if value is not None and low < value <= high:
            return True
        listed = self._sorted.get(column)
        if listed is None:
            listed = self.listed(column)
        if listed is not None:
            if column not in self._sorted:
                self._sorted[column] = sorted(map(self.cast, listed))
            rounded = self._sorted[column]
            first = bisect.bisect_right(rounded, low)
            return first < len(rounded) and rounded[first] <= high
        least = float.fromhex(attribute["lower"]) if "lower" in attribute else -_LARGEST
        most = float.fromhex(attribute["upper"]) if "upper" in attribute else _LARGEST
        if kind == "integer":
            first = max(math.ceil(least), math.floor(max(low, -_LARGEST)) + 1)
            return first <= min(math.floor(most), math.floor(min(high, _LARGEST)))
        return low < self.cast(most) and self.cast(least) <= high

    def listed(self, column: int) -> list[float] | None:
        """Return all values of a column, None where they are not listed."""
        attribute = self.attributes[column]
        if "values" in attribute:
            return [float.fromhex(v) for v in attribute["values"]]
        return [0.0, 1.0] if attribute.get("kind") == "boolean" else None

    # ---------------------------------------------------------- conditions

    def holds(self, column: int, place: int) -> bool:
        """Say whether x passes a test."""
        value, limits = self.x[column], self.thresholds[column]
        assert value is not None
        cell = sum(value > t for t in limits)
        return cell <= place if place < len(limits) else cell in self.set_of(column, place)

    def set_of(self, column: int, place: int) -> frozenset[int]:
        """Return the cells of the set of a test."""
        return self.sets[column][place - len(self.thresholds[column]) - 1]


_LARGEST = float(np.finfo(np.float64).max)


def _single(value: float) -> float:
    with np.errstate(over="ignore"):  # beyond float32 is infinity
        return float(np.float32(value))


def _tests(tree: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    return zip([a for a in tree["attribute"] if a >= 0], tree["split"], strict=True)
