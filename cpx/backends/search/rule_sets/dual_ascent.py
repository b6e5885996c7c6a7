"""Dual ascent: cost shares improved step by step, for a better bound by cost splitting.

The shares of :mod:`cpx.backends.search.rule_sets.cost_splitting` are found by ascent. Rows pay
the least of what their rules ask for, which is smoothed: a row spreads over its rules, more over
those that ask for less. The shares of one cost then grow or fall by a factor each, steps as Adam
[1]_ makes them, and are scaled to that cost again. Any shares are valid: what is here decides
how good the bound is, never whether it holds, so that floats of 32 bits do.

Good rows are divided into blocks, such that the shares of one stay in the cache of a core while
a step takes what it needs of them, and blocks into ranges, which threads do side by side. Only
sums over all blocks connect them: the scale of the shares of a cost, which the next step applies,
and their mean slope, for which the next step takes that of this one. Sums are added up by range,
so that all shares are the same whoever does which. Most rules ask for much more than the least of
all rows of a block: these are left out for some steps, before they are looked at again.

References
----------
.. [1] D. Kingma, J. Ba: Adam: A Method for Stochastic Optimization, ICLR 2015, Algorithm 1.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cpx.compiled.kernel import (
    Bytes2,
    Floats,
    Ints,
    Singles,
    Singles2,
    Singles3,
    kernel,
    subroutine,
)

LANES = 32
"""The good rows of a block are a multiple of these."""

_REFRESH, _MARGIN = 5, np.float32(1)
"""Each so many steps it is seen which rules rows of a block pay for, in multiples of the heat."""

_FIRST, _SECOND = np.float32(0.9), np.float32(0.98)
_TINY = np.float32(1e-12)


class Terms(NamedTuple):
    """Rules as what they cover of good and bad rows; K blocks of W good rows, padded."""

    covers: Singles3  # 1 where rule r covers a good row, shape (K, R, W)
    starts: Ints  # the bad rows of rule r: bad[starts[r] : starts[r + 1]]
    bad: Ints
    good: Singles2  # what missing a good row costs, shape (K, W)
    costs: Singles  # what covering a bad row costs, shape (B,)
    prices: Singles  # shape (R,)


class Costs(NamedTuple):
    """Shares of good rows in C costs, and the means of their steps."""

    shares: Singles3  # shape (K, C, W), to be scaled
    first: Singles3
    second: Singles3
    scales: Singles  # shape (C,)
    slopes: Singles  # the mean ones, shape (C,)
    there: Singles3  # sums of shares, by range, shape (T, C, W)
    gained: Singles3  # sums of shares times slopes, likewise


class Ascent(NamedTuple):
    """The shares in the costs of bad rows and of rules; T ranges of blocks."""

    of_bad: Costs
    of_rules: Costs
    demand: Singles3  # scratch: what rule r asks of a row, then its part of the row, (T, R, W)
    slopes: Singles3  # scratch: of the shares of a block, shape (T, B, W)
    near: Bytes2  # rules that may be the least of a row of a block, shape (K, R)
    least: Singles2  # shape (K, W)
    spread: Singles2  # shape (K, W)
    ranges: Ints  # the blocks of range t: ranges[t] .. ranges[t + 1] - 1
    figures: Floats  # of the step, see begin_step


def _costs(shares: Singles, totals: Singles, ranges: int) -> Costs:
    C, W = shares.shape[1:]
    sums = shares.sum(axis=(0, 2), dtype=np.float64)
    by = np.divide(totals, sums, out=np.zeros_like(sums), where=sums > 0)
    return Costs(
        shares,
        np.zeros_like(shares),
        np.zeros_like(shares),
        by.astype(np.float32),
        np.full(C, -1, dtype=np.float32),
        np.zeros((ranges, C, W), dtype=np.float32),
        np.zeros((ranges, C, W), dtype=np.float32),
    )


def new_ascent(terms: Terms, shares: Singles, rule_shares: Singles, ranges: int) -> Ascent:
    """Return the state before a step; the sums of shares may be any."""
    K, R, W = terms.covers.shape
    ranges = min(ranges, K)

    def table(*shape: int) -> Singles:
        return np.zeros(shape, dtype=np.float32)

    return Ascent(
        _costs(shares, terms.costs, ranges),
        _costs(rule_shares, terms.prices, ranges),
        table(ranges, R, W),
        table(ranges, terms.costs.size, W),
        np.ones((K, R), dtype=np.uint8),
        table(K, W),
        table(K, W),
        np.arange(ranges + 1) * K // ranges,
        np.zeros(5),
    )


def begin_step(state: Ascent, heat: float, pace: float, step: int) -> None:
    """Note what the ranges of a step need: also what the means are too small by at first."""
    means = (1 / (1 - float(keep) ** (step + 1)) for keep in (_FIRST, _SECOND))
    state.figures[:] = heat, pace, step, *means


@subroutine
def _add(line: Any, table: Any, which: Any, first: int, last: int) -> None:
    """Add some lines of a table to a line."""
    x = first
    while x + 3 < last:
        a, b = table[which[x]], table[which[x + 1]]
        c, d = table[which[x + 2]], table[which[x + 3]]
        for i in range(line.size):
            line[i] += (a[i] + b[i]) + (c[i] + d[i])
        x += 4
    while x < last:
        a = table[which[x]]
        for i in range(line.size):
            line[i] += a[i]
        x += 1


@kernel
def pass_on(terms: Terms, lines: Singles3, shares: Singles3) -> None:
    """Add a line of each rule, shape (K, R, W), to those of its bad rows, shape (K, B, W)."""
    for k in range(lines.shape[0]):
        for r in range(lines.shape[1]):
            line = lines[k, r]
            for x in range(terms.starts[r], terms.starts[r + 1]):
                more = shares[k, terms.bad[x]]
                for i in range(line.size):
                    more[i] += line[i]


@kernel
def take(table: Singles3, lines: Ints, blocks: Ints, places: Ints, taken: Singles3) -> None:
    """Take some lines, and of these some columns, over to a table with other blocks."""
    K, C, W = taken.shape
    for k in range(K):
        for c in range(C):
            line = taken[k, c]
            for i in range(min(W, blocks.size - k * W)):
                x = k * W + i
                line[i] = table[blocks[x], lines[c], places[x]]


@subroutine
def _scale(costs: Costs, k: int) -> None:
    for j in range(costs.scales.size):
        by, line = costs.scales[j], costs.shares[k, j]
        for i in range(line.size):
            line[i] *= by


@subroutine
def _move(
    costs: Costs, k: int, t: int, j: int, slope: Any, total: Any, by: Any, c1: Any, c2: Any
) -> None:
    """Move the shares of one cost in a block by their slopes, which are lost."""
    if total <= 0:
        return
    x, first, second = costs.shares[k, j], costs.first[k, j], costs.second[k, j]
    gained, there = costs.gained[t, j], costs.there[t, j]
    mean = costs.slopes[j]
    low = total * np.float32(1e-6)
    one, half, zero = np.float32(1), np.float32(0.5), np.float32(0)
    for i in range(x.size):
        gained[i] += x[i] * slope[i]
    if mean >= 0:
        for i in range(x.size):
            g = x[i] * (slope[i] - mean)
            u = _FIRST * first[i] + (one - _FIRST) * g
            v = _SECOND * second[i] + (one - _SECOND) * g * g
            first[i], second[i] = u, v
            s = by * (u * c1) / (math.sqrt(v * c2) + _TINY)
            s = min(max(s, -one), one)
            y = x[i] * (one + s + half * s * s)
            x[i] = max(y, low) if x[i] > 0 else zero
    for i in range(x.size):
        there[i] += x[i]


@subroutine
def _power(z: Any) -> Any:
    z *= z
    z *= z
    z *= z
    z *= z
    return z * z


@kernel
def climb(terms: Terms, state: Ascent, t: int) -> None:
    """Improve the shares of a range of blocks by one step."""
    step = int(state.figures[2])
    heat, by = np.float32(state.figures[0]), np.float32(state.figures[1])
    R, W = terms.covers.shape[1:]
    of_bad, of_rules, demand, slopes = (
        state.of_bad,
        state.of_rules,
        state.demand[t],
        state.slopes[t],
    )
    one, far, zero = np.float32(1), np.float32(1e30), np.float32(0)
    over = one / (heat * np.float32(16))
    c1, c2 = np.float32(state.figures[3]), np.float32(state.figures[4])
    B = of_bad.scales.size
    of_bad.gained[t] = zero
    of_bad.there[t] = zero
    of_rules.gained[t] = zero
    of_rules.there[t] = zero
    for k in range(state.ranges[t], state.ranges[t + 1]):
        good, least, spread = terms.good[k], state.least[k], state.spread[k]
        _scale(of_bad, k)
        _scale(of_rules, k)
        table = of_bad.shares[k]
        for i in range(W):
            least[i] = good[i]
        near = state.near[k]
        look = step % _REFRESH == 0
        if look:
            near[:] = 1
        for r in range(R):
            if near[r]:
                line, own, mine = demand[r], terms.covers[k, r], of_rules.shares[k, r]
                for i in range(W):
                    line[i] = mine[i]
                _add(line, table, terms.bad, terms.starts[r], terms.starts[r + 1])
                for i in range(W):
                    line[i] = line[i] if own[i] > 0 else far
                    least[i] = min(least[i], line[i])
        for i in range(W):
            spread[i] = _power(max(zero, one - (good[i] - least[i]) * over))
        for r in range(R):
            if near[r]:
                line = demand[r]
                if look:
                    lowest = far
                    for i in range(W):
                        lowest = min(lowest, line[i] - least[i])
                    near[r] = lowest * over < _MARGIN
                for i in range(W):
                    z = _power(max(zero, one - (line[i] - least[i]) * over))
                    line[i] = z
                    spread[i] += z
        for i in range(W):
            spread[i] = one / max(spread[i], _TINY)
        slopes[:] = zero
        for r in range(R):
            if near[r]:
                line = demand[r]
                for i in range(W):
                    line[i] *= spread[i]
                for x in range(terms.starts[r], terms.starts[r + 1]):
                    more = slopes[terms.bad[x]]
                    for i in range(W):
                        more[i] += line[i]
            else:
                demand[r] = zero
        for j in range(B):
            _move(of_bad, k, t, j, slopes[j], terms.costs[j], by, c1, c2)
        for r in range(R):
            _move(of_rules, k, t, r, demand[r], terms.prices[r], by, c1, c2)


@subroutine
def _settle(costs: Costs, totals: Any) -> None:
    for j in range(totals.size):
        there, gained = np.float32(0), np.float32(0)
        for t in range(costs.there.shape[0]):
            for i in range(costs.there.shape[2]):
                there += costs.there[t, j, i]
                gained += costs.gained[t, j, i]
        costs.scales[j] = totals[j] / there if there > 0 else np.float32(0)
        costs.slopes[j] = gained / totals[j] if totals[j] > 0 else np.float32(0)


@kernel
def settle(terms: Terms, state: Ascent) -> None:
    """End a step of all ranges."""
    _settle(state.of_bad, terms.costs)
    _settle(state.of_rules, terms.prices)
