"""The rows of a rule selection as bitsets: one line of words per rule."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

import numpy as np

from cpx.backends.search.remaining_constraints import Remaining
from cpx.backends.search.side_constraints import Side
from cpx.compiled.kernel import Bools, Ints, Shorts, Shorts2, Words, Words2
from cpx.models.rule_set.form import RuleSelection

__all__ = ["Rows", "rows_of"]


class Paid(NamedTuple):
    """What good rows pay at least; see :mod:`cpx.models.rule_set.search.cost_splitting`.

    Numbers of 32 bits: of the parts, ``shift`` bits are cut off.
    """

    least: Shorts  # whatever is selected, shape (G,)
    demand: Shorts2  # for a rule and what it covers, shape (R, G)
    own: Shorts2  # for a rule itself, shape (R, G)
    shares: Shorts2  # for a bad row, shape (B, G)
    bad: Ints  # the bad rows, increasing
    parts: int
    shift: int
    fixed: int

    def of(self, lines: Ints) -> Paid:
        """Return what is paid for some of the rules."""
        return self._replace(demand=self.demand[lines], own=self.own[lines])

    @classmethod
    def nothing(cls, rules: Ints, bad: Ints) -> Paid:
        """Where nothing is known."""

        def none(size: int) -> Shorts:
            return np.zeros((size, 0), dtype=np.int32)

        empty = np.zeros(0, dtype=np.int32)
        return cls(empty, none(rules.size), none(rules.size), none(bad.size), bad, 1, 0, 0)


class Rows(NamedTuple):
    """Rules that may be selected, as sets of rows.

    Good rows save when they are covered, bad ones cost, doubled ones count in the overlap. Each
    kind begins at a word of its own. Weights are bit slices: the weight of a set of rows v is
    the sum over b of 2^b popcount(v & masks[w, b]). Rows are ordered by weight, so that most
    words have few slices.
    """

    bits: Words2  # shape (R, words)
    masks: Words2  # shape (words, slices)
    slices: Ints  # slices in use, shape (words,)
    light_good: int  # the first word of good rows from which on all weights are 1
    light_bad: int
    good: int  # words of good rows
    bad: int  # words of good and bad rows
    unit: int  # what a unit of weight is worth
    prices: Ints  # shape (R,)
    lengths: Ints  # shape (R,)
    most_rules: int  # how many more rules, literals and doubled weight are allowed
    most_literals: int
    most_overlap: int
    paid: Paid
    side: Side


def rows_of(
    form: RuleSelection, required: Sequence[int], rules: Ints, paid: Paid | None
) -> tuple[Rows, Words]:
    """Return some rules that may be added to required ones, on the rows that these leave.

    Returns: Beside them, two lines of words: the rows that no required rule covers, and the rows
        that exactly one covers.
    """
    given = list(required)
    times = form.times_covered(given)
    reached = form.covers[rules].any(axis=0)
    limited = form.max_overlap is not None
    unit = gcd(*map(int, form.weights)) or 1
    kinds = [
        ((form.weights > 0) & (times == 0) & reached, form.weights // unit),
        ((form.weights < 0) & (times == 0) & reached, -form.weights // unit),
        ((form.counted > 0) & (times < 2) & reached & limited, form.counted),
    ]
    parts, masks, starts, ends, orders = [], [], [], [], []
    for wanted, weights in kinds:
        order = np.flatnonzero(wanted)
        order = order[np.argsort(-weights[order], kind="stable")]
        orders.append(order)
        parts.append(_pack(form.covers[np.ix_(rules, order)]))
        masks.append(_slices(weights[order]))
        starts.append(_pack(np.stack([times[order] == 0, times[order] == 1])))
        ends.append(parts[-1].shape[1])
    widest = max(part.shape[1] for part in masks)
    # Parts that lie in memory by column would be joined so.
    slices = np.ascontiguousarray(
        np.concatenate([np.pad(part, ((0, 0), (0, widest - part.shape[1]))) for part in masks])
    )
    good, bad = ends[0], ends[0] + ends[1]
    used = (slices != 0) * np.arange(1, widest + 1)
    used = used.max(axis=1).astype(np.int64)
    light = [first + int((used[first:end] > 1).sum()) for first, end in ((0, good), (good, bad))]
    far = int(form.lengths.sum()) + form.shape[0] + int(form.counted.sum()) + 1
    paid = Paid.nothing(rules, np.sort(orders[1])) if paid is None else paid
    shares = paid.shares[np.searchsorted(paid.bad, orders[1])]
    rows = Rows(
        bits=np.concatenate(parts, axis=1),
        masks=slices,
        slices=used,
        light_good=light[0],
        light_bad=light[1],
        good=good,
        bad=bad,
        unit=unit,
        prices=form.prices[rules],
        lengths=form.lengths[rules],
        most_rules=_left(form.max_rules, len(given), far),
        most_literals=_left(form.max_literals, int(form.lengths[given].sum()), far),
        most_overlap=_left(form.max_overlap, form.overlap(given), far),
        paid=paid._replace(shares=shares),
        side=Remaining.of(form.side, rules, tuple(given)).numbers(len(rules), _NO_GROUPS, False),
    )
    return rows, np.concatenate(starts, axis=1)


_NO_GROUPS = np.zeros(0, dtype=np.int64)


def _left(most: int | None, taken: int, far: int) -> int:
    return far if most is None else most - taken


def _pack(bits: Bools) -> Words:
    """Return lines of bits as lines of words."""
    if not bits.shape[1]:
        return np.zeros((len(bits), 0), dtype=np.uint64)
    padded = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 64)))
    packed = np.packbits(padded, axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view(np.uint64)


def _slices(weights: Ints) -> Words:
    """Return the bit slices of the weights, shape (words, slices)."""
    planes = max(1, int(weights.max(initial=0)).bit_length())
    return _pack((weights >> np.arange(planes)[:, None]) & 1 != 0).T
