"""Shares for a part of the search: climbed in floats, certified in integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.sets.ascent import LANES, Ascent, Terms, climb, new_ascent
from cpx.backends.search.sets.rows import Paid
from cpx.backends.search.sets.shares import Exact, certify, parts_of

if TYPE_CHECKING:
    from cpx.models.rulesets.form import RuleSelection

__all__ = ["Multipliers", "Relaxation"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_SHORT = 30
"""Bits of the sum of all costs in parts that are cut off: any such sum fits 32 bits."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Shares of the rows of a problem, and the means of their steps, to go on with elsewhere."""

    good: Ints
    bad: Ints
    rules: Ints
    shares: tuple[Floats, Floats, Floats]
    rule_shares: tuple[Floats, Floats, Floats]
    step: int


class Relaxation:
    """The bound by shares of the sets that have some rules and more of others.

    Parameters
    ----------
    form : RuleSelection
    required : tuple of int
    rules : ndarray of int64
    given : Multipliers, optional
        Shares of a problem with these rules and more.
    """

    def __init__(
        self,
        form: RuleSelection,
        required: tuple[int, ...],
        rules: Ints,
        given: Multipliers | None = None,
    ) -> None:
        self.rules = rules
        left = form.times_covered(required) == 0
        covers = form.covers[rules]
        there = left & covers.any(axis=0)
        self.good = np.flatnonzero(there & (form.worth > 0))
        self.bad = np.flatnonzero(there & (form.worth < 0))
        # Good rows that none of the rules covers are missed whatever is added.
        self.fixed = form.cost(required) - int(form.worth[self.good].sum())
        worth, costs, prices = form.worth[self.good], -form.worth[self.bad], form.prices[rules]
        self.unit = float(worth.mean()) if worth.size else 1.0
        self.terms = self._terms(covers, worth, costs, prices)
        if given is None:
            self.state = new_ascent(self.terms, *self._even())
            self.step = 0
        else:
            self.state = self._taken(given)
            self.step = given.step
        self.total = int(worth.sum() + costs.sum() + prices.sum())
        self.parts = parts_of(self.total)
        G = self.terms.good.size
        self.exact = _new_exact(self.parts, _padded(worth, G), costs, prices)

    def _terms(self, covers: Bools, worth: Ints, costs: Ints, prices: Ints) -> Terms:
        G = -(-max(1, self.good.size) // LANES) * LANES
        own = np.zeros((len(self.rules), G), dtype=np.float32)
        own[:, : self.good.size] = covers[:, self.good]
        rule, bad = np.nonzero(covers[:, self.bad])
        starts = np.searchsorted(rule, np.arange(len(self.rules) + 1))
        return Terms(
            own,
            starts.astype(np.int64),
            bad.astype(np.int64),
            (_padded(worth, G) / self.unit).astype(np.float32),
            (costs / self.unit).astype(np.float32),
            (prices / self.unit).astype(np.float32),
        )

    def _even(self) -> tuple[Floats, Floats]:
        """Share costs among the good rows, more to those that need the rules more."""
        terms = self.terms
        rule_shares = terms.covers * terms.good
        needing = rule_shares / np.maximum(terms.covers.sum(axis=0), 1)
        shares = np.zeros((terms.costs.size, terms.good.size), dtype=np.float32)
        for r, line in enumerate(needing):
            shares[terms.bad[terms.starts[r] : terms.starts[r + 1]]] += line
        return shares, rule_shares

    def _taken(self, given: Multipliers) -> Ascent:
        """Take shares over, for the rows and rules that are left."""
        G, n = self.terms.good.size, self.good.size
        columns = np.searchsorted(given.good, self.good)
        rows = np.ix_(np.searchsorted(given.bad, self.bad), columns)
        lines = np.ix_(np.searchsorted(given.rules, self.rules), columns)

        def some(table: Floats, where: tuple[NDArray[np.intp], ...]) -> Floats:
            return np.pad(table[where], ((0, 0), (0, G - n)))

        shares, *means = (some(table, rows) for table in given.shares)
        rule_shares, *rule_means = (some(table, lines) for table in given.rule_shares)
        state = new_ascent(self.terms, shares, rule_shares)
        return state._replace(
            first=means[0], second=means[1], rule_first=rule_means[0], rule_second=rule_means[1]
        )

    def multipliers(self) -> Multipliers:
        """Return the shares as they are."""
        s = self.state
        return Multipliers(
            self.good,
            self.bad,
            self.rules,
            (s.shares, s.first, s.second),
            (s.rule_shares, s.rule_first, s.rule_second),
            self.step,
        )

    def climb(self, heat: float, pace: float) -> float:
        """Improve the shares by a step; return the bound before, in floats."""
        self.state.figures[:2] = heat, pace
        climb(self.terms, self.state, self.step)
        self.step += 1
        return self.fixed + float(self.state.figures[2]) * self.unit

    def paid(self) -> Paid:
        """Return what the good rows pay at least, by the last certificate."""
        exact = self.exact
        total = self.parts * self.total
        shift = max(0, total.bit_length() - _SHORT)

        def short(table: Ints) -> NDArray[np.int32]:
            return (table >> shift).astype(np.int32)

        return Paid(
            short(exact.least),
            short(exact.covered + exact.rule_shares),
            short(exact.rule_shares),
            short(exact.shares),
            self.bad,
            self.parts,
            shift,
            self.fixed,
        )

    def certify(self) -> tuple[int, Ints, Ints]:
        """Return bounds on the cost of all sets, of those with, and those without each rule."""
        bound = certify(self.terms, self.state, self.exact)
        whole = self.fixed - (-bound // self.parts)
        within, without = (
            self.fixed - (-x // self.parts) for x in (self.exact.within, self.exact.without)
        )
        return whole, within, without


def _padded(x: Ints, size: int) -> Ints:
    return np.pad(x, (0, size - x.size))


def _new_exact(parts: int, good: Ints, costs: Ints, prices: Ints) -> Exact:
    R, B, G = prices.size, costs.size, good.size

    def table(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    return Exact(
        good * parts,
        costs * parts,
        prices * parts,
        table(B, G),
        table(R, G),
        table(R, G),
        table(G),
        table(G),
        table(G),
        table(R),
        table(R),
    )
