"""The possible cells of each attribute, numbered without gaps, and the leaves they reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpx.errors import DataError
from cpx.trees import MISSING, TreeModel

__all__ = ["Entry", "Grid", "Reach"]


@dataclass(frozen=True)
class Entry:
    """A tree and an attribute that tells its leaves apart.

    attribute: Its place in :attr:`Grid.used`.
    starts: The first position of each segment, a run of positions that the tree does not tell
        apart.
    segment_of: The segment of each of the n positions.
    low, high: The first and the last position that reaches each leaf; low is more than high where
        none does.
    gaps: Whether each segment reaches each leaf, where some leaf has positions with gaps.
    absent: Whether a missing value reaches it.
    """

    attribute: int
    starts: NDArray[np.int64]
    segment_of: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    gaps: NDArray[np.bool_] | None
    absent: NDArray[np.bool_]

    def below(self, leaves: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say whether each of some leaves begins at each segment or before; (segments, n)."""
        low, some = self.low[leaves], (self.low <= self.high)[leaves]
        return np.asarray((low <= self.starts[:, None]) & some)

    def above(self, leaves: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say whether each of some leaves ends at each segment or after."""
        high, some = self.high[leaves], (self.low <= self.high)[leaves]
        return np.asarray((high >= self.starts[:, None]) & some)


@dataclass(frozen=True)
class Reach:
    """The leaves of a tree: which can be reached at all, and by which positions."""

    reachable: NDArray[np.bool_]
    attributes: tuple[Entry, ...]


class Grid:
    """The possible cells of each used attribute of a model, as positions 0, 1, ...

    used: The attributes that some tree tests.
    cells: The cell at each position, for each used attribute.
    missing: Whether its value may be missing.
    """

    def __init__(self, model: TreeModel) -> None:
        self.used = model.used
        self.cells = tuple(np.flatnonzero(model.possible[a]) for a in self.used)
        self.missing = np.array([model.attributes[a].missing for a in self.used], dtype=bool)
        self.trees = tuple(self._reach(model, i) for i in range(len(model.trees)))

    def _reach(self, model: TreeModel, i: int) -> Reach:
        tree, boxes = model.trees[i], model.boxes[i]
        reachable = np.ones(tree.n_leaves, dtype=bool)
        entries = []
        tested = set(tree.attribute[tree.attribute >= 0].tolist())
        for at, a in enumerate(self.used):
            if a not in tested:
                continue
            cells = self.cells[at]
            absent = boxes.missing[:, a] & self.missing[at]
            if a in boxes.sets:
                found = _of_sets(boxes.of(a, cells))
            else:
                low = np.searchsorted(cells, boxes.low[:, a])
                high = np.searchsorted(cells, boxes.high[:, a], side="right") - 1
                found = _of_ranges(low, high, len(cells))
            entries.append(entry := Entry(at, *found, absent))
            reachable &= (entry.low <= entry.high) | absent
        return Reach(reachable, tuple(entries))

    def positions(self, model: TreeModel, cells: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the position of each used attribute in a row of cells; -1 when it is missing.

        Raises DataError: Naming the attribute whose cell is none of its possible ones.
        """
        result = np.full(len(self.used), MISSING, dtype=np.int64)
        for at, a in enumerate(self.used):
            cell, name = int(cells[a]), model.attributes[a].name
            if cell == MISSING:
                if not self.missing[at]:
                    raise DataError(f"{name} is missing, and the model says it is never")
                continue
            place = int(np.searchsorted(self.cells[at], cell))
            if place == len(self.cells[at]) or self.cells[at][place] != cell:
                raise DataError(f"{name} has a value it cannot take, in its cell {cell}")
            result[at] = place
        return result


_Ints = NDArray[np.int64]
_Found = tuple[_Ints, _Ints, _Ints, _Ints, NDArray[np.bool_] | None]
"""What an entry says of positions."""


def _of_ranges(low: _Ints, high: _Ints, size: int) -> _Found:
    some = low <= high
    starts = np.unique(np.concatenate([[0], low[some], high[some] + 1]))
    starts = starts[starts < size].astype(np.int64)
    segment_of = np.searchsorted(starts, np.arange(size), side="right") - 1
    return starts, segment_of, low, high, None


def _of_sets(inside: NDArray[np.bool_]) -> _Found:
    """Do so for leaves that are reached by any positions, shape (L, n)."""
    changes = (inside[:, 1:] != inside[:, :-1]).any(axis=0)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1]).astype(np.int64)
    segment_of = np.cumsum(np.concatenate([[0], changes])).astype(np.int64)
    some = inside.any(axis=1)
    low = np.where(some, inside.argmax(axis=1), 1)
    high = np.where(some, inside.shape[1] - 1 - inside[:, ::-1].argmax(axis=1), 0)
    return starts, segment_of, low, high, inside.T[starts]
