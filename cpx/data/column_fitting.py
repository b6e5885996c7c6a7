"""Fitting of columns: which bins and values of a table become features."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from cpx.data.categories import as_categories, distinct, refused
from cpx.data.columns import (
    CategoryColumn,
    Column,
    NumberColumn,
    Values,
    as_numbers,
    dense,
    values_of,
)
from cpx.data.cuts import own_cuts, thresholds_of
from cpx.data.date_columns import fit_date_column
from cpx.errors import DataError, shown

__all__ = ["fit_column", "fit_columns"]


def fit_columns(
    names: Sequence[str],
    table: pd.DataFrame,
    categorical: Container[int],
    cuts: Mapping[str, Sequence[Any]],
    parts: Sequence[str | None],
    **options: Any,
) -> tuple[Column, ...]:
    """Choose the features of all columns of a table, as :func:`fit_column` does of one.

    cuts: Those that a person gives, by column.
    parts: Of columns of dates, what is asked of them; None for other columns.
    """
    numeric, found = [c not in categorical for c in range(len(names))], list[Column]()
    columns = zip(names, values_of(table, numeric), numeric, parts, strict=True)
    for name, values, number, part in columns:
        own = cuts.get(name)
        if part is None:
            found.append(fit_column(name, values, categorical=not number, cuts=own, **options))
        else:
            bins = {key: options[key] for key in ("n_bins", "strategy", "weights")}
            found.append(fit_date_column(name, values, part, cuts=own, **bins))
    return tuple(found)


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
        return CategoryColumn(name, True, ())  # all that can be said of it is that it is missing
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
