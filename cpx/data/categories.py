"""Categories of a column: its values as Python objects, and the distinct ones in order."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from cpx.errors import DataError, shown
from cpx.support.cells import plain

NUMBERS = (int, float, np.integer, np.floating)  # bool is an int
_FLOATS = (float, np.floating)
_CATEGORIES = (str, *NUMBERS, pd.Interval)
_NUMPY = (np.bool_, np.number, np.str_)


def as_categories(name: str, values: pd.Series[Any]) -> list[Any]:
    """Return present values as Python objects, or raise DataError naming the column."""
    entries: list[Any] = values.astype(object).tolist()
    # Columns are long and their types are few, so these are looked at instead of values.
    kinds = set(map(type, entries))
    if any(issubclass(kind, Decimal) or hasattr(kind, "as_py") for kind in kinds):
        entries = [plain(value) for value in entries]
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
                raise infinite(name, value)
    return entries


def distinct(name: str, present: pd.Series[Any]) -> tuple[Any, ...]:
    """Return the distinct values: in the order of the category type, else sorted."""
    seen = set(as_categories(name, present))
    if isinstance(present.dtype, pd.CategoricalDtype):
        declared = as_categories(name, pd.Series(present.dtype.categories))
        return tuple(value for value in declared if value in seen)
    numbers = sorted(value for value in seen if isinstance(value, NUMBERS))
    intervals = sorted(value for value in seen if isinstance(value, pd.Interval))
    return (*numbers, *intervals, *sorted(value for value in seen if isinstance(value, str)))


def infinite(name: str, value: Any) -> DataError:
    return DataError(
        f"column {shown(name)} has an infinite value ({value}): replace it by a number or by a "
        "missing value, as no cut lies between it and the largest numbers"
    )


def refused(name: str, what: str, advice: str) -> DataError:
    """Return the error for a column that holds what is neither number nor category."""
    return DataError(f"column {shown(name)} holds {what}, which cannot be treated: {advice}")
