"""Transformers and a tree model, composed into one tree model over the columns of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

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
        [_nodes(tree, tests) for tree in inner.trees],
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
    """What tests of features say of the columns of the table, each worked out once."""

    def __init__(
        self, inner: TreeModel, columns: Sequence[Column], place: dict[int, tuple[int, int]]
    ) -> None:
        self._inner, self._columns, self._place = inner, columns, place
        self._ends = [[-np.inf, *column.cuts.tolist(), np.inf] for column in columns]
        self._known: dict[tuple[int, int, int], _Test] = {}
        self._rising = {
            feature: bool((column[0] >= 0) & (np.diff(column) >= 0).all())
            for feature, (c, i) in place.items()
            for column in [columns[c].images[:, i]]
        }

    def of(self, tree: Tree) -> tuple[list[_Test], NDArray[np.int64]]:
        """Return the distinct tests of a tree, and which one each node with a test has."""
        tested = tree.attribute >= 0
        asked = [
            one[tested].astype(np.int64) for one in (tree.attribute, tree.split, tree.missing)
        ]
        # One number for each test: numbers are sorted sooner than rows.
        attribute, split, missing = (one - one.min(initial=0) for one in asked)
        wide = split.max(initial=0) + 1, missing.max(initial=0) + 1
        numbers = (attribute * wide[0] + split) * wide[1] + missing
        _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        found = []
        for key in zip(*(one[first].tolist() for one in asked)):
            if key not in self._known:
                self._known[key] = self._made(*key)
            found.append(self._known[key])
        return found, which.ravel()

    def _made(self, feature: int, split: int, way: int) -> _Test:
        c, i = self._place[feature]
        column, ends = self._columns[c], self._ends[c]
        cells = column.images[:, i]
        if self._rising[feature] and split <= self._inner.sizes[feature]:
            # Thousands of cells need not be looked at.
            turned, passing = False, [(0, int(np.searchsorted(cells, split, side="right")) - 1)]
            passing = passing if passing[0][1] >= 0 else []
        else:
            goes = self._inner.lefts(feature, split)
            lefts = np.where(cells < 0, way == LEFT, goes[np.maximum(cells, 0)])
            turned = bool(lefts[-1]) and not lefts[0] and len(runs(lefts)) == 1
            # The same as a threshold, from the other side: bins have one each.
            passing = runs(~lefts if turned else lefts)
        missing = REFUSED
        if column.missing is not None:
            cell = int(column.missing[i])
            missing = way
            if cell != MISSING:
                missing = LEFT if self._inner.lefts(feature, split)[cell] else RIGHT
            if turned and missing != REFUSED:
                missing = LEFT if missing == RIGHT else RIGHT
        return _Test(c, turned, missing, tuple((ends[a], ends[b + 1]) for a, b in passing))


class _Test(NamedTuple):
    """A test of a column of the table.

    turned: Whether left and right are the other way round.
    missing: Where a missing value goes.
    passing: From where to where numbers go left.
    """

    column: int
    turned: bool
    missing: int
    passing: tuple[tuple[float, float], ...]


def _threshold(test: _Test) -> float | None:
    """Return up to which number all go left; None of another set."""
    passing = test.passing
    return passing[0][1] if len(passing) == 1 and passing[0][0] == -np.inf else None


def _nodes(tree: Tree, tests: _Tests) -> Nodes:
    """Return a tree with what its tests say of the columns of the table."""
    nodes = np.flatnonzero(tree.attribute >= 0)
    distinct, which = tests.of(tree)
    attribute, missing = np.full(len(tree.attribute), -1), np.full(len(tree.attribute), REFUSED)
    left, right, threshold = tree.left.copy(), tree.right.copy(), np.zeros(len(attribute))
    if not len(nodes):
        return Nodes(attribute, threshold, left, right, missing, tree.values, tree.outputs)
    columns, turned, ways, _ = zip(*distinct)
    attribute[nodes], missing[nodes] = np.array(columns)[which], np.array(ways)[which]
    other = nodes[np.array(turned)[which]]
    left[other], right[other] = right[other], left[other]
    threshold[nodes] = np.array([_threshold(test) or 0.0 for test in distinct])[which]
    as_sets = np.array([_threshold(test) is None for test in distinct])[which]
    sets = {
        node: distinct[i].passing
        for node, i in zip(nodes[as_sets].tolist(), which[as_sets].tolist())
    }
    return Nodes(
        attribute=attribute,
        threshold=threshold,
        left=left,
        right=right,
        missing=missing,
        values=tree.values[np.maximum(tree.leaf, 0)],
        outputs=tree.outputs,
        sets=sets,
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
