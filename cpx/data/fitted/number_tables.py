"""Tables of numbers: reading them, cutting their columns into cells, grouping their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.errors import DataError, nearest, shown
from cpx.support.validation import entries, integer, name_list

FloatArray = npt.NDArray[np.float64]


def numbers_and_names(X: Any, names: Sequence[str] | None) -> tuple[FloatArray, list[str]]:
    """Return a table of numbers as floats, and the names of its columns."""
    import pandas as pd

    from cpx.data.frames import as_table, column_names
    from cpx.data.other_frames import as_pandas

    X = as_pandas(X)
    frame = as_table(X)
    titles = column_names(frame, isinstance(X, pd.DataFrame))
    if names is not None:
        titles = list(name_list("names", names, len(titles), error=DataError))
    return _numbers(frame, titles), titles


def read_rows(X: Any, d: int, titles: Sequence[str] | None = None) -> FloatArray:
    """Return rows of d numbers as floats; a vector is one row.

    A frame with names goes by them, unless the titles are those of a table without names.
    """
    import pandas as pd

    from cpx.data.frames import with_columns
    from cpx.data.other_frames import as_pandas

    if isinstance(X, np.ndarray) and X.dtype.kind in "fb":
        table = np.atleast_2d(X).astype(np.float64)
    else:
        X = as_pandas(X)
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(_two_dimensional(X))
        named = all(isinstance(label, str) for label in frame.columns)
        if named and titles and frame.shape[1] == d and tuple(titles) != _numbered(d):
            frame = with_columns(frame, list(titles))
        table = _numbers(frame, list(titles or _numbered(frame.shape[1])))
    if table.ndim != 2 or table.shape[1] != d:
        raise DataError(f"rows must have {d} columns, got an array of shape {table.shape}")
    return table


def _numbered(d: int) -> tuple[str, ...]:
    return tuple(f"x{c}" for c in range(d))


def _two_dimensional(X: Any) -> Any:
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise DataError(f"rows must be numbers: {error}") from error
    return array[None, :] if array.ndim == 1 else array


def _numbers(frame: Any, titles: Sequence[str]) -> FloatArray:
    from cpx.data.columns import as_numbers

    if frame.shape[1] != len(titles):
        raise DataError(f"rows must have {len(titles)} columns, got {frame.shape[1]}")
    if all(isinstance(t, np.dtype) and t.kind in "fb" for t in frame.dtypes):
        return np.asarray(frame.to_numpy(), dtype=np.float64)
    columns = [as_numbers(title, frame.iloc[:, c]) for c, title in enumerate(titles)]
    return np.column_stack(columns)


def rounded(table: FloatArray, cast: str) -> FloatArray:
    with np.errstate(over="ignore"):  # beyond float32 is infinity, in the last cell
        return np.asarray(table.astype(cast), dtype=np.float64)


def cells_of(values: FloatArray, cuts: Sequence[FloatArray]) -> npt.NDArray[np.int32]:
    cells = np.zeros(values.shape, dtype=np.int32)
    for c, column in enumerate(cuts):
        if len(column):
            cells[:, c] = np.searchsorted(column, values[:, c], side="left")
    cells[np.isnan(values)] = -1
    return cells


def refined(cuts: FloatArray, values: FloatArray, max_states: int) -> FloatArray:
    """Return the cuts and, while there are fewer than ``max_states`` cells, further ones."""
    from cpx.data.cuts import thresholds_of

    present = values[np.isfinite(values)]
    if not len(present) or len(cuts) + 1 >= max_states:
        return cuts
    distinct = np.unique(present)
    # A gap between two values that is cut already is not cut again.
    taken = set(np.searchsorted(distinct, cuts, side="right").tolist())
    wanted = thresholds_of(present, max_states, "quantile")
    gaps = np.searchsorted(distinct, wanted, side="right").tolist()
    new = [cut for cut, gap in zip(wanted, gaps) if gap not in taken]
    room = max_states - 1 - len(cuts)
    if len(distinct) > max_states and len(new) > room:
        new = [new[i] for i in np.linspace(0, len(new) - 1, room).round().astype(int).tolist()]
    return np.array(sorted({*cuts.tolist(), *new}), dtype=np.float64)


def attributes_of(
    titles: Sequence[str], groups: Mapping[str, Sequence[int | str]] | None
) -> dict[str, list[int]]:
    """Return the attributes with their columns, each where its first column stands."""
    if len(set(titles)) < len(titles):
        raise DataError(f"names must be different, got {shown(list(titles))}")
    place = {title: c for c, title in enumerate(titles)}
    owner: dict[int, str] = {}
    listed: dict[str, list[int]] = {}
    for name, members in (groups or {}).items():
        listed[name] = []
        for member in entries(f"groups[{shown(name)}]", members, "columns", error=DataError):
            c = place.get(member, -1) if isinstance(member, str) else integer(member)
            if c is None or not 0 <= c < len(titles):
                raise DataError(
                    f"groups[{shown(name)}] names a column {shown(member)} that is not in the "
                    f"table{nearest(str(member), list(titles))}"
                )
            if c in owner:
                raise DataError(
                    f"column {shown(titles[c])} is in the groups {shown(owner[c])} and "
                    f"{shown(name)}"
                )
            owner[c] = name
            listed[name].append(c)
        if not listed[name]:
            raise DataError(f"groups[{shown(name)}] has no columns")
    attributes: dict[str, list[int]] = {}
    for c, title in enumerate(titles):
        if c not in owner and title in listed:
            raise DataError(f"{shown(title)} is the name of a group and of a column outside it")
        attributes.setdefault(owner.get(c, title), listed.get(owner.get(c, title), [c]))
    return attributes
