"""Coding of tables: each attribute, of one or several columns, in one of its states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from cpx.data.fitted.number_tables import (
    attributes_of,
    cells_of,
    numbers_and_names,
    read_rows,
    refined,
    rounded,
)
from cpx.errors import DataError, nearest, shown
from cpx.support.validation import choice, entries, integer_in, name_list

__all__ = ["Coding"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

_FORMAT, _VERSION = "cpx-coding", 1
_CASTS = ("float64", "float32")


_DEFAULT: Any = None
"""Stands for what follows from other fields; it never outlives __post_init__."""


@dataclass(frozen=True, eq=False)
class Coding:
    """States of attributes: which values of a table count as the same.

    An *attribute* is one column, or a group of columns that say one thing together, such as the
    0/1 columns of a category. Cuts divide the values of each column into cells: cell i has the
    values v with ``cuts[i-1] < v <= cuts[i]``, as in :class:`cpx.trees.TreeModel`, and a missing
    value is in cell -1. A *state* of an attribute is one cell of each of its columns. An attribute
    of one column has all cells as states, and -1 where missing values occur; a group has the
    combinations that occur.

    Parameters
    ----------
    names : sequence of A str
        Names of the attributes.
    columns : sequence of A sequences of int
        The columns of each attribute; every column of the table belongs to one.
    cuts : sequence of d arrays of float
        For each column, increasing and finite.
    states : sequence of A arrays of int32, shapes (K_a, number of columns)
        Each row is a state: the cells of the columns, all rows different.
    cast : {"float64", "float32"}
        What values are rounded to before they are compared with the cuts.
    column_names : sequence of d str, optional
        Named in messages; by default those of attributes of one column, else the attribute's
        with a number.

    Raises
    ------
    DataError
        Naming the argument that does not fit.

    Examples
    --------
    >>> X = np.array([[1.0, 0, 1], [2.0, 1, 0], [4.0, 1, 0]])
    >>> coding = Coding.fit(X, names=["size", "is red", "is blue"], cuts=[[1.5], [0.5], [0.5]],
    ...                     groups={"colour": ["is red", "is blue"]}, max_states=2)
    >>> coding.names, coding.cardinalities
    (('size', 'colour'), (2, 2))
    >>> coding.codes([[1.1, 1, 0]]).tolist()
    [[0, 1]]
    >>> coding.cells([[0, 1]]).tolist()
    [[0, 1, 0]]
    """

    names: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]
    cuts: tuple[FloatArray, ...]
    states: tuple[IntArray, ...]
    cast: Literal["float64", "float32"] = "float64"
    column_names: tuple[str, ...] = _DEFAULT

    def __post_init__(self) -> None:
        choice("cast", self.cast, _CASTS, error=DataError)
        columns = tuple(
            tuple(integer_in(f"columns[{a}]", c, 0, error=DataError) for c in group)
            for a, group in enumerate(_lists("columns", self.columns))
        )
        cuts = tuple(_cut_array(f"cuts[{c}]", values) for c, values in enumerate(self.cuts))
        names = name_list("names", self.names, len(columns), error=DataError)
        if not columns or sorted(c for group in columns for c in group) != list(range(len(cuts))):
            raise DataError(
                f"columns must have each of the {len(cuts)} columns that have cuts once, got "
                f"{shown(columns)}"
            )
        if len(set(names)) < len(names):
            raise DataError(f"names must be different, got {shown(names)}")
        if len(self.states) != len(columns):
            raise DataError(f"states must have {len(columns)} arrays, got {len(self.states)}")
        states = tuple(
            _state_array(names[a], values, [len(cuts[c]) for c in columns[a]])
            for a, values in enumerate(self.states)
        )
        titles: Any = self.column_names
        if titles is None:
            titles = [""] * len(cuts)
            for name, group in zip(names, columns):
                for i, c in enumerate(group):
                    titles[c] = name if len(group) == 1 else f"{name}[{i}]"
        titles = name_list("column_names", titles, len(cuts), error=DataError)
        found = (names, columns, cuts, states, titles)
        for key, value in zip(("names", "columns", "cuts", "states", "column_names"), found):
            object.__setattr__(self, key, value)

    # ---------------------------------------------------------------- fitting

    @classmethod
    def fit(
        cls,
        X: Any,
        *,
        names: Sequence[str] | None = None,
        cuts: Sequence[npt.ArrayLike] | None = None,
        groups: Mapping[str, Sequence[int | str]] | None = None,
        cast: Literal["float64", "float32"] = "float64",
        max_states: int = 10,
        also: Any = None,
    ) -> Self:
        """Return the coding of a table of numbers.

        Parameters
        ----------
        X : (n, d) array or frame of numbers
            NaN for missing values.
        names : sequence of d str, optional
            Names of the columns; by default those of the frame, else ``x0, x1, ...``.
        cuts : sequence of d arrays, optional
            Cuts that a column must have, such as the thresholds of a tree model.
        groups : mapping of str to columns, optional
            Names of attributes of several columns, and their columns by number or name.
        cast : {"float64", "float32"}
            What values are rounded to before they are compared.
        max_states : int
            A column is cut further while it has fewer cells: between all its values where that
            keeps to this number, else at quantiles. Columns of groups are cut like others.
        also : (columns,) or (n, columns) array, optional
            Rows whose missing values and whose combinations in groups are states too.

        Raises
        ------
        DataError
            Naming the argument, column or value that does not fit.
        """
        table, titles = numbers_and_names(X, names)
        if not len(table):
            raise DataError("the table has no rows")
        d = table.shape[1]
        choice("cast", cast, _CASTS, error=DataError)
        integer_in("max_states", max_states, 1, error=DataError)
        given: Sequence[Any] = [()] * d if cuts is None else cuts
        if len(given) != d:
            raise DataError(f"cuts must have {d} arrays, one for each column, got {len(given)}")
        values = rounded(table, cast)
        finer = [
            refined(_cut_array(f"cuts[{c}]", given[c]), values[:, c], max_states) for c in range(d)
        ]
        attributes = attributes_of(titles, groups)
        if also is not None:
            values = np.vstack([values, rounded(read_rows(also, d), cast)])
        cells = cells_of(values, finer)
        states = []
        for group in attributes.values():
            mine = cells[:, group]
            if len(group) == 1:
                first = -1 if (mine < 0).any() else 0
                states.append(np.arange(first, len(finer[group[0]]) + 1, dtype=np.int32)[:, None])
            else:
                states.append(np.unique(mine, axis=0))
        return cls(
            tuple(attributes),
            tuple(map(tuple, attributes.values())),
            tuple(finer),
            tuple(states),
            cast,
            tuple(titles),
        )

    # ---------------------------------------------------------------- measure

    @property
    def n_attributes(self) -> int:
        """Number A of attributes."""
        return len(self.columns)

    @property
    def n_columns(self) -> int:
        """Number d of columns."""
        return len(self.cuts)

    @cached_property
    def cardinalities(self) -> tuple[int, ...]:
        """Number K_a of states of each attribute."""
        return tuple(len(states) for states in self.states)

    # ------------------------------------------------------------------- rows

    def codes(self, X: Any) -> IntArray:
        """Return the number of the state of each attribute, shape (n, A).

        One row of shape (d,) counts as a table of one row.

        Raises
        ------
        DataError
            When X has other columns, or a value or combination that is no state: its row,
            column and value are named.
        """
        values = rounded(read_rows(X, self.n_columns, self.column_names), self.cast)
        cells = cells_of(values, self.cuts)
        result = np.empty((len(values), self.n_attributes), dtype=np.int32)
        for a, group in enumerate(self.columns):
            result[:, a] = self._codes_of(a, cells[:, group])
            if (result[:, a] < 0).any():
                row = int(np.argmax(result[:, a] < 0))
                raise self._unseen(a, row, values[row])
        return result

    def _codes_of(self, a: int, cells: IntArray) -> IntArray:
        """Return the code of each row of cells of one attribute, -1 where it is no state."""
        if cells.shape[1] == 1:
            place = np.full(len(self.cuts[self.columns[a][0]]) + 2, -1, dtype=np.int32)
            place[self.states[a][:, 0] + 1] = np.arange(len(self.states[a]))
            return np.asarray(place[cells[:, 0] + 1])
        known = {state.tobytes(): code for code, state in enumerate(self.states[a])}
        distinct, inverse = np.unique(cells, axis=0, return_inverse=True)
        found = np.array([known.get(row.tobytes(), -1) for row in distinct], dtype=np.int32)
        return np.asarray(found[inverse.reshape(-1)])

    def _unseen(self, a: int, row: int, values: npt.NDArray[Any]) -> DataError:
        group = self.columns[a]
        if len(group) == 1:
            value = values[group[0]]
            what = "a missing value" if np.isnan(value) else shown(float(value))
            return DataError(
                f"row {row} has {what} in column {shown(self.column_names[group[0]])}, which "
                "does not occur in the data that the states are made of"
            )
        listed = ", ".join(f"{self.column_names[c]} = {values[c]:g}" for c in group[:8])
        more = f" and {len(group) - 8} more" if len(group) > 8 else ""
        return DataError(
            f"row {row} has in {shown(self.names[a])} the combination {listed}{more}, which does "
            "not occur in the data that the states are made of"
        )

    def cells(self, codes: npt.ArrayLike) -> IntArray:
        """Return the cells of the columns for rows of codes; shape (n, A) to (n, d)."""
        given = np.atleast_2d(np.asarray(codes))
        result = np.empty((len(given), self.n_columns), dtype=np.int32)
        for a, group in enumerate(self.columns):
            result[:, list(group)] = self.states[a][given[:, a]]
        return result

    # --------------------------------------------------------------- its file

    def to_dict(self) -> dict[str, Any]:
        """Return the coding as JSON values; cuts as hexadecimal floats, exactly."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "names": list(self.names),
            "columns": [list(group) for group in self.columns],
            "cuts": [[float(v).hex() for v in values] for values in self.cuts],
            "states": [states.tolist() for states in self.states],
            "cast": self.cast,
            "column_names": list(self.column_names),
        }

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        DataError
            Naming the key or value that is wrong.
        """
        keys = ("names", "columns", "cuts", "states", "cast", "column_names")
        holder = saved_object("a coding", data, _FORMAT, _VERSION, keys)
        for key in ("names", "columns", "cuts", "states", "column_names"):
            if not isinstance(holder[key], list):
                raise DataError(f"{key} must be a list, got {shown(holder[key])}")
        try:
            cuts = [[float.fromhex(text) for text in column] for column in holder["cuts"]]
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"cuts: no hexadecimal float: {error}") from error
        return cls(**{**holder, "cuts": cuts})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coding):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        return (
            f"<Coding: {self.n_attributes} attributes of {self.n_columns} columns, "
            f"{min(self.cardinalities)} to {max(self.cardinalities)} states>"
        )


def saved_object(
    what: str, data: object, name: str, version: int, keys: Sequence[str]
) -> dict[str, Any]:
    """Return the keys of a saved object, or raise DataError naming what is wrong."""
    if not isinstance(data, Mapping):
        raise DataError(f"{what} must be an object, got {shown(data)}")
    known = ("format", "version", *keys)
    for key in data:
        if key not in known:
            raise DataError(f"{what}: unknown key {shown(key)}{nearest(str(key), known)}")
    for key in known:
        if key not in data:
            raise DataError(f"{what}: the key {shown(key)} is missing")
    if data["format"] != name:
        raise DataError(f"{what}: format must be {shown(name)}, got {shown(data['format'])}")
    if isinstance(data["version"], bool) or data["version"] != version:
        raise DataError(f"{what}: version {shown(data['version'])} is not known")
    return {key: data[key] for key in keys}


def _lists(name: str, value: Any) -> list[tuple[object, ...]]:
    found = entries(name, value, "lists", error=DataError)
    return [
        entries(f"{name}[{i}]", entry, "integers", error=DataError)
        for i, entry in enumerate(found)
    ]


def _cut_array(name: str, values: Any) -> FloatArray:
    try:
        array = np.array(values, dtype=np.float64) + 0.0
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {error}") from error
    if array.ndim != 1 or not np.isfinite(array).all() or (np.diff(array) <= 0).any():
        raise DataError(f"{name} must be finite and increasing numbers, got {shown(values)}")
    array.setflags(write=False)
    return array


def _state_array(name: str, values: Any, sizes: Sequence[int]) -> IntArray:
    """Return the states of an attribute whose columns have so many cuts."""
    try:
        array = np.array(values)
    except ValueError as error:
        raise DataError(f"states of {shown(name)} must be rows of integers: {error}") from error
    if array.ndim != 2 or array.dtype.kind not in "iu" or array.shape[1] != len(sizes):
        raise DataError(
            f"states of {shown(name)} must be rows of {len(sizes)} integers, got {shown(values)}"
        )
    if not len(array) or (array < -1).any() or (array > np.asarray(sizes)).any():
        raise DataError(f"states of {shown(name)} must be rows of cells, got {shown(values)}")
    if len(np.unique(array, axis=0)) < len(array):
        raise DataError(f"states of {shown(name)} must be different, got {shown(values)}")
    result = np.ascontiguousarray(array, dtype=np.int32)
    result.setflags(write=False)
    return result
