"""Boolean features of dates: from when to when, and their months, days of the week and hours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from cpx.data.columns import CategoryColumn, Column, NumberColumn, Values
from cpx.data.condition import DAYS, Span, clock
from cpx.data.cuts import thresholds_of
from cpx.errors import DataError, shown
from cpx.support.validation import real

__all__ = ["PARTS", "fit_date_column", "is_date", "moments", "parts_of", "years"]

PARTS = ("month", "weekday", "hour")
"""What conditions may ask of a date beside the date itself."""

_UNITS = ("Y", "M", "D", "h", "m", "s", "us")


def is_date(values: Any) -> bool:
    """Whether a column of a frame holds dates."""
    dtype: Any = getattr(values, "dtype", None)
    return types.is_datetime64_any_dtype(dtype)


def local(name: str, values: Any) -> pd.Series[Any]:
    """Return dates as clocks of their zone show them.

    Raises DataError: For what is no date.
    """
    found = pd.Series(values)
    if not is_date(found):
        try:
            if not all(isinstance(v, datetime) for v in found[found.notna()]):
                raise TypeError
            found = pd.to_datetime(found)
        except (TypeError, ValueError) as error:
            wrong = next((v for v in found if not isinstance(v, datetime)), found.iloc[0])
            raise DataError(f"column {shown(name)} holds dates, got {shown(wrong)}") from error
    return found if found.dt.tz is None else found.dt.tz_localize(None)


def moments(name: str, values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return dates as microseconds since 1970, NaN for missing ones; fractions are cut off."""
    found = local(name, values)
    gone = found.isna().to_numpy(dtype=bool)
    whole = found.dt.floor("us").to_numpy().astype("datetime64[us]").astype(np.int64)
    return np.where(gone, np.nan, whole.astype(np.float64))


@dataclass(frozen=True)
class DateColumn(NumberColumn):
    """Spans of time ``(before t1), [t1, t2), ..., [tk, ...)``, in microseconds since 1970."""

    closed_left = True

    @property
    def value_names(self) -> list[str]:
        if not self.thresholds:
            return [f"{self.name} = {clock(self.constant)}"]
        return [str(self._bounds(i, i)) for i in range(len(self.thresholds) + 1)]

    def numbers(self, values: Any) -> Any:
        return moments(self.name, values)

    def negation(self, i: int, loose: bool) -> str:
        return str(self._value(i, True, loose))

    def between(self, first: int, last: int, label: str = "") -> str:
        span = self._bounds(first, last)
        return replace(span, label=label).words if label else str(span)

    def _bounds(self, low: int, high: int) -> Span:  # type: ignore[override]
        cuts = [None, *map(clock, self.thresholds), None]
        return Span(self.name, cuts[low], cuts[high + 1])

    def _value(self, i: int, negated: bool, loose: bool) -> Any:
        if not self.thresholds:
            after = clock(self.constant + 1)
            return Span(self.name, clock(self.constant), after, negated=negated)
        return super()._value(i, negated, loose)

    def literal(self, number: float, quote: str) -> str:
        return f"{quote}{clock(number)}{quote}"

    def of_cell(self, cell: Any) -> Any:
        number = self.numbers([cell])[0]
        return None if np.isnan(number) else clock(number)

    def drawn(self, values: Any) -> Any:
        return years(self.numbers(values))

    def drawn_span(self, ends: Sequence[float | None]) -> tuple[float | None, float | None]:
        low, high = (None if end is None else float(years(end)) for end in ends)
        return low, high


def years(microseconds: Any) -> Any:
    """Return moments as years with fractions, which pictures can show."""
    return 1970 + np.asarray(microseconds) / (365.2425 * 86_400e6)


@dataclass(frozen=True)
class NumberPart(NumberColumn):
    """Months from 1 to 12, or hours from 0 to 23, in bins."""

    source_name: str
    part: str

    @property
    def source(self) -> str:
        return self.source_name

    def numbers(self, values: Any) -> Any:
        return part_of(self.source_name, values, self.part)

    def drawn(self, values: Any) -> Any:
        return self.numbers(values)


@dataclass(frozen=True)
class DayPart(CategoryColumn):
    """Days of the week."""

    source_name: str
    part: str

    @property
    def source(self) -> str:
        return self.source_name

    def codes(self, values: Any) -> Any:
        day = part_of(self.source_name, values, self.part)
        names = [None if np.isnan(d) else DAYS[int(d)] for d in day]
        return super().codes(pd.Series(names, dtype=object))

    def drawn(self, values: Any) -> Any:
        return np.array([self.of_cell(cell) for cell in values], dtype=object)

    def of_cell(self, cell: Any) -> Any:
        day = part_of(self.source_name, [cell], self.part)[0]
        return None if np.isnan(day) else DAYS[int(day)]


def part_of(name: str, values: Any, part: str) -> Any:
    """Return months from 1, days of the week from 0 for Monday, or hours; NaN where missing."""
    return _part(local(name, values), part).to_numpy(dtype=np.float64)


def _part(dates: pd.Series[Any], part: str) -> pd.Series[Any]:
    found: pd.Series[Any] = getattr(dates.dt, "day_of_week" if part == "weekday" else part)
    return found


def parts_of(name: str, values: Any) -> list[str]:
    """Return which parts of the dates of a column differ."""
    known = local(name, values).dropna()
    return [part for part in PARTS if _part(known, part).nunique() > 1]


def fit_date_column(
    name: str,
    values: Values,
    part: str,
    n_bins: int,
    strategy: Any,
    cuts: Sequence[Any] | None,
    weights: Any = None,
) -> Column:
    """Choose the features of dates, or of a part of them: of a column called as the source is."""
    whole = moments(name, values)
    there = ~np.isnan(whole)
    if not there.any():
        return CategoryColumn(name, True, ())
    missing, weights = not there.all(), None if weights is None else weights[there]
    if not part:
        found = (
            own_dates(name, cuts)
            if cuts is not None
            else thresholds_of(whole[there], n_bins, strategy, weights, plain_between)
        )
        return DateColumn(name, missing, found, float(whole[there][0]))
    title, numbers = f"{part} of {name}", part_of(name, values, part)[there]
    if part == "weekday":
        seen = sorted({int(day) for day in numbers})
        return DayPart(title, missing, tuple(DAYS[day] for day in seen), name, part)
    found = thresholds_of(numbers, n_bins, strategy, weights, lambda low, high, wanted: low)
    return NumberPart(title, missing, found, float(numbers[0]), name, part)


def own_dates(name: str, given: Sequence[Any]) -> tuple[float, ...]:
    """Return cuts that a person gives as dates, which must increase."""
    try:
        if any(real(v) is not None for v in given):
            raise TypeError
        found = tuple(float(v) for v in moments(name, pd.Series(pd.to_datetime([*given]))))
    except (TypeError, ValueError):
        found = ()
    if not found or not all(a < b for a, b in zip(found, (*found[1:], np.inf))):
        raise DataError(
            f"the cuts of column {shown(name)} must be increasing dates, got {shown([*given])}"
        )
    return found


def plain_between(low: float, high: float, wanted: float) -> float:
    """Return the plainest moment t with ``low < t <= high``: a year, a month, a day, an hour.

    >>> day = 86_400e6
    >>> clock(plain_between(0.4 * day, 3.5 * day, 2 * day)), clock(plain_between(0.0, 1e6, 5e5))
    ('1970-01-04', '1970-01-01 00:00:01')
    """
    end = np.datetime64(int(high), "us")
    for unit in _UNITS:
        start = float(end.astype(f"datetime64[{unit}]").astype("datetime64[us]").astype(np.int64))
        if low < start:
            return start
    return high
