"""What sets are worth as one integer, for bounds, and which of two sets is the better one.

All bounds are of a weighted sum of the value f(S) of a set and its penalties p_j, in integers:

    F(S) = M f(S) - sum_{j in S} c_j

*Greatest value, then least penalty* (:class:`GreatestValue`). M is a power of two, and
c_j = floor(r p_j) with r such that no set of k features costs M or more; r = 1 where that will
do. Let S be better than S*. If its value is greater, F(S) >= M f(S*) + M - (M - 1) > F(S*). If it
is equal and its penalty less, then c(S) <= r p(S) < r p(S*), which is less than c(S*) + |S*|: so
F(S) > F(S*) - |S*|, and with r = 1 F(S) > F(S*). What has F(S) <= F(S*) - |S*| is therefore not
better, nor, with r = 1, what has F(S) <= F(S*). Sets between are compared themselves.

*Least penalty of a value tau or more* (:class:`LeastPenalty`). With c_j = C p_j, a set that is
better than S* has F(S) >= M tau - C (p(S*) - 1), whatever M and C are: they are the multiplier of
the condition f(S) >= tau. And a bound D of F says that p(S) >= (M tau - D) / C.

Where the values of the tables range over more than 56 bits, they are divided by 2**shift and
rounded up: f may be above what it should be, which keeps all of this valid, and sets are compared
by their exact values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cpx.models.expected_prediction.form import TableSumForm

Ints = NDArray[np.int64]

_BITS = 56
"""Bits of the sum of ranges. A bound adds at most 34 times that sum: the terms, twice a multiplier
of each of their bits, of which a term has sixteen at most, and the costs."""


@dataclass(frozen=True)
class Solution:
    """A set of features, its value, and the sum of its penalties."""

    features: tuple[int, ...]
    value: int
    penalty: int


class Objective(ABC):
    """What is wanted of sets of at most k features of a form.

    features: Of each table that is not constant.
    tables: Their values times M, from 0.
    costs: Of each feature.
    slack: By so much, in all, gains of the tables may be too small because they were rounded.
    least: M times the value that the tables must give a set; very low where any will do.
    """

    costs: Ints
    least: int

    def __init__(self, form: TableSumForm, k: int) -> None:
        self.form, self.k = form, k
        self.features: list[list[int]] = []
        lowest, tables = [], []
        self._constant = int(form.constant)
        for members, table in zip(form.features, form.tables, strict=True):
            low = int(table.min())
            if int(table.max()) > low:
                self.features.append([int(j) for j in members])
                lowest.append(low)
                tables.append(table)
            else:
                self._constant += low
        self._plain, self._lowest = tables, sum(lowest)
        total = sum(int(t.max()) - low for t, low in zip(tables, lowest))
        self._shift = max(0, total.bit_length() - _BITS)
        self._scale = 1 << max(0, _BITS - max(1, total.bit_length()))
        self.slack = len(tables) if self._shift else 0
        self.tables = [self._scaled(t, low) for t, low in zip(tables, lowest)]
        # The most that k features are penalised by.
        self._most = sum(sorted((int(p) for p in form.penalties), reverse=True)[:k])

    def _scaled(self, table: Ints, low: int) -> Ints:
        if self._shift:
            raised = [-((low - int(v)) >> self._shift) for v in table]
            return np.array(raised, dtype=np.int64)
        return (table - low) * self._scale

    def _of_value(self, value: int) -> int:
        """Return M times a value, less the constant; divided and rounded up where tables are."""
        return -((self._constant + self._lowest - value) >> self._shift) * self._scale

    def solution(self, features: Iterable[int]) -> Solution:
        """Return a set with its value and its penalty."""
        chosen = sorted(int(j) for j in features)
        inside = np.zeros(self.form.n_features, dtype=np.int64)
        inside[chosen] = 1
        value = self._constant
        if self.features:
            of, bits, first, start, table = self._flat
            value += sum(table[start + np.add.reduceat(inside[of] * bits, first)].tolist())
        return Solution(tuple(chosen), value, sum(self.form.penalties[chosen].tolist()))

    @cached_property
    def _flat(self) -> tuple[Ints, ...]:
        """The bits of all tables: features and values; where they begin; the same of entries."""
        sizes = np.array([len(members) for members in self.features])
        of = np.concatenate([np.array(members) for members in self.features])
        bits = np.concatenate([1 << np.arange(size) for size in sizes])
        start = np.cumsum(1 << sizes) - (1 << sizes)
        return of, bits, np.cumsum(sizes) - sizes, start, np.concatenate(self._plain)

    def most_valuable(self, bound: int) -> int:
        """Return the greatest value that a set within a bound may have."""
        if self._shift:
            return self._constant + self._lowest + ((bound + self._most_cost) << self._shift)
        return self._constant + self._lowest + (bound + self._most_cost) // self._scale

    @property
    def _most_cost(self) -> int:
        return sum(sorted((int(c) for c in self.costs), reverse=True)[: self.k])

    @abstractmethod
    def better(self, one: Solution, other: Solution | None) -> bool:
        """Whether a set is wanted, and more than another one."""

    @abstractmethod
    def enough(self, best: Solution | None) -> int:
        """Return the bound at which nothing better than a set is left."""


class GreatestValue(Objective):
    """The greatest value of at least ``target``, if one is given; then the least penalty."""

    def __init__(self, form: TableSumForm, k: int, target: int | None = None) -> None:
        super().__init__(form, k)
        self.target, self.least = target, -(1 << 62)
        room = self._scale - 1
        self._whole = self._most <= room and not self._shift
        if self._whole:
            self.costs = form.penalties.astype(np.int64)
        else:
            costs = [0 if self._shift else int(p) * room // self._most for p in form.penalties]
            self.costs = np.array(costs, dtype=np.int64)

    def better(self, one: Solution, other: Solution | None) -> bool:
        """Whether a set has the greater value, or the same and the lesser penalty."""
        if self.target is not None and one.value < self.target:
            return False
        if other is None:
            return True
        return (one.value, -one.penalty) > (other.value, -other.penalty)

    def enough(self, best: Solution | None) -> int:
        """Return the bound at which nothing better than a set is left."""
        if best is None:
            # No set of the target's value has less than that.
            return (
                -(1 << 62)
                if self.target is None
                else self._of_value(self.target) - (self._most_cost + 1)
            )
        value = self._of_value(best.value)
        if self._shift:
            return value - 1
        own = value - sum(int(self.costs[j]) for j in best.features)
        return own if self._whole else own - len(best.features)


class LeastPenalty(Objective):
    """The least penalty of a value of at least ``target``.

    exchange: How much value is worth one unit of penalty: what is best depends on the form.
    """

    def __init__(self, form: TableSumForm, k: int, target: int, exchange: float) -> None:
        super().__init__(form, k)
        self.target, self.least = target, self._of_value(target)
        limit = (1 << _BITS) // max(1, self._most)
        self.rate = int(min(max(1.0, exchange * self._scale / 2**self._shift), float(limit)))
        self.costs = form.penalties.astype(np.int64) * self.rate

    def better(self, one: Solution, other: Solution | None) -> bool:
        """Whether a set has the value wanted and the lesser penalty."""
        return one.value >= self.target and (other is None or one.penalty < other.penalty)

    def enough(self, best: Solution | None) -> int:
        """Return the bound at which nothing better than a set is left."""
        most = self._most if best is None else best.penalty - 1
        return self.least - self.rate * most - 1

    def least_penalty(self, bound: int) -> int:
        """Return the least penalty that a set within a bound of F may have."""
        return max(0, -((bound - self.least) // self.rate))
