"""The bound of the search: a Lagrangian relaxation, and the kernel that improves it.

Let f_t be the terms, r how many features may still be chosen, and q_j what feature j costs
whatever the terms say. Each copy c of a feature j(c) gets a multiplier u_c, and the *price* of a
feature is v_j = (sum of u_c over its copies) - q_j. For every set S of at most r features,

    sum_t f_t(S) - sum_{j in S} q_j  =  [sum_t f_t(S) - sum of u_c over the copies of S]
                                        + sum_{j in S} v_j                                   (1)
                                    <=  max_A [sum_t f_t(A) - sum_{c in A} u_c]
                                        + (sum of the r greatest v_j, those above 0)         (2)

In (1) the multipliers were added and taken away. In (2) the first maximum is over sets A of
*copies*: copies of one feature may differ, so there are more of them than sets of features, and
each term is greatest by itself. All numbers are integers: the bound holds for any multipliers,
and no rounding can break it. With u_c = the largest gain of c in its term it is no worse than the
modular bound (value now + sum of the r largest gains); with u_c = 0 it is the sum of what is best
for each term alone.

The bound also says what a better set must have. Let v be the prices, in falling order, and D the
bound: a set without j, one of the r first, has at most D - v_j + max(0, v_(r+1)), and a set with
j, none of these, at most D - max(0, v_(r)) + v_j.

The multipliers are improved by subgradient steps with momentum. Copies and prices that choose
differently say where to go, and the step is Polyak's: the distance to the value aimed at over
the squared length, times a factor that is halved where the bound gets no better.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpx.compiled.kernel import Bytes, Floats, Ints, kernel
from cpx.models.expected_prediction.search.table_sums.terms import Terms


class Workspace(NamedTuple):
    """Multipliers, and what the kernels need to improve them.

    multiplier, best, limit: Of each bit: the multiplier now, that of the best bound, and the
        greatest absolute value that it may have.
    direction: Of each bit: where the last step went.
    chosen: Of each term: the index that the first maximum chooses.
    values: Room for one table.
    cost, price: Of each feature: what it costs whatever the terms say, and its price.
    order: The features with the greatest prices, in falling order, one more than may be chosen.
    picked, found: Of each feature: whether it is chosen by the prices now; and in the best set
        met.
    doubt: Of each feature: how often its copies and its price chose differently of late.
    pace: The factor of the steps, and the steps since the bound got better.
    """

    multiplier: Ints
    best: Ints
    limit: Ints
    direction: Floats
    chosen: Ints
    values: Ints
    cost: Ints
    price: Ints
    order: Ints
    picked: Bytes
    found: Bytes
    doubt: Floats
    pace: Floats

    @classmethod
    def of(cls, whole: Terms, costs: Ints) -> Workspace:
        """Return room for terms and the nodes of their search, and what each feature costs."""
        bits, terms, features = whole.feature.size, whole.first.size, costs.size
        return cls(
            multiplier=np.zeros(bits, dtype=np.int64),
            best=np.zeros(bits, dtype=np.int64),
            limit=np.zeros(bits, dtype=np.int64),
            direction=np.zeros(bits),
            chosen=np.zeros(terms, dtype=np.int64),
            values=np.zeros(1 << int(whole.size.max(initial=0)), dtype=np.int64),
            cost=np.ascontiguousarray(costs),
            price=np.zeros(features, dtype=np.int64),
            order=np.zeros(features + 1, dtype=np.int64),
            picked=np.zeros(features, dtype=np.uint8),
            found=np.zeros(features, dtype=np.uint8),
            doubt=np.zeros(features),
            pace=np.zeros(2),
        )


@kernel
def ascend(
    part: Terms,
    work: Workspace,
    decided: Bytes,
    room: int,
    base: int,
    enough: int,
    aim: int,
    least: int,
    known: int,
    before: int,
    steps: int,
) -> tuple[int, int]:
    """Improve the bound of a node, until it is small enough or steps are done.

    part, work, decided: The terms that are left; multipliers; what is decided of each feature.
    room: How many features may still be chosen.
    base: What is added to all values.
    enough, aim: The bound at which the node is done with, and the value that steps aim at.
    least, known: Sets are wanted for which the terms say ``least`` or more, worth more than
        ``known``.
    before: The bound of ``work.best``, of an earlier call for the same node, or a very high one.
    Returns bound, value: The bound of ``work.best``, and the value of ``work.found``; ``known``
        where no such set was met.
    """


@kernel
def settle(
    part: Terms, work: Workspace, decided: Bytes, room: int, bound: int, enough: int
) -> int:
    """Decide the features that all sets above ``enough`` have, or have not; return how many.

    ``bound`` is that of ``work.best``.
    """
