"""What is prepared of a tree model for all rows, and the arrays of one counterexample search."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import bind
from cpx.models.sufficient_reason.sufficiency.class_margin import ClassMargin, class_margin
from cpx.models.sufficient_reason.sufficiency.grid import Grid
from cpx.models.sufficient_reason.sufficiency.vote_clauses import VoteClauses
from cpx.trees import MISSING, Tree, TreeModel
from cpx.trees.tree import LEFT, Sets

__all__ = ["PreparedModel", "Workspace", "prepared_model"]

_NEVER = 2**62
"""A total that none reaches."""


class PreparedModel:
    """The class margins of a model; kept as long as the model, for all rows of it."""

    def __init__(self, model: TreeModel) -> None:
        self.grid = Grid(model)
        self.walks = [_walk(tree, model.sets) for tree in model.trees]
        self._margins: dict[tuple[int, int], ClassMargin] = {}
        self._clauses: dict[tuple[int, int], VoteClauses] = {}

    def margin(self, model: TreeModel, own: int, rival: int) -> ClassMargin:
        if (own, rival) not in self._margins:
            self._margins[own, rival] = class_margin(model, self.grid, own, rival)
        return self._margins[own, rival]

    def clauses(self, model: TreeModel, own: int, rival: int) -> VoteClauses:
        if (own, rival) not in self._clauses:
            self._clauses[own, rival] = VoteClauses(model, self.grid, own, rival)
        return self._clauses[own, rival]


def _walk(tree: Tree, sets: Sets) -> Callable[[list[int]], int]:
    """Return the function from a row of cells to its leaf."""
    attribute: list[int] = tree.attribute.tolist()
    split: list[int] = tree.split.tolist()
    missing: list[int] = tree.missing.tolist()
    right: list[int] = tree.right.tolist()
    leaf: list[int] = tree.leaf.tolist()
    lefts = {node: cells.tolist() for node, cells in tree.lefts(sets).items()}

    def walk(row: list[int]) -> int:
        node = 0
        while (a := attribute[node]) >= 0:
            cell = row[a]
            if cell == MISSING:
                stays_left = missing[node] == LEFT
            else:
                stays_left = lefts[node][cell] if node in lefts else cell <= split[node]
            node = node + 1 if stays_left else right[node]
        return leaf[node]

    return walk


_prepared: WeakKeyDictionary[TreeModel, PreparedModel] = WeakKeyDictionary()


def prepared_model(model: TreeModel) -> PreparedModel:
    """Return what the search needs of a model; it is kept as long as the model lives."""
    if model not in _prepared:
        _prepared[model] = PreparedModel(model)
    return _prepared[model]


class Workspace:
    """The arrays in which one margin is searched for one row, and the calls that read them.

    held: Bit a says whether attribute a is held in its position in x; to be filled in.
    point: The positions of the last counterexample, -1 for a missing value.
    state: See :func:`cpx.models.sufficient_reason.sufficiency.exact_search.search`.
    order: The attributes, in the order in which they are moved.
    enough: A total of this makes a counterexample for sure.
    shares, weights, of_entries: What ``weigh`` reads and writes, see
        :func:`cpx.models.sufficient_reason.sufficiency.linear_cuts.weigh`; its z is the point.
    begin, search, climb, deepen, restore, weigh, ascend: The kernels of these names; restore is
        climb back to x, and deepen climb that goes on as far as it gets.
    """

    def __init__(self, margin: ClassMargin, grid: Grid, x: NDArray[np.int64]) -> None:
        from cpx.models.sufficient_reason.sufficiency.exact_search import begin, search
        from cpx.models.sufficient_reason.sufficiency.linear_cuts import ascend, weigh
        from cpx.models.sufficient_reason.sufficiency.local_search import ROWS, climb

        self.margin = margin
        sizes = [len(cells) for cells in grid.cells]
        n, leaves = len(sizes), len(margin.full)
        # Each split makes a box smaller, by a position or by missing values.
        depth = sum(sizes) + int(grid.missing.sum()) - n + 2
        words = np.empty((depth, leaves), dtype=np.uint64)
        box = np.empty((depth, n, 3), dtype=np.int64)
        profile = np.empty((3, max(sizes, default=0) + 1), dtype=np.int64)
        taken = np.empty(leaves, dtype=np.uint8)
        gains = np.empty(n, dtype=np.int64)
        whole = np.zeros((n, 3), dtype=np.int64)
        whole[:, 1] = np.array(sizes, dtype=np.int64) - 1
        whole[:, 2] = grid.missing
        rows = np.empty((ROWS, leaves), dtype=np.uint64)
        movable = np.empty(n, dtype=np.uint8)
        self.whole = whole
        self.held = np.zeros(n // 64 + 1, dtype=np.uint64)
        self.point = np.empty(n, dtype=np.int64)
        self.state = np.zeros(4, dtype=np.int64)
        self.order = np.arange(n, dtype=np.int64)
        # What was rounded up must win after rounding, too.
        self.enough = max(margin.need, margin.slack)
        self.begin = bind(
            begin, margin.arrays, margin.full, whole, x, self.held, words, box, self.state
        )
        self.search = bind(
            search, margin.arrays, margin.need, margin.slack, x, words, box, self.point, profile,
            taken, gains, self.state,
        )  # fmt: skip
        self.climb, self.deepen, self.restore = (
            bind(
                climb, margin.arrays, need, margin.full, whole, x, self.order, self.held,
                self.point, movable, rows, profile[0], back,
            )
            for need, back in ((self.enough, False), (_NEVER, False), (self.enough, True))
        )  # fmt: skip
        self.shares, self.weights = np.zeros(n), np.zeros(n, dtype=np.int64)
        entries = len(margin.arrays.entry_tree)
        self.of_entries = np.zeros(entries, dtype=np.int64)
        most = 64 * int(np.diff(margin.arrays.tree_word).max(initial=0))
        tests = int(np.bincount(margin.arrays.entry_tree).max(initial=0))
        program = (
            np.empty((2, len(margin.arrays.absent)), dtype=np.uint64),
            np.empty((3, (2 * tests + 4) * (most // 64)), dtype=np.uint64),
            np.empty(4 * tests), np.empty((most, 2 * tests), dtype=np.uint8),
            np.empty(most, dtype=np.int64), np.empty((2 * tests + 2) * (most + 1)),
            np.empty((2, most + 2 * tests + 1), dtype=np.int64),
        )  # fmt: skip
        self.weigh = bind(
            weigh, margin.arrays, margin.full, x, self.point, self.shares, self.weights,
            self.of_entries, *program,
        )  # fmt: skip
        self.ascend = bind(
            ascend, margin.arrays, margin.full, whole, x, self.point, self.order, self.shares,
            np.empty(len(margin.trees)), np.zeros(len(margin.arrays.starts) + entries),
            np.empty(entries + len(margin.trees), dtype=np.uint8), np.empty(profile.shape[1]),
            *program,
        )  # fmt: skip
