"""The exact check that the class of x beats another on a box, by branch and bound."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from cpx.models.sufficient_reason.judge_cells import Box, Cells, Ints, counted
from cpx.models.sufficient_reason.judge_segments import NONE, Segments, Words, words_of

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
        greatest = abs(base) + sum(max(abs(leads[at]) for at in leaves) for leaves in trees)
        self._shift = max(greatest.bit_length() - _BITS, 0)
        self._exact = np.array(exact, dtype=object if self._shift else np.int64)
        self._lead = np.full((int(self._word_of[-1]), 65), NONE)
        self._lead[self._place // 64, self._place % 64] = self._exact >> self._shift
        chosen = np.array([at for leaves in trees for at in leaves], dtype=np.int64)
        free = np.add.reduceat(box, cells.first[:-1], dtype=np.int64) > 1
        self._paths, features = cells.paths.part(chosen, free)
        self._first = self._paths.first
        parts = [slice(*cells.first[j : j + 2].tolist()) for j in features.tolist()]
        self._box = np.concatenate([box[part] for part in parts])
        self._segments = Segments(self._paths, self._place, self._word_of)

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
            mine = self._segments
            worse = self._least(words[mine.word] & mine.mask, mine.word, mine.of_segment)
            worse -= least[mine.tree]
            count = counted(box)
            none = count[self._segments.start] == count[self._segments.stop]
            gains = self._segments.sums(np.where(none, 0, worse))
            parts = self._parts(box, worse, none, gains, gap)
            if len(parts) > 1:
                worst = self._paths.reached(self._worst_row(box, gains))
                if self._lead_of(worst) < 0:
                    return False
            waiting += parts
        return True

    def _words_of(self, reached: Box) -> Words:
        bits = np.zeros(64 * len(self._lead), dtype=np.bool_)
        bits[self._place] = reached
        return words_of(bits)

    def _least(self, words: Words, at: Ints, groups: Ints) -> Ints:
        """Return the least lead of the leaves in each group of words, NONE without any."""
        lowest = np.bitwise_count(~words & (words - np.uint64(1)))
        return np.asarray(np.minimum.reduceat(self._lead[at, lowest], groups))

    def _lead_of(self, reached: Box) -> int:
        """Return the exact lead at these leaves."""
        return self._base + int(self._exact[reached].sum())

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
