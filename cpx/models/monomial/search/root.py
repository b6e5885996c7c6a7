"""The root node: samples as packed bitsets, and the weights that each feature alone covers."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.bitsets import count
from cpx.backends.search.remaining_constraints import NO_CONSTRAINTS, Remaining
from cpx.backends.search.side_constraints import Side
from cpx.compiled.kernel import LANES
from cpx.data.packed import pack, planes_of, take
from cpx.models.monomial.search.objective import FAR, Numbers, Objective, cost, costs
from cpx.models.monomial.search.stack import Params

if TYPE_CHECKING:
    from cpx.models.monomial.search.presolve import Reduced

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(eq=False)
class Root:
    """A problem of merged rows: find the columns of least cost.

    bits: shape (words, stride)
    bad_words: Words of bad samples; those of good samples follow.
    n, planes, k: Columns, bit slices of the weights, most columns to choose.
    groups: At most one column of equal number; empty when all numbers differ.
    covered_bad, good: Weight of all bad samples, and of all good ones.
    objective: What a set of columns costs.
    excluded: Good weight that is not in the rows, as it is excluded already; the objective counts
        it.
    remaining: The side constraints on the columns.
    """

    bits: Words
    bad_words: int
    n: int
    planes: int
    k: int
    groups: Ints
    covered_bad: int
    good: int
    objective: Objective
    excluded: int = 0
    remaining: Remaining = NO_CONSTRAINTS
    covered: Ints = field(init=False)
    lost: Ints = field(init=False)

    def __post_init__(self) -> None:
        words, stride = self.bits.shape
        workspace = np.append(self.bits.ravel(), np.zeros(LANES, dtype=np.uint64))
        cover = np.full(words, 2**64 - 1, dtype=np.uint64)
        self.covered, self.lost = (np.zeros(self.n + LANES, dtype=np.int64) for _ in range(2))
        count(
            workspace,
            0,
            stride,
            self.bad_words,
            words,
            0,
            self.n,
            self.n,
            self.planes,
            cover,
            self.covered,
            self.lost,
        )
        self.covered, self.lost = self.covered[: self.n], self.good - self.lost[: self.n]

    @classmethod
    def of(
        cls,
        agreement: NDArray[np.bool_],
        weights: Ints,
        bad: int,
        groups: Ints,
        k: int,
        objective: Objective | None = None,
        excluded: int = 0,
        remaining: Remaining = NO_CONSTRAINTS,
    ) -> Root:
        """Take a matrix whose first ``bad`` rows are bad; the loss is the default objective."""
        packed, n = pack(agreement, bad, weights), agreement.shape[1]
        return cls._packed(*packed, n, weights, bad, groups, k, objective, excluded, remaining)

    @classmethod
    def whole(cls, reduced: Reduced) -> Root:
        """Take all of a reduced problem."""
        return cls._packed(
            reduced.bits,
            reduced.bad_words,
            reduced.features.size,
            reduced.weights,
            reduced.bad,
            reduced.groups,
            reduced.k,
            reduced.objective,
            0,
            reduced.remaining,
        )

    @classmethod
    def _packed(
        cls,
        bits: Words,
        bad_words: int,
        n: int,
        weights: Ints,
        bad: int,
        groups: Ints,
        k: int,
        objective: Objective | None,
        excluded: int,
        remaining: Remaining,
    ) -> Root:
        good, all_bad = int(weights[bad:].sum()), int(weights[:bad].sum())
        if np.bincount(groups).max(initial=0) <= 1:
            groups = groups[:0]
        objective = objective or Objective(bad=all_bad, good=good)
        numbers = planes_of(weights), k, groups, all_bad, good
        return cls(bits, bad_words, n, *numbers, objective, excluded, remaining)

    def aiming_at(self, objective: Objective) -> Root:
        """Return the same rows and columns with another objective."""
        other = copy(self)
        other.objective = objective
        for name in ("numbers", "params", "side"):
            vars(other).pop(name, None)
        if objective.keeps_idle == self.objective.keeps_idle:
            other.side = self.side
        return other

    @cached_property
    def numbers(self) -> Numbers:
        """The objective as the kernels take it."""
        idle = bool(self.remaining.with_sign(positive=True).any())
        return self.objective.numbers(self.excluded, keep_idle=idle)

    @cached_property
    def params(self) -> Params:
        """What is the same in all nodes of the search, as the kernels take it."""
        none = np.zeros((0, 0), dtype=np.int32)
        return Params(self.k, self.planes, self.good, self.groups, self.numbers, self.side, none)

    @cached_property
    def side(self) -> Side:
        """The side constraints as the kernels take them."""
        return self.remaining.numbers(self.n, self.groups, drop_idle=not self.objective.keeps_idle)

    def costs(self) -> Ints:
        """Return the cost of each column alone."""
        into = np.zeros(self.n, dtype=np.int64)
        costs(self.numbers, self.covered, self.lost, into)
        if self.remaining.linear:
            into[~self.remaining.allowed_alone()] = FAR
        return into

    def cost_of_none(self) -> int:
        """Return the cost of the empty set."""
        if not self.remaining.allow([]):
            return FAR
        return int(cost(self.numbers, self.covered_bad, 0))

    def take(self, columns: Ints) -> Words:
        """Return the matrix of these columns, in this order, the planes behind them."""
        return take(self.bits, columns, self.n, self.planes)
