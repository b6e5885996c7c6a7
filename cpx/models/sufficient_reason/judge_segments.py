"""Runs of cells that a tree does not tell apart, and the leaves of the tree that each reaches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.judge_cells import Box, Ints, Paths

Words = NDArray[np.uint64]

NONE = np.iinfo(np.int64).max
"""The least of nothing."""


class Segments:
    """Runs of cells that a tree does not tell apart, by feature, then tree, then cell.

    paths: To the leaves of all trees, one after the other; each feature is on one.
    place: The bit of each leaf; its word is ``place // 64``.
    word_of: The first word of each tree, and their number.

    tree: The tree of each segment.
    start, stop: Its first cell, and the one after its last.
    of_segment: Where its words begin: bits of the leaves that it reaches.
    mask, word: All these words, and which word of the leaves each is about.
    """

    def __init__(self, paths: Paths, place: Ints, word_of: Ints) -> None:
        first, trees, cells = paths.first, len(word_of) - 1, int(paths.first[-1])
        of_leaf = np.searchsorted(word_of, place // 64, side="right") - 1
        # Leaves of a tree with the same span of a feature are one group; those of a feature and a
        # tree have different leaves.
        spans = len(paths.feature)
        of_test = paths.feature[paths.span] * trees + of_leaf[paths.leaf]
        known, group = np.unique(of_test * spans + paths.span, return_inverse=True)
        pairs, pair = np.unique(known // spans, return_inverse=True)
        span = known % spans
        feature, tree = np.divmod(pairs, trees)
        runs = np.searchsorted(paths.run, span), np.searchsorted(paths.run, span, side="right")
        at, run = np.repeat(np.arange(len(known)), runs[1] - runs[0]), _ranges(*runs)
        # Cells of a pair are numbered beside those of others: where segments begin, in order.
        base = np.arange(len(pairs)) * cells
        begin, absent = base + first[feature], base + first[feature + 1] - 1
        low, end = base[pair[at]] + paths.low[run], base[pair[at]] + paths.end[run]
        cuts = np.sort(np.concatenate([begin, absent, low, end]))
        cuts = cuts[np.append(True, cuts[1:] != cuts[:-1])]
        own, self.start = np.divmod(cuts, cells)
        self.tree = tree[own]
        # The words of a segment: leaves without the feature on their path, and groups that it is
        # in the span of.
        widths = np.diff(word_of)
        of_group, word = _blocks(widths[tree[pair]], word_of[tree[pair]])
        bits = np.zeros(64 * len(word), dtype=np.bool_)
        leaf, group = paths.leaf, group.ravel()
        bits[64 * (of_group[group] - word_of[of_leaf[leaf]]) + place[leaf]] = True
        members = words_of(bits)
        of_pair, word = _blocks(widths[tree], word_of[tree])
        tests = np.zeros(len(word), dtype=np.uint64)
        mine = widths[tree[pair]]
        np.add.at(tests, _ranges(of_pair[pair], of_pair[pair] + mine), members)
        every = np.zeros(64 * int(word_of[-1]), dtype=np.bool_)
        every[place] = True
        others = words_of(every)[word] & ~tests
        self.of_segment, self.word = _blocks(widths[self.tree], word_of[self.tree])
        self.mask = others[_ranges(of_pair[own], of_pair[own] + widths[self.tree])]
        some = np.flatnonzero(paths.missing[span])
        a, b = np.searchsorted(cuts, low), np.searchsorted(cuts, end)
        inside = np.concatenate([_ranges(a, b), np.searchsorted(cuts, absent[pair[some]])])
        those = np.concatenate([np.repeat(at, b - a), some])
        to, source = self.of_segment[inside], of_group[those]
        np.add.at(  # no two groups have a leaf in common
            self.mask,
            _ranges(to, to + mine[those]),
            members[_ranges(source, source + mine[those])],
        )
        self._opens = np.isin(self.start, first[:-1])
        closes = np.append(self._opens[1:], True)
        ends_of = first[np.searchsorted(first, self.start, side="right")]
        self.stop = np.where(closes, ends_of, np.append(self.start[1:], 0))
        self._entry = np.cumsum(self._opens)
        self._order = np.argsort(self.start, kind="stable")
        starts, self._group = np.unique(self.start[self._order], return_index=True)
        self._at_cell = np.searchsorted(starts, np.arange(first[-1]), side="right") - 1
        self._first = first
        begins = np.searchsorted(self.start[self._order], first)
        self._of_feature, self._groups_of = begins, np.searchsorted(starts, first)

    def of(self, feature: int) -> slice:
        """Return where the segments of a feature are."""
        return slice(int(self._of_feature[feature]), int(self._of_feature[feature + 1]))

    def sums(self, values: Ints) -> Ints:
        """Add up, for each cell, the values of its segments; shape (N,)."""
        steps = self._steps(values, self._opens)
        running = np.cumsum(np.add.reduceat(steps[self._order], self._group))
        before = np.concatenate([[0], running])[self._groups_of[:-1]]
        return np.asarray(running[self._at_cell] - np.repeat(before, np.diff(self._first)))

    def sums_of(self, feature: int, values: Ints) -> Ints:
        """Do so for the cells of one feature, from the values of its segments."""
        mine, begin = self.of(feature), int(self._of_feature[feature])
        steps = self._steps(values, self._opens[mine])
        a, b = self._groups_of[feature : feature + 2]
        added = np.add.reduceat(steps[self._order[mine] - begin], self._group[a:b] - begin)
        cells = slice(int(self._first[feature]), int(self._first[feature + 1]))
        return np.asarray(np.cumsum(added)[self._at_cell[cells] - a])

    @staticmethod
    def _steps(values: Ints, opens: Box) -> Ints:
        steps = values.copy()
        steps[1:] -= np.where(opens[1:], 0, values[:-1])
        return steps

    def upto(self, values: Ints) -> Ints:
        """Return the least value so far of the same feature and tree, 0 where all are NONE."""
        return _running(values, self._entry)

    def onward(self, values: Ints) -> Ints:
        """Return the least value from here on of the same feature and tree."""
        return _running(values[::-1], self._entry[::-1])[::-1]


def _running(values: Any, entry: Any) -> Ints:
    out, by = values.copy(), 1
    while (same := entry[by:] == entry[:-by]).any():
        out[by:] = np.where(same, np.minimum(out[by:], out[:-by]), out[by:])
        by *= 2
    return np.where(out == NONE, 0, out)


def words_of(bits: Box) -> Words:
    """Return bits, 64 of them to a word."""
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def _ranges(starts: Ints, ends: Ints) -> Ints:
    """Return the numbers from each start to before its end, one range after the other."""
    counts = ends - starts
    begins = np.cumsum(counts) - counts
    return np.asarray(np.arange(counts.sum()) + np.repeat(starts - begins, counts))


def _blocks(widths: Ints, firsts: Ints) -> tuple[Ints, Ints]:
    """Return where blocks of so many words begin, and all words counted from each first one."""
    return np.cumsum(widths) - widths, _ranges(firsts, firsts + widths)
