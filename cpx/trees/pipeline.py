"""Transformers and a tree model, composed into one tree model over the columns of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.errors import UnsupportedModel
from cpx.trees.attribute import Attribute
from cpx.trees.building import Nodes, assemble, attribute_list
from cpx.trees.conditions import runs
from cpx.trees.form import TreeModel
from cpx.trees.front import Front
from cpx.trees.live import LiveModel
from cpx.trees.pullback import Column, Pullback
from cpx.trees.tree import LEFT, MISSING, REFUSED, RIGHT, Tree


def composed(
    front: Front,
    inner: TreeModel,
    attributes: Sequence[str | Attribute] | None,
    live: LiveModel | None,
) -> TreeModel:
    """Return a tree model over the columns of the table: of each test what it says of a column.

    A test "a column behind the transformers is at most t" is one of the column that it is made
    of: of the numbers up to the last float that passes it, of a set of categories, of the bins
    that pass it; and a missing value goes where the value that is filled in goes.

    inner: The model over the columns that the transformers make.
    live: The whole, over the columns of the table.
    Raises UnsupportedModel: When the transformers are not such, naming what is in the way.
    """
    if inner.n_attributes != len(front.features):
        raise UnsupportedModel(
            f"the model has {inner.n_attributes} columns, the transformers make "
            f"{len(front.features)}"
        )
    front = replace(front, orders=Pullback(front, inner).orders())
    columns = Pullback(front, inner).columns()
    place: dict[int, tuple[int, int]] = {}
    for c, own in enumerate(front.made_of):
        place.update((feature, (c, i)) for i, feature in enumerate(own))
    tests = _Tests(inner, columns, place)
    return assemble(
        [_nodes(tree, tests, which) for tree, which in zip(inner.trees, tests.which)],
        _attributes(front, inner, columns, attributes),
        classes=inner.classes,
        rule=inner.rule,
        decision=inner.decision,
        base=inner.base,
        sums=inner.sums,
        source=f"sklearn Pipeline of {inner.source}",
        named=front.names is not None or attributes is not None,
        live=live and replace(live, front=front, held={}),
        prediction=inner.prediction,
    )


class _Tests:
    """What the distinct tests of a model say of the columns of the table.

    which: Per tree, the number of the test that each node with a test has.
    column, missing: The column of each test, and where a missing value goes.
    turned: Whether left and right are the other way round.
    threshold: Up to which number all go left.
    passing: Of tests that have no such number, from where to where numbers go left.
    """

    def __init__(
        self, inner: TreeModel, columns: Sequence[Column], place: dict[int, tuple[int, int]]
    ) -> None:
        self._inner, self._columns = inner, columns
        nodes = [tree.attribute >= 0 for tree in inner.trees]
        asked = [
            np.concatenate([one[some].astype(np.int64) for one, some in zip(own, nodes)])
            for own in zip(*((t.attribute, t.split, t.missing) for t in inner.trees))
        ]
        # One number for each test: numbers are sorted sooner than rows.
        attribute, split, missing = (one - one.min(initial=0) for one in asked)
        wide = split.max(initial=0) + 1, missing.max(initial=0) + 1
        numbers = (attribute * wide[0] + split) * wide[1] + missing
        _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        self.which = np.split(which.ravel(), np.cumsum([some.sum() for some in nodes])[:-1])
        self._feature, self._split, self.missing = (one[first] for one in asked)
        self.column = np.zeros(len(first), dtype=np.int64)
        self.turned = np.zeros(len(first), dtype=np.bool_)
        self.threshold = np.zeros(len(first))
        self.passing: dict[int, tuple[tuple[float, float], ...]] = {}
        for feature in np.unique(self._feature).tolist():
            c, i = place[feature]
            ends = np.concatenate([[-np.inf], columns[c].cuts, [np.inf]])
            self._of_feature(np.flatnonzero(self._feature == feature), c, i, ends)

    def _of_feature(self, tests: NDArray[np.int64], c: int, i: int, ends: Any) -> None:
        """Say what tests of feature i of those made of column c are.

        ends: Where the cells of the column begin and end.
        """
        cells, absent = self._columns[c].images[:, i], self._columns[c].missing
        self.column[tests] = c
        if absent is None:
            self.missing[tests] = REFUSED
        plain = np.zeros(len(tests), dtype=np.bool_)
        if cells[0] >= 0 and (np.diff(cells) >= 0).all():
            # Of thousands of tests of cells that rise, the cells need not be looked at.
            passed = np.searchsorted(cells, self._split[tests], side="right")
            size = self._inner.sizes[self._feature[tests[0]]]
            plain = (passed > 0) & (self._split[tests] <= size)
            self.threshold[tests[plain]] = ends[passed[plain]]
            if absent is not None and absent[i] != MISSING:
                left = absent[i] <= self._split[tests[plain]]
                self.missing[tests[plain]] = np.where(left, LEFT, RIGHT)
        for test in tests[~plain].tolist():
            self._by_cells(test, cells, None if absent is None else int(absent[i]), ends)

    def _by_cells(self, test: int, cells: Any, absent: int | None, ends: Any) -> None:
        """Say what a test is by looking at each cell.

        absent: The cell of a missing value, None where it is not taken.
        """
        way = int(self.missing[test])
        goes = self._inner.lefts(int(self._feature[test]), int(self._split[test]))
        lefts = np.where(cells < 0, way == LEFT, goes[np.maximum(cells, 0)])
        turned = bool(lefts[-1]) and not lefts[0] and len(runs(lefts)) == 1
        # The same as a threshold, from the other side: bins have one each.
        passing = runs(~lefts if turned else lefts)
        if absent is not None:
            if absent != MISSING:
                way = LEFT if goes[absent] else RIGHT
            if turned and way != REFUSED:
                way = LEFT if way == RIGHT else RIGHT
        self.turned[test], self.missing[test] = turned, way
        if len(passing) == 1 and passing[0][0] == 0:
            self.threshold[test] = ends[passing[0][1] + 1]
        else:
            self.passing[test] = tuple((float(ends[a]), float(ends[b + 1])) for a, b in passing)


def _nodes(tree: Tree, tests: _Tests, which: NDArray[np.int64]) -> Nodes:
    """Return a tree with what its tests say of the columns of the table.

    which: The number of the test of each node with one.
    """
    nodes = np.flatnonzero(tree.attribute >= 0)
    attribute, missing = np.full(len(tree.attribute), -1), np.full(len(tree.attribute), REFUSED)
    left, right, threshold = tree.left.copy(), tree.right.copy(), np.zeros(len(attribute))
    attribute[nodes], missing[nodes] = tests.column[which], tests.missing[which]
    other = nodes[tests.turned[which]]
    left[other], right[other] = right[other], left[other]
    threshold[nodes] = tests.threshold[which]
    as_sets = np.isin(which, [*tests.passing])
    return Nodes(
        attribute=attribute,
        threshold=threshold,
        left=left,
        right=right,
        missing=missing,
        values=tree.values[np.maximum(tree.leaf, 0)],
        outputs=tree.outputs,
        sets={
            node: tests.passing[test]
            for node, test in zip(nodes[as_sets].tolist(), which[as_sets].tolist())
        },
    )


def _attributes(
    front: Front,
    inner: TreeModel,
    columns: Sequence[Column],
    given: Sequence[str | Attribute] | None,
) -> tuple[Attribute, ...]:
    """Return the columns of the table: what values they have, and whether one may be missing."""
    made = []
    for c, (column, own) in enumerate(zip(columns, front.made_of, strict=True)):
        shows = c in front.walk.imputed or any(inner.attributes[i].missing for i in own)
        # A column that nothing reads may be anything.
        may = column.missing is not None and (shows or not own)
        values, name = front.listed(c), front.title(c)
        if values is None:
            made.append(Attribute(name, lower=column.lower, upper=column.upper, missing=may))
        else:
            labels = front.labels(c)
            made.append(Attribute(name, "categorical", values=values, labels=labels, missing=may))
    if given is None:
        return tuple(made)
    named = attribute_list(given, [a.name for a in made])
    return tuple(
        replace(mine, name=one.name) if isinstance(said, str) or mine.labels else one
        for mine, one, said in zip(made, named, given, strict=True)
    )
