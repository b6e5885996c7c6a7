"""Tables of 0 and 1, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import DataError

__all__ = ["Bits", "bit_table"]

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
