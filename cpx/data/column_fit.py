"""Fitting a column: its categories, or thresholds rounded to the fewest digits."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from cpx.data.columns import (
    NUMBERS,
    CategoryColumn,
    Column,
    NumberColumn,
    as_categories,
    as_numbers,
    dense,
    refused,
)
from cpx.errors import DataError, shown

__all__ = ["fit_column", "short_between", "thresholds_of"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def fit_column(
    name: str,
    values: pd.Series[Any],
    *,
    n_bins: int,
    strategy: Literal["quantile", "uniform"],
    categorical: bool,
    max_categories: int,
    weights: IntArray | None = None,
) -> Column:
    """Choose the features of a column, or raise DataError naming the column.

    Numbers become bins unless ``categorical`` says otherwise; text, truth values and
    the category type become categories.
    """
    values = dense(values)
    kind = _kind(name, values, categorical)
    present = values[values.notna()]
    if present.empty:
        raise DataError(f"column {shown(name)} has only missing values: drop it")
    missing = len(present) < len(values)
    if kind == "category":
        categories = _distinct(name, present)
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
        weights = weights[values.notna().to_numpy()]
    thresholds = thresholds_of(numbers, n_bins, strategy, weights)
    return NumberColumn(name, missing, thresholds, float(numbers[0]))


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


def _distinct(name: str, present: pd.Series[Any]) -> tuple[Any, ...]:
    """Return the distinct values: in the order of the category type, else sorted."""
    seen = set(as_categories(name, present))
    if isinstance(present.dtype, pd.CategoricalDtype):
        declared = as_categories(name, pd.Series(present.dtype.categories))
        return tuple(value for value in declared if value in seen)
    numbers = sorted(value for value in seen if isinstance(value, NUMBERS))
    intervals = sorted(value for value in seen if isinstance(value, pd.Interval))
    return (*numbers, *intervals, *sorted(value for value in seen if isinstance(value, str)))


def thresholds_of(
    numbers: FloatArray,
    n_bins: int,
    strategy: Literal["quantile", "uniform"],
    weights: IntArray | None = None,
) -> tuple[float, ...]:
    """Return increasing thresholds, at most ``n_bins - 1``, each splitting the numbers.

    A split lies in a gap between two neighbouring distinct values. Quantiles take the gap
    whose share of values below comes closest to i / n_bins, equal widths the gap in which
    the i-th limit lies; equal gaps are merged. With at most n_bins distinct values, every
    gap is a split. A number of weight w counts as w equal ones do.
    """
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
