"""The exact check that the class of x beats another on a box, by branch and bound."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.judge_cells import Box, Cells, Paths, Span, counted

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_BITS = 60
# How much both halves together count beside their product.
_EITHER = 1e-3


def always_wins(
    cells: Cells, box: Box, leads: Sequence[int], base: int, enough: int, look: Callable[[], None]
) -> bool:
    """Say whether the class of x leads a rival by enough on all rows of a box.

    The least leads of all trees over a part of the box add up to a bound. So do the least leads
    in each cell, over the trees that test its feature; cells in which the rival cannot win are
    left out. Bounds of several features add up where each tree counts for one of them. What
    then is left is cut in two, where both halves are as far from the rival as can be, and the
    row of the cells that are worst by themselves is tried.

    leads: By how much the class of x leads at each leaf.
    base: What is added to the sum over the trees.
    enough: The lead with which the class of x wins.
    look: Called before each part of the box; may raise what ends the search.
    """
    base -= enough  # now a lead of 0 is enough
    reached = np.flatnonzero(cells.reached(box))
    cuts = np.searchsorted(reached, cells.of_tree)
    trees = [reached[a:b].tolist() for a, b in itertools.pairwise(cuts)]
    trees = [sorted(leaves, key=leads.__getitem__) for leaves in trees]
    if base + sum(leads[leaves[0]] for leaves in trees) >= 0:
        return True
    # What a tree gives in any case is a part of the base.
    same = [leaves for leaves in trees if leads[leaves[0]] == leads[leaves[-1]]]
    base += sum(leads[leaves[0]] for leaves in same)
    trees = [leaves for leaves in trees if leads[leaves[0]] != leads[leaves[-1]]]
    if len(trees) < 2:
        return False  # some row reaches the worst leaf of the tree
    return _ClassMargin(cells, box, trees, leads, base).won(look)


class _ClassMargin:
    """The leads of trees, whose leaves are sorted by them, over the free features of a box.

    The class wins with a lead of 0. The leaves of a tree are bits of its words, and the lowest
    of those that a part reaches is the worst. Leads of more than 60 bits are rounded down; rows
    are decided by the exact ones.
    """

    def __init__(
        self,
        cells: Cells,
        box: Box,
        trees: list[list[int]],
        leads: Sequence[int],
        base: int,
    ) -> None:
        self._base = base
        self._word_of = np.cumsum([0, *(-(-len(leaves) // 64) for leaves in trees)])
        self._place = np.concatenate(
            [64 * word + np.arange(len(leaves)) for word, leaves in zip(self._word_of, trees)]
        )
        exact = [leads[at] for leaves in trees for at in leaves]
        places: list[int] = self._place.tolist()
        self._exact: dict[int, int] = dict(zip(places, exact))
        greatest = abs(base) + sum(max(abs(leads[at]) for at in leaves) for leaves in trees)
        self._shift = max(greatest.bit_length() - _BITS, 0)
        self._lead = np.full((int(self._word_of[-1]), 65), NONE)
        for at, lead in self._exact.items():
            self._lead[at // 64, at % 64] = lead >> self._shift
        self._renumber(cells, box, [at for leaves in trees for at in leaves])
        self._list_segments()

    def _renumber(self, cells: Cells, box: Box, leaves: list[int]) -> None:
        """Keep the features that are free in the box and on the path of one of these leaves."""
        free = np.add.reduceat(box, cells.first[:-1], dtype=np.int64) > 1
        paths = [{j: s for j, s in cells.spans[at].items() if free[j]} for at in leaves]
        features = sorted({j for path in paths for j in path})
        ranges = [slice(*cells.first[j : j + 2].tolist()) for j in features]
        self._box = np.concatenate([box[part] for part in ranges])
        self._first = np.cumsum([0, *(part.stop - part.start for part in ranges)])
        back = {
            j: (i, part.start - first)
            for i, (j, part, first) in enumerate(zip(features, ranges, self._first.tolist()))
        }
        spans: list[dict[int, Span]] = []
        for path in paths:
            spans.append({})
            for j, (runs, missing) in path.items():
                i, by = back[j]
                spans[-1][i] = (tuple((low - by, high - by) for low, high in runs), missing)
        self._spans, self._paths = spans, Paths(self._first, spans)

    def _list_segments(self) -> None:
        """Prepare the words of the leaves that each segment reaches."""
        ends = np.searchsorted(self._place, 64 * self._word_of)
        trees = [self._spans[a:b] for a, b in itertools.pairwise(ends)]
        self._segments = Segments(self._first, trees)
        widths = np.diff(self._word_of)[self._segments.tree]
        self._of_segment = np.cumsum(widths) - widths
        first = self._word_of[self._segments.tree]
        self._word = np.repeat(first - self._of_segment, widths) + np.arange(widths.sum())
        bits = np.zeros((len(self._word), 64), dtype=np.bool_)
        for mask, at, width in zip(self._segments.masks, self._of_segment, widths):
            bits[at : at + width].reshape(-1)[: len(mask)] = mask
        self._mask = _words(bits.reshape(-1))

    def won(self, look: Callable[[], None]) -> bool:
        """Search for a row of the box on which the lead is not enough."""
        waiting = [self._box]
        while waiting:
            look()
            box = waiting.pop()
            reached = self._paths.reached(box)
            words = self._words_of(reached)
            least = self._least(words, np.arange(len(words)), self._word_of[:-1])
            gap = -(self._base >> self._shift) - int(least.sum())
            if gap <= 0:
                continue
            if reached.sum() == len(least):
                if self._lead_of(reached) < 0:
                    return False
                continue
            worse = self._least(words[self._word] & self._mask, self._word, self._of_segment)
            worse -= least[self._segments.tree]
            count = counted(box)
            none = count[self._segments.start] == count[self._segments.stop]
            gains = self._segments.sums(np.where(none, 0, worse))
            if self._lead_of(self._paths.reached(self._worst_row(box, gains))) < 0:
                return False
            waiting += self._parts(box, worse, none, gains, gap)
        return True

    def _words_of(self, reached: Box) -> Words:
        bits = np.zeros(64 * len(self._lead), dtype=np.bool_)
        bits[self._place] = reached
        return _words(bits)

    def _least(self, words: Words, at: Ints, groups: Ints) -> Ints:
        """Return the least lead of the leaves in each group of words, NONE without any."""
        lowest = np.bitwise_count(~words & (words - np.uint64(1)))
        return np.asarray(np.minimum.reduceat(self._lead[at, lowest], groups))

    def _lead_of(self, reached: Box) -> int:
        """Return the exact lead at these leaves."""
        places: list[int] = self._place[reached].tolist()
        return self._base + sum(self._exact[at] for at in places)

    def _worst_row(self, box: Box, gains: Ints) -> Box:
        """Return the row of the cells that by themselves raise the bound least."""
        kept = np.where(box, gains, NONE)
        least = np.minimum.reduceat(kept, self._first[:-1])
        cells = np.flatnonzero(box & (kept == np.repeat(least, np.diff(self._first))))
        row = np.zeros(len(box), dtype=np.bool_)
        row[cells[np.searchsorted(cells, self._first[:-1])]] = True
        return row

    def _parts(self, box: Box, worse: Ints, none: Box, gains: Ints, gap: int) -> list[Box]:
        """Return parts of a box with every row in which the rival wins, the likelier last."""
        left = box & (gains < gap)
        if not np.logical_or.reduceat(left, self._first[:-1]).all():
            return []
        if left.sum() < box.sum():
            return [left]
        if self._closes(box, np.where(none, 0, worse), gains, gap):
            return []
        worse = np.where(none, NONE, worse)
        upto = self._segments.sums(self._segments.upto(worse))
        onward = self._segments.sums(self._segments.onward(worse))
        return self._halves(box, upto, onward, gap)

    def _closes(self, box: Box, worse: Ints, gains: Ints, gap: int) -> bool:
        """Say whether the features close the gap when each tree counts for one of them."""
        best = np.minimum.reduceat(np.where(box, gains, NONE), self._first[:-1])
        counts = np.ones(len(self._word_of) - 1, dtype=np.bool_)
        hoped = float(best.astype(np.float64).sum())
        for j in np.argsort(-best, kind="stable").tolist():
            if hoped < gap:
                return False
            hoped -= float(best[j])
            mine, cells = self._segments.of(j), slice(*self._first[j : j + 2].tolist())
            values = np.where(counts[self._segments.tree[mine]], worse[mine], 0)
            gap -= int(self._segments.sums_of(j, values)[box[cells]].min())
            if gap <= 0:
                return True
            counts[self._segments.tree[mine][values > 0]] = False
        return False

    def _halves(self, box: Box, upto: Ints, onward: Ints, gap: int) -> list[Box]:
        """Cut between two cells of one feature."""
        cells = np.flatnonzero(box)
        before, after = cells[:-1], cells[1:]
        feature = np.searchsorted(self._first, cells, side="right") - 1
        low, high = (np.minimum(part / gap, 1.0) for part in (upto[before], onward[after]))
        score = low * high + _EITHER * (low + high)
        score[feature[:-1] != feature[1:]] = -1.0
        k = int(score.argmax())
        one, other = box.copy(), box.copy()
        one[after[k] : self._first[feature[k] + 1]] = False
        other[self._first[feature[k]] : after[k]] = False
        return [other, one] if upto[before[k]] <= onward[after[k]] else [one, other]


def _words(bits: Box) -> Words:
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


NONE = np.iinfo(np.int64).max
"""The least of nothing."""


class Segments:
    """Runs of cells that a tree does not tell apart, by feature, then tree, then cell.

    first: Where the cells of each feature begin; the last cell of each is a missing value.
    spans: Per tree and leaf, the cells of each feature on its path; each feature is on one.
    masks: The leaves of the tree that the segment reaches.
    start, stop: Its first cell, and the one after its last.
    """

    def __init__(self, first: Ints, spans: list[list[dict[int, Span]]]) -> None:
        self.masks: list[Box] = []
        starts, trees = [], []
        tested = sorted({(j, t) for t, leaves in enumerate(spans) for p in leaves for j in p})
        for j, t in tested:
            begin, absent = int(first[j]), int(first[j + 1]) - 1
            free = (((begin, absent - 1),), True)
            own = [path.get(j, free) for path in spans[t]]
            runs = [(at, *run) for at, (some, _) in enumerate(own) for run in some]
            ends = {end for _, low, high in runs for end in (low, high + 1)}
            cuts = np.array([begin, *sorted(c for c in ends if begin < c < absent), absent])
            inside = np.zeros((len(cuts), len(own)), dtype=np.bool_)
            leaf, low, high = np.array(runs, dtype=np.int64).reshape(-1, 3).T
            within = (low <= cuts[:, None]) & (cuts[:, None] <= high)
            np.logical_or.at(inside.T, leaf, within.T)
            inside[-1] = [missing for _, missing in own]
            self.masks += list(inside)
            starts += cuts.tolist()
            trees += [t] * len(cuts)
        self.start, self.tree = np.array(starts), np.array(trees)
        self._opens = np.isin(self.start, first[:-1])
        closes = np.append(self._opens[1:], True)
        ends_of = first[np.searchsorted(first, self.start, side="right")]
        self.stop = np.where(closes, ends_of, np.append(self.start[1:], 0))
        self._entry = np.cumsum(self._opens)
        self._order = np.argsort(self.start, kind="stable")
        cells, self._group = np.unique(self.start[self._order], return_index=True)
        self._at_cell = np.searchsorted(cells, np.arange(first[-1]), side="right") - 1
        self._first = first
        begins = np.searchsorted(self.start[self._order], first)
        self._of_feature, self._groups_of = begins, np.searchsorted(cells, first)

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
