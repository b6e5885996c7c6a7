"""The samples as column generation takes them: literals, classes, error weights, and demands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cpx.models.rule_set.methods.column_generation.beams import Beams

__all__ = ["Features", "Table"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Features = tuple[int, ...]


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

    @cached_property
    def beams(self) -> Beams:
        """Beam search over the literals of the samples."""
        return Beams(self.literals, self.same)

    def weighed(self, weights: NDArray[np.int64], same: Bools | None = None) -> Table:
        """Return the samples with other weights, and classes if these are given."""
        other = replace(self, weights=weights, same=self.same if same is None else same)
        other.__dict__["beams"] = self.beams
        return other

    @cached_property
    def own(self) -> Indices:
        """The samples of the class."""
        return np.flatnonzero(self.same)

    def covered(self, features: Sequence[int]) -> Bools:
        """Say which samples a rule covers, shape (m,)."""
        return self.beams.samples(self.beams.cover(features))

    def any_covers(self, rules: Iterable[Sequence[int]]) -> Bools:
        """Say which samples are covered by one rule or more, shape (m,)."""
        words = [self.beams.cover(rule) for rule in rules]
        if not words:
            return np.zeros(len(self.same), dtype=bool)
        return self.beams.samples(np.bitwise_or.reduce(words))

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
