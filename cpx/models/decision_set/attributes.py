"""One attribute of the input space, cut into the cells that conditions are made of."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cpx.data.categories import as_categories
from cpx.data.column_fitting import fit_column
from cpx.data.columns import CategoryColumn, as_numbers
from cpx.data.cuts import short_between
from cpx.errors import DataError, shown
from cpx.models.rule_set.conditions import Condition, Interval, OneOf

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Attribute(ABC):
    """An attribute with its domain, cut into cells.

    The last cell holds what no condition can name: a missing number, an unseen category. It
    has no volume.
    """

    name: str

    @property
    def width(self) -> int:
        """Number of cells."""
        return len(self.volumes)

    @property
    @abstractmethod
    def volumes(self) -> FloatArray:
        """Share of the domain in each cell; they sum to 1."""

    @abstractmethod
    def values(self, column: pd.Series[Any]) -> FloatArray:
        """Return a column as numbers: the value, or the place of the category; NaN for none."""

    @abstractmethod
    def cells(self, values: FloatArray) -> IntArray:
        """Return the cell of each value."""

    @abstractmethod
    def draw(self, allowed: BoolArray, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw n values uniformly from the allowed cells."""

    @abstractmethod
    def condition(self, allowed: BoolArray) -> Condition:
        """Return in words that the value is in an allowed cell."""

    @abstractmethod
    def length(self, allowed: BoolArray) -> int:
        """Return how many values it takes to say that the value is in an allowed cell."""

    @abstractmethod
    def coordinates(self, values: FloatArray) -> FloatArray:
        """Return coordinates (n, c) in which two values are at most 1 apart."""


@dataclass(frozen=True, eq=False)
class Numbers(Attribute):
    """A continuous attribute, cut at thresholds.

    low, high: Least and greatest value seen: the domain.
    thresholds: Increasing; cell i is ``(thresholds[i-1], thresholds[i]]``.
    whole: Whether only integers were seen: then the domain has only integers.
    """

    low: float
    high: float
    thresholds: FloatArray
    whole: bool

    @cached_property
    def edges(self) -> FloatArray:
        """Ends of the cells, shape (k + 2,)."""
        return np.concatenate([[self.low], self.thresholds, [self.high]])

    @cached_property
    def volumes(self) -> FloatArray:
        if self.whole:
            ends = np.floor(self.edges)
            lengths = np.diff(ends)
            lengths[0] += 1
        else:
            lengths = np.diff(self.edges)
        if lengths.sum() == 0:
            lengths = np.ones_like(lengths)
        return np.append(lengths / lengths.sum(), 0.0)

    def values(self, column: pd.Series[Any]) -> FloatArray:
        values = np.full(len(column), np.nan)
        known = column.notna().to_numpy(dtype=bool)
        values[known] = as_numbers(self.name, column[known])
        return values

    def cells(self, values: FloatArray) -> IntArray:
        found = np.searchsorted(self.thresholds, values, side="left")
        return np.where(np.isnan(values), self.width - 1, found).astype(np.int64)

    def draw(self, allowed: BoolArray, n: int, rng: np.random.Generator) -> FloatArray:
        inside = np.flatnonzero(allowed[:-1])
        low, high = self.edges[inside[0]], self.edges[inside[-1] + 1]
        if self.whole:
            first = int(np.floor(low)) + (inside[0] > 0)
            return rng.integers(first, int(np.floor(high)) + 1, n).astype(np.float64)
        # The lower end is not in the interval, the upper one is.
        return np.asarray(high - rng.random(n) * (high - low))

    def condition(self, allowed: BoolArray) -> Condition:
        inside = np.flatnonzero(allowed[:-1])
        first, last = int(inside[0]), int(inside[-1])
        return Interval(
            self.name,
            float(self.thresholds[first - 1]) if first else None,
            float(self.thresholds[last]) if last < len(self.thresholds) else None,
        )

    def length(self, allowed: BoolArray) -> int:
        # The bounds of the interval.
        return int(not allowed[0]) + int(not allowed[-2])

    def coordinates(self, values: FloatArray) -> FloatArray:
        spread = self.high - self.low or 1.0
        scaled = (values - self.low) / spread
        return np.where(np.isnan(scaled), 0.5, scaled)[:, None]


@dataclass(frozen=True, eq=False)
class Categories(Attribute):
    """A categorical attribute: a cell per category, and one for a missing value if seen.

    categories: None for the missing value.
    """

    categories: tuple[Any, ...]

    @cached_property
    def volumes(self) -> FloatArray:
        n = len(self.categories)
        return np.append(np.full(n, 1 / n), 0.0)

    def values(self, column: pd.Series[Any]) -> FloatArray:
        place = {category: i for i, category in enumerate(self.categories)}
        known = column.notna().to_numpy(dtype=bool)
        values = np.full(len(column), float(place.get(None, np.nan)))
        values[known] = [
            place.get(value, np.nan) for value in as_categories(self.name, column[known])
        ]
        return values

    def cells(self, values: FloatArray) -> IntArray:
        return np.where(np.isnan(values), self.width - 1, values).astype(np.int64)

    def draw(self, allowed: BoolArray, n: int, rng: np.random.Generator) -> FloatArray:
        return rng.choice(np.flatnonzero(allowed[:-1]), n).astype(np.float64)

    def condition(self, allowed: BoolArray) -> Condition:
        return OneOf(self.name, tuple(self.categories[i] for i in np.flatnonzero(allowed[:-1])))

    def length(self, allowed: BoolArray) -> int:
        # The values in the list, or those that are not.
        inside = int(allowed[:-1].sum())
        return min(inside, len(self.categories) - inside)

    def coordinates(self, values: FloatArray) -> FloatArray:
        # Two different values are at squared distance 1.
        hot = values[:, None] == np.arange(len(self.categories))
        return np.asarray(hot / np.sqrt(2.0), dtype=np.float64)


def fit_attribute(
    name: str, column: pd.Series[Any], n_cells: int, categorical: bool, max_categories: int
) -> Attribute:
    """Learn the domain of a column and cut it into cells.

    A number with at most ``n_cells`` distinct values gets a cell for each. Otherwise half of
    the cuts are quantiles of the rows and half are quantiles of the distinct values, for a
    value that most rows share would else leave no cuts for the others. Half as many cuts more
    are spread evenly, also where there are no rows: synthetic instances get there.

    Raises DataError: Naming the column, when it cannot be used.
    """

    def fitted(values: pd.Series[Any], bins: int) -> Any:
        return fit_column(
            name,
            values,
            n_bins=bins,
            strategy="quantile",
            categorical=categorical,
            max_categories=max_categories,
        )

    found = fitted(column, n_cells)
    if isinstance(found, CategoryColumn):
        return Categories(name, found.categories + ((None,) if found.missing else ()))
    present = as_numbers(name, column[column.notna()])
    distinct = np.unique(present)
    thresholds = set(found.thresholds)
    if len(distinct) > n_cells:
        half = max(2, n_cells // 2)
        by_value = pd.Series(distinct)
        thresholds = {*fitted(pd.Series(present), half).thresholds}
        thresholds |= {*fitted(by_value, half).thresholds}
    low, high = float(distinct[0]), float(distinct[-1])
    if not np.isfinite(high - low):
        raise DataError(f"column {shown(name)} has a range too large for a float: {low} to {high}")
    whole = bool((present == np.floor(present)).all())
    thresholds |= _evenly(distinct, n_cells // 2)
    if whole:  # two cuts between the same integers are one
        thresholds = {math.floor(t) + 0.5 for t in thresholds}
    return Numbers(name, low, high, np.array(sorted(thresholds), dtype=np.float64), whole)


def _evenly(distinct: FloatArray, n: int) -> set[float]:
    """Return at most n thresholds, spread evenly and short to write, none of them a value."""
    low, high = float(distinct[0]), float(distinct[-1])
    step = (high - low) / (n + 1)
    wanted = [low + i * step for i in range(1, n + 1)] if step else []
    near = {short_between(t - step / 4, t + step / 4, t) for t in wanted}
    return {_above(t, distinct) for t in near if low < t < high}


def _above(t: float, distinct: FloatArray) -> float:
    """Return a threshold, or one just above where it is a value."""
    after = int(np.searchsorted(distinct, t, side="right"))
    if distinct[after - 1] != t:
        return t
    return short_between(t, float(distinct[after]), t)
