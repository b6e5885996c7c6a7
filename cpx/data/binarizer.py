"""The binarizer: a scikit-learn transformer from the columns of a table to Boolean features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from cpx.data.bits import bit_row
from cpx.data.column_fitting import fit_columns
from cpx.data.columns import Column, bits_of, groups_of, literals_of, names_of
from cpx.data.condition import ColumnCondition
from cpx.data.date_columns import is_date, parts_of
from cpx.data.frames import as_table, column_names, positions, with_columns
from cpx.data.other_frames import as_pandas
from cpx.errors import DataError, nearest, shown
from cpx.support.validation import choice, entries, integer_in

__all__ = ["Binarizer", "NotFitted", "as_table"]


class NotFitted(DataError, NotFittedError):
    """A binarizer used before ``fit``; scikit-learn's error and ours at once."""


class Binarizer(TransformerMixin, BaseEstimator):
    """Turn a table into Boolean features with readable names.

    Numeric columns become bins, the other columns one feature per category; a column
    with missing values gets a feature "is missing". The features of a column exclude
    each other, and every row of the fitted table has exactly one of them. Object columns
    that hold nothing but numbers count as numeric, truth values as categories. A numeric
    column with at most ``n_bins`` distinct values gets one bin per value; with a single
    one, the feature "column = value".

    Thresholds are rounded to the fewest digits that keep the split of the fitted table,
    and the rounded threshold is the one used: the name "worst radius <= 14.9" is exactly
    true.

    Parameters
    ----------
    n_bins : int
        Largest number of bins of a numeric column, at least 2. Bins whose limits fall
        between the same two values are merged.
    strategy : {"quantile", "uniform"}
        Bins of equal counts, as nearly as ties allow, or of equal widths.
    categorical : sequence of column names, optional
        Numeric columns to treat as categories. Columns of arrays are named
        ``x0, x1, ...``; their positions are taken as well.
    max_categories : int
        A column with more categories is refused.
    cuts : mapping of column names to sequences of float, optional
        Cut points of your own: these columns have the bins between them, and no others.
    dates : bool
        Take columns of dates: bins of time, and those of their months, days of the week and
        hours that differ, as columns of their own.

    Attributes
    ----------
    attributes_ : tuple of str
        Names of the columns.
    groups_ : (d,) array of int64
        Index of the column that each feature comes from.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : (n,) array of object
        Column names; only after fitting on a frame whose column names are text.
    column_labels_ : list or None
        Column labels of the fitted frame, by which others are matched; None for an array.
    columns_ : tuple of cpx.data.columns.Column
        What was learned of each column; of one of dates several.
    places_ : tuple of int
        Position in the table of each of these.

    Raises
    ------
    DataError
        For a table, a column (by name) or a parameter that cannot be used: dates,
        complex numbers, nested objects, infinite values, too many categories,
        duplicate names, no rows, no columns, columns missing or unknown.

    Notes
    -----
    ``transform`` gives all features of a column the value 0 for a category not seen in
    fit, for a missing value where none was seen in fit, and for another number than the
    only one seen. Frames are matched to the fitted columns by name, in any order.

    Examples
    --------
    >>> table = pd.DataFrame({"radius": [11.0, 14.87, 14.95, 20.0], "tint": list("aabb")})
    >>> binarizer = Binarizer(n_bins=2).fit(table)
    >>> print(*binarizer.get_feature_names_out(), sep=", ")
    radius <= 14.9, radius > 14.9, tint = a, tint = b
    >>> bits = binarizer.transform(table)
    >>> bits[0].astype(int)
    array([1, 0, 1, 0])
    >>> print(*binarizer.literal_names(bits[0]), sep=", ")
    radius <= 14.9, radius <= 14.9, tint = a, tint != b
    """

    def __init__(
        self,
        n_bins: int = 3,
        strategy: Literal["quantile", "uniform"] = "quantile",
        categorical: Sequence[str | int] | None = None,
        max_categories: int = 100,
        cuts: Mapping[Any, Sequence[Any]] | None = None,
        dates: bool = False,
    ) -> None:
        self.n_bins = n_bins
        self.strategy = strategy
        self.categorical = categorical
        self.max_categories = max_categories
        self.cuts = cuts
        self.dates = dates

    def fit(
        self, X: Any, y: Any = None, *, weights: npt.NDArray[np.int64] | None = None
    ) -> Binarizer:
        """Learn bins and categories.

        Parameters
        ----------
        X : data frame or (n, columns) array
        y : ignored
            There for scikit-learn's pipelines.
        weights : (n,) array of int > 0, optional
            How often each row counts where bins are to have equal counts.

        Returns
        -------
        Binarizer
            Itself.
        """
        self._check_parameters()
        X = as_pandas(X)
        table = as_table(X)
        names = column_names(table, isinstance(X, pd.DataFrame))
        if table.shape[0] == 0:
            raise DataError(f"the table has no rows (shape {table.shape}; minimum 1 required)")
        chosen = positions(self.categorical, list(table.columns), names)
        self.places_, parts = self._places(names, table)
        every = np.asarray(self.places_)
        self.columns_: tuple[Column, ...] = fit_columns(
            [names[c] for c in self.places_],
            table if len(every) == len(names) else table.iloc[:, every],
            {i for i, c in enumerate(self.places_) if c in chosen},
            self._cuts(names),
            parts,
            n_bins=int(self.n_bins),
            strategy=self.strategy,
            max_categories=int(self.max_categories),
            weights=weights,
        )
        self.attributes_ = tuple(names)
        self.n_features_in_ = len(names)
        self.column_labels_: list[Any] | None = (
            list(table.columns) if isinstance(X, pd.DataFrame) else None
        )
        if self.column_labels_ is not None and all(
            isinstance(c, str) for c in self.column_labels_
        ):
            self.feature_names_in_ = np.array(self.column_labels_, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # left from an earlier fit
        self.groups_ = groups_of(self.columns_)
        return self

    def transform(self, X: Any) -> npt.NDArray[np.bool_]:
        """Return the features of the rows.

        Parameters
        ----------
        X : data frame or (n, columns) array
            With the columns seen in fit; a frame in any order.

        Returns
        -------
        (n, d) array of bool
        """
        self._check_fitted()
        table = self.aligned(X)
        if len(self.places_) > table.shape[1]:
            table = table.iloc[:, [*self.places_]]
        return bits_of(self.columns_, table)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the positive literals.

        Parameters
        ----------
        input_features : sequence of str, optional
            There for scikit-learn: must be the column names, and changes nothing.

        Returns
        -------
        (d,) array of object
        """
        self._check_fitted()
        if input_features is not None and list(input_features) != list(self.attributes_):
            raise DataError(
                "input_features is not equal to feature_names_in_, the columns seen in fit: "
                f"{shown(list(input_features)[:5])}, {shown(list(self.attributes_)[:5])}"
            )
        return np.array(names_of(self.columns_), dtype=object)

    def literal_names(self, bits: Any) -> tuple[str, ...]:
        """Return the literals that are true of a row with these features.

        The positive name of a feature with value 1, a negation of one with value 0:
        "a > 1" for "a <= 1", "colour != red", "age is known", and "not (...)" where that
        alone is true: for inner bins, and for columns in which the value may be missing.

        Parameters
        ----------
        bits : (d,) array of bool or 0/1
            A row of the output of ``transform``.

        Returns
        -------
        tuple of d str
        """
        self._check_fitted()
        row = bit_row("bits", bits, len(self.groups_))
        return tuple(literals_of(self.columns_, row))

    def conditions(self, bits: Any, features: Any) -> tuple[str, ...]:
        """Return chosen literals in words, those of one numeric column joined to an interval.

        Parameters
        ----------
        bits : (d,) array of bool or 0/1
            A row of the output of ``transform``.
        features : sequence of int
            The chosen features.

        Returns
        -------
        tuple of str
            At most one condition per numeric column, in the order of the columns; together
            they mean what the literals mean.

        Examples
        --------
        >>> import numpy as np
        >>> binarizer = Binarizer(3).fit(np.arange(9.0).reshape(-1, 1))
        >>> bits = binarizer.transform(np.array([[8.0]]))[0]
        >>> binarizer.literal_names(bits)
        ('x0 > 2.5', 'not (2.5 < x0 <= 5.5)', 'x0 > 5.5')
        >>> binarizer.conditions(bits, [0, 1])
        ('x0 > 5.5',)
        """
        names = self.literal_names(bits)
        row = np.asarray(bits).astype(bool)
        texts: list[str] = []
        for group, own in self._by_column(row, features):
            first = int(np.searchsorted(self.groups_, group))
            known = row[self.groups_ == group].any()
            joined = self.columns_[group].joined(own, loose=not known)
            texts += [joined] if joined else [names[first + j] for j in own]
        return tuple(texts)

    def said(self, bits: Any, features: Any) -> tuple[ColumnCondition, ...]:
        """Return what chosen literals mean, as conditions on the columns."""
        row = np.asarray(bits).astype(bool)
        found: list[ColumnCondition] = []
        for group, chosen in self._by_column(row, features):
            column, own = self.columns_[group], row[self.groups_ == group]
            found += column.said(chosen, column.missing or not own.any())
        return tuple(found)

    def by_condition(self, chosen: Mapping[int, bool]) -> list[dict[int, bool]]:
        """Return chosen features with their values, those of one of :meth:`said` together."""
        row = np.zeros(len(self.groups_), dtype=bool)
        row[[j for j, true in chosen.items() if true]] = True
        found: list[dict[int, bool]] = []
        for group, own in self._by_column(row, chosen):
            first = int(np.searchsorted(self.groups_, group))
            literals = {first + j: true for j, true in own.items()}
            alone = len(self.columns_[group].said(own, loose=False)) > 1
            found += [{j: true} for j, true in literals.items()] if alone else [literals]
        return found

    def _by_column(self, row: Any, features: Any) -> list[tuple[int, dict[int, bool]]]:
        """Return the chosen features of each column, by their place in it, with their values."""
        chosen = sorted({int(j) for j in features})
        found = []
        for group in sorted({int(self.groups_[j]) for j in chosen}):
            first = int(np.searchsorted(self.groups_, group))
            own = {j - first: bool(row[j]) for j in chosen if self.groups_[j] == group}
            found.append((group, own))
        return found

    def __sklearn_tags__(self) -> Any:
        """Say to scikit-learn which input is taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _check_fitted(self) -> None:
        if not hasattr(self, "columns_"):
            raise NotFitted("this Binarizer is not fitted yet: call fit with a table first")

    def _check_parameters(self) -> None:
        for name, least in (("n_bins", 2), ("max_categories", 1)):
            integer_in(name, getattr(self, name), least, error=DataError)
        choice("strategy", self.strategy, ("quantile", "uniform"), error=DataError)

    def _places(
        self, names: list[str], table: pd.DataFrame
    ) -> tuple[tuple[int, ...], list[str | None]]:
        """Return the position of each column that is fitted, and which part of dates it is."""
        places, parts = list[int](), list[str | None]()
        for c, (name, dtype) in enumerate(zip(names, table.dtypes, strict=True)):
            own: list[str | None] = [None]
            # Taking a column out of a wide table costs more than its bins.
            if self.dates and dtype.kind == "M" and is_date(values := table.iloc[:, c]):
                own = ["", *parts_of(name, values)]
            places += [c] * len(own)
            parts += own
        return tuple(places), parts

    def _cuts(self, names: list[str]) -> dict[str, Sequence[Any]]:
        """Return the cuts that are given by column."""
        if self.cuts is None:
            return {}
        if not isinstance(self.cuts, Mapping):
            raise DataError(f"cuts must map columns to numbers, got {shown(self.cuts)}")
        found: dict[str, Sequence[Any]] = {}
        for key, given in self.cuts.items():
            name = key if key in names else f"x{key}"
            if name not in names:
                near = nearest(str(key), names)
                raise DataError(f"cuts names a column {shown(key)} that is not in the table{near}")
            found[name] = entries(f"cuts[{key!r}]", given, "numbers", error=DataError)
        return found

    def aligned(self, X: Any) -> pd.DataFrame:
        """Return the table as a frame with the columns of fit, in their order.

        Raises
        ------
        DataError
            When columns are missing, unknown, or not as many as in fit.
        """
        self._check_fitted()
        X = as_pandas(X)
        if isinstance(X, pd.DataFrame) and self.column_labels_ is not None:
            return with_columns(X, self.column_labels_)
        table = as_table(X)
        if table.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has {table.shape[1]} features, but Binarizer is expecting "
                f"{self.n_features_in_} features as input"
            )
        return table
