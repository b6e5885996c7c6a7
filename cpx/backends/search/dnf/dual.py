"""What formulas of some clauses can be worth at most: a Lagrangian bound, in integers.

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
clauses are chosen in part. Each step gives a bound: multipliers are rounded to integers first.

References
----------
.. [1] D. P. Kingma, J. Ba: Adam: A Method for Stochastic Optimization, ICLR 2015.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.dnf.weighing import Cover, spread, weigh

__all__ = ["Dual", "Multipliers", "Part"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_SHORT = 1 - 2.0**-30
"""Shares of floats add up to no more than 1, with this factor, however they are rounded."""

_MOST_CHOSEN = 1000
"""Clauses that are chosen in part, at most."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Logarithms of shares, up to a number per column, and logits of p_i / gain_i.

    Attributes
    ----------
    shares, prices : ndarray of float, shapes (p, q) and (p,)
    """

    shares: Floats
    prices: Floats

    @classmethod
    def zero(cls, p: int, q: int) -> Multipliers:
        """Return equal shares, and half of each gain."""
        return cls(np.zeros((p, q)), np.zeros(p))

    def only(self, inside: Bools, outside: Bools) -> Multipliers:
        """Return those of some rows."""
        return Multipliers(self.shares[inside][:, outside], self.prices[inside])


@dataclass(frozen=True, eq=False)
class Part:
    """Some clauses, and the rows that they are about.

    Attributes
    ----------
    numbers : ndarray of int64, shape (k,)
        What the clauses are called elsewhere.
    inside, outside : ndarray of bool, shapes (k, p) and (k, q)
        The rows that each is true of.
    gains, costs : ndarray of int64, shapes (p,) and (q,)
        What the rows weigh; together less than 2**53.
    """

    numbers: Ints
    inside: Bools
    outside: Bools
    gains: Ints
    costs: Ints

    def __len__(self) -> int:
        return len(self.numbers)

    def only(self, clauses: Bools, inside: Bools, outside: Bools) -> Part:
        """Return some of the clauses, and some of the rows."""
        return Part(
            self.numbers[clauses],
            self.inside[clauses][:, inside],
            self.outside[clauses][:, outside],
            self.gains[inside],
            self.costs[outside],
        )

    @property
    def nets(self) -> Ints:
        """What each clause is worth alone."""
        # Sums of weights are below 2**53, so exact in floats, which have fast products.
        gained = self.inside.astype(np.float64) @ self.gains.astype(np.float64)
        paid = self.outside.astype(np.float64) @ self.costs.astype(np.float64)
        return (gained - paid).astype(np.int64)


class Dual:
    """The bound of some clauses, step by step.

    Parameters
    ----------
    part : Part
        At least one clause and one positive row.
    most : int
        Clauses of a formula, at least 1.
    start : Multipliers

    Attributes
    ----------
    bound : int
        Of the last step.
    values : ndarray of int64, shape (k,)
        The v_c of the last step.
    order : ndarray of int64
        The clauses of the greatest values, these first.
    """

    def __init__(self, part: Part, most: int, start: Multipliers) -> None:
        self.part, self.most = part, most
        self._cover = Cover.of(part.inside, part.outside)
        self._total = float(part.gains.sum())
        self._state = (start.shares.copy(), start.prices.copy())
        self._moments = [np.zeros_like(at) for at in self._state for _ in range(2)]
        self._steps = self._fixed = self.bound = 0
        self.values = np.zeros(len(part), dtype=np.int64)
        self.order = np.zeros(0, dtype=np.int64)

    @property
    def multipliers(self) -> Multipliers:
        """Those that the next step begins with."""
        return Multipliers(*self._state)

    def only(self, clauses: Bools) -> Dual:
        """Go on with some of the clauses, and the rows that they are true of."""
        inside, outside = (
            table[clauses].any(axis=0) for table in (self.part.inside, self.part.outside)
        )
        part = self.part.only(clauses, inside, outside)
        kept = Dual(part, self.most, self.multipliers.only(inside, outside))
        first, second, *others = self._moments
        kept._moments = [at[inside][:, outside] for at in (first, second)]
        kept._moments += [at[inside] for at in others]
        kept._steps, kept._total = self._steps, self._total
        return kept

    def step(self, rate: float, width: float) -> int:
        """Bound, then change the multipliers; return the bound.

        Parameters
        ----------
        rate : float
            How far the multipliers, which are logarithms, move.
        width : float
            By how much less than the best a clause may be worth to be chosen in part, as a
            share of all gains.
        """
        gains, costs = self.part.gains, self.part.costs
        shares, portions = self._shares()
        prices = 1 / (1 + np.exp(-self._state[1]))
        rest = gains - (gains * prices).astype(np.int64)
        weigh(self._cover, rest, shares, self.values)
        self._fixed = int((gains - rest).sum())
        chosen, parts = self._choice(width * self._total)
        used, paid = np.zeros(gains.size), np.zeros(shares.shape)
        spread(self._cover, rest, shares, chosen, parts, used, paid)
        # The bound falls where a share grows that is used, and one that is not shrinks.
        mean = np.einsum("ij,ij->j", portions, paid)
        slope = paid
        slope -= mean
        slope *= portions
        slope *= -costs / self._total
        self._move((slope, (1 - used) * gains / self._total * prices * (1 - prices)), rate)
        return self.bound

    def _shares(self) -> tuple[Ints, Floats]:
        logs = self._state[0]
        portions = np.exp(logs - logs.max(axis=0))
        portions /= portions.sum(axis=0)
        return (portions * (self.part.costs * _SHORT)).astype(np.int64), portions

    def _choice(self, width: float) -> tuple[Ints, Floats]:
        """Set the bound; return clauses and the parts, D in all, in which they are chosen."""
        count = min(self.values.size, max(_MOST_CHOSEN, self.most))
        chosen = np.argpartition(-self.values, count - 1)[:count]
        chosen = chosen[np.argsort(-self.values[chosen], kind="stable")]
        best = self.values[chosen]
        self.order = chosen
        self.bound = self._fixed + int(best[: self.most].sum())
        if best.size <= self.most:
            return chosen, np.ones(chosen.size)
        worth = (best - best[self.most - 1]) / width
        # parts = min(1, exp(worth - level)), where the level makes them add up to D.
        low, high = min(0.0, float(worth[-1])), float(worth[0]) + np.log(worth.size)
        for _ in range(24):
            level = (low + high) / 2
            if np.exp(np.minimum(worth - level, 0)).sum() > self.most:
                low = level
            else:
                high = level
        parts = np.exp(np.minimum(worth - high, 0))
        kept = parts > 1e-4
        return chosen[kept], parts[kept]

    def needed(self, value: int) -> Bools:
        """Return the clauses that a formula worth more than ``value`` may have: by the last step.

        Shape (k,).
        """
        others = int(self.values[self.order[: self.most - 1]].sum())
        found = self._fixed + others + self.values > value
        # The best themselves are among the others.
        found[self.order[: self.most]] = self.bound > value
        return found

    def _move(self, slopes: tuple[Floats, Floats], rate: float) -> None:
        self._steps += 1
        for at, slope, first, second in zip(
            self._state, slopes, self._moments[::2], self._moments[1::2], strict=True
        ):
            first *= 0.9
            first += 0.1 * slope
            second *= 0.99
            slope *= slope
            slope *= 0.01
            second += slope
            size = np.sqrt(second)
            size *= (1 - 0.99**self._steps) ** -0.5
            size += 1e-7
            np.divide(first, size, out=size)
            size *= rate / (1 - 0.9**self._steps)
            at -= size
