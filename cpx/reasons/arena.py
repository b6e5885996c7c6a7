"""What the search needs of a model, prepared once, and the space it works in."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cpx.reasons.duel import Duel, make_duel
from cpx.reasons.grid import Grid
from cpx.trees import MISSING, Tree, TreeModel
from cpx.trees.tree import LEFT

__all__ = ["Arena", "Space", "arena"]


class Arena:
    """The duels of a model; kept as long as the model, for all rows of it."""

    def __init__(self, model: TreeModel) -> None:
        self.grid = Grid(model)
        self.walks = [_walk(tree) for tree in model.trees]
        self._duels: dict[tuple[int, int], Duel] = {}

    def duel(self, model: TreeModel, own: int, rival: int) -> Duel:
        if (own, rival) not in self._duels:
            self._duels[own, rival] = make_duel(model, self.grid, own, rival)
        return self._duels[own, rival]


def _walk(tree: Tree) -> Callable[[list[int]], int]:
    """Return the function from a row of cells to its leaf."""
    attribute: list[int] = tree.attribute.tolist()
    split: list[int] = tree.split.tolist()
    missing: list[int] = tree.missing.tolist()
    right: list[int] = tree.right.tolist()
    leaf: list[int] = tree.leaf.tolist()

    def walk(row: list[int]) -> int:
        node = 0
        while (a := attribute[node]) >= 0:
            cell = row[a]
            stays_left = missing[node] == LEFT if cell == MISSING else cell <= split[node]
            node = node + 1 if stays_left else right[node]
        return leaf[node]

    return walk


_arenas: WeakKeyDictionary[TreeModel, Arena] = WeakKeyDictionary()


def arena(model: TreeModel) -> Arena:
    """Return the arena of a model, the same one as long as the model, or an equal one, lives."""
    if model not in _arenas:
        _arenas[model] = Arena(model)
    return _arenas[model]


class Space:
    """The arrays one duel is searched in."""

    def __init__(self, duel: Duel, grid: Grid) -> None:
        from cpx.reasons.kernels import begin

        self._begin = begin
        sizes = [len(cells) for cells in grid.cells]
        # Each split makes a box smaller, by a position or by missing values.
        depth = sum(sizes) + int(grid.missing.sum()) - len(sizes) + 2
        self.words = np.empty((depth, len(duel.full)), dtype=np.uint64)
        self.box = np.empty((depth, len(sizes), 3), dtype=np.int64)
        self.point = np.empty(len(sizes), dtype=np.int64)
        self.profile = np.empty((3, max(sizes, default=0) + 1), dtype=np.int64)
        self.taken = np.empty(len(duel.full), dtype=np.uint8)
        self.gains = np.empty(len(sizes), dtype=np.int64)
        self.state = np.zeros(3, dtype=np.int64)
        self._whole = np.zeros((len(sizes), 3), dtype=np.int64)
        self._whole[:, 1] = np.array(sizes, dtype=np.int64) - 1
        self._whole[:, 2] = grid.missing

    def start(self, duel: Duel, x: NDArray[np.int64], held: NDArray[np.uint64]) -> None:
        """Begin with the box of all completions where the attributes held are as in x."""
        self._begin(duel.arrays, duel.full, self._whole, x, held, self.words, self.box, self.state)
