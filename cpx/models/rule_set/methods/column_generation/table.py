"""The samples as column generation takes them: literals, classes, error weights, and demands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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

    literals: shape (m, d)
    same (m,): Which samples are of the class.
    weights (m,): What an error on each weighs.
    demands: How many of the last rows stand for no samples, but for literals of which some rule of
        a set must have one: all others are true of the row, so that such rules do not cover it.
    """

    literals: Bools
    same: Bools
    weights: NDArray[np.int64]
    demands: int = 0

    def demanding(self, demands: Collection[Sequence[int]], forbidden: Sequence[int]) -> Table:
        """Return the table with a row for each demand, and literals that no rule may have.

        These are true of no row, so that no rule with one is worth anything.
        """
        d = self.literals.shape[1]
        others = np.ones((len(demands), d), dtype=bool)
        for row, literals in enumerate(demands):
            others[row, list(literals)] = False
        every = np.concatenate([self.literals, others])
        every[:, list(forbidden)] = False
        none = np.zeros(len(demands), dtype=np.int64)
        same = np.concatenate([self.same, none.astype(bool)])
        return Table(every, same, np.concatenate([self.weights, none]), len(demands))

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

    @property
    def priced(self) -> int:
        """How many prices there are: of the samples of the class, then of the demands."""
        return len(self.own) + self.demands

    def meets(self, covered: Bools) -> Bools:
        """Say what a rule that covers such rows has of all that is priced, shape (priced,)."""
        return np.concatenate([covered[self.own], ~covered[len(covered) - self.demands :]])

    def paid(self, covered: Bools) -> int:
        """Return the weight of the samples of other classes that a rule covers."""
        return int(self.weights[covered & ~self.same].sum())

    def signed_weights(self, prices: Floats) -> Floats:
        """Return what covering each row is worth: its price, or minus its weight.

        A rule that meets a demand is worth its price, which is as much as one that does not
        loses, but for a constant: the sum of the prices of demands.

        prices: One for each sample of the class, then for each demand.
        """
        weights = -self.weights.astype(np.float64)
        weights[self.own] = prices[: len(self.own)]
        weights[len(weights) - self.demands :] = -prices[len(self.own) :]
        return weights

    def part(self, rows: Indices) -> Table:
        """Return some of the samples."""
        return Table(self.literals[rows], self.same[rows], self.weights[rows])
