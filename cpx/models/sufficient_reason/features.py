"""What a sufficient reason is made of: columns, ends of intervals or tests; and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cpx.data.condition import Bounds, ColumnCondition
from cpx.errors import InvalidInstance, nearest, shown
from cpx.models.sufficient_reason.ends import Ends
from cpx.models.sufficient_reason.form import Leaves
from cpx.models.sufficient_reason.minimum_subset.form import LossForm
from cpx.support.validation import feature_list
from cpx.trees.attribute import Attribute
from cpx.trees.conditions import runs
from cpx.trees.form import TreeModel
from cpx.trees.tree import MISSING, Tree

Level = Literal["attributes", "intervals", "conditions"]

LEVELS: tuple[Level, ...] = ("attributes", "intervals", "conditions")

UNITS = {"attributes": "attribute", "intervals": "interval end", "conditions": "condition"}
"""What one feature is called at each level."""

# The same for all rows of a model, with all that is prepared for the search.
_conditional: WeakKeyDictionary[TreeModel, TreeModel] = WeakKeyDictionary()
_tests_of: WeakKeyDictionary[TreeModel, tuple[tuple[int, int], ...]] = WeakKeyDictionary()


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
        self.tree_model, self.x, self.level = model, x, level
        if level == "conditions":
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
        """The model that decides: over the columns, or over its conditions."""
        if self.level != "conditions":
            return self.tree_model
        if self.tree_model not in _conditional:
            _conditional[self.tree_model] = conditional(self.tree_model)
        return _conditional[self.tree_model]

    @cached_property
    def ends(self) -> Ends | None:
        """The ends of intervals, where these are the features."""
        return Ends(self.model, self.cells.tolist()) if self.level == "intervals" else None

    @cached_property
    def cells(self) -> NDArray[np.int32]:
        """The cells of x in :attr:`model`, shape (d,)."""
        cells = self.tree_model.cells(np.array(self.x, dtype=np.float64))
        if self.level != "conditions":
            return cells
        model, own = self.tree_model, cells.tolist()
        tests, sizes = conditions(model), model.sizes.tolist()
        lefts = (own[a] <= j if j <= sizes[a] else model.lefts(a, j)[own[a]] for a, j in tests)
        return np.fromiter((not left for left in lefts), dtype=np.int32, count=len(tests))

    @property
    def row(self) -> NDArray[np.float64]:
        """The row x of :attr:`model`, shape (d,)."""
        if self.level != "conditions":
            return np.array(self.x, dtype=np.float64)
        return self.cells.astype(np.float64)

    def __len__(self) -> int:
        return self.model.n_attributes if self.ends is None else len(self.ends)

    def columns(self, S: Iterable[int]) -> tuple[int, ...]:
        """Return the columns that some features are about, increasing."""
        if self.ends is not None:
            return self.ends.columns(S)
        if self.level == "attributes":
            return tuple(sorted(S))
        tests = conditions(self.tree_model)
        return tuple(sorted({tests[j][0] for j in S}))

    @cached_property
    def conditions(self) -> tuple[ColumnCondition, ...]:
        """What each feature means, with the values of x: true of x."""
        model, cells = self.tree_model, self.cells.tolist()
        if self.ends is not None:
            return tuple(
                model.between(a, *span, self.x[a])
                for j in range(len(self))
                for a, span in self.ends.spans([j]).items()
            )
        if self.level == "attributes":
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
        return UNITS[self.level]

    # ----------------------------------------------------------------- names

    def numbers(self, which: str, given: Any) -> tuple[int, ...]:
        """Return features given by number or name, sorted.

        which: Name of the argument, for errors.
        given: Attributes by their names, conditions and ends of intervals as they are printed;
            the name of a column stands for both ends.
        Raises InvalidInstance: When something is no feature, or a name is that of several.
        """
        if not isinstance(given, str) and isinstance(given, Iterable):
            given = [*chain.from_iterable(self._numbers(which, v) for v in given)]
        return feature_list(which, given, len(self))

    def _numbers(self, which: str, given: Any) -> tuple[Any, ...]:
        if not isinstance(given, str):
            return (given,)
        columns = [a.name for a in self.tree_model.attributes]
        if self.ends is not None and columns.count(given) == 1 and given not in self.words:
            return self.ends.of_column.get(columns.index(given), ())
        return (self._number(which, given),)

    def _number(self, which: str, name: str) -> int:
        names = [*self.words]
        if self.level == "attributes":
            names = [a.name for a in self.tree_model.attributes]
        if names.count(name) != 1:
            what = f"several {self.unit}s" if name in names else f"no {self.unit}"
            near = "" if name in names else nearest(name, names)
            raise InvalidInstance(f"{which}: {shown(name)} names {what} of the model{near}")
        return names.index(name)


class NamedFeatures(Protocol):
    """Features that have numbers and names."""

    def numbers(self, which: str, given: Any) -> tuple[int, ...]:
        """Return features given by number or name, sorted."""

    def __len__(self) -> int:
        """Return how many there are."""


def several(given: object) -> Any:
    """Return one feature as a list of one."""
    return [given] if isinstance(given, str | int) else given


def mapped_weights(features: NamedFeatures, given: Any) -> Any:
    """Return weights given by feature as a list; 1 where nothing is given."""
    if not isinstance(given, Mapping):
        return given
    weights: list[Any] = [1] * len(features)
    for feature, weight in given.items():
        for j in features.numbers("weights", [feature]):
            weights[j] = weight
    return weights


# ------------------------------------------------- the level of conditions


def conditions(model: TreeModel) -> tuple[tuple[int, int], ...]:
    """Return the tests of the trees, ``(a, j)`` for test j of attribute a.

    Tests that send all values the same way are left out.
    """
    if model not in _tests_of:
        found: set[tuple[int, int]] = set()
        for tree in model.trees:
            tests = np.flatnonzero(_tests(model, tree))
            found.update(zip(tree.attribute[tests].tolist(), tree.split[tests].tolist()))
        _tests_of[model] = tuple(sorted(found))
    return _tests_of[model]


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
        return Bounds(attribute.name, (), **attribute.words)
    if len(spans) == 1:
        return model.between(a, *spans[0], value)
    some = np.zeros(int(model.sizes[a]) + 1, dtype=np.bool_)
    for low, high in spans:
        some[low : high + 1] = True
    return model.within(a, some)


def widened(
    model: TreeModel,
    form: LossForm,
    leaves: Leaves,
    start: Mapping[int, tuple[int, int]],
) -> dict[int, Spans]:
    """Return for each attribute of a reason the cells to keep, no side of which can be moved.

    One after the other, lower sides first, a side is moved as far as the trees still lose no
    more than the slack; of an attribute with set tests, each cell by itself. An attribute that
    could have any value then keeps its cell, unless it may be missing: that it is not is then what
    matters.

    form: Its leaves are those of ``leaves``.
    start: The cells of each attribute, with which the slack is kept: that of x or, where one end
        of an interval is kept, all to one side.
    """
    boxes = leaves.boxes
    ranges: dict[int, Spans] = {a: (start[a],) for a in start}

    def out_of(a: int, some: Sequence[int]) -> NDArray[np.bool_]:
        if MISSING in some:
            return ~boxes.missing[:, a]
        if a in boxes.sets:
            return np.asarray(~boxes.sets[a][:, [*some]].any(axis=1))
        # Some leaves take no values of an attribute, only missing ones.
        low, high = np.maximum(boxes.low[:, a], min(some)), np.minimum(boxes.high[:, a], max(some))
        return np.asarray(low > high)

    excluded = {a: out_of(a, range(low, high + 1)) for a, (low, high) in start.items()}
    for a, span in start.items():
        rest = np.zeros(len(leaves.tree), dtype=np.bool_)
        for b in {*start} - {a}:
            rest |= excluded[b]

        def holds(some: Sequence[int], a: int = a, rest: NDArray[np.bool_] = rest) -> bool:
            return form.keeps(out_of(a, some) | rest)

        ranges[a] = widened_span(model, a, span, holds)
        cells = [c for low, high in ranges[a] for c in range(low, high + 1)]
        excluded[a] = out_of(a, cells)
    return ranges


def widened_span(
    model: TreeModel, a: int, span: tuple[int, int], holds: Callable[[Sequence[int]], bool]
) -> Spans:
    """Return the cells that an attribute may have, each side moved as far as it holds."""
    low, high = span
    if low == MISSING:
        return (span,)
    if model.has_sets(a):
        found = more_cells(model, a, low, lambda some, more: holds([*some, more]))
        return spans_of(model, a, found)
    first = furthest(low, 0, lambda i: holds(range(i, high + 1)))
    end = furthest(high, int(model.sizes[a]), lambda i: holds(range(first, i + 1)))
    if (first, end) == (0, model.sizes[a]) and not model.attributes[a].missing:
        return (span,)
    # No end is a cell without values, but where nothing ends it.
    some = first + np.flatnonzero(model.possible[a][first : end + 1])
    if len(some):
        first = first and int(some[0])
        end = end if end == model.sizes[a] else int(some[-1])
    return ((first, end),)


def furthest(start: int, end: int, holds: Callable[[int], bool]) -> int:
    """Return the place nearest the end for which it holds, when it does from the start on."""
    if start == end or holds(end):
        return end
    while abs(end - start) > 1:
        middle = (start + end) // 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start


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
