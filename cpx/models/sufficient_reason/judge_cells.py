"""Cells of a saved forest: the regions between thresholds, and the leaves that each reaches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cpx.check.forest import Forest, Node

__all__ = ["Box", "Cells", "Ints", "Paths", "Span", "counted"]

Ints = NDArray[np.int64]

Box = NDArray[np.bool_]
"""A set of cells, with some of each feature: the rows whose values are all in these."""

Runs = tuple[tuple[int, int], ...]

Span = tuple[Runs, bool]
"""First and last cell of each run of cells, and whether a missing value is among them."""

Walked = tuple[list[Node], list[dict[int, Span]], Ints, "Paths"]
"""Leaves, the cells on the path of each, where those of each tree begin, and their paths."""


class Cells:
    """Which rows reach which leaves.

    The cells of all features are numbered one after the other; the last one of each feature is
    a missing value. A condition has the cells true and false.

    by_columns: Whether features are columns; otherwise they are conditions.
    first: Where the cells of each feature begin, and their number N.
    everything: The box of all rows.
    own: The cells of x.
    leaves: Those that some row reaches, tree by tree.
    spans: For each leaf, the cells of each feature on its path.
    of_tree: Where the leaves of each tree begin, and L.
    paths: The same as spans, as arrays.
    """

    def __init__(self, forest: Forest, by_columns: bool) -> None:
        self._forest, self._by_columns = forest, by_columns
        self._condition = {place: j for j, place in enumerate(forest.conditions)}
        possible = list(self._possible())
        self.first = np.cumsum([0, *map(len, possible)])
        self.everything = np.concatenate([np.empty(0, dtype=np.bool_), *possible])
        self.own = self.first[:-1] + np.array(list(self._cells_of_x()), dtype=np.int64)
        self._before = counted(self.everything).tolist()
        # By what is possible the walks are the same for all rows.
        key = by_columns, self.everything.tobytes()
        walked: Walked | None = forest.derived.get(key)
        if walked is None:
            walked = self._walks()
            # Another thread may do the same beside: the last one's are kept.
            forest.derived.clear()
            forest.derived[key] = walked
        self.leaves, self.spans, self.of_tree, self.paths = walked

    def _walks(self) -> Walked:
        walks = [list(self._walk(tree)) for tree in self._forest.trees]
        spans = [spans for walk in walks for _, spans in walk]
        leaves = [leaf for walk in walks for leaf, _ in walk]
        return leaves, spans, np.cumsum([0, *map(len, walks)]), Paths.of(self.first, spans)

    def _possible(self) -> Iterator[Box]:
        """Yield the cells of each feature that rows can have."""
        forest = self._forest
        if not self._by_columns:
            yield from [np.array([True, True, False])] * len(forest.conditions)
            return
        for a, thresholds in enumerate(forest.thresholds):
            ends = [-math.inf, *thresholds, math.inf]
            some = [forest.some(a, *pair) for pair in itertools.pairwise(ends)]
            yield np.array([*some, bool(forest.attributes[a].get("missing", False))])

    def _cells_of_x(self) -> Iterator[int]:
        forest = self._forest
        if not self._by_columns:
            yield from (int(not forest.holds(*place)) for place in forest.conditions)
            return
        for value, thresholds in zip(forest.x, forest.thresholds):
            n = len(thresholds)
            yield n + 1 if value is None else sum(value > t for t in thresholds)

    def _walk(self, root: Node) -> Iterator[tuple[Node, dict[int, Span]]]:
        waiting: list[tuple[Node, dict[int, Span]]] = [(root, {})]
        while waiting:
            node, path = waiting.pop()
            if node.left is None or node.right is None:
                yield node, path
                continue
            for child, left in ((node.right, False), (node.left, True)):
                after = self._after(node, left, path)
                if after is not None:
                    waiting.append((child, after))

    def _after(self, node: Node, left: bool, path: dict[int, Span]) -> dict[int, Span] | None:
        """Return a path after a test, None when no row takes it."""
        lefts = node.lefts if self._by_columns else None  # a condition is true or false
        if self._by_columns:
            feature, place = node.column, node.place
        elif math.isinf(node.threshold):
            return path if left == (node.threshold > 0) else None
        else:
            feature, place = self._condition[node.column, node.place], 0
        begin, absent = int(self.first[feature]), int(self.first[feature + 1]) - 1
        runs, missing = path.get(feature, (((begin, absent - 1),), True))
        runs = _common(runs, _runs(begin, absent, place, lefts, left))
        missing = missing and node.missing == ("l" if left else "r")
        before = self._before
        empty = not any(before[high + 1] > before[low] for low, high in runs)
        if empty and not (missing and before[absent + 1] > before[absent]):
            return None
        return {**path, feature: (runs, missing)}

    def box(self, chosen: frozenset[int]) -> Box:
        """Return the box of the rows that agree with x on the chosen features."""
        out = self.everything.copy()
        for j in chosen:
            out[self.first[j] : self.first[j + 1]] = False
            out[self.own[j]] = True
        return out

    def reached(self, box: Box) -> Box:
        """Say of each leaf whether a row of the box reaches it, shape (L,)."""
        return self.paths.reached(box)


class Paths:
    """The cells that lead to leaves: many leaves share what is on their paths.

    first: Where the cells of each feature begin; the last one of each is a missing value.
    leaf, span (K,): A leaf, and what cells of one feature are on its path; once for each feature
        that is on it.
    feature, missing (S,): The feature of each span, and whether a missing value is in it.
    run, low, end (R,): The span of each run of cells, its first one and the one after its last.
    """

    def __init__(
        self, first: Ints, leaves: int, leaf: Ints, span: Ints, spans: tuple[Ints, Box], runs: Ints
    ) -> None:
        self.first, self.leaf, self.span, self._leaves = first, leaf, span, leaves
        self.feature, self.missing = spans
        self.run, self.low, self.end = runs
        self._absent = first[self.feature + 1] - 1

    @classmethod
    def of(cls, first: Ints, spans: list[dict[int, Span]]) -> Paths:
        """Return those of leaves, given the cells of each feature on the path of each."""
        known: dict[tuple[int, Span], int] = {}
        found = [
            (at, known.setdefault((j, span), len(known)))
            for at, path in enumerate(spans)
            for j, span in path.items()
        ]
        leaf, span = np.array(found, dtype=np.int64).reshape(-1, 2).T
        runs = [(i, low, high + 1) for i, (_, (own, _)) in enumerate(known) for low, high in own]
        feature = np.array([j for j, _ in known], dtype=np.int64)
        missing = np.array([missing for _, (_, missing) in known], dtype=np.bool_)
        table = np.array(runs, dtype=np.int64).reshape(-1, 3).T
        return cls(first, len(spans), leaf, span, (feature, missing), table)

    def reached(self, box: Box) -> Box:
        """Say of each leaf whether a row of the box reaches it, shape (L,)."""
        count = counted(box)
        some = self.missing & box[self._absent]
        some[self.run[count[self.end] > count[self.low]]] = True
        out = np.ones(self._leaves, dtype=np.bool_)
        out[self.leaf[~some[self.span]]] = False
        return out

    def part(self, leaves: Ints, free: Box) -> tuple[Paths, Ints]:
        """Return the paths to some leaves, on features that are free, and these features.

        Leaves are numbered as they are given, features and their cells as those that are left.
        """
        at = np.full(self._leaves, -1)
        at[leaves] = np.arange(len(leaves))
        kept = (at[self.leaf] >= 0) & free[self.feature[self.span]]
        used, span = np.unique(self.span[kept], return_inverse=True)
        features, feature = np.unique(self.feature[used], return_inverse=True)
        sizes = np.diff(self.first)[features]
        first = np.cumsum([0, *sizes.tolist()])
        place = np.full(len(self.feature), -1)
        place[used] = np.arange(len(used))
        runs = np.flatnonzero(place[self.run] >= 0)
        run = place[self.run[runs]]
        by = (first[:-1] - self.first[features])[feature][run]
        table = np.array([run, self.low[runs] + by, self.end[runs] + by])
        own = feature.ravel(), self.missing[used]
        return Paths(first, len(leaves), at[self.leaf[kept]], span.ravel(), own, table), features


def _runs(begin: int, absent: int, place: int, lefts: frozenset[int] | None, left: bool) -> Runs:
    """Return the runs of cells that go left at a test, or right."""
    if lefts is None:
        split = begin + place
        return ((begin, split),) if left else ((split + 1, absent - 1),)
    chosen = [c for c in range(begin, absent) if (c - begin in lefts) == left]
    ends = [c for c in chosen if c + 1 not in {*chosen}]
    return tuple(zip([c for c in chosen if c - 1 not in {*chosen}], ends, strict=True))


def _common(some: Runs, others: Runs) -> Runs:
    """Return the runs of cells that are in both."""
    pairs = ((max(a, c), min(b, d)) for a, b in some for c, d in others)
    return tuple((low, high) for low, high in pairs if low <= high)


def counted(box: Box) -> Ints:
    """Return how many cells of a box come before each cell, and how many there are."""
    return np.concatenate([[0], np.cumsum(box)])
