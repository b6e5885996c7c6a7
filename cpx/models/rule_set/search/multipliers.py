"""Lagrange multipliers of a subproblem: cost shares, improved in floats, certified in integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import bind
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.search.cost_splitting import certify, new_exact, parts_of
from cpx.models.rule_set.search.dual_ascent import (
    MULTIPLE,
    Ascent,
    Costs,
    Terms,
    begin_step,
    climb,
    new_ascent,
    pass_on,
    settle,
    take,
)
from cpx.models.rule_set.search.rows import Paid

Ints = NDArray[np.int64]

_RANGES, _MOST = 8, 4 * MULTIPLE
"""Ranges of good rows that threads may do, where a block has so many lanes at most."""

_HEAT, _COOLEST, _COOLER = 0.15, 0.02, 0.94
_PACE, _SLOWEST, _SLOWER = 1.0, 0.1, 0.95
"""Heat and pace of the ascent at first, at last, and the factors by which they fall each step."""

_SHORT = 30
"""Bits of the sum of all costs in parts that are cut off: any such sum fits 32 bits."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Shares of the rows of a problem, and the means of their steps, to go on with elsewhere."""

    good: Ints
    bad: Ints
    rules: Ints
    of_bad: Costs
    of_rules: Costs
    step: int


class Relaxation:
    """The bound by shares of the sets that have some rules and more of others.

    start: Shares of a problem with these rules and more.
    """

    def __init__(
        self,
        form: RuleSelection,
        required: tuple[int, ...],
        rules: Ints,
        start: Multipliers | None = None,
    ) -> None:
        self.rules = rules
        left = form.times_covered(required) == 0
        covers = form.covers[rules]
        there = left & covers.any(axis=0)
        self.good = np.flatnonzero(there & (form.weights > 0))
        self.bad = np.flatnonzero(there & (form.weights < 0))
        # Good rows that none of the rules covers are missed whatever is added.
        self.fixed = form.cost(required) - int(form.weights[self.good].sum())
        weights, costs, prices = (
            form.weights[self.good],
            -form.weights[self.bad],
            form.prices[rules],
        )
        self.unit = float(weights.mean()) if weights.size else 1.0
        self.terms = self._terms(covers, weights, costs, prices)
        self.state = self._even() if start is None else self._taken(start)
        self.step = 0 if start is None else start.step
        self.total = int(weights.sum() + costs.sum() + prices.sum())
        self.parts = parts_of(self.total)
        shift = max(0, (self.parts * self.total).bit_length() - _SHORT)
        self.exact = new_exact(self._blocks(weights[None])[:, 0], costs, prices, self.parts, shift)
        ranges = range(self.state.ranges.size - 1)
        self._climbs = [bind(climb, self.terms, self.state, t) for t in ranges]
        self._settle = bind(settle, self.terms, self.state)

    def _blocks(self, lines: NDArray[Any]) -> NDArray[Any]:
        """Return lines of numbers of good rows by blocks, shape (K, ., W)."""
        G = self.good.size
        W = min(_MOST, -(-max(1, -(-G // _RANGES)) // MULTIPLE) * MULTIPLE)
        K = -(-max(1, G) // W)
        padded = np.pad(lines, ((0, 0), (0, K * W - G))).reshape(len(lines), K, W)
        return np.ascontiguousarray(padded.transpose(1, 0, 2))

    def _terms(self, covers: NDArray[np.bool_], weights: Ints, costs: Ints, prices: Ints) -> Terms:
        rule, bad = np.nonzero(covers[:, self.bad])
        starts = np.searchsorted(rule, np.arange(len(self.rules) + 1))
        return Terms(
            self._blocks(covers[:, self.good].astype(np.float32)),
            starts.astype(np.int64),
            bad.astype(np.int64),
            (self._blocks(weights[None])[:, 0] / self.unit).astype(np.float32),
            (costs / self.unit).astype(np.float32),
            (prices / self.unit).astype(np.float32),
        )

    def _even(self) -> Ascent:
        """Share costs among the good rows, more to those that need the rules more."""
        terms = self.terms
        rule_shares = terms.covers * terms.good[:, None]
        needing = rule_shares / np.maximum(terms.covers.sum(axis=1, keepdims=True), 1)
        K, _, W = rule_shares.shape
        shares = np.zeros((K, terms.costs.size, W), dtype=np.float32)
        pass_on(terms, needing, shares)
        return new_ascent(terms, shares, rule_shares, _RANGES)

    def _taken(self, start: Multipliers) -> Ascent:
        """Take shares over, for the rows and rules that are left."""
        columns = np.searchsorted(start.good, self.good)
        blocks, places = np.divmod(columns, start.of_bad.shares.shape[2])
        K, W = self.terms.good.shape

        def some(costs: Costs, lines: NDArray[np.intp]) -> Costs:
            tables = []
            for table in (costs.shares, costs.first, costs.second):
                tables.append(np.zeros((K, lines.size, W), dtype=np.float32))
                take(table, lines, blocks, places, tables[-1])
            shares, first, second = tables
            return costs._replace(
                shares=shares, first=first, second=second, slopes=costs.slopes[lines]
            )

        of_bad = some(start.of_bad, np.searchsorted(start.bad, self.bad))
        of_rules = some(start.of_rules, np.searchsorted(start.rules, self.rules))
        state = new_ascent(self.terms, of_bad.shares, of_rules.shares, _RANGES)

        def going_on(new: Costs, old: Costs) -> Costs:
            return new._replace(first=old.first, second=old.second, slopes=old.slopes)

        return state._replace(
            of_bad=going_on(state.of_bad, of_bad), of_rules=going_on(state.of_rules, of_rules)
        )

    def multipliers(self) -> Multipliers:
        """Return the shares as they are."""
        s = self.state
        return Multipliers(self.good, self.bad, self.rules, s.of_bad, s.of_rules, self.step)

    def climb(
        self,
        steps: int,
        do: Callable[[Sequence[Callable[[], object]]], None] | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Improve the shares by some steps; ``do`` calls what may be called side by side."""
        for _ in range(steps):
            if stop():
                return
            heat = max(_COOLEST, _HEAT * _COOLER**self.step)
            begin_step(self.state, heat, max(_SLOWEST, _PACE * _SLOWER**self.step), self.step)
            if do is None:
                for part in self._climbs:
                    part()
            else:
                do(self._climbs)
            self._settle()
            self.step += 1

    def paid(self) -> Paid:
        """Return what the good rows pay at least, by the last certificate."""
        exact, shift = self.exact, int(self.exact.shift[0])

        def lines(table: NDArray[Any]) -> NDArray[np.int32]:
            K, C, W = table.shape
            flat = table.transpose(1, 0, 2).reshape(C, K * W)
            return np.ascontiguousarray(flat, dtype=np.int32)

        return Paid(
            lines(exact.least[:, None] >> shift)[0],
            lines((exact.covered + exact.rule_shares) >> shift),
            lines(exact.rule_shares >> shift),
            lines(exact.short),
            self.bad,
            self.parts,
            shift,
            self.fixed,
        )

    def chosen(self) -> Ints:
        """Return for each rule the weight of the rows that pay least for it, by the certificate.

        In whole units: the rules of a good set are among those with most.
        """
        exact, covers = self.exact, self.terms.covers > 0
        demand = np.where(covers, exact.covered + exact.rule_shares, 2**62)
        cheapest, paying = demand.argmin(axis=1), demand.min(axis=1) < exact.good
        return np.bincount(
            cheapest[paying], exact.good[paying] // self.parts, len(self.rules)
        ).astype(np.int64)

    def certify(self) -> tuple[int, Ints, Ints]:
        """Return bounds on the cost of all sets, of those with, and those without each rule."""
        bound = certify(self.terms, self.state, self.exact)
        whole = self.fixed - (-bound // self.parts)
        within, without = (
            self.fixed - (-x // self.parts) for x in (self.exact.within, self.exact.without)
        )
        return whole, within, without
