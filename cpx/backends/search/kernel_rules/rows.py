"""Rows of support vectors as the search takes them: merged, split by sign, heaviest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpx.models.kernel_rule.form import DNFForm

__all__ = ["Rows"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """The same problem with equal rows merged.

    Attributes
    ----------
    inside, outside : ndarray of bool, shapes (p, d) and (q, d)
        Rows of positive and of negative weight, the heaviest first.
    gains, costs : ndarray of int64, shapes (p,) and (q,)
        Their weights, and the absolute values of them.
    """

    inside: Bools
    outside: Bools
    gains: Ints
    costs: Ints

    @classmethod
    def of(cls, form: DNFForm) -> Rows:
        """Merge equal rows and leave out those whose weights cancel."""
        table, place = np.unique(form.table, axis=0, return_inverse=True)
        weights = np.zeros(len(table), dtype=np.int64)
        np.add.at(weights, place.ravel(), form.weights)
        order = np.argsort(-np.abs(weights), kind="stable")
        table, weights = table[order], weights[order]
        plus, minus = weights > 0, weights < 0
        return cls(table[plus], table[minus], weights[plus], -weights[minus])

    @property
    def greatest(self) -> int:
        """The sum of the positive weights."""
        return int(self.gains.sum())
