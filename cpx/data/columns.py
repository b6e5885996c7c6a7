"""Boolean features of one column: bins of a numeric one, values of a categorical one."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from cpx.data.column_values import (
    as_categories,
    as_numbers,
    category_texts,
    dense,
    distinct_categories,
    number,
    refused,
)
from cpx.data.thresholds import short_between, thresholds_of
from cpx.errors import DataError, shown

__all__ = [
    "CategoryColumn",
    "Column",
    "NumberColumn",
    "as_categories",
    "as_numbers",
    "fit_column",
    "number",
    "short_between",
]

BoolArray = npt.NDArray[np.bool_]


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
        return [f"{self.name} = {text}" for text in category_texts(self.categories)]

    def negation(self, i: int, loose: bool) -> str:
        return f"{self.name} != {category_texts(self.categories)[i]}"

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
    values = dense(values)
    kind = _kind(name, values, categorical)
    present = values[values.notna()]
    if present.empty:
        raise DataError(f"column {shown(name)} has only missing values: drop it")
    missing = len(present) < len(values)
    if kind == "category":
        categories = distinct_categories(name, present)
        if len(categories) > max_categories:
            raise DataError(
                f"column {shown(name)} has {len(categories)} categories, more than "
                "max_categories = "
                f"{max_categories}: drop the column, group its rare values, turn text that "
                "means numbers into numbers, or raise max_categories where it is a parameter"
            )
        return CategoryColumn(name, missing, categories)
    numbers = as_numbers(name, present)
    return NumberColumn(name, missing, thresholds_of(numbers, n_bins, strategy), float(numbers[0]))


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
