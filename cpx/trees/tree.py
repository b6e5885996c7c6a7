"""One decision tree as arrays in preorder, with tests numbered by the model's thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import ModelError

IntArray = NDArray[np.int32]

Sets = Sequence[NDArray[np.bool_]]
"""For each attribute, the cells that its set tests send left, as in a TreeModel."""

LEFT, RIGHT, REFUSED = 0, 1, -1
"""Where a missing value goes at a node; REFUSED: the library does not take one there."""

MISSING = -1
"""The cell of a missing value."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """The leaves of a tree as boxes of cells.

    Attributes
    ----------
    low, high : (L, d) arrays of int32
        Leaf l is reached by the rows whose cell of each attribute a is in
        ``low[l, a] .. high[l, a]``, both included; an empty range when no row reaches it.
    missing : (L, d) array of bool
        Whether a missing value of the attribute reaches the leaf too.
    sets : mapping of int to (L, t + 1) array of bool
        The cells themselves of the attributes whose cells need not be a range. Their ``low`` and
        ``high`` are the first and the last of them.
    """

    low: IntArray
    high: IntArray
    missing: NDArray[np.bool_]
    sets: Mapping[int, NDArray[np.bool_]] = field(default_factory=dict)

    def having(self, cells: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Say of each leaf which cells of a row, shape (d,), reach it; shape (L, d)."""
        inside = (self.low <= cells) & (cells <= self.high)
        absent = cells == MISSING
        inside[:, absent] = self.missing[:, absent]
        for a, some in self.sets.items():
            if cells[a] != MISSING:
                inside[:, a] = some[:, cells[a]]
        return np.asarray(inside)

    def holding(self, cells: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Say of each leaf whether it has the row with these cells, shape (d,)."""
        return np.asarray(self.having(cells).all(axis=1))

    def of(self, a: int, cells: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Say of each leaf which of some cells of attribute a, shape (n,), reach it; (L, n)."""
        if a in self.sets:
            return self.sets[a][:, cells]
        return (self.low[:, a, None] <= cells) & (cells <= self.high[:, a, None])

    def only(self, some: NDArray[np.bool_]) -> Boxes:
        """Return the boxes of some of the leaves, shape (L,)."""
        sets = {a: cells[some] for a, cells in self.sets.items()}
        return Boxes(self.low[some], self.high[some], self.missing[some], sets)

    @classmethod
    def joined(cls, parts: Sequence[Boxes], sizes: IntArray) -> Boxes:
        """Return the leaves of several trees, which have so many thresholds per attribute."""
        with_sets = sorted({a for part in parts for a in part.sets})
        return cls(
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
            np.concatenate([part.missing for part in parts]),
            {
                a: np.concatenate([part.of(a, np.arange(sizes[a] + 1)) for part in parts])
                for a in with_sets
            },
        )


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree with thresholds at its nodes and numbers at its leaves.

    Nodes and leaves are in preorder: the left child of node i is node i + 1. So the arrays
    below say all of its structure.

    Parameters
    ----------
    attribute : (n,) array of int
        Index of the attribute tested at each node, -1 at a leaf.
    split : (n,) array of int
        A row goes left when its cell of the attribute is at most this; see
        :class:`cpx.trees.TreeModel` for cells. -1 sends no value left, the number t of
        thresholds sends all of them left. From t + 1 on it is a set test: t + 1 + k sends left
        the cells of set k of the attribute. Ignored at leaves.
    missing : (n,) array of int
        ``LEFT`` (0), ``RIGHT`` (1) or ``REFUSED`` (-1). Ignored at leaves.
    values : (L, w) array of float64
        What each leaf, in preorder, adds to the scores ``outputs``; every float is an exact
        number, a fraction whose denominator is a power of two.
    outputs : tuple of w integers
        Indices of scores, each once.

    Raises
    ------
    ModelError
        When the arrays do not fit, or make no tree.

    Examples
    --------
    >>> tree = Tree([0, -1, 1, -1, -1], [0] * 5, [0] * 5, [[1.0], [2.0], [3.0]], (0,))
    >>> tree.left.tolist(), tree.right.tolist(), tree.leaf.tolist(), tree.depth
    ([1, -1, 3, -1, -1], [2, -1, 4, -1, -1], [-1, 0, -1, 1, 2], 2)
    """

    attribute: IntArray
    split: IntArray
    missing: IntArray
    values: NDArray[np.float64]
    outputs: tuple[int, ...]

    def __post_init__(self) -> None:
        attribute = _integers("attribute", self.attribute)
        inner = attribute >= 0
        arrays = {
            "attribute": np.where(inner, attribute, -1).astype(np.int32),
            "split": np.where(inner, _integers("split", self.split, len(attribute)), 0),
            "missing": np.where(inner, _integers("missing", self.missing, len(attribute)), 0),
            "values": _values(self.values, len(self.outputs), int((~inner).sum())),
        }
        if not np.isin(arrays["missing"], (LEFT, RIGHT, REFUSED)).all():
            raise ModelError("missing must be 0 (left), 1 (right) or -1 (refused)")
        if len(set(self.outputs)) < len(self.outputs) or min(self.outputs, default=-1) < 0:
            raise ModelError(f"outputs must be different indices of scores, got {self.outputs}")
        object.__setattr__(self, "outputs", tuple(int(k) for k in self.outputs))
        for name, array in arrays.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        _ = self.right  # found out now: nodes that make no tree

    # -------------------------------------------------------------- structure

    @cached_property
    def right(self) -> IntArray:
        """Right child of each node, -1 at a leaf; shape (n,)."""
        n = len(self.attribute)
        inner = self.attribute >= 0
        # How many subtrees are open before each node, and at the end: a node with a test opens one
        # more, a leaf closes one.
        open_ = np.concatenate([[1], 1 + np.cumsum(np.where(inner, 1, -1))])
        ended = np.flatnonzero(open_[:-1] <= 0)
        if len(ended):
            raise ModelError(f"the nodes make no tree: it ends at node {ended[0] - 1} of {n}")
        if n == 0 or open_[-1]:
            raise ModelError(f"the nodes make no tree: it does not end at node {n - 1}")
        # The right child is the first node below with as many open as at the node itself. Numbers
        # of nodes are sorted by how many are open, then by place.
        keys = np.sort(open_[:-1] * (n + 1) + np.arange(n))
        tested = np.flatnonzero(inner)
        found = keys[np.searchsorted(keys, open_[tested] * (n + 1) + tested + 1)]
        right = np.full(n, -1, dtype=np.int32)
        right[tested] = found % (n + 1)
        right.setflags(write=False)
        return right

    @cached_property
    def left(self) -> IntArray:
        """Left child of each node, -1 at a leaf; shape (n,)."""
        n = len(self.attribute)
        return np.where(self.attribute >= 0, np.arange(1, n + 1), -1).astype(np.int32)

    @cached_property
    def leaf(self) -> IntArray:
        """Index of each leaf among the leaves, -1 at a node with a test; shape (n,)."""
        is_leaf = self.attribute < 0
        return np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32)

    @property
    def n_leaves(self) -> int:
        """Number L of leaves."""
        return len(self.values)

    @cached_property
    def depth(self) -> int:
        """Maximum number of tests on a path, 0 for a single leaf."""
        depths = np.zeros(len(self.attribute), dtype=np.int64)
        for i in np.flatnonzero(self.attribute >= 0):
            depths[[i + 1, self.right[i]]] = depths[i] + 1
        return int(depths.max())

    def merged(self) -> Tree:
        """Return the tree with equal sibling leaves as one, again and again.

        Examples
        --------
        >>> tree = Tree([0, -1, 1, -1, -1], [0] * 5, [0] * 5, [[1.0], [2.0], [2.0]], (0,))
        >>> tree.merged().attribute.tolist(), tree.merged().values.tolist()
        ([0, -1, -1], [[1.0], [2.0]])
        """
        same = np.unique(self.values, axis=0, return_inverse=True)[1].reshape(-1)
        attribute, row = self.attribute.copy(), self.leaf.copy()
        kept = np.ones(len(attribute), dtype=np.bool_)
        for i in np.flatnonzero(attribute >= 0)[::-1].tolist():
            left, right = i + 1, self.right[i]
            alone = attribute[left] < 0 and attribute[right] < 0
            if alone and same[row[left]] == same[row[right]]:
                attribute[i], row[i] = -1, row[left]
                kept[[left, right]] = False
        if kept.all():
            return self
        values = self.values[row[kept & (attribute < 0)]]
        return Tree(attribute[kept], self.split[kept], self.missing[kept], values, self.outputs)

    # ----------------------------------------------------------------- rows

    def lefts(self, sets: Sets) -> dict[int, NDArray[np.bool_]]:
        """Return the cells that go left at each node with a set test, shape (t + 1,)."""
        found: dict[int, NDArray[np.bool_]] = {}
        for a, own in enumerate(sets):
            if len(own):
                nodes = np.flatnonzero((self.attribute == a) & (self.split >= own.shape[1]))
                found.update((i, own[self.split[i] - own.shape[1]]) for i in nodes.tolist())
        return found

    def boxes(self, sizes: IntArray, sets: Sets = ()) -> Boxes:
        """Return the leaves as boxes of cells.

        Parameters
        ----------
        sizes : (d,) array of int
            Number of thresholds of each attribute.
        sets : sequence of d arrays of bool
            Those of the model, if it has set tests.
        """
        n, d = len(self.attribute), len(sizes)
        low = np.zeros((n, d), dtype=np.int32)
        high = np.broadcast_to(np.asarray(sizes, dtype=np.int32), (n, d)).copy()
        missing = np.ones((n, d), dtype=bool)
        lefts = self.lefts(sets)
        some = {int(a): np.ones((n, sizes[a] + 1), dtype=bool) for a in self.attribute[[*lefts]]}
        nodes = np.array([0])
        # All nodes of a depth at once.
        while len(nodes := nodes[self.attribute[nodes] >= 0]):
            tested, split = self.attribute[nodes], self.split[nodes]
            left, right = nodes + 1, self.right[nodes].astype(np.int64)
            for part in (low, high, missing, *some.values()):
                part[left] = part[right] = part[nodes]
            missing[left, tested] &= self.missing[nodes] == LEFT
            missing[right, tested] &= self.missing[nodes] == RIGHT
            plain = ~np.isin(tested, [*some])
            own = nodes[plain], tested[plain], split[plain]
            high[left[plain], own[1]] = np.minimum(high[own[:2]], own[2])
            low[right[plain], own[1]] = np.maximum(low[own[:2]], own[2] + 1)
            for i in np.flatnonzero(~plain).tolist():
                a = int(tested[i])
                goes = lefts.get(int(nodes[i]), np.arange(sizes[a] + 1) <= split[i])
                some[a][left[i]] &= goes
                some[a][right[i]] &= ~goes
            nodes = np.concatenate([left, right])
        leaves = self.attribute < 0
        for a, cells in some.items():
            low[:, a] = np.where(cells.any(axis=1), cells.argmax(axis=1), 1)
            high[:, a] = np.where(cells.any(axis=1), sizes[a] - cells[:, ::-1].argmax(axis=1), 0)
        kept = {a: cells[leaves] for a, cells in some.items()}
        return Boxes(low[leaves], high[leaves], missing[leaves], kept)


def _integers(name: str, value: ArrayLike, length: int | None = None) -> IntArray:
    array = np.asarray(value)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) != (length or len(array)):
        raise ModelError(
            f"{name} must be an array of {length or 'n'} integers, got {array.dtype} "
            f"of shape {array.shape}"
        )
    return array.astype(np.int32)


def _values(value: ArrayLike, width: int, leaves: int) -> NDArray[np.float64]:
    array = np.array(value, dtype=np.float64)
    if array.shape != (leaves, width):
        raise ModelError(
            f"values must have the shape {(leaves, width)}: leaves, outputs; got {array.shape}"
        )
    if not np.isfinite(array).all():
        raise ModelError("values of leaves must be finite")
    return array + 0.0  # -0.0 becomes 0.0, so that equal trees are saved alike
