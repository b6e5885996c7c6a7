"""DT-Extract: a tree for a black box, each split chosen on rows made for its node."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.papers.ads.synthetic import swapped, texts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ExtractedTree", "OneHot"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

_LEAVES_PER_RULE = 20
"""Leaves for each rule wanted, at most; the others are negative."""


@dataclass(frozen=True)
class _Split:
    """A threshold of a column of numbers, or of a 0/1 column of a category."""

    column: int
    threshold: float

    def left(self, encoded: FloatArray) -> BoolArray:
        return np.asarray(encoded[:, self.column] <= self.threshold)


@dataclass(frozen=True, eq=False)
class _Leaf:
    """A node that is not split: the way to it, its real rows, its class and its best split."""

    path: tuple[tuple[_Split, bool], ...]
    members: npt.NDArray[np.intp]
    positive: bool
    split: _Split | None
    gain: float


class OneHot:
    """Numbers as they are, and a 0/1 column for each category."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self._numeric = [c for c in rows.columns if rows[c].dtype.kind in "iuf"]
        self._kinds = [
            (c, kind)
            for c in rows.columns
            if c not in self._numeric
            for kind in sorted(set(texts(rows[c])))
        ]
        self._centre = rows[self._numeric].median()

    def __call__(self, rows: pd.DataFrame) -> FloatArray:
        numbers = rows[self._numeric].fillna(self._centre).to_numpy(np.float64)
        columns = {c: texts(rows[c]) for c, _ in self._kinds}
        bits = [columns[c] == kind for c, kind in self._kinds]
        return np.column_stack([numbers, *bits]).astype(np.float64)


class ExtractedTree:
    """A tree with at most a given number of positive leaves, grown on answers of a black box.

    The leaf of the greatest gain is split first, unless the rules would be too many then. The
    split of a leaf is that of least Gini impurity on its real rows and on as many synthetic ones
    as are asked for, made of these rows (:func:`~benchmarks.papers.ads.synthetic.swapped`).
    The original fits a mixture of Gaussians to the data to draw its rows from.

    Parameters
    ----------
    most : int
        Positive leaves, which are the rules, at most.
    per_node : int
        Synthetic rows that the black box is asked about at each node.
    seed : int

    References
    ----------
    O. Bastani, C. Kim, H. Bastani: Interpreting Blackbox Models via Model Extraction,
    arXiv:1705.08504 (2017).

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> rows = pd.DataFrame({"a": rng.random(500), "b": rng.choice(["x", "y"], 500)})
    >>> def box(table):
    ...     return ((table["a"] > 0.6) & (table["b"] == "x")).to_numpy()
    >>> tree = ExtractedTree(most=1, per_node=200).fit(rows, box)
    >>> float((tree.predict(rows) == box(rows)).mean()) > 0.98, tree.lengths
    (True, [2])
    """

    def __init__(self, most: int, per_node: int = 200, seed: int = 0) -> None:
        self.most, self.per_node, self.seed = most, per_node, seed
        self.queries = 0
        self.leaves: list[_Leaf] = []

    def fit(self, rows: pd.DataFrame, labels: Any) -> ExtractedTree:
        """Grow the tree on real rows; ``labels`` says which rows of a table are positive."""
        self._rows, self._asked = rows, labels
        self._rng = np.random.default_rng(self.seed)
        self._encode = OneHot(rows)
        self._encoded = self._encode(rows)
        self._known = np.asarray(labels(rows), dtype=bool)
        order, root = count(), self._leaf((), np.arange(len(rows)))
        heap = [(-root.gain, next(order), root)]
        ended: list[_Leaf] = []
        positive = int(root.positive)
        while heap and len(heap) + len(ended) < _LEAVES_PER_RULE * self.most:
            _, _, leaf = heapq.heappop(heap)
            parts = self._parts(leaf)
            more = sum(part.positive for part in parts) - leaf.positive
            if not parts or positive + more > self.most:
                ended.append(leaf)
                continue
            positive += more
            for part in parts:
                heapq.heappush(heap, (-part.gain, next(order), part))
        self.leaves = [*ended, *(leaf for _, _, leaf in heap)]
        return self

    def predict(self, rows: pd.DataFrame) -> BoolArray:
        """Return which rows are in a positive leaf."""
        encoded = self._encode(rows)
        found = np.zeros(len(rows), dtype=bool)
        for leaf in self.leaves:
            if leaf.positive:
                inside = np.ones(len(rows), dtype=bool)
                for split, side in leaf.path:
                    inside &= split.left(encoded) == side
                found |= inside
        return found

    @property
    def lengths(self) -> list[int]:
        """Numbers of conditions of the rules: bounds of a column on one side count once."""
        return [
            len({(split.column, side) for split, side in leaf.path})
            for leaf in self.leaves
            if leaf.positive
        ]

    def _parts(self, leaf: _Leaf) -> list[_Leaf]:
        """Return the two parts of a leaf; none where no split was found."""
        split = leaf.split
        if split is None:
            return []
        left = split.left(self._encoded[leaf.members])
        return [
            self._leaf((*leaf.path, (split, side)), leaf.members[left == side])
            for side in (True, False)
        ]

    def _leaf(self, path: tuple[tuple[_Split, bool], ...], members: Any) -> _Leaf:
        from sklearn.tree import DecisionTreeClassifier

        new = swapped(self._rows.iloc[members], self.per_node, self._rng)
        encoded = np.vstack([self._encoded[members], self._encode(new)])
        labels = np.concatenate([self._known[members], np.asarray(self._asked(new), dtype=bool)])
        self.queries += len(new)
        positive = bool(labels.mean() > 0.5)
        stump = DecisionTreeClassifier(max_depth=1, random_state=self.seed).fit(encoded, labels)
        tree = stump.tree_
        if tree.node_count == 1:
            return _Leaf(path, members, positive, None, 0.0)
        split = _Split(int(tree.feature[0]), float(tree.threshold[0]))
        left = split.left(self._encoded[members])
        if left.all() or not left.any():
            # A split of synthetic rows alone leaves nothing to make further rows of.
            return _Leaf(path, members, positive, None, 0.0)
        parts = tree.n_node_samples[1:] / tree.n_node_samples[0]
        gain = float(tree.impurity[0] - (parts * tree.impurity[1:]).sum())
        return _Leaf(path, members, positive, split, gain * len(members) / len(self._known))
