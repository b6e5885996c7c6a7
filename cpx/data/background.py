"""Background data: rows with their Boolean features, and distributions made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from cpx.data.base import Distribution, ReadRow
from cpx.data.bits import bit_row
from cpx.errors import DataError, InvalidOption, NoMass, shown
from cpx.support.validation import group_list, index_set, positive_integer

if TYPE_CHECKING:
    from cpx.data.binarizer import Binarizer

__all__ = ["Background", "OnBackground"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class Background:
    """Rows of a table, in the space of the classifier and as Boolean features.

    Parameters
    ----------
    rows : data frame or (n, columns) array
        What the classifier takes. Without a binarizer, a matrix of 0 and 1: then the
        classifier sees the bits themselves, as an int8 array, or as a frame where
        ``rows`` is one.
    binarizer : Binarizer, optional
        Fitted on a table with these columns.
    groups : sequence of d int, optional
        Without a binarizer: the attribute of each feature, each feature its own when
        not given. Features of one group are sampled together.

    Attributes
    ----------
    rows : data frame or array
        A copy of the rows.
    bits : (n, d) array of bool
        Their features, read-only.
    groups : tuple of d int
        Attribute of each feature.
    attributes : tuple of str
        Names of the attributes.
    feature_names : tuple of d str
        Positive literals.

    Raises
    ------
    DataError
        When the rows do not fit the binarizer, or are no matrix of 0 and 1.

    Examples
    --------
    >>> background = Background(np.array([[0, 1], [1, 1]]))
    >>> rows, bits = background.assemble(np.array([[0, 1], [1, 0]]))
    >>> rows
    array([[0, 1],
           [1, 1]], dtype=int8)
    >>> background.encode([1, 0])
    array([ True, False])
    """

    def __init__(
        self,
        rows: Any,
        binarizer: Binarizer | None = None,
        groups: Sequence[int] | None = None,
    ) -> None:
        import pandas as pd

        from cpx.data.frames import as_table, column_names
        from cpx.data.other_frames import as_pandas

        rows = as_pandas(rows)
        framed = isinstance(rows, pd.DataFrame)
        frame = as_table(rows)
        names = column_names(frame, framed)
        if len(frame) == 0:
            raise DataError("the background has no rows")
        self.binarizer = binarizer
        if binarizer is None:
            bits = _zero_one(frame, "the background")
            self.groups = checked_groups(groups, bits.shape[1])
            self.feature_names = tuple(names)
            numbers, feature_attribute = np.unique(self.groups, return_inverse=True)
            self.attributes = tuple(
                names[self.groups.index(g)] if self.groups.count(g) == 1 else f"group {g}"
                for g in numbers.tolist()
            )
            column_attribute = feature_attribute
            kept: Any = frame.reset_index(drop=True) if framed else bits.astype(np.int8)
        else:
            if groups is not None:
                raise DataError("groups come from the binarizer: give one of the two")
            bits = np.asarray(binarizer.transform(rows), dtype=bool)
            self.groups = tuple(binarizer.groups_.tolist())
            self.feature_names = tuple(binarizer.get_feature_names_out().tolist())
            self.attributes = binarizer.attributes_
            feature_attribute = np.asarray(binarizer.places_)[binarizer.groups_]
            # The frame of the classifier may have its columns in another order.
            fitted = binarizer.column_labels_
            by_name = framed and fitted is not None
            places = {label: a for a, label in enumerate(fitted or ())}
            column_attribute = np.array(
                [places[c] if by_name else a for a, c in enumerate(frame.columns)]
            )
            kept = frame.reset_index(drop=True) if framed else np.asarray(rows)
        self._framed = framed
        self._feature_attribute: IntArray = np.asarray(feature_attribute, dtype=np.int64)
        self._column_attribute: IntArray = np.asarray(column_attribute, dtype=np.int64)
        self._set_rows(kept.copy(), bits)

    def _set_rows(self, rows: Any, bits: BoolArray) -> None:
        self.rows = rows
        self.bits: BoolArray = bits
        self.bits.setflags(write=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.bits)

    @property
    def n_features(self) -> int:
        """Number of Boolean features."""
        return int(self.bits.shape[1])

    @property
    def n_attributes(self) -> int:
        """Number of attributes."""
        return len(self.attributes)

    @property
    def attribute_of(self) -> IntArray:
        """Position in ``attributes`` of each feature, shape (d,)."""
        return self._feature_attribute

    def row(self, x: Any) -> Any:
        """Return x as a table of one row of the classifier, like the background rows.

        Parameters
        ----------
        x : Series, mapping, frame of one row, 1-D array
            Matched by name where both it and the background have names.

        Returns
        -------
        data frame or (1, columns) array
            With the types of the background, widened where x has a value they cannot
            hold.

        Raises
        ------
        DataError
            When x has other columns, with both numbers of columns, or unfit values.
        """
        from cpx.data.frames import array_row_like, instance, row_like

        row: Any
        if self._framed:
            row = row_like(instance(x, list(self.rows.columns), True), self.rows)
        else:
            labels = [f"x{c}" for c in range(self.rows.shape[1])]
            given = instance(x, labels, False)
            row = array_row_like([given[c].iloc[0] for c in labels], self.rows)
        if self.binarizer is None:
            _zero_one(row, "x")
        return row

    def encode(self, x: Any) -> BoolArray:
        """Return the features of x, shape (d,); arguments and errors as in :meth:`row`."""
        return self.read(x)[1]

    def read(self, x: Any) -> tuple[Any, BoolArray]:
        """Return what :meth:`row` and :meth:`encode` do."""
        if isinstance(x, ReadRow):
            return x
        row = self.row(x)
        table = _zero_one(row, "x") if self.binarizer is None else self.binarizer.transform(row)
        bits: BoolArray = np.asarray(table, dtype=bool)[0]
        return row, bits

    def read_many(self, rows: Sequence[Any]) -> list[ReadRow]:
        """Read many rows, as :meth:`read` does one."""
        from cpx.data.frames import stacked

        each = [self.row(x) for x in rows]
        if self.binarizer is None:
            return [ReadRow(row, _zero_one(row, "x")[0]) for row in each]
        found: dict[int, ReadRow] = {}
        for places, table in stacked(each):
            bits = np.asarray(self.binarizer.transform(table), dtype=bool)
            found |= {place: ReadRow(each[place], bits[i]) for i, place in enumerate(places)}
        return [found[place] for place in range(len(each))]

    def literal_names(self, bits: Any) -> tuple[str, ...]:
        """Return the literals true of a row with the given features.

        Without a binarizer they are ``name`` and ``not name``.
        """
        if self.binarizer is not None:
            return self.binarizer.literal_names(bits)
        return plain_literals(self.feature_names, bits)

    def with_row(self, x: Any) -> Background:
        """Return this background with x below it, as row number ``n_rows``."""
        from cpx.data.frames import append_row

        row, bits = self.read(x)
        longer = object.__new__(Background)
        longer.__dict__.update(self.__dict__)
        rows = append_row(self.rows, row) if self._framed else np.concatenate([self.rows, row])
        longer._set_rows(rows, np.vstack([self.bits, bits]))
        return longer

    def assemble(self, index: npt.ArrayLike) -> tuple[Any, BoolArray]:
        """Build rows whose attributes come from different background rows.

        Parameters
        ----------
        index : (m, n_attributes) array of int
            ``index[i, a]`` is the background row that gives row i its attribute a.

        Returns
        -------
        rows : data frame or (m, columns) array
            Type, column types and names are those of the background.
        bits : (m, d) array of bool
            Their features, taken from the background as well.

        Raises
        ------
        DataError
            When the index has another shape or numbers that are no rows.
        """
        source = np.asarray(index)
        if (
            source.ndim != 2
            or source.shape[1] != self.n_attributes
            or source.dtype.kind not in "iu"
        ):
            raise DataError(
                f"index must be an (m, {self.n_attributes}) array of integers, "
                f"got {source.dtype} of shape {source.shape}"
            )
        if source.size and (source.min() < 0 or source.max() >= self.n_rows):
            raise DataError(f"index has row numbers outside 0 to {self.n_rows - 1}")
        features = np.arange(self.n_features)
        bits: BoolArray = self.bits[source[:, self._feature_attribute], features]
        columns = self._column_attribute
        if not self._framed:
            return self.rows[source[:, columns], np.arange(len(columns))], bits
        import pandas as pd

        data = {}
        for c, label in enumerate(self.rows.columns):
            column = self.rows.iloc[:, c]
            taken = column.array.take(source[:, columns[c]])
            data[label] = pd.Series(taken, dtype=column.dtype)
        frame = pd.DataFrame(data)
        frame.columns = self.rows.columns
        return frame, bits

    def distinct_values(self) -> list[tuple[IntArray, IntArray]]:
        """Return, of each attribute, a row with each of its values, and how many rows have it.

        >>> background = Background(np.array([[0, 1], [1, 1], [1, 1]]))
        >>> [(rows.tolist(), n.tolist()) for rows, n in background.distinct_values()]
        [([0, 1], [1, 2]), ([0], [3])]
        """
        import pandas as pd

        found = []
        for attribute in range(self.n_attributes):
            columns = np.flatnonzero(self._column_attribute == attribute)
            codes = [
                pd.factorize(self._column(c), use_na_sentinel=False)[0] for c in columns.tolist()
            ]
            _, rows, counts = np.unique(
                np.column_stack(codes), axis=0, return_index=True, return_counts=True
            )
            found.append((rows.astype(np.int64), counts.astype(np.int64)))
        return found

    def _column(self, position: int) -> Any:
        return self.rows.iloc[:, position] if self._framed else self.rows[:, position]

    def __repr__(self) -> str:
        return (
            f"Background({self.n_rows} rows, {self.n_attributes} attributes, "
            f"{self.n_features} features)"
        )


class OnBackground(Distribution):
    """What the distributions made of background rows have in common.

    Attributes
    ----------
    options : tuple of str
        The arguments after the background, each optional.
    """

    options: ClassVar[tuple[str, ...]] = ()
    takes_read_rows = True

    def __init__(self, background: Background) -> None:
        if not isinstance(background, Background):
            raise DataError(f"a Background expected, got {type(background).__name__}")
        self.background = background
        self.n_features = background.n_features
        self.groups = background.groups
        self.feature_names = background.feature_names

    def parameters(self) -> dict[str, Any]:
        """Return the number of background rows."""
        return {"background_rows": self.background.n_rows}

    def row(self, x: Any) -> Any:
        """Return x as a table of one row like the background."""
        return self.background.row(x)

    def encode(self, x: Any) -> BoolArray:
        """Return the features of x."""
        return self.background.encode(x)

    def read(self, x: Any) -> tuple[Any, BoolArray]:
        """Return what :meth:`row` and :meth:`encode` do."""
        return self.background.read(x)

    def read_many(self, rows: Sequence[Any]) -> list[ReadRow]:
        """Read many rows, which takes little longer than one."""
        return self.background.read_many(rows)

    def literal_names(self, bits: Any) -> tuple[str, ...]:
        """Return the literals true of a row with the given features."""
        return self.background.literal_names(bits)

    def chosen(self, features: Iterable[int]) -> list[int]:
        """Return the features, increasing and checked."""
        return sorted(index_set("features", features, self.n_features, error=InvalidOption))

    def any_rows(self, m: int, rng: np.random.Generator) -> IntArray:
        """Return m background rows drawn with replacement, as an index for assemble."""
        drawn = rng.integers(0, self.background.n_rows, size=positive_integer("m", m))
        return self.whole_rows(drawn)

    def whole_rows(self, drawn: IntArray) -> IntArray:
        """Return the index that takes all attributes from the drawn rows."""
        return np.repeat(drawn[:, None], self.background.n_attributes, axis=1)

    def by_attribute(self, chosen: list[int]) -> dict[int, list[int]]:
        """Return the chosen features of each attribute touched by them."""
        touched: dict[int, list[int]] = {}
        for j in chosen:
            touched.setdefault(int(self.background.attribute_of[j]), []).append(j)
        return touched

    def matching(self, bits: BoolArray, chosen: list[int]) -> IntArray:
        """Return the background rows that agree with ``bits`` in the chosen features."""
        agree = (self.background.bits[:, chosen] == bits[chosen]).all(axis=1)
        return np.flatnonzero(agree)

    def no_mass(self, bits: BoolArray, chosen: list[int]) -> NoMass:
        """Return the error for features of x that no background row has."""
        names = self.literal_names(bits)
        return NoMass(
            f"no background row satisfies {shown(' and '.join(names[j] for j in chosen))}, so the "
            f"distribution {self.name!r} cannot be conditioned on it: use 'perturbed', or more "
            "background rows"
        )


def plain_literals(names: Sequence[str], bits: Any) -> tuple[str, ...]:
    """Return ``name`` where the bit is 1 and ``not name`` where it is 0.

    >>> plain_literals(["wings", "fins"], [1, 0])
    ('wings', 'not fins')
    """
    row = bit_row("bits", bits, len(names))
    return tuple(name if bit else f"not {name}" for name, bit in zip(names, row, strict=True))


def _zero_one(table: Any, what: str) -> BoolArray:
    """Return a table of 0 and 1 as a fresh Boolean matrix, or raise DataError."""
    array = np.asarray(table)
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(array.shape, np.nan)
    wrong = ~np.isin(numbers, (0, 1))
    if wrong.any():
        i, j = (int(k) for k in np.argwhere(wrong)[0])
        raise DataError(
            f"{what} has {shown(array[i, j])} in row {i}, column {j}: without a binarizer, "
            "only 0 and 1 are features"
        )
    return numbers.astype(bool)


def checked_groups(groups: Sequence[int] | None, d: int) -> tuple[int, ...]:
    """Return the groups as a tuple, each feature its own when None, or raise DataError."""
    if groups is None:
        return tuple(range(d))
    return group_list("groups", groups, d, error=DataError)
