"""Transformers and a tree model, composed into one tree model over the columns of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

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
    return assemble(
        [_nodes(inner, tree, columns, place) for tree in inner.trees],
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


def _nodes(
    inner: TreeModel, tree: Tree, columns: Sequence[Column], place: dict[int, tuple[int, int]]
) -> Nodes:
    """Return a tree with what its tests say of the columns of the table."""
    attribute = np.full(len(tree.attribute), -1)
    missing = np.full(len(attribute), REFUSED)
    left, right, sets = tree.left.copy(), tree.right.copy(), {}
    for node in np.flatnonzero(tree.attribute >= 0).tolist():
        feature, split, way = (int(a[node]) for a in (tree.attribute, tree.split, tree.missing))
        c, i = place[feature]
        column, goes = columns[c], inner.lefts(feature, split)
        cells = column.images[:, i]
        lefts = np.where(cells < 0, way == LEFT, goes[np.maximum(cells, 0)])
        attribute[node] = c
        turned = bool(lefts[-1]) and not lefts[0] and len(runs(lefts)) == 1
        if turned:  # the same as a threshold, from the other side: bins have one each
            lefts, left[node], right[node] = ~lefts, right[node], left[node]
        ends = [-np.inf, *column.cuts.tolist(), np.inf]
        sets[node] = [(ends[first], ends[last + 1]) for first, last in runs(lefts)]
        if column.missing is not None:
            cell = int(column.missing[i])
            missing[node] = way if cell == MISSING else LEFT if goes[cell] else RIGHT
            if turned and missing[node] != REFUSED:
                missing[node] = LEFT if missing[node] == RIGHT else RIGHT
    return Nodes(
        attribute=attribute,
        threshold=np.zeros(len(attribute)),
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
