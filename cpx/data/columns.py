"""One column of a table as Boolean features: bins of numbers, values of categories."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from cpx.errors import DataError

__all__ = ["CategoryColumn", "Column", "NumberColumn", "fit_column", "short_between"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

_NUMBERS = (int, float, np.integer, np.floating)  # bool is an int
_FLOATS = (float, np.floating)
_CATEGORIES = (str, *_NUMBERS, pd.Interval)
_NUMPY = (np.bool_, np.number, np.str_)


@dataclass(frozen=True)
class Column(ABC):
    """The Boolean features of one column; the last one is "is missing" when that was seen.

    Attributes
    ----------
    name : str
        Name of the column as printed.
    missing : bool
        Whether missing values were seen in fit, so that there is a feature for them.
    """

    name: str
    missing: bool

    @property
    @abstractmethod
    def value_names(self) -> list[str]:
        """Positive literals of the values that are there."""

    @abstractmethod
    def negation(self, i: int, loose: bool) -> str:
        """Negative literal of value feature i; ``loose`` when x may be outside all bins."""

    @abstractmethod
    def value_bits(self, values: pd.Series[Any]) -> BoolArray:
        """Return the features of the values that are there, one row per value."""

    @property
    def names(self) -> list[str]:
        """Positive literals of all features."""
        return self.value_names + ([f"{self.name} is missing"] if self.missing else [])

    def literals(self, bits: BoolArray) -> list[str]:
        """Return the literals true of a row with these bits."""
        names = self.names
        # "a > 1" is the negation of "a <= 1" only for values that are there and in a bin.
        loose = self.missing or not bits.any()
        known = len(self.value_names)
        return [
            names[i]
            if bit
            else (self.negation(i, loose) if i < known else f"{self.name} is known")
            for i, bit in enumerate(bits)
        ]

    def joined(self, chosen: dict[int, bool]) -> str | None:
        """Return one condition for several literals, None where they read best as they are.

        ``chosen`` maps feature to value, as x has them.
        """
        return None

    def bits(self, values: pd.Series[Any]) -> BoolArray:
        """Return the features of a whole column, shape (n, number of features)."""
        gone = values.isna().to_numpy(dtype=bool)
        known = len(self.value_names)
        result = np.zeros((len(values), known + self.missing), dtype=bool)
        result[~gone, :known] = self.value_bits(values[~gone])
        if self.missing:
            result[:, known] = gone
        return result


@dataclass(frozen=True)
class NumberColumn(Column):
    """Bins ``(-inf, t1], (t1, t2], ..., (tk, inf)``, or one number when k is 0."""

    thresholds: tuple[float, ...]
    constant: float

    @property
    def value_names(self) -> list[str]:
        cuts = [number(t) for t in self.thresholds]
        if not cuts:
            return [f"{self.name} = {number(self.constant)}"]
        inner = [f"{a} < {self.name} <= {b}" for a, b in itertools.pairwise(cuts)]
        return [f"{self.name} <= {cuts[0]}", *inner, f"{self.name} > {cuts[-1]}"]

    def negation(self, i: int, loose: bool) -> str:
        if not self.thresholds:
            return f"{self.name} != {number(self.constant)}"
        if not loose and i == 0:
            return f"{self.name} > {number(self.thresholds[0])}"
        if not loose and i == len(self.thresholds):
            return f"{self.name} <= {number(self.thresholds[-1])}"
        return f"not ({self.value_names[i]})"

    def value_bits(self, values: pd.Series[Any]) -> BoolArray:
        v = as_numbers(self.name, values)
        if not self.thresholds:
            return _one_hot(np.where(v == self.constant, 0, -1), 1)
        bins = np.searchsorted(np.array(self.thresholds), v, side="left")
        return _one_hot(bins, len(self.thresholds) + 1)

    def joined(self, chosen: dict[int, bool]) -> str | None:
        """Join the literals to one interval: "a > 1 and not (1 < a <= 2)" is "a > 2"."""
        bins = len(self.thresholds) + 1
        if self.missing and not any(j < bins and value for j, value in chosen.items()):
            return None  # the literals may hold of a missing value, an interval does not
        wanted = {j for j, value in chosen.items() if value}
        allowed = sorted(wanted or set(range(bins)) - set(chosen))
        if len(allowed) < 1 or allowed != list(range(allowed[0], allowed[-1] + 1)):
            return None
        low = number(self.thresholds[allowed[0] - 1]) if allowed[0] > 0 else None
        high = number(self.thresholds[allowed[-1]]) if allowed[-1] < bins - 1 else None
        if low is None and high is None:
            return None
        if high is None:
            return f"{self.name} > {low}"
        return f"{self.name} <= {high}" if low is None else f"{low} < {self.name} <= {high}"


@dataclass(frozen=True)
class CategoryColumn(Column):
    """One feature per category seen in fit."""

    categories: tuple[Any, ...]

    @property
    def value_names(self) -> list[str]:
        return [f"{self.name} = {text}" for text in _category_texts(self.categories)]

    def negation(self, i: int, loose: bool) -> str:
        return f"{self.name} != {_category_texts(self.categories)[i]}"

    def value_bits(self, values: pd.Series[Any]) -> BoolArray:
        place = {category: i for i, category in enumerate(self.categories)}
        codes = [place.get(value, -1) for value in as_categories(self.name, values)]
        return _one_hot(np.array(codes, dtype=np.int64), len(self.categories))


def _one_hot(codes: npt.NDArray[np.int64], width: int) -> BoolArray:
    """Return a row per code with a 1 in its place; none for a code outside 0..width-1."""
    result: BoolArray = codes[:, None] == np.arange(width)
    return result


def fit_column(
    name: str,
    values: pd.Series[Any],
    *,
    n_bins: int,
    strategy: Literal["quantile", "uniform"],
    categorical: bool,
    max_categories: int,
) -> Column:
    """Choose the features of a column, or raise DataError naming the column.

    Numbers become bins unless ``categorical`` says otherwise; text, truth values and
    the category type become categories.
    """
    values = _dense(values)
    kind = _kind(name, values, categorical)
    present = values[values.notna()]
    if present.empty:
        raise DataError(f"column {name!r} has only missing values: drop it")
    missing = len(present) < len(values)
    if kind == "category":
        categories = _categories(name, present)
        if len(categories) > max_categories:
            raise DataError(
                f"column {name!r} has {len(categories)} categories, more than max_categories = "
                f"{max_categories}: drop the column, group its rare values, turn text that "
                "means numbers into numbers, or raise max_categories where it is a parameter"
            )
        return CategoryColumn(name, missing, categories)
    numbers = as_numbers(name, present)
    return NumberColumn(name, missing, _thresholds(numbers, n_bins, strategy), float(numbers[0]))


def _dense(values: pd.Series[Any]) -> pd.Series[Any]:
    if isinstance(values.dtype, pd.SparseDtype):
        return pd.Series(np.asarray(values), index=values.index)
    return values


def _kind(name: str, values: pd.Series[Any], categorical: bool) -> str:
    """Say whether a column is of kind ``number`` or ``category``; refuse all others."""
    dtype = values.dtype
    if types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        raise _refused(name, f"{dtype} values", "turn them into numbers, such as days or years")
    if types.is_complex_dtype(dtype):
        raise _refused(name, "complex numbers", "Complex data not supported, split it in two")
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
    raise _refused(name, f"{dtype} values", "turn them into numbers or text")


def _refused(name: str, what: str, advice: str) -> DataError:
    return DataError(f"column {name!r} holds {what}, which cannot be treated: {advice}")


def as_numbers(name: str, values: pd.Series[Any]) -> FloatArray:
    """Return present values as finite floats, or raise DataError naming the column."""
    values = _dense(values)
    if types.is_numeric_dtype(values.dtype) and not types.is_complex_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64)
    else:
        entries = values.astype(object).tolist()
        for value in entries:
            if not isinstance(value, (*_NUMBERS, np.bool_)):
                raise DataError(f"column {name!r} holds numbers, got {value!r}")
        try:
            numbers = np.array([float(value) for value in entries], dtype=np.float64)
        except OverflowError as error:
            raise DataError(f"column {name!r} has a number too large for a float") from error
    if not np.isfinite(numbers).all():
        value = numbers[~np.isfinite(numbers)][0]
        raise DataError(
            f"column {name!r} has an infinite value ({value}): replace it by a number or by "
            "a missing value"
        )
    return numbers


def as_categories(name: str, values: pd.Series[Any]) -> list[Any]:
    """Return present values as Python objects, or raise DataError naming the column."""
    entries: list[Any] = values.astype(object).tolist()
    # Columns are long and their types are few, so these are looked at instead of values.
    kinds = set(map(type, entries))
    if any(issubclass(kind, _NUMPY) for kind in kinds):
        # datetime64.item() may be a plain int, so dates stay as they are and are refused.
        entries = [v.item() if isinstance(v, _NUMPY) else v for v in entries]
        kinds = set(map(type, entries))
    if not all(issubclass(kind, _CATEGORIES) for kind in kinds):
        value = next(v for v in entries if not isinstance(v, _CATEGORIES))
        raise _refused(name, f"{type(value).__name__} objects", "turn them into numbers or text")
    if any(issubclass(kind, _FLOATS) for kind in kinds):
        for value in entries:
            if isinstance(value, _FLOATS) and math.isinf(value):
                raise DataError(
                    f"column {name!r} has an infinite value ({value}): replace it by a number "
                    "or by a missing value"
                )
    return entries


def _categories(name: str, present: pd.Series[Any]) -> tuple[Any, ...]:
    """Return the distinct values: in the order of the category type, else sorted."""
    seen = set(as_categories(name, present))
    if isinstance(present.dtype, pd.CategoricalDtype):
        declared = as_categories(name, pd.Series(present.dtype.categories))
        return tuple(value for value in declared if value in seen)
    numbers = sorted(value for value in seen if isinstance(value, _NUMBERS))
    intervals = sorted(value for value in seen if isinstance(value, pd.Interval))
    return (*numbers, *intervals, *sorted(value for value in seen if isinstance(value, str)))


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

    Examples
    --------
    >>> number(3.0), number(14.9), number(-0.0)
    ('3', '14.9', '0')
    """
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e16):
        return str(int(value))
    return repr(float(value))


def _thresholds(
    numbers: FloatArray, n_bins: int, strategy: Literal["quantile", "uniform"]
) -> tuple[float, ...]:
    """Return increasing thresholds, at most ``n_bins - 1``, each splitting the numbers.

    A split lies in a gap between two neighbouring distinct values. Quantiles take the gap
    whose share of values below comes closest to i / n_bins, equal widths the gap in which
    the i-th limit lies; equal gaps are merged. With at most n_bins distinct values, every
    gap is a split.
    """
    distinct, counts = np.unique(numbers, return_counts=True)
    gaps = len(distinct) - 1
    if gaps < 1:
        return ()
    middle = distinct[:-1] / 2 + distinct[1:] / 2
    wanted: dict[int, float] = {}
    if gaps < n_bins:
        wanted = dict(enumerate(middle.tolist()))
    elif strategy == "quantile":
        below = np.cumsum(counts)[:-1] * n_bins
        for i in range(1, n_bins):
            gap = int(np.argmin(np.abs(below - i * len(numbers))))
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
        short_between(float(distinct[gap]), float(distinct[gap + 1]), wanted[gap])
        for gap in sorted(wanted)
    )


def short_between(low: float, high: float, wanted: float) -> float:
    """Return the number t with ``low <= t < high`` of the fewest digits near ``wanted``.

    Of the numbers with as few significant digits as possible next to ``wanted``, and 0,
    the one that is shortest to write is taken, and of these the closest to ``wanted``.

    Examples
    --------
    >>> short_between(14.87, 14.95, 14.91)
    14.9
    >>> short_between(1.0, 2.0, 1.5), short_between(0.0, 1.0, 0.5)
    (1.0, 0.0)
    """
    exact = Decimal(wanted)
    for digits in range(1, 17):
        near = [
            float(Context(prec=digits, rounding=rounding).plus(exact))
            for rounding in (ROUND_FLOOR, ROUND_CEILING)
        ]
        fitting = [t for t in (*near, 0.0) if low <= t < high]
        if fitting:
            return min(fitting, key=lambda t: (_digits(t), abs(t - wanted)))
    return low  # always a valid threshold: the values in question are "<= low" or above


def _digits(t: float) -> int:
    """Count the digits to write, zeros after the point included: 1 for 400, 3 for 0.04."""
    _, digits, exponent = Decimal(repr(t)).normalize().as_tuple()
    places = -int(exponent)
    return max(len(digits), places + 1)
