"""One decision tree as arrays in preorder, with tests numbered by the model's thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import ModelError

IntArray = NDArray[np.int32]

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
    """

    low: IntArray
    high: IntArray
    missing: NDArray[np.bool_]

    def holding(self, cells: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Say of each leaf whether it has the row with these cells, shape (d,)."""
        inside = (self.low <= cells) & (cells <= self.high)
        return np.asarray(np.where(cells == MISSING, self.missing, inside).all(axis=1))


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
        :class:`cpx.trees.TreeModel` for cells. -1 sends no value left, the number of
        thresholds sends all of them left. Ignored at leaves.
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
        right = np.full(n, -1, dtype=np.int32)
        waiting: list[int] = []  # nodes whose left subtree is not complete
        for i, attribute in enumerate(self.attribute.tolist()):
            if attribute >= 0:
                waiting.append(i)
            elif waiting:
                right[waiting.pop()] = i + 1
            elif i + 1 < n:
                raise ModelError(f"the nodes make no tree: it ends at node {i} of {n}")
        if n == 0 or waiting or (right >= n).any():
            raise ModelError(f"the nodes make no tree: it does not end at node {n - 1}")
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

    def reached(self, cells: IntArray) -> IntArray:
        """Return the node each row ends at: its leaf, or a node that refuses its missing value.

        Parameters
        ----------
        cells : (n, d) array of int32
            ``MISSING`` (-1) for a missing value.
        """
        flat, width = cells.ravel(), cells.shape[1]
        some_missing = bool((flat == MISSING).any())
        ends = np.zeros(len(cells), dtype=np.int32)
        if not width:  # no attribute to test, so the root is a leaf
            return ends
        rows = np.arange(len(cells))
        node = np.zeros(len(cells), dtype=np.int32)
        while rows.size:
            tested = self.attribute.take(node)
            stays = tested < 0
            cell = flat.take(rows * width + np.maximum(tested, 0))
            left = cell <= self.split.take(node)
            if some_missing:
                way = np.where(cell == MISSING, self.missing.take(node), RIGHT - left)
                stays |= way == REFUSED
                left = way == LEFT
            ends[rows[stays]] = node[stays]
            child = np.where(left, node + 1, self.right.take(node))
            rows, node = rows[~stays], child[~stays]
        return ends

    def boxes(self, sizes: IntArray) -> Boxes:
        """Return the leaves as boxes of cells.

        Parameters
        ----------
        sizes : (d,) array of int
            Number of thresholds of each attribute.
        """
        n, d = len(self.attribute), len(sizes)
        low = np.zeros((n, d), dtype=np.int32)
        high = np.broadcast_to(np.asarray(sizes, dtype=np.int32), (n, d)).copy()
        missing = np.ones((n, d), dtype=bool)
        for i in np.flatnonzero(self.attribute >= 0).tolist():
            a, split, left, right = self.attribute[i], self.split[i], i + 1, self.right[i]
            for part in (low, high, missing):
                part[left] = part[right] = part[i]
            high[left, a] = min(high[i, a], split)
            low[right, a] = max(low[i, a], split + 1)
            missing[left, a] &= self.missing[i] == LEFT
            missing[right, a] &= self.missing[i] == RIGHT
        leaves = self.attribute < 0
        return Boxes(low[leaves], high[leaves], missing[leaves])


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
