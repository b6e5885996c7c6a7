"""The literals of a table that candidate rules are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.binarizer import Binarizer
from cpx.data.columns import NumberColumn
from cpx.data.samples import Samples
from cpx.errors import DataError

if TYPE_CHECKING:
    from cpx.models.rule_set.selection import RuleSetSelection

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Literals:
    """Boolean features of samples and their negations.

    Attributes
    ----------
    features : array of bool, shape (m, q)
        Feature b of each sample. Literal 2 b says that it is true, literal 2 b + 1 that it is
        false.
    names : tuple of 2 q str
        The literals in words.
    columns : tuple of q int
        Column of the table that each feature is about; empty when they are of no table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "tint": list("aabb")})
    >>> literals = Literals.of_table(table, n_bins=2)
    >>> literals.names[:4]
    ('size <= 2.5', 'size > 2.5', 'tint = a', 'tint != a')
    >>> problem = literals.problem([(0,), (1, 4)], [1, 1, 0, 0], penalty="1/20")
    >>> print(problem.explanation([0]))
    size <= 2.5 => the class
    """

    features: Bools
    names: tuple[str, ...]
    columns: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        features = np.asarray(self.features)
        if features.ndim != 2 or features.dtype != np.bool_:
            raise DataError(f"features must be a matrix of bool, got shape {features.shape}")
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "names", tuple(self.names))
        if len(self.names) != 2 * features.shape[1]:
            raise DataError(
                f"names must be two for each of {features.shape[1]} features, got "
                f"{len(self.names)}"
            )

    @classmethod
    def of_table(cls, X: Any, n_bins: int = 10, **options: Any) -> Literals:
        """Return thresholds of the numeric columns and values of the others.

        Parameters
        ----------
        X : data frame or (m, columns) array
        n_bins : int
            One more than the thresholds of a numeric column.
        **options
            Of :class:`~cpx.data.Binarizer`.
        """
        binarizer = Binarizer(n_bins=n_bins, **options).fit(X)
        return cls.of_bits(binarizer.transform(X), binarizer)

    @classmethod
    def of_bits(cls, bits: Bools, binarizer: Binarizer) -> Literals:
        """Return the literals of rows that a binarizer has transformed.

        A numeric column has a literal ``a <= t`` for each threshold t, and its negation; that of
        a column with missing values is ``not (a <= t)``, which holds of a missing value as well.
        """
        columns: list[Bools] = []
        names: list[str] = []
        places: list[int] = []
        first = 0
        for c, column in enumerate(binarizer.columns_):
            own = bits[:, first : first + len(column.names)]
            first += len(column.names)
            known = len(column.value_names)
            if isinstance(column, NumberColumn) and column.thresholds:
                below = np.logical_or.accumulate(own[:, : len(column.thresholds)], axis=1)
                columns.extend(below.T)
                for i in range(last := len(column.thresholds)):
                    text, opposite = column.between(0, i), column.between(i + 1, last)
                    names += [text, f"not ({text})" if column.missing else opposite]
            else:
                for i, text in enumerate(column.value_names):
                    columns.append(own[:, i])
                    names += [text, column.negation(i, loose=column.missing)]
            if column.missing:
                columns.append(own[:, known])
                names += column.missing_names
            places += [c] * (len(columns) - len(places))
        return cls(np.column_stack(columns).astype(bool), tuple(names), tuple(places))

    @property
    def matrix(self) -> Bools:
        """Whether each literal is true of each sample, shape (m, 2 q)."""
        m, q = self.features.shape
        return np.stack([self.features, ~self.features], axis=2).reshape(m, 2 * q)

    def covers(self, rules: Sequence[Sequence[int]]) -> Bools:
        """Return whether rule r, given by its literals, covers sample i; shape (R, m)."""
        truth = self.matrix
        return np.array([truth[:, list(rule)].all(axis=1) for rule in rules])

    def agreement(self, i: int) -> Bools:
        """Return where samples have the features of sample i, shape (m, q)."""
        return np.asarray(self.features == self.features[i])

    def true_of(self, i: int, features: Sequence[int]) -> tuple[int, ...]:
        """Return the literals of some features that are true of sample i."""
        return tuple(2 * b + (not self.features[i, b]) for b in features)

    def labels(self, same: Any) -> Bools:
        """Return which samples are of the class, as an array of bool of shape (m,).

        Raises
        ------
        DataError
            For another shape, and when all samples are of one kind.
        """
        labels, m = np.asarray(same).astype(bool), len(self.features)
        if labels.shape != (m,):
            raise DataError(f"same must be {m} values 0 or 1, got shape {labels.shape}")
        if labels.all() or not labels.any():
            raise DataError("same: all samples are of one kind, there is nothing to learn")
        return labels

    def problem(
        self, rules: Sequence[Sequence[int]], same: Any, *, context: Any = None, **more: Any
    ) -> RuleSetSelection:
        """State the selection of rules over these literals; equal samples are merged.

        Parameters
        ----------
        rules : sequence of sequences of int
            The candidates, as sets of literals.
        same : array of bool, shape (m,)
            Which samples are of the class.
        context : mapping, optional
            That of the samples; ``class`` is what the class is called.
        **more
            Parameters of :class:`cpx.RuleSetSelection`.
        """
        from cpx.models.rule_set.selection import RuleSetSelection

        chosen = tuple(tuple(rule) for rule in rules)
        return RuleSetSelection(self.samples(same, context), chosen, **more)

    def samples(self, same: Any, context: Any = None, weights: Any = None) -> Samples:
        """Return the samples with these literals; equal ones are merged.

        Parameters
        ----------
        same : array of bool, shape (m,)
            Which samples are of the class.
        context : mapping, optional
            Where they come from; ``class`` is what the class is called.
        weights : (m,) array of int, optional
            Positive; 1 each when not given.
        """
        return Samples(
            self.matrix, same, weights, features=self.names, context=context or {}
        ).merged()
