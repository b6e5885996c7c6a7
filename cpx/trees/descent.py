"""The leaf of each tree that rows of cells reach: all trees at once, a step down at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cpx.trees.tree import LEFT, MISSING, REFUSED, RIGHT, Sets, Tree

__all__ = ["Descent"]

_TOGETHER = 1 << 17
"""Pairs of a tree and a row that go down together."""


class Descent:
    """The nodes of several trees as one array each.

    trees: The trees.
    sets: Those of the model, if nodes test sets of cells.
    """

    def __init__(self, trees: Sequence[Tree], sets: Sets = ()) -> None:
        sizes = [len(tree.attribute) for tree in trees]
        self._roots = np.cumsum([0, *sizes])[:-1]
        self._attribute = np.concatenate([tree.attribute for tree in trees])
        self._split = np.concatenate([tree.split for tree in trees])
        self._missing = np.concatenate([tree.missing for tree in trees])
        self._right = np.concatenate([t.right + at for t, at in zip(trees, self._roots.tolist())])
        # The cells of all sets in one row, and where those of each node with such a test begin.
        self._cells = np.concatenate([np.zeros(0, dtype=bool), *(own.ravel() for own in sets)])
        self._begins = np.full(len(self._attribute) if self._cells.size else 0, -1)
        ends = np.cumsum([own.size for own in sets])
        for a, (own, end) in enumerate(zip(sets, ends.tolist())):
            if len(own):
                at = np.flatnonzero((self._attribute == a) & (self._split >= own.shape[1]))
                which = self._split[at] - own.shape[1]
                self._begins[at] = end - own.size + which * own.shape[1]

    def nodes(self, cells: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the node of each tree that each row ends at, shape (n, d) to (n, T).

        It is a leaf, or a node that refuses a missing value.
        """
        found = np.empty((len(cells), len(self._roots)), dtype=np.int64)
        step = max(1, _TOGETHER // max(1, len(cells)))
        for first in range(0, len(self._roots), step):
            roots = self._roots[first : first + step]
            ends = self._ends(cells, np.repeat(roots, len(cells)))
            found[:, first : first + step] = (ends.reshape(len(roots), -1) - roots[:, None]).T
        return found

    def _ends(self, cells: NDArray[np.int32], node: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where rows end that begin at these nodes, all rows once and again."""
        ends = node.copy()
        if not cells.size:  # no attribute to test, so the roots are leaves
            return ends
        flat, width = cells.ravel(), cells.shape[1]
        some_missing = bool((flat == MISSING).any())
        at = np.arange(len(node))
        rows = at % len(cells) * width
        while at.size:
            tested = self._attribute.take(node)
            stays = tested < 0
            cell = flat.take(rows + np.maximum(tested, 0))
            left = cell <= self._split.take(node)
            if self._begins.size:
                begin = self._begins.take(node)
                at_set = begin >= 0
                left[at_set] = self._cells[begin[at_set] + np.maximum(cell[at_set], 0)]
            if some_missing:
                way = np.where(cell == MISSING, self._missing.take(node), RIGHT - left)
                stays |= way == REFUSED
                left = way == LEFT
            ends[at[stays]] = node[stays]
            child = np.where(left, node + 1, self._right.take(node))
            at, rows, node = at[~stays], rows[~stays], child[~stays]
        return ends
