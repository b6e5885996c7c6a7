"""Tables in any form as data frames: their columns named, found and matched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cpx.errors import DataError, nearest, shown
from cpx.support.validation import integer

__all__ = ["as_table", "column_names", "positions", "with_columns"]


def as_table(X: Any) -> pd.DataFrame:
    """Return a frame or a two-dimensional array as a frame, or raise DataError."""
    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "tocsr"):
        raise DataError("sparse matrices are not supported: pass a dense array (X.toarray())")
    if isinstance(X, (pd.Series, str, bytes, dict)) or hasattr(X, "columns"):
        raise DataError(f"a data frame or a 2-D array expected, got {type(X).__name__}")
    if isinstance(X, (list, tuple)) and X and all(isinstance(r, (list, tuple)) for r in X):
        if len({len(r) for r in X}) > 1:
            raise DataError("the rows of the table have different lengths")
        # Through a frame, since an array would turn mixed columns into text.
        return pd.DataFrame(list(X))
    array = np.asarray(X)
    if array.ndim != 2:
        raise DataError(
            f"a data frame or a 2-D array expected, got shape {array.shape}. Reshape your data: "
            "x.reshape(1, -1) for a single row"
        )
    return pd.DataFrame(array)


def column_names(table: pd.DataFrame, named: bool) -> list[str]:
    """Return the printed names of the columns, or raise DataError for a bad header.

    Columns of arrays, and columns whose name is an integer, are ``x0, x1, ...``.
    """
    if table.shape[1] == 0:
        raise DataError(
            f"the table has no columns: 0 feature(s) (shape={table.shape}) "
            "while a minimum of 1 is required."
        )
    names = [
        f"x{label}" if not named or integer(label) is not None else str(label)
        for label in table.columns
    ]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"the table has two columns named {shown(name)}: rename one")
        seen.add(name)
    return names


def positions(chosen: Sequence[Any] | None, labels: list[Any], names: list[str]) -> set[int]:
    """Return where the columns named in ``categorical`` are; they go by label or by name.

    Raises
    ------
    DataError
        For what is no list, and for a column that is not there, with the nearest name.
    """
    if chosen is None:
        return set()
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        what = "the text " * isinstance(chosen, str)
        raise DataError(f"categorical must be a list of column names, got {what}{shown(chosen)}")
    found = set()
    for column in chosen:
        if column in labels:
            found.add(labels.index(column))
        elif column in names:
            found.add(names.index(column))
        else:
            raise DataError(
                f"categorical names a column {shown(column)} that is not in the table"
                + nearest(str(column), names)
            )
    return found


def with_columns(table: pd.DataFrame, labels: list[Any]) -> pd.DataFrame:
    """Return a frame with the columns of these labels, in their order.

    Raises
    ------
    DataError
        Naming columns that are missing, unknown or there twice.
    """
    column_names(table, True)
    unknown = [c for c in table.columns if c not in labels]
    absent = [c for c in labels if c not in set(table.columns)]
    if unknown or absent:
        raise DataError(
            "the columns differ from those seen in fit: "
            + "; ".join(
                f"{what} {', '.join(repr(c) for c in columns[:5])}"
                + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")
                for what, columns in (("missing", absent), ("unknown", unknown))
                if columns
            )
        )
    return table[labels]
