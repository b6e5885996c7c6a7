"""Sums over trees of the worst leaf in each cell, as piecewise constant arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.cells import Box, Span

__all__ = ["NONE", "Segments"]

Ints = NDArray[np.int64]

NONE = np.iinfo(np.int64).max
"""The least of nothing."""


class Segments:
    """Runs of cells that a tree does not tell apart, by feature, then tree, then cell.

    Parameters
    ----------
    first : (n + 1,) array of int
        Where the cells of each feature begin; the last cell of each is a missing value.
    spans : list of T lists of dict
        Per tree and leaf, the cells of each feature on its path; each feature is on one.

    Attributes
    ----------
    tree : (S,) array of int
    masks : list of S arrays of bool
        The leaves of the tree that the segment reaches.
    start, stop : (S,) array of int
        Its first cell, and the one after its last.
    """

    def __init__(self, first: Ints, spans: list[list[dict[int, Span]]]) -> None:
        self.masks: list[Box] = []
        starts, trees = [], []
        tested = sorted({(j, t) for t, leaves in enumerate(spans) for p in leaves for j in p})
        for j, t in tested:
            begin, absent = int(first[j]), int(first[j + 1]) - 1
            free = (begin, absent - 1, True)
            table = np.array([path.get(j, free) for path in spans[t]])
            low, high = table[:, 0], table[:, 1]
            ends = {*low.tolist(), *(high + 1).tolist()}
            cuts = np.array([begin, *sorted(c for c in ends if begin < c < absent), absent])
            inside = (low <= cuts[:, None]) & (cuts[:, None] <= high)
            inside[-1] = table[:, 2]
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
