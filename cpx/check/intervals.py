"""Conditions of answers on the columns of a forest, read as the cells that they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from cpx.check.forest import Forest

_SIGNS = {"<": False, "<=": False, ">": True, ">=": True}
"""Whether a bound is a lower one."""

_ABOUT = {"within", "one_of", "value"}


class Intervals:
    """Conditions on the columns of a forest that are true of x."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        # Thresholds that no tree tests cut nothing.
        self._limits = [
            [self._below(limit) for limit in limits] if column in forest.tested else []
            for column, limits in enumerate(forest.thresholds)
        ]

    def own(self, column: int) -> int:
        """Return the cell of x, the one after the last for a missing value."""
        value = self._forest.x[column]
        return len(self._limits[column]) + 1 if value is None else self._cell(column, value)

    def cells(self, column: int, said: Any) -> set[int] | None:
        """Return the cells that a condition allows, None if it is none that is true of x.

        said: ``{"column": name}`` with one of ``within``, intervals by their bounds
            ``[sign, number]``, none for "is not missing"; ``one_of``, labels; ``value``, null for
            a missing one.
        """
        own, every = self.own(column), {*range(len(self._limits[column]) + 1)}
        if not self._names(column, said):
            return None
        if self._says_value(column, said):
            return {own}
        if "one_of" in said:
            found = self._of_labels(column, said["one_of"])
        elif "within" in said:
            found = self._within(column, said["within"]) if said["within"] else every
        else:
            found = None
        return found if found and own in found else None

    def is_test(self, said: Any, column: int, place: int, holds: bool) -> bool:
        """Whether a condition says of a test of the model that it holds, or that it fails."""
        forest, last = self._forest, len(self._forest.thresholds[column])
        lefts = range(place + 1) if place < last else forest.set_of(column, place)
        wanted = {c for c in range(last + 1) if (c in lefts) == holds}
        if not self._names(column, said):
            return False
        if "labels" in forest.attributes[column]:
            return bool(said.get("one_of") == self._labels(column, wanted))
        return bool(said.get("within")) and self._within(column, said["within"]) == wanted

    def _names(self, column: int, said: Any) -> bool:
        if not isinstance(said, Mapping) or not said.keys() & _ABOUT or said.get("not"):
            return False
        own = self._forest.attributes[column]
        called = all(said.get(key, "") == own.get(key, "") for key in ("label", "unit"))
        return bool(said["column"] == own["name"]) and called

    def _says_value(self, column: int, said: Mapping[str, Any]) -> bool:
        """Whether it is the value of x, and the only one that its cell is known to have."""
        given, limits = self._forest.given[column], self._limits[column]
        listed = self._forest.listed(column) or []
        if "one_of" in said:
            labels = self._forest.attributes[column].get("labels") or []
            own = [label for label, value in zip(labels, listed) if value == given]
            equal = bool(own) and said["one_of"] == own
        else:
            equal = "value" in said and said["value"] == given
        alike = (self._cell(column, self._forest.cast(v)) == self.own(column) for v in listed)
        return equal and (given is None or not limits or sum(alike) == 1)

    def _cell(self, column: int, value: float) -> int:
        return sum(value > t for t in self._limits[column])

    def _labels(self, column: int, cells: set[int]) -> list[str]:
        """Return the labels of the values in some cells."""
        attribute = self._forest.attributes[column]
        pairs = zip(self._forest.listed(column) or (), attribute.get("labels") or ())
        return [w for v, w in pairs if self._cell(column, self._forest.cast(v)) in cells]

    def _of_labels(self, column: int, labels: list[str]) -> set[int] | None:
        """Return the cells of all values that are called so, and of no other ones."""
        every = range(len(self._limits[column]) + 1)
        found = {c for c in every if {*self._labels(column, {c})} & {*labels}}
        if not labels and not self._labels(column, own := {self.own(column)}):
            return own
        return found if self._labels(column, found) == labels else None

    def _within(self, column: int, within: Sequence[Sequence[tuple[str, float]]]) -> set[int]:
        """Return the cells of some intervals; none where these are not apart, or of no model."""
        found = [self._interval(column, bounds) for bounds in within]
        apart = all(found) and all(max(a) + 1 < min(b) for a, b in pairwise(found))
        return set().union(*found) if apart else set()

    def _interval(self, column: int, bounds: Sequence[tuple[str, float]]) -> set[int]:
        """Return the cells within bounds, the lower one first."""
        lower = [_SIGNS[sign] for sign, _ in bounds]
        places = [self._place(column, sign, number) for sign, number in bounds]
        if lower not in ([True, False], [True], [False]) or -1 in places:
            return set()
        low = places[0] + 1 if lower[0] else 0
        high = len(self._limits[column]) if lower[-1] else places[-1]
        return {*range(low, high + 1)}

    def _place(self, column: int, sign: str, number: float) -> int:
        """Return which threshold a bound is, -1 if it is none."""
        kind = np.float32 if self._forest.single else np.float64
        with np.errstate(over="ignore"):
            cut = kind(number)
        if sign in ("<", ">="):
            # Values are numbers of its type: none lies between it and the one before.
            cut = np.nextafter(cut, kind(-np.inf))
        limits = self._limits[column]
        return limits.index(float(cut)) if float(cut) in limits else -1

    def _below(self, limit: float) -> float:
        """Return the greatest number of the type of values that is no greater."""
        rounded = self._forest.cast(limit)
        if rounded <= limit:
            return rounded
        return float(np.nextafter(np.float32(rounded), np.float32(-np.inf)))
