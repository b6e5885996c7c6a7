"""Whether a set of attributes is a sufficient reason, in the full sense, of several trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cpx.models.reasons.forming import Leaves
from cpx.models.reasons.margins import requirements
from cpx.trees.form import TreeModel
from cpx.trees.tree import MISSING

__all__ = ["is_sufficient"]


@dataclass(frozen=True, eq=False)
class _Box:
    """Rows whose cell of each attribute is in a range, or missing where that is allowed."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    missing: NDArray[np.bool_]

    def changed(self, a: int, *, low: int, high: int, missing: bool) -> _Box:
        lows, highs, may_miss = self.low.copy(), self.high.copy(), self.missing.copy()
        lows[a], highs[a], may_miss[a] = low, high, missing
        return replace(self, low=lows, high=highs, missing=may_miss)


def is_sufficient(
    model: TreeModel, cells: NDArray[np.int32], label: int, S: Iterable[int]
) -> bool:
    """Say whether every row with the cells of x on S has the class ``label``.

    Boxes of rows are split until the worst leaves reached in a box still give the class, or
    all trees have one leaf left, which decides it. Exact, and exponential at worst.

    Parameters
    ----------
    model : TreeModel
    cells : (d,) array of int32
        The cells of x.
    label : int
        Index of the class of x.
    S : iterable of int

    Notes
    -----
    Branch and bound with interval bounds as in verification of tree ensembles, see H. Chen et
    al., Robustness Verification of Tree-based Models (2019).
    """
    search = _Search(model, cells, label)
    return search.safe(search.start(set(S), cells))


class _Search:
    def __init__(self, model: TreeModel, cells: NDArray[np.int32], label: int) -> None:
        self.model = model
        self.leaves = Leaves(model, cells)
        self.asked = [(self.leaves.of_tree(q.margins), q.need) for q in requirements(model, label)]
        self.starts = np.flatnonzero(np.diff(self.leaves.tree, prepend=-1))
        # Number of possible cells before each cell, to count those of a range.
        self.before = [np.concatenate(([0], np.cumsum(p))) for p in model.possible]

    def start(self, S: set[int], cells: NDArray[np.int32]) -> _Box:
        fixed = np.isin(np.arange(len(cells)), list(S))
        absent = cells == MISSING
        may_miss = np.array([a.missing for a in self.model.attributes], dtype=bool)
        low = np.where(fixed, np.where(absent, 0, cells), 0)
        high = np.where(fixed, np.where(absent, -1, cells), self.model.sizes)
        return _Box(low.astype(np.int32), high.astype(np.int32), np.where(fixed, absent, may_miss))

    def safe(self, start: _Box) -> bool:
        waiting = [start]
        while waiting:
            box = waiting.pop()
            reached = self._reached(box)
            counts = np.add.reduceat(reached, self.starts)
            if not counts.all():  # no row: parts of a split can be empty
                continue
            for margins, need in self.asked:
                worst = np.minimum.reduceat(np.where(reached, margins, margins.max()), self.starts)
                if worst.sum() >= need:
                    continue
                if (counts == 1).all():
                    return False
                waiting += self._split(box, reached, counts, margins)
                break
        return True

    def _holds_cells(
        self, a: int, low: NDArray[np.int32], high: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        before = self.before[a]
        some = low <= high
        return np.asarray(
            some & (before[np.where(some, high, -1) + 1] > before[np.where(some, low, 0)])
        )

    def _reached(self, box: _Box) -> NDArray[np.bool_]:
        leaves, reached = self.leaves, np.ones(len(self.leaves.tree), dtype=bool)
        for a in self.model.used:
            low = np.maximum(box.low[a], leaves.low[:, a])
            high = np.minimum(box.high[a], leaves.high[:, a])
            reached &= self._holds_cells(a, low, high) | (box.missing[a] & leaves.missing[:, a])
        return reached

    def _split(
        self,
        box: _Box,
        reached: NDArray[np.bool_],
        counts: NDArray[np.int64],
        margins: NDArray[np.object_],
    ) -> list[_Box]:
        """Split at the border of the worst leaf of the tree whose leaves differ the most."""
        best, widest = -1, -1
        for start, end, count in zip(
            self.starts, [*self.starts[1:], len(reached)], counts, strict=True
        ):
            if count < 2:
                continue
            found = start + np.flatnonzero(reached[start:end])
            values = margins[found]
            if (spread := values.max() - values.min()) > widest:
                best, widest = int(found[values.argmin()]), spread
        return self._at_border(box, best)

    def _at_border(self, box: _Box, leaf: int) -> list[_Box]:
        leaves = self.leaves
        for a in self.model.used:
            low, high, missing = int(box.low[a]), int(box.high[a]), bool(box.missing[a])
            left, right = int(leaves.low[leaf, a]), int(leaves.high[leaf, a])
            if low < left <= high:
                cut = left
            elif low <= right < high:
                cut = right + 1
            elif (
                missing
                and low <= high
                and not (leaves.missing[leaf, a] and left <= low and high <= right)
            ):
                return [
                    box.changed(a, low=low, high=high, missing=False),
                    box.changed(a, low=0, high=-1, missing=True),
                ]
            else:
                continue
            return [
                box.changed(a, low=low, high=cut - 1, missing=missing),
                box.changed(a, low=cut, high=high, missing=False),
            ]
        raise AssertionError("a box with two leaves of a tree has a border between them")
