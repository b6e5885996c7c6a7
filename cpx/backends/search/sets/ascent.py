"""Shares of the costs, improved step by step: what makes the bound of shares good.

The shares of :mod:`cpx.backends.search.sets.shares` are found by ascent. Rows pay the least of
what their rules ask for, which is smoothed: a row spreads over its rules, more over those that
ask for less. The shares of one cost then grow or fall by a factor each, steps as Adam [1]_ makes
them, and are scaled to that cost again. Any shares are valid: what is here decides how good the
bound is, never whether it holds, so that floats of 32 bits do.

References
----------
.. [1] D. Kingma, J. Ba: Adam: A Method for Stochastic Optimization, ICLR 2015, Algorithm 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.jit import kernel, square_root

__all__ = ["LANES", "Ascent", "Terms", "climb", "new_ascent"]

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

LANES = 32
"""Good rows are padded to a multiple of these."""

_FIRST, _SECOND = np.float32(0.9), np.float32(0.98)
_TINY = np.float32(1e-12)


class Terms(NamedTuple):
    """Rules as what they cover of the good and of the bad rows; G good rows, padded."""

    covers: Floats  # 1 where rule r covers a good row, shape (R, G)
    starts: Ints  # the bad rows of rule r: bad[starts[r] : starts[r + 1]]
    bad: Ints
    good: Floats  # what missing a good row costs, shape (G,)
    costs: Floats  # what covering a bad row costs, shape (B,)
    prices: Floats  # shape (R,)


class Ascent(NamedTuple):
    """Shares of good rows in the costs of bad rows and of rules, and the means of their steps."""

    shares: Floats  # shape (B, G)
    slopes: Floats
    first: Floats
    second: Floats
    rule_shares: Floats  # shape (R, G)
    asked: Floats  # scratch: what rule r asks of a row, then its part of the row
    rule_first: Floats
    rule_second: Floats
    least: Floats  # shape (G,)
    spread: Floats  # shape (G,)
    ones: Floats
    lanes: Floats
    figures: NDArray[np.float64]  # heat, pace, the bound


def new_ascent(terms: Terms, shares: Floats, rule_shares: Floats) -> Ascent:
    """Return the state before the first step; the shares are scaled to their costs."""
    G = terms.good.size

    def scaled(lines: Floats, totals: Floats) -> Floats:
        sums = lines.sum(axis=1, dtype=np.float64)
        by = np.divide(totals, sums, out=np.zeros_like(sums), where=sums > 0)
        product: Floats = (lines * by[:, None]).astype(np.float32)
        return product

    def table(lines: Floats) -> Floats:
        return np.zeros(lines.shape, dtype=np.float32)

    def line(size: int) -> Floats:
        return np.zeros(size, dtype=np.float32)

    return Ascent(
        scaled(shares, terms.costs),
        table(shares),
        table(shares),
        table(shares),
        scaled(rule_shares, terms.prices),
        table(rule_shares),
        table(rule_shares),
        table(rule_shares),
        line(G),
        line(G),
        line(G) + np.float32(1),
        line(LANES),
        np.zeros(3),
    )


@kernel
def _total(lanes: Any) -> Any:
    """Return the sum of the lanes."""
    low, high = lanes[:16], lanes[16:]
    for i in range(16):
        low[i] += high[i]
    total = np.float32(0)
    for i in range(16):
        total += low[i]
    return total


@kernel
def _dot(x: Any, y: Any, lanes: Any) -> Any:
    """Return the sum of products of two lines; sums side by side are what vectors can do."""
    lanes[:] = np.float32(0)
    for b in range(0, x.size, LANES):
        u, v = x[b : b + LANES], y[b : b + LANES]
        for i in range(LANES):
            lanes[i] += u[i] * v[i]
    return _total(lanes)


@kernel
def _step(
    x: Any,
    slope: Any,
    first: Any,
    second: Any,
    total: Any,
    by: Any,
    c1: Any,
    c2: Any,
    lanes: Any,
    ones: Any,
) -> None:
    """Move the shares of one cost by their slopes."""
    if total <= 0:
        return
    mean = _dot(x, slope, lanes) / total
    low = total * np.float32(1e-6)
    one, half = np.float32(1), np.float32(0.5)
    for i in range(x.size):
        g = x[i] * (slope[i] - mean)
        u = _FIRST * first[i] + (one - _FIRST) * g
        v = _SECOND * second[i] + (one - _SECOND) * g * g
        first[i], second[i] = u, v
        s = by * (u * c1) / (square_root(v * c2) + _TINY)
        s = min(max(s, -one), one)
        y = x[i] * (one + s + half * s * s)
        x[i] = max(y, low) if x[i] > 0 else np.float32(0)
    there = _dot(x, ones, lanes)
    if there > 0:
        more = total / there
        for i in range(x.size):
            x[i] *= more


@kernel
def climb(terms: Terms, state: Ascent, step: int) -> None:
    """Improve the shares by one step; note the bound that they gave before."""
    heat, by = np.float32(state.figures[0]), np.float32(state.figures[1])
    R, G = terms.covers.shape
    asked, least, spread = state.asked, state.least, state.spread
    one, far, zero = np.float32(1), np.float32(1e30), np.float32(0)
    for i in range(G):
        least[i] = terms.good[i]
        spread[i] = zero
    for r in range(R):
        line, own, mine = asked[r], terms.covers[r], state.rule_shares[r]
        for i in range(G):
            line[i] = mine[i]
        for x in range(terms.starts[r], terms.starts[r + 1]):
            more = state.shares[terms.bad[x]]
            for i in range(G):
                line[i] += more[i]
        for i in range(G):
            line[i] = line[i] if own[i] > 0 else far
            least[i] = min(least[i], line[i])
    state.figures[2] = _dot(least, state.ones, state.lanes)
    over = one / (heat * np.float32(16))
    for i in range(G):
        z = max(zero, one - (terms.good[i] - least[i]) * over)
        z *= z
        z *= z
        z *= z
        spread[i] = z * z
    for r in range(R):
        line = asked[r]
        for i in range(G):
            z = max(zero, one - (line[i] - least[i]) * over)
            z *= z
            z *= z
            z *= z
            z *= z
            line[i] = z
            spread[i] += z
    for i in range(G):
        spread[i] = one / max(spread[i], _TINY)
    B = state.shares.shape[0]
    for j in range(B):
        line = state.slopes[j]
        for i in range(G):
            line[i] = zero
    for r in range(R):
        line = asked[r]
        for i in range(G):
            line[i] *= spread[i]
        for x in range(terms.starts[r], terms.starts[r + 1]):
            more = state.slopes[terms.bad[x]]
            for i in range(G):
                more[i] += line[i]
    c1 = one / (one - _FIRST ** (step + 1))
    c2 = one / (one - _SECOND ** (step + 1))
    c1, c2 = np.float32(c1), np.float32(c2)
    for j in range(B):
        _step(
            state.shares[j],
            state.slopes[j],
            state.first[j],
            state.second[j],
            terms.costs[j],
            by,
            c1,
            c2,
            state.lanes,
            state.ones,
        )
    for r in range(R):
        _step(
            state.rule_shares[r],
            asked[r],
            state.rule_first[r],
            state.rule_second[r],
            terms.prices[r],
            by,
            c1,
            c2,
            state.lanes,
            state.ones,
        )
