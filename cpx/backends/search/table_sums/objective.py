"""Value and likelihood of a set as one integer, and the order of sets that the search proves.

A set is better than another one if its value is greater, or equal and its likelihood greater. The
likelihood is compared exactly, as a product of integers. The bounds are of

    F(S) = M value(S) - sum_{j in S} c_j,   c_j = floor(c * -log2 P_j),

where P_j is the likelihood of feature j, and c is such that no set that is allowed costs M or
more. A set S better than S* has F(S) >= F(S*) - |S*|: if its value is greater, then by M at least,
which is more than costs make up for; if it is equal, then c * -log2 P(S) < c * -log2 P(S*), and
rounding changes the sums of costs by less than the numbers of their features. So a part of the
search is done with where its bound is at most F(S*) - |S*| - 1, and sets between are compared
exactly. Where all P_j are equal, costs are exact, and F(S*) itself is enough.

Where the sum of the tables' ranges has more than 56 bits, they are divided by a power of two and
rounded up, and there are no costs. F is then no less than value(S) / 2**shift.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cpx.models.expected_prediction.form import TableSumForm

__all__ = ["Objective", "Solution"]

Ints = NDArray[np.int64]

_BITS = 56
"""Bits of the sum of the ranges. Bounds add at most 26 times that sum: twelve multipliers for
each term, twice, and the terms themselves."""


@dataclass(frozen=True)
class Solution:
    """A set of features, its value, and its likelihood over a power of 2**30.

    ``likelihood`` is the product of the likelihoods of its features, and of 2**30 for each of the
    others.
    """

    features: tuple[int, ...]
    value: int
    likelihood: int

    def better_than(self, other: Solution | None) -> bool:
        """Whether this set comes before the other one."""
        if other is None or self.value != other.value:
            return other is None or self.value > other.value
        return self.likelihood > other.likelihood


class Objective:
    """What sets of the features of a form are worth.

    Parameters
    ----------
    form : TableSumForm
    k : int
        How many features a set may have.

    Attributes
    ----------
    form, k
        As given.
    features : list of list of int
        Of each term that is not constant.
    tables : list of ndarray of int64
        Their values, from 0, times ``scale`` or divided by ``2**shift``.
    costs : ndarray of int64
        Of each feature.
    constant : int
        The value of a set is this plus the sum of its values in the tables, before scaling.
    """

    def __init__(self, form: TableSumForm, k: int) -> None:
        self.form, self.k = form, k
        self.features: list[list[int]] = []
        lowest, tables = [], []
        self.constant = int(form.constant)
        for members, table in zip(form.features, form.tables, strict=True):
            least = int(table.min())
            self.constant += least
            if int(table.max()) > least:
                self.features.append([int(j) for j in members])
                lowest.append(least)
                tables.append(table)
        total = sum(int(t.max()) - least for t, least in zip(tables, lowest))
        self.shift = max(0, total.bit_length() - _BITS)
        self.scale = 1 << max(0, _BITS - total.bit_length()) if total else 1
        self.tables = [self._scaled(t, least) for t, least in zip(tables, lowest)]
        self.costs = self._costs()
        alike = len({form.likelihoods[j] for j in range(form.n_features)}) <= 1
        certain = all(p == _ONE for p in form.likelihoods)
        self._exact = alike and (certain or bool((self.costs > 0).all())) and not self.shift

    def _scaled(self, table: Ints, least: int) -> Ints:
        if self.shift:
            raised = [-((least - int(v)) >> self.shift) for v in table]
            return np.array(raised, dtype=np.int64)
        return (table - least) * self.scale

    def _costs(self) -> Ints:
        bits = np.array([30 - math.log2(int(p)) for p in self.form.likelihoods])
        bits = np.maximum(bits, 0.0)
        most = float(np.sort(bits)[::-1][: self.k].sum())
        if self.shift or most == 0.0:
            return np.zeros(len(bits), dtype=np.int64)
        # Floats are off by less than one part in 10**12 here.
        return np.floor(bits * ((self.scale - 1) / most * (1 - 1e-9))).astype(np.int64)

    def solution(self, features: Sequence[int]) -> Solution:
        """Return a set with its value and its likelihood."""
        chosen = tuple(sorted(int(j) for j in features))
        form = self.form
        likelihood = math.prod(int(form.likelihoods[j]) for j in chosen)
        return Solution(
            chosen, form.value(chosen), likelihood << (30 * (form.n_features - len(chosen)))
        )

    def enough(self, best: Solution) -> int:
        """Return the bound at which nothing better than a set is left."""
        value = best.value - self.constant
        if self.shift:
            return -((-value) >> self.shift) - 1
        return self._joint(best) - (0 if self._exact else len(best.features) + 1)

    def below(self, value: int) -> int:
        """Return the bound at which no set of this value is left."""
        least = value - self.constant
        if self.shift:
            return -((-least) >> self.shift) - 1
        return (least - 1) * self.scale

    def aim(self, best: Solution) -> int:
        """Return what the bound is to reach: the same integer of a set."""
        return self._joint(best) if not self.shift else self.enough(best)

    def most_valuable(self, bound: int) -> int:
        """Return the greatest value that a set within a bound may have."""
        if self.shift:
            return self.constant + (bound << self.shift)
        # A set costs at most scale - 1.
        return self.constant + (bound + self.scale - 1) // self.scale

    def _joint(self, best: Solution) -> int:
        costs = sum(int(self.costs[j]) for j in best.features)
        return (best.value - self.constant) * self.scale - costs

    @cached_property
    def n_features(self) -> int:
        """How many features there are."""
        return self.form.n_features


_ONE = 1 << 30
