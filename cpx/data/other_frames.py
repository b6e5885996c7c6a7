"""Frames of other libraries, such as Polars and PyArrow, and masked arrays, for pandas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.errors import DataError
from cpx.support.cells import EXACT
from cpx.support.validation import integer

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd

__all__ = ["as_pandas", "printed_names", "row_as_pandas"]


def as_pandas(X: Any) -> Any:
    """Return a frame or a column of another library as one of pandas, all else as it is.

    Missing values stay missing and integers exact: where both occur in a column, it gets a
    nullable type of pandas. What a masked array hides is missing.

    Raises DataError: For a frame whose rows are not in memory yet, and one with columns of one
        name.

    >>> as_pandas([[1, 2]])
    [[1, 2]]
    """
    if isinstance(X, np.ma.MaskedArray):
        return _unmasked(X)
    kind = type(X)
    if not (hasattr(kind, "columns") or hasattr(kind, "to_numpy")):
        return X
    import pandas as pd

    if isinstance(X, pd.DataFrame | pd.Series):
        return X
    import narwhals as nw

    frame = nw.from_native(X, allow_series=True, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise DataError(
            f"the rows of this {kind.__module__.partition('.')[0]} {kind.__name__} are not in "
            "memory: collect them first"
        )
    if isinstance(frame, nw.Series):
        return _column(frame)
    if not isinstance(frame, nw.DataFrame):
        if kind.__name__ != "RecordBatch":  # of PyArrow, which Narwhals takes as Arrow's data
            return X
        frame = nw.from_arrow(X, backend="pyarrow")
    # Not by iter_columns: PyArrow's tables may have two columns of one name.
    if len(set(frame.columns)) < len(frame.columns):
        raise DataError("the table has two columns of one name: rename one")
    columns = {column.name: _column(column) for column in frame.iter_columns()}
    return pd.DataFrame(columns, copy=False)  # numbers are those of the frame


def printed_names(labels: Iterable[Any], named: bool = True) -> list[str]:
    """Return the labels of columns as they are printed: ``x0`` for the integer 0.

    named: Whether a person gave them.
    """
    return [
        str(label) if named and (isinstance(label, str) or integer(label) is None) else f"x{label}"
        for label in labels
    ]


def row_as_pandas(x: Any) -> Any:
    """Return a row as :func:`as_pandas` does; columns of other libraries have no names in them."""
    row = as_pandas(x)
    if row is x:
        return x
    import pandas as pd

    return row.tolist() if isinstance(row, pd.Series) else row


def _unmasked(X: np.ma.MaskedArray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a masked array as one with missing values, of floats where they hold its numbers."""
    if not np.ma.is_masked(X):
        return np.asarray(X.data)
    kind = X.dtype.kind
    exact = kind in "iu" and bool((np.abs(X.compressed()) <= EXACT).all())
    rows = X.data.astype(np.float64 if exact or kind in "bf" else object)
    rows[np.ma.getmaskarray(X)] = np.nan if rows.dtype.kind == "f" else None
    return rows


def _column(column: nw.Series[Any]) -> pd.Series[Any]:
    import narwhals as nw
    import pandas as pd

    kind, name = column.dtype, column.name
    gone = column.null_count() > 0
    if kind.is_integer() and gone:
        unsigned = "U" if kind.is_unsigned_integer() else ""
        return pd.Series(column.to_list(), name=name, dtype=f"{unsigned}Int64")
    if kind.is_integer() or kind.is_float():
        return pd.Series(column.to_numpy(), name=name, copy=False)
    if isinstance(kind, nw.Boolean):
        return pd.Series(column.to_list(), name=name, dtype="boolean" if gone else "bool")
    if isinstance(kind, nw.Categorical | nw.Enum):
        declared = list(kind.categories) if isinstance(kind, nw.Enum) else None
        return pd.Series(pd.Categorical(column.to_list(), categories=declared), name=name)
    return pd.Series(column.to_list(), name=name, dtype=object)
