"""Rows to explain: as they are, or by position or label; and what is given in another order."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from cpx.data.other_frames import as_pandas
from cpx.errors import DataError, InvalidOption, shown
from cpx.support.cells import is_missing, key_of, plain

_ORDER = "the order is model, X, x: explain(model, X, x), Explainer(model, X)"


def refuse_other_order(model: Any, X: Any) -> None:
    """Raise where there is no model, or where it stands in the place of rows, or they in its."""
    if model is None:
        raise InvalidOption(
            "model is None: give a fitted model, a function of rows, or the path of a tree model"
        )
    if _is_model(X) and not _is_model(model):
        raise InvalidOption(f"X is a model and model is not, it seems; {_ORDER}")
    if hasattr(model, "shape") and not _is_model(model):
        raise InvalidOption(f"model is a table, it seems; {_ORDER}")
    no_rows = isinstance(X, str | Mapping) or _length(X) is None
    if X is not None and not hasattr(X, "shape") and no_rows:
        raise InvalidOption(f"X must be rows, a table or an array, got {shown(X)}; {_ORDER}")
    if getattr(X, "ndim", 2) == 1:
        raise InvalidOption(f"X must be a table, and is one row or column; {_ORDER}")


def _is_model(thing: Any) -> bool:
    return hasattr(thing, "predict") or (callable(thing) and not hasattr(thing, "shape"))


def _length(thing: Any) -> int | None:
    try:
        return len(thing)
    except TypeError:
        return None


def row_of(X: Any, x: Any) -> Any:
    """Return the row that x is, or whose position or label in X it is.

    A label counts where the rows of X have labels; a position where they have none, or texts.

    Raises DataError: When X has no such row.
    Raises InvalidOption: When x is many rows.

    >>> row_of([[1, 2], [3, 4]], 1), row_of(None, [5, 6])
    ([3, 4], [5, 6])
    """
    if not _is_place(x) and not _is_label(X, x):
        shape: tuple[int, ...] = getattr(x, "shape", ())
        if len(shape) == 2 and shape[0] > 1:
            hint = "" if len(X if X is not None else "..") != 1 else f"; {_ORDER}"
            raise DataError(
                f"x must be one row, got a table of {shape[0]}; many are explained by methods of "
                f"Explainer(model, X) such as rules{hint}"
            )
        return x
    if X is None:
        raise DataError(f"x is {shown(x)}, a row of X by its position or label, and there is no X")
    table = as_pandas(X)
    if hasattr(table, "iloc"):
        index = table.index
        if x in index:
            rows = table.loc[[x]]
            if len(rows) > 1:
                raise DataError(f"x: {len(rows)} rows of X have the label {shown(x)}")
            return rows
        if not isinstance(x, Integral) or all(isinstance(one, Integral) for one in index):
            raise DataError(f"x: no row of X has the label {shown(x)}")
    count = len(table) if not hasattr(table, "shape") else table.shape[0]
    if not isinstance(x, Integral) or not 0 <= int(x) < count:
        told = f"x: the {count} rows of X have the positions 0 to {count - 1}, got {shown(x)}"
        raise DataError(told)
    return table.iloc[[int(x)]] if hasattr(table, "iloc") else table[int(x)]


def _is_place(x: Any) -> bool:
    """Whether it is no row but what finds one: a number, a text, a date."""
    if isinstance(x, bool | np.bool_) or x is None:
        return False
    return isinstance(x, str | int | np.integer | np.datetime64) or hasattr(x, "isoformat")


def _is_label(X: Any, x: Any) -> bool:
    """Whether it is a label of several levels, or one such as a number with a fraction.

    Raises DataError: When it may be the values of a row as well.
    """
    index: Any = getattr(X, "index", None)
    if not hasattr(index, "nlevels") or not isinstance(x, Hashable) or isinstance(x, bool):
        return False
    if not isinstance(x, tuple):
        return x in index
    if not index.nlevels == len(x) > 1:
        return False
    if X.shape[1] != len(x):
        return True
    if x in index:
        told = f"x is {shown(x)}, a label of X or the values of a row"
        raise DataError(f"{told}: give X.loc[[x]], or the values as a list")
    return False


def rows_of(X: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the rows of a table one by one, and their labels.

    A row of a table keeps the names and types of its columns as a table of one row.

    Raises InvalidOption: When it is one row, or positions of rows.
    """
    X = as_pandas(X)
    if getattr(X, "ndim", 2) != 2 or isinstance(X, str | dict) or not hasattr(X, "__len__"):
        raise InvalidOption(
            "X must be a table of rows; one row is explained by rule(x), reason(x) and the like"
        )
    if hasattr(X, "iloc"):
        return [X.iloc[[i]] for i in range(len(X))], list(X.index)
    rows = [X[i] for i in range(X.shape[0])] if hasattr(X, "shape") else list(X)
    if any(map(_is_place, rows)):
        raise InvalidOption(
            f"X must be rows, not where they are: X.iloc[...] gives them, got {shown(X)}"
        )
    return rows, list(range(len(rows)))


def values_of(row: Any) -> Hashable:
    """Return what equals that of another row only where all values do.

    >>> values_of([1, None]) == values_of([1, float("nan")])
    True
    """
    if hasattr(row, "iloc"):
        row = row.iloc[0] if row.ndim == 2 else row
    cells = row.items() if hasattr(row, "items") else enumerate(np.asarray(row, dtype=object).flat)
    return tuple(
        (key, None if is_missing(value) else key_of(plain(value))) for key, value in cells
    )
