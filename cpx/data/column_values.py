"""The values of one column: validated as numbers or categories, and formatted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from cpx.errors import DataError, shown

__all__ = [
    "as_categories",
    "as_numbers",
    "category_texts",
    "dense",
    "distinct_categories",
    "number",
    "refused",
]

FloatArray = npt.NDArray[np.float64]

_NUMBERS = (int, float, np.integer, np.floating)  # bool is an int
_FLOATS = (float, np.floating)
_CATEGORIES = (str, *_NUMBERS, pd.Interval)
_NUMPY = (np.bool_, np.number, np.str_)


def dense(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as it is, or a sparse one in the usual form."""
    if isinstance(values.dtype, pd.SparseDtype):
        return pd.Series(np.asarray(values), index=values.index)
    return values


def as_numbers(name: str, values: pd.Series[Any]) -> FloatArray:
    """Return present values as finite floats, or raise DataError naming the column."""
    values = dense(values)
    if types.is_numeric_dtype(values.dtype) and not types.is_complex_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64)
    else:
        entries = values.astype(object).tolist()
        for value in entries:
            if not isinstance(value, (*_NUMBERS, np.bool_)):
                raise DataError(f"column {shown(name)} holds numbers, got {shown(value)}")
        try:
            numbers = np.array([float(value) for value in entries], dtype=np.float64)
        except OverflowError as error:
            raise DataError(f"column {shown(name)} has a number too large for a float") from error
    if not np.isfinite(numbers).all():
        raise _infinite(name, numbers[~np.isfinite(numbers)][0])
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
        raise refused(name, f"{type(value).__name__} objects", "turn them into numbers or text")
    if any(issubclass(kind, _FLOATS) for kind in kinds):
        for value in entries:
            if isinstance(value, _FLOATS) and math.isinf(value):
                raise _infinite(name, value)
    return entries


def _infinite(name: str, value: Any) -> DataError:
    return DataError(
        f"column {shown(name)} has an infinite value ({value}): replace it by a number or by "
        "a missing value"
    )


def distinct_categories(name: str, present: pd.Series[Any]) -> tuple[Any, ...]:
    """Return the distinct values: in the order of the category type, else sorted."""
    seen = set(as_categories(name, present))
    if isinstance(present.dtype, pd.CategoricalDtype):
        declared = as_categories(name, pd.Series(present.dtype.categories))
        return tuple(value for value in declared if value in seen)
    numbers = sorted(value for value in seen if isinstance(value, _NUMBERS))
    intervals = sorted(value for value in seen if isinstance(value, pd.Interval))
    return (*numbers, *intervals, *sorted(value for value in seen if isinstance(value, str)))


def category_texts(categories: Sequence[Any]) -> list[str]:
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


def refused(name: str, what: str, advice: str) -> DataError:
    """Return the error for a column that holds what is neither number nor category."""
    return DataError(f"column {shown(name)} holds {what}, which cannot be treated: {advice}")
