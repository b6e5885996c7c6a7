"""Tables and rows of 0 and 1, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import CpxError, DataError, shown

__all__ = ["Bits", "bit_row", "bit_table"]

Bits = NDArray[np.bool_]


def bit_table(name: str, value: ArrayLike, width: int | None = None) -> Bits:
    """Return a table of 0 and 1 as truth values, shape (n, d).

    Raises
    ------
    DataError
        When it is no table of two dimensions, has no column, another number of columns than
        ``width``, or a value that is neither 0 nor 1.

    Examples
    --------
    >>> bit_table("X", [[0.0, 1.0]])
    array([[False,  True]])
    """
    try:
        table = np.asarray(value)
    except ValueError as error:
        raise DataError(f"{name} must be a table of 0 and 1: {error}") from error
    if table.ndim != 2 or not table.shape[1]:
        raise DataError(f"{name} must be a table of rows and columns, got shape {table.shape}")
    if table.dtype.kind not in "biuf":
        raise DataError(f"{name} must be a table of 0 and 1, got values of type {table.dtype}")
    strange = (table != 0) & (table != 1)
    if strange.any():
        i, j = np.argwhere(strange)[0]
        raise DataError(f"{name} must be a table of 0 and 1, got {table[i, j]} at [{i}, {j}]")
    if width is not None and table.shape[1] != width:
        raise DataError(f"{name} must have {width} columns, got {table.shape[1]}")
    return table.astype(np.bool_)


def bit_row(name: str, value: object, d: int, *, error: type[CpxError] = DataError) -> Bits:
    """Return d values 0 or 1 as truth values, or raise for anything else.

    Examples
    --------
    >>> bit_row("x", [0.0, 1.0], 2)
    array([False,  True])
    """
    try:
        row = np.asarray(value)
    except ValueError:
        row = np.empty(0)
    if row.shape != (d,) or not np.isin(row, (0, 1)).all():
        raise error(f"{name} must be {d} values 0 or 1, got {shown(value)}")
    return row.astype(np.bool_)
