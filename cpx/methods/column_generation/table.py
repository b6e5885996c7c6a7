"""The samples as column generation takes them: literals, classes, and error weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Features", "Table"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Features = tuple[int, ...]

_MOST_NUMBERS = 2**26
"""Literals that are kept as numbers, too: a quarter of a gigabyte."""


@dataclass(frozen=True, eq=False)
class Table:
    """Samples with the literals that are true of them.

    Attributes
    ----------
    literals : ndarray of bool, shape (m, d)
    same : ndarray of bool, shape (m,)
        Which samples are of the class.
    weights : ndarray of int64, shape (m,)
        What an error on each weighs.
    """

    literals: Bools
    same: Bools
    weights: NDArray[np.int64]

    @property
    def few(self) -> bool:
        """Whether the literals are kept as numbers, too."""
        return self.literals.size <= _MOST_NUMBERS

    def numbers(self, rows: Indices) -> NDArray[np.float32]:
        """Return the literals of some rows as numbers, for products of matrices."""
        if not self.few:
            return self.literals[rows].astype(np.float32)
        return self._numbers if len(rows) == len(self.same) else self._numbers[rows]

    @cached_property
    def _numbers(self) -> NDArray[np.float32]:
        return self.literals.astype(np.float32)

    @cached_property
    def own(self) -> Indices:
        """The samples of the class."""
        return np.flatnonzero(self.same)

    def covered(self, features: Sequence[int]) -> Bools:
        """Say which samples a rule covers, shape (m,)."""
        return np.asarray(self.literals[:, list(features)].all(axis=1))

    def paid(self, covered: Bools) -> int:
        """Return the weight of the samples of other classes that a rule covers."""
        return int(self.weights[covered & ~self.same].sum())

    def signed_weights(self, prices: Floats) -> Floats:
        """Return what covering each sample is worth: its price, or minus its weight.

        Parameters
        ----------
        prices : ndarray of float64
            One for each sample of the class.
        """
        weights = -self.weights.astype(np.float64)
        weights[self.own] = prices
        return weights

    def part(self, rows: Indices) -> Table:
        """Return some of the samples."""
        return Table(self.literals[rows], self.same[rows], self.weights[rows])
