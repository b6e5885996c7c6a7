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
clauses are chosen in part. Multipliers are rounded to integers before they give a bound.

References
----------
.. [1] D. P. Kingma, J. Ba: Adam: A Method for Stochastic Optimization, ICLR 2015.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.dnf.weighing import Cover, descend, spread, weigh

__all__ = ["Dual", "Multipliers", "Part"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_SHORT = 1 - 2.0**-30
"""Shares of floats add up to no more than 1, with this factor, however they are rounded."""

_MOST_ACTIVE, _MOST_CHOSEN = 2000, 1000
"""Clauses that a step looks at, and that it chooses in part, at most."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Logarithms of shares, up to a number per column, and logits of p_i / gain_i.

    Attributes
    ----------
    shares, prices : ndarray of float, shapes (p, q) and (p,)
    """

    shares: NDArray[np.floating]
    prices: NDArray[np.floating]

    @classmethod
    def in_proportion(cls, gains: Ints, q: int) -> Multipliers:
        """Return shares in proportion to the gains, and half of each gain."""
        logs = np.log(gains / gains.max())
        return cls(np.repeat(logs[:, None], q, axis=1), np.zeros(gains.size))

    def only(self, inside: Bools, outside: Bools) -> Multipliers:
        """Return those of some rows."""
        return Multipliers(self.shares[inside][:, outside], self.prices[inside])

    def brief(self) -> Multipliers:
        """Return them with half as many bits, to be kept."""
        return Multipliers(self.shares.astype(np.float32), self.prices.astype(np.float32))


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
    rows, others : ndarray of int64, shapes (p,) and (q,)
        What the rows are called elsewhere.
    """

    numbers: Ints
    inside: Bools
    outside: Bools
    gains: Ints
    costs: Ints
    rows: Ints
    others: Ints

    @classmethod
    def whole(cls, inside: Bools, outside: Bools, gains: Ints, costs: Ints) -> Part:
        """Return all clauses and rows, called by their places."""
        names = (np.arange(count) for count in (len(inside), gains.size, costs.size))
        numbers, rows, others = names
        return cls(numbers, inside, outside, gains, costs, rows, others)

    def __len__(self) -> int:
        return len(self.numbers)

    def only(self, clauses: Bools | Ints, inside: Bools | Ints, outside: Bools | Ints) -> Part:
        """Return some of the clauses, and some of the rows."""
        return Part(
            self.numbers[clauses],
            self.inside[clauses][:, inside],
            self.outside[clauses][:, outside],
            self.gains[inside],
            self.costs[outside],
            self.rows[inside],
            self.others[outside],
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
        Of the last look.
    values : ndarray of int64, shape (k,)
        The v_c of the last look, and of later steps.
    order : ndarray of int64
        The clauses of the greatest values, these first.
    """

    def __init__(self, part: Part, most: int, start: Multipliers) -> None:
        self.part, self.most = part, most
        self._cover = Cover.of(part.inside, part.outside)
        self._total = float(part.gains.sum())
        # Own copies, in the order of C: steps change them in place.
        self._state = (
            np.array(start.shares, dtype=np.float64, order="C"),
            np.array(start.prices, dtype=np.float64, order="C"),
        )
        self._moments = [np.zeros(at.shape) for at in self._state for _ in range(2)]
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
            np.asarray(table[clauses].any(axis=0))
            for table in (self.part.inside, self.part.outside)
        )
        part = self.part.only(clauses, inside, outside)
        kept = Dual(part, self.most, self.multipliers.only(inside, outside))
        first, second, *others = self._moments
        kept._moments = [at[inside][:, outside].copy() for at in (first, second)]
        kept._moments += [at[inside] for at in others]
        kept._steps, kept._total = self._steps, self._total
        return kept

    def look(self) -> int:
        """Bound by the multipliers as they are; the next steps look at the best clauses only."""
        shares, _ = self._shares()
        _, rest = self._prices()
        weigh(self._cover, np.arange(len(self.part)), rest, shares, self.values)
        self._fixed = int((self.part.gains - rest).sum())
        self.order = self._best(np.arange(len(self.part)), _MOST_ACTIVE)
        self.bound = self._fixed + int(self.values[self.order[: self.most]].sum())
        return self.bound

    def step(self, rate: float, width: float) -> None:
        """Change the multipliers.

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
        prices, rest = self._prices()
        weigh(self._cover, self.order, rest, shares, self.values)
        chosen, parts = self._choice(width * self._total)
        used, paid = np.zeros(gains.size), np.zeros(shares.shape)
        spread(self._cover, rest, shares, chosen, parts, used, paid)
        # The bound falls where a share grows that is used, and one that is not shrinks.
        slope = paid
        slope -= np.einsum("ij,ij->j", portions, paid)
        slope *= portions
        slope *= -costs / self._total
        self._move((slope, (1 - used) * gains / self._total * prices * (1 - prices)), rate)

    def _best(self, among: Ints, most: int) -> Ints:
        """Return the clauses of the greatest values, these first."""
        most = min(among.size, max(most, self.most))
        found = among[np.argpartition(-self.values[among], most - 1)[:most]]
        return np.asarray(found[np.argsort(-self.values[found], kind="stable")])

    def _prices(self) -> tuple[Floats, Ints]:
        """Return the p_i, as shares of the gains, and what they leave of these."""
        prices = 1 / (1 + np.exp(-self._state[1]))
        gains = self.part.gains
        return prices, gains - (gains * prices).astype(np.int64)

    def _shares(self) -> tuple[Ints, Floats]:
        logs = self._state[0]
        portions = np.exp(logs - logs.max(axis=0))
        portions /= portions.sum(axis=0)
        return (portions * (self.part.costs * _SHORT)).astype(np.int64), portions

    def _choice(self, width: float) -> tuple[Ints, Floats]:
        """Return clauses and the parts, D in all, in which they are chosen."""
        chosen = self._best(self.order, _MOST_CHOSEN)
        best, most = self.values[chosen], self.most
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
        others = int(self.values[self.order[: self.most - 1]].sum())
        found = self._fixed + others + self.values > value
        # The best themselves are among the others.
        found[self.order[: self.most]] = self.bound > value
        return found

    def bound_without(self, clause: int) -> int:
        """Return the bound of the formulas that do not have a clause, by the last look."""
        others = self.order[self.order != clause]
        return self._fixed + int(self.values[others[: self.most]].sum())

    def _move(self, slopes: tuple[Floats, Floats], rate: float) -> None:
        self._steps += 1
        factors = np.array(
            [rate / (1 - 0.9**self._steps), (1 - 0.99**self._steps) ** -0.5],
        )
        for at, slope, first, second in zip(
            self._state, slopes, self._moments[::2], self._moments[1::2], strict=True
        ):
            descend(at.ravel(), slope.ravel(), first.ravel(), second.ravel(), factors)
