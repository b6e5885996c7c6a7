"""Categories of a column as a library numbers them: values of an attribute, and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.condition import value_text
from cpx.errors import DataError, UnsupportedModel, nearest, shown
from cpx.trees.attribute import Attribute

Ranges = list[tuple[float, float]]
"""Values v with low < v <= high, for each pair."""


@dataclass(frozen=True)
class Categories:
    """What the categories of a column are, in the order in which a library numbers them.

    Numbers are values themselves; of others, texts mostly, the values are 0, 1, ... Labels are
    what they are in words.

    objects: As the library has them, none missing.
    name: Of the column, for errors.
    """

    objects: tuple[Any, ...]
    name: str

    @classmethod
    def of(cls, objects: Iterable[Any], name: str) -> Categories:
        """Return categories as Python values; a missing one at the end is left out.

        Raises UnsupportedModel: Where two are alike in words.
        """
        plain = [v.item() if isinstance(v, np.generic) else v for v in objects]
        if plain and (plain[-1] is None or plain[-1] != plain[-1]):
            plain.pop()
        found = cls(tuple(plain), name)
        if len({*found.labels}) < len(found.labels):
            raise UnsupportedModel(f"two categories of {shown(name)} are written alike")
        return found

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories in words."""
        if self.numeric and not any(isinstance(v, bool) for v in self.objects):
            return tuple(map(value_text, map(float, self.objects)))
        return tuple(map(str, self.objects))

    @cached_property
    def numeric(self) -> bool:
        """Whether the categories are numbers."""
        return all(isinstance(v, int | float) for v in self.objects)

    @cached_property
    def values(self) -> tuple[float, ...]:
        """The value of each category."""
        return tuple(map(float, self.objects if self.numeric else range(len(self.objects))))

    def attribute(self, name: str, missing: bool) -> Attribute:
        """Return the attribute that has one of these categories."""
        if not self.objects:
            return Attribute(name, missing=missing)
        values, labels = zip(*sorted(zip(self.values, self.labels)), strict=True)
        return Attribute(name, "categorical", None, None, values, missing, labels)

    def ranges(self, codes: Iterable[int], kind: type[np.floating[Any]] = np.float64) -> Ranges:
        """Return the values of the categories of some numbers, and of no others.

        kind: What the library compares in.
        Raises UnsupportedModel: When that does not tell the categories apart.
        """
        near = [kind(v) for v in self.values]
        if len({*map(float, near)}) < len(near):
            raise UnsupportedModel(
                f"the categories of {shown(self.name)} are numbers that {kind.__name__} does not "
                "tell apart: make them texts"
            )
        chosen = sorted(near[code] for code in codes if 0 <= code < len(near))
        return [(float(np.nextafter(v, kind(-np.inf))), float(v)) for v in chosen]

    def column(self, values: NDArray[np.float64]) -> Any:
        """Return a column of pandas as the library takes it; what is no value is missing."""
        import pandas as pd

        numbers = {value: code for code, value in enumerate(self.values)}
        codes = [numbers.get(value, -1) for value in values.tolist()]
        return pd.Categorical.from_codes(codes, categories=pd.Index(list(self.objects)))


def whole_numbers(codes: Iterable[int], kind: type[np.floating[Any]] = np.float64) -> Ranges:
    """Return the values that are cut to these whole numbers of at least 0, towards 0.

    >>> whole_numbers([0, 2], np.float32)
    [(-1.0, 0.9999999403953552), (1.9999998807907104, 2.999999761581421)]
    """
    return [
        (-1.0 if code == 0 else _before(code, kind), _before(code + 1, kind))
        for code in sorted({*codes})
    ]


def _before(number: int, kind: type[np.floating[Any]]) -> float:
    return float(np.nextafter(kind(number), kind(-np.inf)))


def outside(ranges: Ranges) -> Ranges:
    """Return the values that are in none of some ranges, which increase.

    >>> outside([(0.0, 1.0), (1.0, 2.0)])
    [(-inf, 0.0), (2.0, inf)]
    """
    ends = [-np.inf, *(end for pair in ranges for end in pair), np.inf]
    return [(low, high) for low, high in zip(ends[::2], ends[1::2]) if low < high]


def value_of(attribute: Attribute, label: str) -> float:
    """Return the value of an attribute that is called so.

    Raises DataError: When none is.
    """
    labels, values = attribute.labels or (), attribute.values or ()
    if label in labels:
        return values[labels.index(label)]
    raise DataError(
        f"{shown(attribute.name)} is {shown(label)}, none of its {len(values)} categories"
        f"{nearest(label, labels)}"
    )
