"""Boolean features of columns, fitted: bins of numeric ones, values of categorical ones."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from cpx.data.categories import NUMBERS, as_categories, infinite
from cpx.data.condition import Bounds, ColumnCondition, Equals, OneOf
from cpx.errors import DataError, shown
from cpx.support.cells import as_float, plain

__all__ = [
    "CategoryColumn",
    "Column",
    "NumberColumn",
    "as_numbers",
    "bits_of",
    "dense",
    "groups_of",
    "literals_of",
    "names_of",
    "number",
    "values_of",
]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Values: TypeAlias = "pd.Series[Any] | FloatArray"
"""A column as it is in a table, or finite numbers (NaN where one is missing)."""

_CELLS = 2**22
"""That are turned into numbers at once."""


@dataclass(frozen=True)
class Column(ABC):
    """The Boolean features of one column; the last one is "is missing" when that was seen.

    name: Name of the column as printed.
    missing: Whether missing values were seen in fit, so that there is a feature for them.
    """

    name: str
    missing: bool

    @property
    def source(self) -> str:
        """The column of the table that it is about."""
        return self.name

    def of_cell(self, cell: Any) -> Any:
        """Return what a row has, of the value of that column."""
        return cell

    def drawn(self, values: Any) -> Any:
        """Return values of that column of the table as a picture shows them."""
        return values

    def drawn_span(self, ends: Sequence[float | None]) -> tuple[float | None, float | None]:
        """Return the ends of an interval as a picture shows them."""
        low, high = ends
        return low, high

    @property
    @abstractmethod
    def value_names(self) -> list[str]:
        """Positive literals of the values that are there."""

    @abstractmethod
    def negation(self, i: int, loose: bool) -> str:
        """Negative literal of value feature i; ``loose`` when x may be outside all bins."""

    @abstractmethod
    def codes(self, values: Values) -> IntArray:
        """Return which value feature each entry has; -1 for none, as for a missing value."""

    @property
    def missing_names(self) -> tuple[str, str]:
        """Literals of the feature for missing values: that it is true, and that it is false."""
        return f"{self.name} is missing", f"{self.name} is known"

    @property
    def names(self) -> list[str]:
        """Positive literals of all features."""
        return self.value_names + ([self.missing_names[0]] if self.missing else [])

    def literals(self, bits: BoolArray) -> list[str]:
        """Return the literals true of a row with these bits."""
        names = self.names
        # "a > 1" is the negation of "a <= 1" only for values that are there and in a bin.
        loose = self.missing or not bits.any()
        known = len(self.value_names)
        return [
            names[i] if bit else (self.negation(i, loose) if i < known else self.missing_names[1])
            for i, bit in enumerate(bits.tolist())
        ]

    def joined(self, chosen: dict[int, bool], loose: bool = False) -> str | None:
        """Return one condition for several literals, None where they read best as they are.

        chosen: The value of features, as x has them.
        loose: Whether a missing value satisfies them, where they are negated.
        """
        return None

    def said(self, chosen: dict[int, bool], loose: bool) -> list[ColumnCondition]:
        """Return what several literals mean together, as conditions on the column."""
        known = len(self.value_names)
        return [
            self._value(j, not true, loose)
            if j < known
            else Equals(self.name, None, negated=not true)
            for j, true in chosen.items()
        ]

    @abstractmethod
    def _value(self, i: int, negated: bool, loose: bool) -> ColumnCondition:
        """Return value feature i as a condition, or that it is not so."""

    def bits(self, values: Values) -> BoolArray:
        """Return the features of a whole column, shape (n, number of features)."""
        known: BoolArray = self.codes(values)[:, None] == np.arange(len(self.value_names))
        if not self.missing:
            return known
        return np.column_stack([known, np.asarray(pd.isna(values), dtype=bool)])


@dataclass(frozen=True)
class NumberColumn(Column):
    """Bins ``(-inf, t1], (t1, t2], ..., (tk, inf)``, or one number when k is 0."""

    thresholds: tuple[float, ...]
    constant: float

    closed_left: ClassVar[bool] = False
    """Whether a bin has its lower end and not its upper one."""

    def numbers(self, values: Values) -> FloatArray:
        """Return the numbers that are in bins."""
        return as_numbers(self.name, values)

    def of_cell(self, cell: Any) -> Any:
        return cell if self.source == self.name else float(self.numbers(pd.Series([cell]))[0])

    def literal(self, number: float, quote: str) -> str:
        """Return a number as SQL and Python have it; what is no number is quoted."""
        return repr(float(number))

    @cached_property
    def value_names(self) -> list[str]:
        cuts = self._cuts
        if not cuts:
            return [f"{self.name} = {number(self.constant)}"]
        inner = [f"{a} < {self.name} <= {b}" for a, b in itertools.pairwise(cuts)]
        return [f"{self.name} <= {cuts[0]}", *inner, f"{self.name} > {cuts[-1]}"]

    @cached_property
    def _cuts(self) -> list[str]:
        return [number(t) for t in self.thresholds]

    def negation(self, i: int, loose: bool) -> str:
        cuts = self._cuts
        if not cuts:
            return f"{self.name} != {number(self.constant)}"
        if not loose and i == 0:
            return f"{self.name} > {cuts[0]}"
        if not loose and i == len(cuts):
            return f"{self.name} <= {cuts[-1]}"
        return f"not ({self.value_names[i]})"

    def said(self, chosen: dict[int, bool], loose: bool) -> list[ColumnCondition]:
        span = self._span(chosen, loose)
        return super().said(chosen, loose) if span is None else [self._bounds(*span)]

    def _value(self, i: int, negated: bool, loose: bool) -> ColumnCondition:
        last = len(self.thresholds)
        if not last:
            return Equals(self.name, self.constant, negated=negated)
        if negated and not loose and i in (0, last):
            return self._bounds(*((1, last) if i == 0 else (0, last - 1)))
        return replace(self._bounds(i, i), negated=negated)

    def _bounds(self, low: int, high: int) -> Bounds:
        """Return that the value is in the bins from low to high."""
        cuts, ends = self.thresholds, list[tuple[str, float]]()
        if low > 0:
            ends.append((">", float(cuts[low - 1])))
        if high < len(cuts):
            ends.append(("<=", float(cuts[high])))
        return Bounds(self.name, (tuple(ends),))

    def codes(self, values: Values) -> IntArray:
        v = self.numbers(values)
        if not self.thresholds:
            return np.where(v == self.constant, 0, -1)
        side: Literal["left", "right"] = "right" if self.closed_left else "left"
        return np.where(np.isnan(v), -1, np.searchsorted(self.thresholds, v, side=side))

    def joined(self, chosen: dict[int, bool], loose: bool = False) -> str | None:
        """Join the literals to one interval: "a > 1 and not (1 < a <= 2)" is "a > 2"."""
        return None if (span := self._span(chosen, loose)) is None else self.between(*span)

    def between(self, first: int, last: int) -> str:
        """Return in words that the value is in the bins from the first to the last."""
        low = self._cuts[first - 1] if first else None
        high = self._cuts[last] if last < len(self.thresholds) else None
        if high is None:
            return f"{self.name} > {low}"
        return f"{self.name} <= {high}" if low is None else f"{low} < {self.name} <= {high}"

    def _span(self, chosen: dict[int, bool], loose: bool) -> tuple[int, int] | None:
        """Return the first and last bin that literals leave, None for all or what has gaps."""
        bins = len(self.thresholds) + 1
        loose |= self.missing
        if loose and not any(j < bins and value for j, value in chosen.items()):
            return None  # the literals may hold of a missing value, an interval does not
        wanted = {j for j, value in chosen.items() if value}
        allowed = sorted(wanted or set(range(bins)) - set(chosen))
        if len(allowed) < 1 or allowed != list(range(allowed[0], allowed[-1] + 1)):
            return None
        return None if len(allowed) == bins else (allowed[0], allowed[-1])


@dataclass(frozen=True)
class CategoryColumn(Column):
    """One feature per category seen in fit."""

    categories: tuple[Any, ...]

    @cached_property
    def value_names(self) -> list[str]:
        return [f"{self.name} = {text}" for text in self._texts]

    @cached_property
    def _texts(self) -> list[str]:
        return _category_texts(self.categories)

    def negation(self, i: int, loose: bool) -> str:
        return f"{self.name} != {self._texts[i]}"

    def _value(self, i: int, negated: bool, loose: bool) -> ColumnCondition:
        return OneOf(self.name, (self._texts[i],), negated=negated)

    def codes(self, values: Values) -> IntArray:
        values = pd.Series(values)
        there = values.notna().to_numpy(dtype=bool)
        place = {category: i for i, category in enumerate(self.categories)}
        found = np.full(len(values), -1, dtype=np.intp)
        entries = as_categories(self.name, values[there])
        found[there] = [place.get(v, -1) for v in entries]
        if self.categories and (found[there] < 0).any():
            self._refuse_other_kind(entries)
        return found

    def _refuse_other_kind(self, entries: list[Any]) -> None:
        """Refuse a number where there were only texts, as a text is where there were numbers."""
        for kinds, what in ((str, "texts"), (NUMBERS, "numbers")):
            if all(isinstance(category, kinds) for category in self.categories):
                for value in entries:
                    if not isinstance(value, kinds):
                        raise DataError(
                            f"column {shown(self.name)} holds {what}, got {shown(value)}"
                        )


def names_of(columns: Sequence[Column]) -> list[str]:
    """Return the positive literals of columns."""
    return [name for column in columns for name in column.names]


def groups_of(columns: Sequence[Column]) -> npt.NDArray[np.int64]:
    """Return the position of the column that each feature comes from."""
    return np.repeat(np.arange(len(columns)), [len(column.names) for column in columns])


def bits_of(columns: Sequence[Column], table: pd.DataFrame) -> BoolArray:
    """Return the features of a table that has these columns, in their order."""
    if len(columns) != table.shape[1]:
        raise ValueError(f"{len(columns)} columns were fitted, the table has {table.shape[1]}")
    numeric = [isinstance(column, NumberColumn) for column in columns]
    at = np.cumsum([0, *(len(column.names) for column in columns)]).tolist()
    found = np.empty((len(table), at[-1]), dtype=np.bool_)
    for c, (column, values) in enumerate(zip(columns, values_of(table, numeric), strict=True)):
        found[:, at[c] : at[c + 1]] = column.bits(values)
    return found


def literals_of(columns: Sequence[Column], bits: BoolArray) -> list[str]:
    """Return the literals that are true of a row with these features."""
    found: list[str] = []
    for column in columns:
        found += column.literals(bits[len(found) : len(found) + len(column.names)])
    return found


# ------------------------------------------------------------ reading values


def values_of(table: pd.DataFrame, numeric: Sequence[bool]) -> Iterator[Values]:
    """Yield the columns of a table: finite numbers as arrays where they are wanted as numbers.

    They are made of many columns at once, which takes a hundredth of the time.
    """
    width = max(1, _CELLS // max(1, len(table)))
    for start in range(0, table.shape[1], width):
        part = table.iloc[:, start : start + width]
        plain = [
            wanted and isinstance(dtype, np.dtype) and dtype.kind in "iuf"
            for dtype, wanted in zip(part.dtypes, numeric[start:], strict=False)
        ]
        numbers = part.loc[:, plain].to_numpy(dtype=np.float64)
        # Infinite ones are refused one by one, and integers that no float may hold.
        strange = (np.abs(numbers) >= 2.0**53).any(axis=0)
        arrays = zip(np.ascontiguousarray(numbers.T), strange, strict=True)
        for c, whole in enumerate(plain):
            values, refused = next(arrays) if whole else (None, True)
            yield part.iloc[:, c] if refused or values is None else values


def dense(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as it is, or a sparse one in the usual form."""
    if isinstance(values.dtype, pd.SparseDtype):
        return pd.Series(np.asarray(values), index=values.index)
    return values


def as_numbers(name: str, values: Values) -> FloatArray:
    """Return values as floats, NaN for missing ones, or raise DataError naming the column."""
    if isinstance(values, np.ndarray):
        return values  # finite, and floats already
    values = dense(values)
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf":
        numbers = values.to_numpy(dtype=np.float64)
        strange = np.isinf(numbers)
        if values.dtype.kind in "iu":
            for value in values.to_numpy()[np.abs(numbers) >= 2.0**53]:
                as_float(f"column {shown(name)}", value)
    else:
        there = values.notna().to_numpy(dtype=bool)
        numbers = np.full(len(values), np.nan)
        numbers[there] = _floats(name, values[there])
        strange = there & ~np.isfinite(numbers)
    if strange.any():
        raise infinite(name, numbers[strange][0])
    return numbers


def _floats(name: str, present: pd.Series[Any]) -> FloatArray:
    if types.is_float_dtype(present.dtype) or types.is_bool_dtype(present.dtype):
        return present.to_numpy(dtype=np.float64)
    entries = [plain(value) for value in present.astype(object).tolist()]
    for value in entries:
        if not isinstance(value, (*NUMBERS, np.bool_)):
            raise DataError(f"column {shown(name)} holds numbers, got {shown(value)}")
    return np.array([as_float(f"column {shown(name)}", value) for value in entries])


def _category_texts(categories: Sequence[Any]) -> list[str]:
    """Return how categories are printed: quoted where plain text would mislead."""
    plain = [
        str(value) if isinstance(value, (bool, str, pd.Interval)) else number(value)
        for value in categories
    ]
    odd = [text != text.strip() or not text.isprintable() or not text for text in plain]
    return [
        repr(value) if strange or plain.count(text) > 1 else text
        for value, text, strange in zip(categories, plain, odd)
    ]


def number(value: Any) -> str:
    """Return the shortest text that reads back as the same number.

    >>> number(3.0), number(14.9), number(-0.0)
    ('3', '14.9', '0')
    """
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e16):
        return str(int(value))
    return repr(float(value))
