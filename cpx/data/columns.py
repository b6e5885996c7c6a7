"""Boolean features of columns, fitted: bins of numeric ones, values of categorical ones."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from cpx.data.categories import NUMBERS, as_categories, distinct, infinite, refused
from cpx.data.condition import Bounds, ColumnCondition, Equals, OneOf
from cpx.errors import DataError, shown
from cpx.support.cells import as_float, plain
from cpx.support.validation import real

__all__ = [
    "CategoryColumn",
    "Column",
    "NumberColumn",
    "as_numbers",
    "bits_of",
    "fit_column",
    "fit_columns",
    "groups_of",
    "literals_of",
    "names_of",
    "number",
    "short_between",
    "thresholds_of",
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

    def joined(self, chosen: dict[int, bool]) -> str | None:
        """Return one condition for several literals, None where they read best as they are.

        ``chosen`` maps feature to value, as x has them.
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
        span = self._span(chosen)
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

    def joined(self, chosen: dict[int, bool]) -> str | None:
        """Join the literals to one interval: "a > 1 and not (1 < a <= 2)" is "a > 2"."""
        if (span := self._span(chosen)) is None:
            return None
        low = self._cuts[span[0] - 1] if span[0] else None
        high = self._cuts[span[1]] if span[1] < len(self.thresholds) else None
        if high is None:
            return f"{self.name} > {low}"
        return f"{self.name} <= {high}" if low is None else f"{low} < {self.name} <= {high}"

    def _span(self, chosen: dict[int, bool]) -> tuple[int, int] | None:
        """Return the first and last bin that literals leave, None for all or what has gaps."""
        bins = len(self.thresholds) + 1
        if self.missing and not any(j < bins and value for j, value in chosen.items()):
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
        if (found[there] < 0).any():
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
    pairs = zip(columns, _values_of(table, numeric), strict=True)
    return np.column_stack([column.bits(values) for column, values in pairs])


def literals_of(columns: Sequence[Column], bits: BoolArray) -> list[str]:
    """Return the literals that are true of a row with these features."""
    found: list[str] = []
    for column in columns:
        found += column.literals(bits[len(found) : len(found) + len(column.names)])
    return found


# ------------------------------------------------------------------- fitting


def fit_columns(
    names: Sequence[str],
    table: pd.DataFrame,
    categorical: Container[int],
    cuts: Mapping[str, Sequence[Any]],
    parts: Sequence[str | None],
    of_dates: Callable[..., Column],
    **options: Any,
) -> tuple[Column, ...]:
    """Choose the features of all columns of a table, as :func:`fit_column` does of one.

    cuts: Those that a person gives, by column.
    parts: Of columns of dates, what is asked of them; None for other columns.
    of_dates: Fits these.
    """
    numeric, found = [c not in categorical for c in range(len(names))], list[Column]()
    columns = zip(names, _values_of(table, numeric), numeric, parts, strict=True)
    for name, values, number, part in columns:
        own = cuts.get(name)
        if part is None:
            found.append(fit_column(name, values, categorical=not number, cuts=own, **options))
        else:
            bins = {key: options[key] for key in ("n_bins", "strategy", "weights")}
            found.append(of_dates(name, values, part, cuts=own, **bins))
    return tuple(found)


def _values_of(table: pd.DataFrame, numeric: Sequence[bool]) -> Iterator[Values]:
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


def fit_column(
    name: str,
    values: Values,
    *,
    n_bins: int,
    strategy: Literal["quantile", "uniform"],
    categorical: bool,
    max_categories: int,
    weights: npt.NDArray[np.int64] | None = None,
    cuts: Sequence[Any] | None = None,
) -> Column:
    """Choose the features of a column, or raise DataError naming the column.

    Numbers become bins unless ``categorical`` says otherwise; text, truth values and
    the category type become categories.
    """
    if isinstance(values, np.ndarray):
        kind, there = "number", ~np.isnan(values)
    else:
        values = dense(values)
        kind, there = _kind(name, values, categorical), values.notna().to_numpy()
    if not there.any():
        raise DataError(f"column {shown(name)} has only missing values: drop it")
    missing = not there.all()
    present = values[there] if missing else values
    if kind == "category":
        if cuts is not None:
            raise DataError(f"column {shown(name)} has categories, which have no cuts")
        categories = distinct(name, pd.Series(present))
        if len(categories) > max_categories:
            raise DataError(
                f"column {shown(name)} has {len(categories)} categories, more than "
                "max_categories = "
                f"{max_categories}: drop the column, group its rare values, turn text that "
                "means numbers into numbers, or raise max_categories where it is a parameter"
            )
        return CategoryColumn(name, missing, categories)
    numbers = as_numbers(name, present)
    if weights is not None:
        weights = weights[there]
    if cuts is not None:
        thresholds = own_cuts(name, cuts)
    else:
        thresholds = thresholds_of(numbers, n_bins, strategy, weights)
    return NumberColumn(name, missing, thresholds, float(numbers[0]))


def own_cuts(name: str, given: Sequence[Any]) -> tuple[float, ...]:
    """Return the cuts that a person gives of a column, which must be increasing numbers."""
    cuts = [real(cut) for cut in given]
    found = tuple(cut + 0.0 for cut in cuts if cut is not None and math.isfinite(cut))
    if not given or len(found) < len(cuts) or any(a >= b for a, b in itertools.pairwise(found)):
        raise DataError(
            f"the cuts of column {shown(name)} must be increasing numbers, got {shown([*given])}"
        )
    return found


def _kind(name: str, values: pd.Series[Any], categorical: bool) -> str:
    """Say whether a column is of kind ``number`` or ``category``; refuse all others."""
    dtype = values.dtype
    if types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        raise refused(name, f"{dtype} values", "turn them into numbers, such as days or years")
    if types.is_complex_dtype(dtype):
        raise refused(name, "complex numbers", "Complex data not supported, split it in two")
    if isinstance(dtype, pd.CategoricalDtype) or types.is_bool_dtype(dtype):
        return "category"
    if types.is_object_dtype(dtype):
        present = as_categories(name, values[values.notna()])  # refuses nested objects
        textual = any(issubclass(t, (str, bool, pd.Interval)) for t in set(map(type, present)))
        return "category" if categorical or textual else "number"
    if types.is_string_dtype(dtype) or isinstance(dtype, pd.IntervalDtype):
        return "category"
    if types.is_numeric_dtype(dtype):
        return "category" if categorical else "number"
    raise refused(name, f"{dtype} values", "turn them into numbers or text")


def thresholds_of(
    numbers: FloatArray,
    n_bins: int,
    strategy: Literal["quantile", "uniform"],
    weights: npt.NDArray[np.int64] | None = None,
    between: Callable[[float, float, float], float] | None = None,
) -> tuple[float, ...]:
    """Return increasing thresholds, at most ``n_bins - 1``, each splitting the numbers.

    A split lies between two neighbouring distinct values and is neither of them. Quantiles
    take the gap whose share of values below comes closest to i / n_bins, equal widths the gap
    in which the i-th limit lies; equal gaps are merged. With at most n_bins distinct values, every
    gap is a split. A number of weight w counts as w equal ones do.

    between: Returns the split, of the two neighbours and the number wanted between them.
    """
    between = between or short_between
    distinct, counts = np.unique(numbers, return_counts=True)
    if weights is not None:
        counts = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(counts, np.searchsorted(distinct, numbers), weights)
    gaps = len(distinct) - 1
    if gaps < 1:
        return ()
    middle = distinct[:-1] / 2 + distinct[1:] / 2
    wanted: dict[int, float] = {}
    if gaps < n_bins:
        wanted = dict(enumerate(middle.tolist()))
    elif strategy == "quantile":
        below, total = np.cumsum(counts)[:-1] * n_bins, int(counts.sum())
        for i in range(1, n_bins):
            gap = int(np.argmin(np.abs(below - i * total)))
            wanted[gap] = float(middle[gap])
    else:
        low, high = float(distinct[0]), float(distinct[-1])
        for i in range(1, n_bins):
            limit = low * (1 - i / n_bins) + high * (i / n_bins)
            gap = min(int(np.searchsorted(distinct, limit, side="right")) - 1, gaps - 1)
            gap = max(gap, 0)
            # Two limits in one gap are one split, at the first of them.
            wanted.setdefault(gap, limit)
    return tuple(
        between(float(distinct[gap]), float(distinct[gap + 1]), wanted[gap])
        for gap in sorted(wanted)
    )


@lru_cache(maxsize=2**14)  # columns of the same numbers have the same cuts
def short_between(low: float, high: float, wanted: float) -> float:
    """Return the number t with ``low < t < high`` of the fewest digits near ``wanted``.

    Of the numbers with as few significant digits as possible next to ``wanted``, and 0,
    the one that is shortest to write is taken, and of these the closest to ``wanted``. Where
    ``wanted`` is no number between the two, the one in the middle takes its place. Between two
    neighbouring floats there is none: the lower one is returned.

    >>> short_between(14.87, 14.95, 14.91)
    14.9
    >>> short_between(1.0, 2.0, 1.5), short_between(0.0, 1.0, 0.0)
    (1.5, 0.5)
    """
    exact = Decimal(wanted if low < wanted < high else low / 2 + high / 2)
    for digits in range(1, 18):
        near = [
            float(Context(prec=digits, rounding=rounding).plus(exact))
            for rounding in (ROUND_FLOOR, ROUND_CEILING)
        ]
        fitting = [t for t in (*near, 0.0) if low < t < high]
        if fitting:
            return min(fitting, key=lambda t: (_digits(t), abs(t - wanted)))
    return low


def _digits(t: float) -> int:
    """Count the digits to write, zeros after the point included: 1 for 400, 3 for 0.04."""
    _, digits, exponent = Decimal(repr(t)).normalize().as_tuple()
    places = -int(exponent)
    return max(len(digits), places + 1)


# ------------------------------------------------------------ reading values


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
