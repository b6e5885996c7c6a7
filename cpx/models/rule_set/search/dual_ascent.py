"""Dual ascent: cost shares improved step by step, for a better bound by cost splitting.

The shares of :mod:`cpx.models.rule_set.search.cost_splitting` are found by ascent. Rows pay
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

from typing import NamedTuple

import numpy as np

from cpx.compiled.kernel import (
    Bytes2,
    Floats,
    Ints,
    Singles,
    Singles2,
    Singles3,
    kernel,
)

MULTIPLE = 32
"""The good rows of a block are a multiple of these."""

_FIRST, _SECOND = np.float32(0.9), np.float32(0.98)
"""What the means of slopes and of their squares keep at each step, as in C."""


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


@kernel
def pass_on(terms: Terms, lines: Singles3, shares: Singles3) -> None:
    """Add a line of each rule, shape (K, R, W), to those of its bad rows, shape (K, B, W)."""


@kernel
def take(table: Singles3, lines: Ints, blocks: Ints, places: Ints, taken: Singles3) -> None:
    """Take some lines, and of these some columns, over to a table with other blocks."""


@kernel
def climb(terms: Terms, state: Ascent, t: int) -> None:
    """Improve the shares of a range of blocks by one step."""


@kernel
def settle(terms: Terms, state: Ascent) -> None:
    """End a step of all ranges."""
