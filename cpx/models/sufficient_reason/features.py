"""What a sufficient reason is made of, attributes of a model or its conditions, and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.data.condition import Bounds, ColumnCondition
from cpx.errors import InvalidInstance, nearest, shown
from cpx.models.sufficient_reason.form import Leaves
from cpx.models.sufficient_reason.minimum_subset.form import LossForm
from cpx.support.validation import feature_list
from cpx.trees.attribute import Attribute
from cpx.trees.conditions import runs
from cpx.trees.form import TreeModel
from cpx.trees.tree import MISSING, Tree

Level = Literal["attributes", "conditions"]

LEVELS: tuple[Level, ...] = ("attributes", "conditions")


class Features:
    """The features of a model at a level, with their values for the row x.

    x: NaN for a missing value.
    Raises InvalidInstance: When the level is none of these, or a tested value is missing at the
        level of conditions.

    >>> from cpx.trees import Attribute, Tree
    >>> tree = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> model = TreeModel([Attribute("a")], [0, 1], [tree], [[2.5]], "sum", "positive", [0])
    >>> Features(model, (3.0,), "attributes").words, Features(model, (3.0,), "conditions").words
    (('a > 2.5',), ('a > 2.5',))
    """

    def __init__(self, model: TreeModel, x: tuple[float, ...], level: Level) -> None:
        if level not in LEVELS:
            raise InvalidInstance(f"level must be one of {', '.join(LEVELS)}, got {shown(level)}")
        self.tree_model, self.x = model, x
        self.columns = level == "attributes"
        if not self.columns:
            self._refuse_missing()

    def _refuse_missing(self) -> None:
        for a in self.tree_model.used:
            if np.isnan(self.x[a]):
                raise InvalidInstance(
                    f"level conditions is for rows without missing values, and "
                    f"{shown(self.tree_model.attributes[a].name)} of x is missing"
                )

    @cached_property
    def model(self) -> TreeModel:
        """The model whose attributes are the features: itself, or over its conditions."""
        return self.tree_model if self.columns else conditional(self.tree_model)

    @cached_property
    def cells(self) -> NDArray[np.int32]:
        """The cells of x in :attr:`model`, shape (n,)."""
        cells = self.tree_model.cells(np.array(self.x, dtype=np.float64))
        if self.columns:
            return cells
        lefts = self.tree_model.lefts
        return np.array(
            [not lefts(a, j)[cells[a]] for a, j in conditions(self.tree_model)], dtype=np.int32
        )

    @property
    def row(self) -> NDArray[np.float64]:
        """The row x of :attr:`model`, shape (n,)."""
        if self.columns:
            return np.array(self.x, dtype=np.float64)
        return self.cells.astype(np.float64)

    def __len__(self) -> int:
        return self.model.n_attributes

    @cached_property
    def conditions(self) -> tuple[ColumnCondition, ...]:
        """What each feature means, with the values of x: true of x."""
        model, cells = self.tree_model, self.cells.tolist()
        if self.columns:
            return tuple(model.between(a, c, c, self.x[a]) for a, c in enumerate(cells))
        tests = conditions(model)
        return tuple(model.condition(a, j, not c) for (a, j), c in zip(tests, cells))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The conditions as they are printed."""
        return tuple(map(str, self.conditions))

    @property
    def unit(self) -> str:
        """What one feature is called."""
        return "attribute" if self.columns else "condition"

    # ----------------------------------------------------------------- names

    def numbers(self, which: str, given: Any) -> tuple[int, ...]:
        """Return features given by number or name, sorted.

        which: Name of the argument, for errors.
        given: Attributes by their names, conditions as they are printed.
        Raises InvalidInstance: When something is no feature, or a name is that of several.
        """
        if not isinstance(given, str) and isinstance(given, Iterable):
            given = [self._number(which, v) if isinstance(v, str) else v for v in given]
        return feature_list(which, given, len(self))

    def _number(self, which: str, name: str) -> int:
        names = [a.name for a in self.tree_model.attributes] if self.columns else list(self.words)
        if names.count(name) != 1:
            what = f"several {self.unit}s" if name in names else f"no {self.unit}"
            near = "" if name in names else nearest(name, names)
            raise InvalidInstance(f"{which}: {shown(name)} names {what} of the model{near}")
        return names.index(name)


# ------------------------------------------------- the level of conditions


def conditions(model: TreeModel) -> tuple[tuple[int, int], ...]:
    """Return the tests of the trees, ``(a, j)`` for test j of attribute a.

    Tests that send all values the same way are left out.
    """
    found: set[tuple[int, int]] = set()
    for tree in model.trees:
        tests = np.flatnonzero(_tests(model, tree))
        found.update(zip(tree.attribute[tests].tolist(), tree.split[tests].tolist()))
    return tuple(sorted(found))


def conditional(model: TreeModel) -> TreeModel:
    """Return the model over its conditions: attribute i is Boolean, 0 where condition i holds.

    Every test becomes "the cell of its condition is at most 0". Nothing ties conditions of one
    column to each other, so rows of the new model need not be rows of the old one.

    >>> tree = Tree([0, 0, -1, -1, -1], [1, 0, 0, 0, 0], [0] * 5, [[0.0], [1.0], [2.0]], (0,))
    >>> model = TreeModel([Attribute("a")], [0, 1], [tree], [[1, 2]], "sum", "positive", [-1])
    >>> conditions(model), conditional(model).trees[0].attribute.tolist()
    (((0, 0), (0, 1)), [1, 0, -1, -1, -1])
    """
    numbers = {test: i for i, test in enumerate(conditions(model))}
    return replace(
        model,
        attributes=tuple(Attribute(str(model.condition(a, j)), "boolean") for a, j in numbers),
        trees=tuple(_free(model, tree, numbers) for tree in model.trees),
        thresholds=tuple(np.array([0.5]) for _ in numbers),
        sets=(),
        live=None,
    )


def _tests(model: TreeModel, tree: Tree) -> NDArray[np.bool_]:
    """Say of each node whether it has a test that values can go both ways at."""
    inner = tree.attribute >= 0
    sizes = model.sizes[tree.attribute] if model.n_attributes else np.zeros(len(inner))
    return np.asarray(inner & (tree.split >= 0) & (tree.split != sizes))


def _free(model: TreeModel, tree: Tree, numbers: dict[tuple[int, int], int]) -> Tree:
    tests = _tests(model, tree)
    attribute, leaves, waiting = [], [], [0]
    while waiting:
        node = waiting.pop()
        while tree.attribute[node] >= 0 and not tests[node]:
            node = int(tree.right[node] if tree.split[node] < 0 else node + 1)
        if tests[node]:
            attribute.append(numbers[int(tree.attribute[node]), int(tree.split[node])])
            waiting += [int(tree.right[node]), node + 1]
        else:
            attribute.append(-1)
            leaves.append(int(tree.leaf[node]))
    zeros = np.zeros(len(attribute), dtype=np.int32)
    return Tree(np.array(attribute), zeros, zeros, tree.values[leaves], tree.outputs)


Spans = tuple[tuple[int, int], ...]
"""First and last cell of each run of cells; both -1 for a missing value."""


def kept(model: TreeModel, a: int, spans: Spans, value: float) -> ColumnCondition:
    """Return what a reason keeps of an attribute: these cells, or that it is not missing."""
    attribute, every = model.attributes[a], ((0, int(model.sizes[a])),)
    if attribute.missing and spans == every and a in model.used:
        return Bounds(attribute.name, ())
    if len(spans) == 1:
        return model.between(a, *spans[0], value)
    some = np.zeros(int(model.sizes[a]) + 1, dtype=np.bool_)
    for low, high in spans:
        some[low : high + 1] = True
    return model.within(a, some)


def sides_that_matter(
    model: TreeModel,
    form: LossForm,
    leaves: Leaves,
    cells: tuple[int, ...],
    S: tuple[int, ...],
) -> dict[int, Spans]:
    """Return for each attribute of S the cells to keep, no side of which is idle.

    One after the other, lower sides first, a side of the cell of x is given up when the trees
    still lose no more than the slack; of an attribute with set tests, each cell by itself. An
    attribute that could have any value then keeps its cell, unless it may be missing: that it is
    not is then what matters.

    form: Its leaves are those of ``leaves``.
    cells: The cells of x.
    S: A set that holds.
    """
    sizes, boxes = model.sizes.tolist(), leaves.boxes
    ranges: dict[int, Spans] = {a: ((cells[a], cells[a]),) for a in S}
    excluded = {a: leaves.excludes[:, a] for a in S}
    for a in S:
        if cells[a] == MISSING:
            continue
        rest = np.zeros(len(leaves.tree), dtype=np.bool_)
        for b in set(S) - {a}:
            rest |= excluded[b]
        may = model.attributes[a].missing
        if a in boxes.sets:

            def out_of(some: set[int], reach: NDArray[np.bool_] = boxes.sets[a]) -> Any:
                return ~reach[:, [*some]].any(axis=1)

            def holds(some: set[int], rest: NDArray[np.bool_] = rest) -> bool:
                return form.keeps(out_of(some) | rest)

            found = more_cells(model, a, cells[a], lambda some, more: holds({*some, more}))
            ranges[a], excluded[a] = spans_of(model, a, found), out_of(found)
            continue
        for side in (0, 1):
            ((low, high),) = ranges[a]
            low, high = (0, high) if side == 0 else (low, sizes[a])
            # Some leaves take no values of an attribute, only missing ones.
            first, end = np.maximum(boxes.low[:, a], low), np.minimum(boxes.high[:, a], high)
            out = first > end
            every = (low, high) == (0, sizes[a]) and not may
            if not every and form.keeps(out | rest):
                ranges[a], excluded[a] = ((low, high),), out
    return ranges


def more_cells(
    model: TreeModel, a: int, cell: int, also: Callable[[set[int], int], bool]
) -> set[int]:
    """Return the cell of x and the possible ones that may be added to it, one after the other.

    All of them are none that may be told: then it is the cell of x alone, unless the attribute may
    be missing.

    also: Whether a cell may be added to those so far.
    """
    found, possible = {cell}, {*np.flatnonzero(model.possible[a]).tolist()}
    for other in sorted(possible - found):
        if also(found, other):
            found.add(other)
    return {cell} if found >= possible and not model.attributes[a].missing else found


def spans_of(model: TreeModel, a: int, cells: set[int]) -> Spans:
    """Return the runs of some cells; the whole range for all that are possible."""
    size = int(model.sizes[a])
    if len(cells) > 1 and cells >= {*np.flatnonzero(model.possible[a]).tolist()}:
        return ((0, size),)
    some = np.zeros(size + 1, dtype=np.bool_)
    some[[*cells]] = True
    return tuple(runs(some))
