"""Problems to choose a formula in disjunctive normal form, as plain arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["DNFForm"]


@dataclass(frozen=True, eq=False)
class DNFForm:
    """Maximise the weight of the samples that a formula is true of.

    The formula is a disjunction of 1 to ``max_clauses`` conjunctions of 1 to ``max_literals``
    features. The features j of its clause t are, as indices of a solution, ``t d + j``, below
    ``max_clauses * d``.

    Attributes
    ----------
    table : ndarray of bool, shape (m, d)
    weights : ndarray of int64, shape (m,)
        Of either sign; their absolute values add up to less than 2**53.
    max_clauses, max_literals : int
    """

    table: NDArray[np.bool_]
    weights: NDArray[np.int64]
    max_clauses: int
    max_literals: int

    @property
    def greatest(self) -> int:
        """The sum of the positive weights, which no formula exceeds."""
        return int(self.weights[self.weights > 0].sum())

    def clauses(self, features: Iterable[int]) -> tuple[tuple[int, ...], ...]:
        """Return the clauses of a solution, in increasing order, each once."""
        d = self.table.shape[1]
        slots: dict[int, set[int]] = {}
        for feature in features:
            slots.setdefault(feature // d, set()).add(feature % d)
        return tuple(sorted({tuple(sorted(clause)) for clause in slots.values()}))

    def features(self, clauses: Sequence[Sequence[int]]) -> list[int]:
        """Return the solution with these clauses, in their order."""
        d = self.table.shape[1]
        return [t * d + j for t, clause in enumerate(clauses) for j in clause]

    def covered(self, clauses: Iterable[Sequence[int]]) -> NDArray[np.bool_]:
        """Return which samples the formula is true of, shape (m,)."""
        found = np.zeros(len(self.table), dtype=np.bool_)
        for clause in clauses:
            found |= self.table[:, list(clause)].all(axis=1)
        return found

    def value(self, clauses: Iterable[Sequence[int]]) -> int:
        """Return the weight of the samples that the formula is true of."""
        return int(self.weights[self.covered(clauses)].sum())

    def allows(self, clauses: Sequence[Sequence[int]]) -> bool:
        """Whether the formula has no more and no larger clauses than it may have."""
        return 1 <= len(clauses) <= self.max_clauses and all(
            1 <= len(clause) <= self.max_literals for clause in clauses
        )
