"""A problem restricted to some clauses and rows, with the multipliers of these rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpx.models.kernel_rule.search.clause_weights import weigh_exactly
from cpx.models.kernel_rule.search.rows import Cover

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Shares, up to a factor per column, and logits of p_i / gain_i.

    shares: shape (p, q)
    prices: shape (p,)
    slopes (p, q) and (p,): How steep the bound was in either of late, after some steps: without,
        the first steps move all of them as far.
    """

    shares: NDArray[np.float32]
    prices: Floats
    slopes: tuple[NDArray[np.float16], Floats] | None = None

    @classmethod
    def in_proportion(cls, gains: Ints, q: int) -> Multipliers:
        """Return shares in proportion to the gains, and half of each gain."""
        portions = (gains / gains.max(initial=1)).astype(np.float32)
        return cls(np.repeat(portions[:, None], q, axis=1), np.zeros(gains.size))

    def only(self, inside: Bools | Ints, outside: Bools | Ints) -> Multipliers:
        """Return those of some rows."""
        slopes = self.slopes
        if slopes is not None:
            slopes = slopes[0][inside][:, outside], slopes[1][inside]
        return Multipliers(self.shares[inside][:, outside], self.prices[inside], slopes)


NamedMultipliers = tuple[Ints, Ints, Multipliers]
"""Rows of positive and of negative weight, as they are called elsewhere, and their multipliers."""


@dataclass(frozen=True, eq=False)
class Restriction:
    """Some clauses, and the rows that they are about.

    numbers (k,): What the clauses are called elsewhere.
    cover: The rows that each is true of.
    gains, costs (p,) and (q,): What the rows weigh; together less than 2**53.
    rows, others (p,) and (q,): What the rows are called elsewhere.
    """

    numbers: Ints
    cover: Cover
    gains: Ints
    costs: Ints
    rows: Ints
    others: Ints

    @classmethod
    def whole(cls, inside: Bools, outside: Bools, gains: Ints, costs: Ints) -> Restriction:
        """Return all clauses and rows, called by their places."""
        names = (np.arange(count) for count in (len(inside), gains.size, costs.size))
        numbers, rows, others = names
        return cls(numbers, Cover.of(inside, outside), gains, costs, rows, others)

    def __len__(self) -> int:
        return len(self.numbers)

    def only(self, clauses: Bools, inside: Bools, outside: Bools) -> Restriction:
        """Return some of the clauses, and some of the rows."""
        return Restriction(
            self.numbers[clauses],
            self.cover.only(clauses, inside, outside),
            self.gains[inside],
            self.costs[outside],
            self.rows[inside],
            self.others[outside],
        )

    def without_idle_rows(self, clauses: Bools) -> tuple[Restriction, Bools, Bools]:
        """Return some of the clauses with the rows that they are true of, and which these are."""
        stay = np.repeat(clauses, self.cover.counts[0]), np.repeat(clauses, self.cover.counts[1])
        inside = np.zeros(self.gains.size, dtype=np.bool_)
        outside = np.zeros(self.costs.size, dtype=np.bool_)
        inside[self.cover.inside[stay[0]]] = True
        outside[self.cover.outside[stay[1]]] = True
        return self.only(clauses, inside, outside), inside, outside

    def weighed(self, rest: Ints, shares: Ints) -> Ints:
        """Return what each clause is worth at some multipliers, in integers.

        It is the v_c of :mod:`~cpx.models.kernel_rule.search.dual` for some gain_i - p_i and
        m_in, shapes (p,) and (p, q).
        """
        values = np.zeros(len(self), dtype=np.int64)
        gaining = np.zeros(self.cover.inside.size, dtype=np.bool_)
        weigh_exactly(self.cover, np.arange(values.size), rest, shares, values, gaining)
        return values

    def tables(self, clauses: Ints) -> tuple[Bools, Bools]:
        """Return the rows that some clauses are true of, shapes (k, p) and (k, q)."""
        return self.cover.tables(clauses, self.gains.size, self.costs.size)

    @property
    def nets(self) -> Ints:
        """What each clause is worth alone."""
        gained, paid = self.cover.sums(self.gains, self.costs)
        return gained - paid
