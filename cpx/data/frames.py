"""Tables and single rows in any form, converted to data frames with known columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from cpx.data.other_frames import as_pandas, printed_names, row_as_pandas
from cpx.errors import DataError, nearest, shown
from cpx.support.cells import as_float, is_missing, plain

__all__ = [
    "append_row",
    "as_table",
    "column_names",
    "instance",
    "positions",
    "row_like",
    "stacked",
    "with_columns",
]


def as_table(X: Any) -> pd.DataFrame:
    """Return a frame or a two-dimensional array as a frame of pandas, or raise DataError."""
    X = as_pandas(X)
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
    return pd.DataFrame(array, copy=False)


def column_names(table: pd.DataFrame, named: bool) -> list[str]:
    """Return the printed names of the columns, or raise DataError for a bad header.

    Columns of arrays, and columns whose name is an integer, are ``x0, x1, ...``.
    """
    if table.shape[1] == 0:
        raise DataError(
            f"the table has no columns: 0 feature(s) (shape={table.shape}) "
            "while a minimum of 1 is required."
        )
    names = printed_names(table.columns, named)
    seen: set[str] = set()
    for c, name in enumerate(names):
        if not name.strip():
            raise DataError(f"column {c} of the table has no name but {shown(name)}: give it one")
        if name in seen:
            raise DataError(f"the table has two columns named {shown(name)}: rename one")
        seen.add(name)
    return names


def positions(chosen: Sequence[Any] | None, labels: list[Any], names: list[str]) -> set[int]:
    """Return where the columns named in ``categorical`` are; they go by label or by name.

    Raises DataError: For what is no list, and for a column that is not there, with the nearest
        name.
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

    Raises DataError: Naming columns that are missing, unknown or there twice.
    """
    given = list(table.columns)
    if given == labels:
        return table
    column_names(table, True)
    known, there = set(labels), set(given)
    unknown = [c for c in given if c not in known]
    absent = [c for c in labels if c not in there]
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
    return _chosen(table, labels)


def _chosen(table: pd.DataFrame, labels: Sequence[Any]) -> pd.DataFrame:
    """Return the columns of these labels; ``table[labels]`` takes truth values for a mask."""
    place = {label: i for i, label in enumerate(table.columns)}
    return table.iloc[:, [place[label] for label in labels]]


def instance(x: Any, labels: Sequence[Any], named: bool) -> pd.DataFrame:
    """Return x as a frame of one row with the given column labels.

    x: Frames and columns of other libraries are taken, too. Forms with names are matched by name
        when ``named``, all others by position.
    labels: Column labels.
    named: Whether the labels are names given by the user.
    Raises DataError: When x is not one row of these columns.
    """
    x = row_as_pandas(x)
    if isinstance(x, pd.DataFrame):
        if len(x) != 1:
            raise DataError(f"x must be one row, got a data frame of {len(x)} rows")
        if named:
            _same_columns(list(x.columns), labels)
            return _chosen(x, labels).reset_index(drop=True)
        _count(x.shape[1], labels)
        return x.set_axis(list(labels), axis=1).reset_index(drop=True)
    if isinstance(x, Mapping):
        _same_columns(list(x), labels)
        return _frame([x[label] for label in labels], labels)
    if isinstance(x, pd.Series) and named:
        _same_columns(list(x.index), labels)
        cells = dict(zip(x.index, x.to_numpy(), strict=True))  # a label at a time takes long
        return _frame([cells[label] for label in labels], labels)
    if isinstance(x, (list, tuple)) and len(x) == 1 and isinstance(x[0], (list, tuple)):
        (x,) = x  # a table of one row
    if isinstance(x, (list, tuple, pd.Series)):
        _count(len(x), labels)
        return _frame(list(x), labels)
    if isinstance(x, np.ndarray) and x.ndim in (1, 2):
        if x.ndim == 2 and len(x) != 1:
            raise DataError(f"x must be one row, got an array of shape {x.shape}")
        values = list(x.reshape(-1))
        _count(len(values), labels)
        return _frame(values, labels)
    what = f"an array of shape {x.shape}" if isinstance(x, np.ndarray) else type(x).__name__
    raise DataError(f"x must be one row: a Series, dict, 1-D array or 1-row frame, got {what}")


def row_like(row: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return a one-row frame with the column types of ``table``, where its values have them.

    A value that a type cannot hold (a missing value in a column of integers, an unseen
    category) widens the type of its column; nothing is rounded or lost.

    Raises DataError: When a numeric column is given something that is no number.
    """
    if list(row.dtypes) == list(table.dtypes):
        return row
    cells = row.astype(object).to_numpy()[0]
    places: dict[np.dtype[Any], list[int]] = {}
    for c, dtype in enumerate(table.dtypes):
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
            places.setdefault(dtype, []).append(c)
    # Columns one by one take a thousand times as long as all of one type at once.
    parts, done = list[pd.DataFrame](), set[int]()
    for dtype, of_it in places.items():
        if (values := _plain_numbers(cells[of_it], dtype)) is not None:
            parts.append(pd.DataFrame(values[None], columns=of_it))
            done.update(of_it)
    rest = [c for c in range(len(cells)) if c not in done]
    if rest:
        each = {c: _value_like(row.iloc[:, c], table.iloc[:, c]) for c in rest}
        parts.append(pd.DataFrame(each))
    whole = parts[0] if len(parts) == 1 else pd.concat(parts, axis=1)
    return whole[list(range(len(cells)))].set_axis(table.columns, axis=1)


def append_row(table: pd.DataFrame, row: pd.DataFrame) -> pd.DataFrame:
    """Return ``table`` with a row made by :func:`row_like` below it."""
    if list(table.dtypes) == list(row.dtypes):
        return pd.concat([table, row], ignore_index=True)
    columns = {}
    for c in table.columns:
        above, below = table[c], row[c]
        if isinstance(below.dtype, pd.CategoricalDtype):
            # Concatenating two different category types would fall back to objects.
            above = above.astype(below.dtype)
        columns[c] = pd.concat([above, below], ignore_index=True)
    return pd.DataFrame(columns)


def stacked(rows: Sequence[Any]) -> Iterator[tuple[list[int], Any]]:
    """Yield tables of those rows that have the same types, and the places of the rows in each.

    rows: Tables or arrays of one row, as :func:`row_like` and :func:`array_row_like` make them.

    >>> rows = [np.array([[1.0]]), np.array([[None]]), np.array([[2.0]])]
    >>> [(places, table.tolist()) for places, table in stacked(rows)]
    [([0, 2], [[1.0], [2.0]]), ([1], [[None]])]
    """
    alike: dict[Any, list[int]] = {}
    for place, row in enumerate(rows):
        types = tuple(row.dtypes) if hasattr(row, "dtypes") else row.dtype
        alike.setdefault(types, []).append(place)
    for places in alike.values():
        own = [rows[place] for place in places]
        framed = isinstance(own[0], pd.DataFrame)
        yield places, pd.concat(own, ignore_index=True) if framed else np.concatenate(own)


def array_row_like(values: Sequence[Any], table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values as a ``(1, n)`` array of the type of ``table``, widened where needed."""
    if table.dtype.kind not in "biuf":
        row = np.empty((1, len(values)), dtype=object)
        row[0, :] = values
        if table.dtype.kind == "U" and all(isinstance(v, str) for v in values):
            return row.astype(str)
        return row
    for i, value in enumerate(values):
        if not _is_number(value) and not is_missing(value):
            raise DataError(f"x has {shown(value)} in column x{i}, a number expected")
    if table.dtype.kind != "f":
        try:
            exact = np.array([values], dtype=table.dtype)
        except (TypeError, ValueError, OverflowError):  # missing, or too large
            pass
        else:
            if exact[0].tolist() == list(values):
                return exact
    floats = [
        np.nan if is_missing(v) else as_float(f"column x{i} of x", v) for i, v in enumerate(values)
    ]
    return np.array([floats], dtype=table.dtype if table.dtype.kind == "f" else np.float64)


def _is_number(value: Any) -> bool:
    """Whether it is one; a span of time is an integer to NumPy."""
    return isinstance(value, Real | np.bool_) and not isinstance(value, np.timedelta64)


def _frame(values: list[Any], labels: Sequence[Any]) -> pd.DataFrame:
    cells = np.empty((1, len(labels)), dtype=object)
    for c, value in enumerate(values):
        cells[0, c] = plain(value)  # one by one, since NumPy would unpack a list
    return pd.DataFrame(cells, columns=list(labels), dtype=object)


def _count(got: int, labels: Sequence[Any]) -> None:
    if got != len(labels):
        raise DataError(f"x has {got} columns, the table has {len(labels)}")


def _same_columns(got: list[Any], labels: Sequence[Any]) -> None:
    given, known = set(got), set(labels)
    if given == known and len(got) == len(labels):
        return
    absent = [label for label in labels if label not in given]
    unknown = [label for label in got if label not in known]
    count = f"x has {len(got)} columns, the table has {len(labels)}"
    if absent:
        count += f"; missing in x: {', '.join(repr(c) for c in absent[:5])}"
    if unknown:
        hint = nearest(str(unknown[0]), [str(c) for c in labels])
        count += f"; not in the table: {', '.join(repr(c) for c in unknown[:5])}{hint}"
    raise DataError(count)


def _plain_numbers(cells: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any] | None:
    """Return numbers of one type as an array of it; None where one needs a closer look."""
    whole = dtype.kind in "iu"
    plain = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    other = bool, np.timedelta64
    if not all(isinstance(cell, plain) and not isinstance(cell, other) for cell in cells):
        return None
    try:
        if whole:
            return np.array([int(cell) for cell in cells], dtype=dtype)
        return np.array([as_float("x", cell) for cell in cells]).astype(dtype)
    except (OverflowError, DataError):
        return None


def _value_like(value: pd.Series[Any], column: pd.Series[Any]) -> Any:
    """Return a one-entry series or array with the type of ``column``, or a wider one."""
    dtype = column.dtype
    if value.dtype == dtype:
        return value
    entry = plain(value.iloc[0])
    if dtype == np.float64 and isinstance(dtype, np.dtype) and isinstance(entry, float):
        return np.array([entry])
    gone = bool(pd.isna(value).iloc[0])
    if isinstance(dtype, pd.CategoricalDtype):
        if not isinstance(entry, Hashable):
            return value
        if not gone and entry not in dtype.categories:
            wider = column.cat.add_categories([entry]).dtype
            return value.astype(object).astype(wider)
        return value.astype(object).astype(dtype)
    if types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype):
        if gone:
            # NumPy's integers cannot be missing, floats and nullable integers can.
            whole = isinstance(dtype, np.dtype) and dtype.kind in "iu"
            return pd.Series([np.nan if isinstance(dtype, np.dtype) else pd.NA]).astype(
                np.float64 if whole else dtype
            )
        if not _is_number(entry):
            raise DataError(
                f"x has {shown(entry)} in column {shown(column.name)}, a number expected"
            )
        if types.is_float_dtype(dtype):
            return pd.Series([as_float(f"x in column {shown(column.name)}", entry)]).astype(dtype)
        try:
            exact = pd.Series([entry]).astype(dtype)
        except (TypeError, ValueError, OverflowError):  # a fraction or infinity
            exact = None
        if exact is not None and exact.iloc[0] == entry:
            return exact
        return pd.Series([as_float(f"x in column {shown(column.name)}", entry)])
    if gone:
        try:
            cast = value.astype(object).astype(dtype)
        except (TypeError, ValueError):
            return value.astype(object)
        return cast if bool(cast.isna().iloc[0]) else value.astype(object)
    try:
        cast = value.astype(object).astype(dtype)
    except (TypeError, ValueError):
        return value.astype(object)
    # "True" for 1 or "5" for 5 would be another value than the one given.
    return cast if cast.iloc[0] == entry else value.astype(object)
