"""Intervals in printed conditions on columns, parsed to the cells that they cover."""

from __future__ import annotations

from typing import Any

import numpy as np

from cpx.check.forest import Forest


def shortest(number: np.floating[Any]) -> str:
    """Return the fewest digits that read back as the same number of its type."""
    plain = number == 0 or 1e-4 <= abs(float(number)) < 1e16
    write = np.format_float_positional if plain else np.format_float_scientific
    return str(write(number, trim="-"))


def value_words(value: float) -> str:
    """Return a value in six digits, or in all where these are another number's."""
    text, exact = f"{value:g}", float(value)
    with np.errstate(over="ignore"):
        if exact in (float(text), float(np.float32(text))):
            return text
    return str(int(exact)) if exact.is_integer() and abs(exact) < 1e16 else repr(exact)


_OTHER = "is of another category"


class Intervals:
    """Conditions on the columns of a forest that are true of x."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        # Thresholds that no tree tests cut nothing.
        self._limits = [
            limits if column in forest.tested else []
            for column, limits in enumerate(forest.thresholds)
        ]

    def test(self, column: int, place: int, holds: bool) -> str:
        """Return a test of the model, or what is true where it fails."""
        forest, last = self._forest, len(self._forest.thresholds[column])
        if place > last or "labels" in forest.attributes[column]:
            cells = range(place + 1) if place < last else forest.set_of(column, place)
            return self._in_cells(column, [c for c in range(last + 1) if (c in cells) == holds])
        return self._side(column, place, holds)

    def _in_cells(self, column: int, cells: list[int]) -> str:
        """Return the words of some cells, neither all nor none."""
        attribute, limits = self._forest.attributes[column], self._limits[column]
        if "labels" in attribute:
            places = [
                sum(self._forest.cast(float.fromhex(v)) > t for t in limits)
                for v in attribute["values"]
            ]
            found = [w for w, c in zip(attribute["labels"], places, strict=True) if c in cells]
            if len(found) < 2:
                return f"{attribute['name']} " + (f"= {found[0]}" if found else _OTHER)
            return f"{attribute['name']} is one of {len(found)} ({', '.join(found)})"
        ends = [c for c in cells if c + 1 not in cells]
        firsts = [c for c in cells if c - 1 not in cells]
        runs = zip(firsts, ends, strict=True)
        return " or ".join(self._between(column, low, high) for low, high in runs)

    def _between(self, column: int, low: int, high: int) -> str:
        if low == 0:
            return self._side(column, high, holds=True)
        if high == len(self._limits[column]):
            return self._side(column, low - 1, holds=False)
        sign, number = self._bound(column, low - 1, holds=False)
        return f"{number} {sign.replace('>', '<')} {self._side(column, high, holds=True)}"

    def _side(self, column: int, place: int, holds: bool) -> str:
        name = self._forest.attributes[column]["name"]
        sign, number = self._bound(column, place, holds)
        return f"{name} {sign} {number}"

    def _bound(self, column: int, place: int, holds: bool) -> tuple[str, str]:
        forest, threshold = self._forest, self._forest.thresholds[column][place]
        upto = np.float32(threshold) if forest.single else np.float64(threshold)
        # No value lies between it and the next number: the shorter of the two is printed.
        texts = [shortest(n) for n in (upto, np.nextafter(upto, type(upto)(np.inf)))]
        below = len(texts[1]) < len(texts[0]) + forest.strict
        signs = {(True, True): "<", (True, False): ">=", (False, True): "<=", (False, False): ">"}
        return signs[below, holds], texts[below]

    def own(self, column: int) -> tuple[int, int]:
        """Return the cell of x as a range, the one after the last for a missing value."""
        value, limits = self._forest.x[column], self._limits[column]
        place = len(limits) + 1 if value is None else sum(value > t for t in limits)
        return place, place

    def text(self, column: int, low: int, high: int) -> str:
        """Return the words of a range of cells."""
        forest, limits = self._forest, self._limits[column]
        name, last = forest.attributes[column]["name"], len(limits)
        value = forest.given[column]
        if value is None:
            return f"{name} is missing"
        listed = forest.listed(column)
        inside = [
            v for v in listed or () if low <= sum(forest.cast(v) > t for t in limits) <= high
        ]
        if (low, high) == (0, last) or (last and len(inside) == 1):
            return f"{name} = {self._called(column, value)}"
        return self._in_cells(column, [*range(low, high + 1)])

    def _called(self, column: int, value: float) -> str:
        labels, listed = self._forest.attributes[column].get("labels"), self._forest.listed(column)
        if labels and listed and value in listed:
            return str(labels[listed.index(value)])
        return value_words(value)

    def range_of(self, column: int, words: str) -> tuple[int, int] | None:
        """Return the cells around x that a condition stands for, None if it is of no such."""
        place, _ = self.own(column)
        last = len(self._limits[column])
        if words == self.text(column, place, place):
            return place, place
        if words == f"{self._forest.attributes[column]['name']} is not missing":
            return (0, last) if place <= last else None
        plain = "labels" not in self._forest.attributes[column]
        for high in range(place, last + 1):
            if high == last or not plain or words.endswith(self._side(column, high, holds=True)):
                for low in range(place + 1):
                    # A condition says something: a column of any value is none.
                    if (low, high) != (0, last) and words == self.text(column, low, high):
                        return low, high
        return None
