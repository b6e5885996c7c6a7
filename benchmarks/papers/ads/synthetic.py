"""Rows for methods that are not cpx's own: synthetic ones, and categories as texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["swapped", "texts"]


def swapped(
    rows: pd.DataFrame, n: int, rng: np.random.Generator, changed: int = 2
) -> pd.DataFrame:
    """Return n rows drawn with replacement, in which some values are those of other rows.

    Whatever is true of each value of each row stays true: rows of a part of a table that is
    bounded column by column stay in that part.

    Parameters
    ----------
    rows : data frame
    n : int
    rng : numpy.random.Generator
    changed : int
        Values that are changed in each row, at most; each is that of a row of its own.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "y"]})
    >>> new = swapped(rows, 100, np.random.default_rng(0))
    >>> new.shape, set(new["a"]) <= {1, 2, 3}, len(new.drop_duplicates()) > 3
    ((100, 2), True, True)
    """
    found = rows.iloc[rng.integers(len(rows), size=n)].reset_index(drop=True)
    for _ in range(changed):
        columns = rng.integers(rows.shape[1], size=n)
        others = rng.integers(len(rows), size=n)
        for c in np.unique(columns).tolist():
            here = np.flatnonzero(columns == c)
            found.iloc[here, c] = rows.iloc[others[here], c].to_numpy()
    return found


def texts(column: pd.Series[Any]) -> npt.NDArray[np.object_]:
    """Return a column as texts, empty where a value is missing."""
    return np.where(column.isna(), "", column.astype(str).to_numpy(object)).astype(object)
