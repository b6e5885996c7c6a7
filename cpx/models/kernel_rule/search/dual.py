"""Lagrangian upper bound for formulas of given clauses, certified in integers.

Let every positive row that a formula S is true of be counted for one clause c(i) of S. With
p_i >= 0 and shares m_in >= 0 of the costs of the negative rows, sum_i m_in <= cost_n,

    value(S)  =   sum of gain_i over its rows i, less the sum of cost_n over its rows n
              <=  sum of gain_i - (sum of m_in over the rows n of c(i)) over its rows i
              <=  sum of p_i  +  sum over c in S of v_c,
         v_c  =   sum over the rows i of c of max(0, gain_i - p_i - sum of m_in over its rows n),

since a row n that some c(i) is true of is paid for. So the sum of all p_i and of the D greatest
v_c bounds all formulas of D clauses. The least such bound is that of the linear program with the
constraints z_n >= sum over the clauses c of n of f_ci for every i and n, which say what the usual
ones, z_n >= x_c, do not: the clauses that share a row i share what it must pay for.

The multipliers are improved by steps of Adam [1]_ along a smoothed gradient, in which the D best
clauses are chosen in part. Multipliers are rounded to integers before they give a bound.

References
----------
.. [1] D. P. Kingma, J. Ba: Adam: A Method for Stochastic Optimization, ICLR 2015.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cpx.models.kernel_rule.search.clause_weights import (
    descend,
    shift,
    spread,
    weigh,
)
from cpx.models.kernel_rule.search.restriction import Multipliers, Restriction

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_SHORT = 1 - 2.0**-30
"""Shares of floats add up to no more than 1, with this factor, however they are rounded."""

_MANY, _STEEP = 500, 100.0
"""Steps after which moments need no correction, and a factor for slopes of half precision."""

_SETTLING = np.float32(0.2)
"""What the last step counts in the estimate of the rows that are paid for."""


class Dual:
    """The bound of some clauses, step by step.

    part: At least one clause and one positive row.
    most: Clauses of a formula, at least 1.
    active: Clauses that a step looks at, at most; half as many are chosen in part.
    bound: Of the last look.
    values (k,): The v_c of the last look.
    order: The clauses of the greatest values, these first.
    hits (q,): In what part each negative row is paid for, about, after some steps: an estimate of
        the z_n of the linear program.
    """

    def __init__(
        self, part: Restriction, most: int, start: Multipliers, active: int = 2000
    ) -> None:
        self.part, self.most, self._active = part, most, active
        self._total = float(part.gains.sum())
        self._costs = (part.costs / self._total).astype(np.float32)
        # Own copies, in the order of C: steps change them in place.
        self._shares = np.array(start.shares, dtype=np.float32, order="C")
        self._shares *= self._costs / self._shares.sum(axis=0)
        self._prices = np.array(start.prices, dtype=np.float64)
        self._moments = [np.zeros_like(self._shares) for _ in range(2)]
        self._slopes = [np.zeros_like(self._prices) for _ in range(2)]
        self._steps = self._fixed = self.bound = 0
        if start.slopes is not None:
            self._steps = _MANY
            self._moments[1][:] = start.slopes[0]
            self._moments[1] *= np.float32(1 / _STEEP)
            self._moments[1] **= 2
            self._slopes[1][:] = start.slopes[1]
        self.values = np.zeros(len(part), dtype=np.int64)
        self.order = np.zeros(0, dtype=np.int64)
        self.hits = np.zeros(part.costs.size, dtype=np.float32)
        self._worth = np.zeros(len(part))
        self._gaining = np.zeros(part.cover.inside.size, dtype=np.bool_)

    @property
    def multipliers(self) -> Multipliers:
        """Those that the next step begins with."""
        return Multipliers(self._shares, self._prices)

    @property
    def lasting(self) -> Multipliers:
        """The same for later, with what the steps have learnt."""
        steep = (np.sqrt(self._moments[1]) * np.float32(_STEEP)).astype(np.float16)
        return Multipliers(self._shares, self._prices, (steep, self._slopes[1]))

    def only(self, clauses: Bools) -> Dual:
        """Go on with some of the clauses, and the rows that they are true of."""
        part, inside, outside = self.part.without_idle_rows(clauses)
        kept = Dual(part, self.most, self.multipliers.only(inside, outside), self._active)
        kept._moments = [np.ascontiguousarray(at[inside][:, outside]) for at in self._moments]
        kept._slopes = [at[inside] for at in self._slopes]
        kept._steps, kept._total = self._steps, self._total
        kept._costs, kept.hits = self._costs[outside], self.hits[outside]
        return kept

    def look(self) -> int:
        """Bound by the multipliers as they are; the next steps look at the best clauses only."""
        part = self.part
        shares = self._shares.astype(np.float64)
        shares *= part.costs * _SHORT / shares.sum(axis=0)
        rest = part.gains - (part.gains * self._portions()).astype(np.int64)
        self.values = part.weighed(rest, shares.astype(np.int64))
        self._fixed = int((part.gains - rest).sum())
        self.order = _best(self.values, np.arange(len(part)), max(self._active, self.most))
        self.bound = self._fixed + _total(self.values[self.order[: self.most]])
        return self.bound

    def step(self, rate: float, width: float) -> None:
        """Change the multipliers.

        rate: How far the multipliers, which are logarithms, move.
        width: By how much less than the best a clause may be worth to be chosen in part, as a
            share of all gains.
        """
        cover, gains = self.part.cover, self.part.gains / self._total
        prices = self._portions()
        rest = gains * (1 - prices)
        weigh(cover, self.order, rest, self._shares, self._worth, self._gaining)
        chosen, parts = self._choice(width)
        used, paid = np.zeros(gains.size), np.zeros_like(self._shares)
        spread(cover, self._gaining, chosen, parts, used, paid)
        self._steps += 1
        pace, size = rate / (1 - 0.9**self._steps), (1 - 0.99**self._steps) ** -0.5
        hits, room = np.empty_like(self._costs), np.empty_like(self._costs)
        rule = [pace, size, 0.9, 0.1, 0.99, 0.01, 1e-7, 1, 1 / 16, 1e-20]
        factors = np.array(rule, dtype=np.float32)
        first, second = self._moments
        shift(self._shares, self._costs, paid, hits, room, first, second, factors)
        self.hits += _SETTLING * (hits - self.hits)
        # The bound falls where the price of a row that is used too often grows.
        slope = (1 - used) * gains * prices * (1 - prices)
        mean, square = self._slopes
        descend(self._prices, slope, mean, square, np.array([pace, size]))

    def _portions(self) -> Floats:
        """Return the p_i, as shares of the gains."""
        return np.asarray(1 / (1 + np.exp(-self._prices)))

    def _choice(self, width: float) -> tuple[Ints, Floats]:
        """Return clauses and the parts, D in all, in which they are chosen."""
        chosen = _best(self._worth, self.order, max(self._active // 2, self.most))
        best, most = self._worth[chosen], self.most
        if best.size <= most:
            return chosen, np.ones(chosen.size)
        worth = np.minimum((best - best[most - 1]) / width, 50)
        odds = np.exp(worth)
        # parts = min(1, odds / level), where the level makes them add up to D; if the first s
        # of them are 1, it is the sum of the others divided by D - s.
        sums = odds[most - 1 :].sum() + np.append(np.cumsum(odds[most - 2 :: -1])[::-1], 0)
        levels = sums[:most] / np.arange(most, 0, -1)
        whole = int(np.argmax(odds[:most] <= levels))
        parts = np.minimum(odds / levels[whole], 1)
        kept = parts > 1e-4
        return chosen[kept], parts[kept]

    def needed(self, value: int) -> Bools:
        """Return the clauses that a formula worth more than ``value`` may have: by the last look.

        Shape (k,).
        """
        others = _total(self.values[self.order[: self.most - 1]])
        found = np.asarray(self.values > value - self._fixed - others)
        # The best themselves are among the others.
        found[self.order[: self.most]] = self.bound > value
        return found

    def bound_without(self, clauses: Ints) -> int:
        """Return the bound of the formulas that have none of some clauses, by the last look."""
        values = self.values.copy()
        values[clauses] = 0
        best = _best(values, np.arange(values.size), self.most)
        return self._fixed + _total(values[best])


def _total(values: Ints) -> int:
    """Add up values, each below 2**53, of which there may be too many for 64 bits."""
    return sum(values.tolist())


def _best(values: Ints | Floats, among: Ints, most: int) -> Ints:
    """Return up to ``most`` clauses of the greatest values, these first."""
    if most < among.size:
        among = among[np.argpartition(-values[among], most - 1)[:most]]
    return np.asarray(among[np.argsort(-values[among], kind="stable")])
