"""The paths of a model's leaves over the states of attributes: the sets of states they test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from cpx.data.coding import Coding
from cpx.models.expected_prediction.state_sets import (
    Runs,
    StateSets,
    runs_of_ranges,
    runs_of_rows,
)
from cpx.trees.form import TreeModel
from cpx.trees.tree import MISSING, Boxes, Tree

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_AT_ONCE = 2**20
"""Leaves times columns whose boxes are made at once: some 20 MB."""


class Paths(NamedTuple):
    """What leads to leaves.

    trees: Those of the model, with equal sibling leaves as one: a test of two such leaves says
        nothing, and what its leaves add, rounded one by one, might seem to.
    reached: Whether some row of states reaches it.
    leaf, attribute, mask: The tests of the leaves that are reached, which are numbered from 0; as
        in :class:`~cpx.models.expected_prediction.leaves.LeafForm`.
    """

    trees: tuple[Tree, ...]
    reached: Bools
    leaf: Ints
    attribute: Ints
    mask: Ints
    masks: StateSets


_LAST: list[tuple[ReferenceType[TreeModel], ReferenceType[Coding], Paths]] = []
"""What was read last: it is the same for all rows of a model that are explained."""


def leaf_paths(model: TreeModel, coding: Coding) -> Paths:
    """Return what leads to the leaves of a model."""
    for own, states, paths in [*_LAST]:
        if own() is model and states() is coding:
            return paths
    paths = _read(model, coding)
    _LAST[:] = [(ref(model, lambda gone: _LAST.clear()), ref(coding), paths)]
    return paths


def _read(model: TreeModel, coding: Coding) -> Paths:
    readers = [
        (_Column if len(columns) == 1 and not model.has_sets(columns[0]) else _Columns)(
            model, coding, a
        )
        for a, columns in enumerate(coding.columns)
    ]
    used = [a for a, own in enumerate(coding.columns) if not {*own}.isdisjoint(model.used)]
    tested: list[list[Ints]] = [[np.empty(0, dtype=np.int64)] for _ in readers]
    parts = []
    before = 0
    trees = tuple(tree.merged() for tree in model.trees)
    for boxes in _boxes(trees, model):
        reached = np.ones(len(boxes.low), dtype=np.bool_)
        for a in used:
            some, rows = readers[a].read(boxes)
            reached &= some
            tested[a].append(rows + before)
        parts.append(reached)
        before += len(reached)
    reached = np.concatenate(parts)
    leaf = np.concatenate([rows for own in tested for rows in own])
    attribute = np.repeat(np.arange(len(tested)), [sum(map(len, own)) for own in tested])
    runs, which = zip(*(reader.sets() for reader in readers), strict=True)
    masks = StateSets(runs)
    mask = np.concatenate([own + before for own, before in zip(which, masks.firsts.tolist())])
    order = np.lexsort((attribute, leaf))
    order = order[reached[leaf[order]]]
    number = np.cumsum(reached) - 1
    return Paths(trees, reached, number[leaf[order]], attribute[order], mask[order], masks)


def cells_of_states(model: TreeModel, coding: Coding, a: int) -> NDArray[np.int64]:
    """Return the cells of the model that the states of an attribute are in, by column."""
    cells = np.zeros(coding.states[a].shape, dtype=np.int64)
    for i, c in enumerate(coding.columns[a]):
        own = coding.states[a][:, i]
        if c in model.used:
            places = np.searchsorted(coding.cuts[c], model.thresholds[c])
            # A value of cell j is above cut j - 1 and at most cut j.
            cells[:, i] = np.searchsorted(places, own, side="left")
        cells[own == MISSING, i] = MISSING
    return cells


def _boxes(trees: Sequence[Tree], model: TreeModel) -> Iterator[Boxes]:
    """Yield the boxes of all leaves, those of some trees at a time."""
    waiting: list[Boxes] = []
    for last, tree in enumerate(trees, start=1 - len(trees)):
        waiting.append(tree.boxes(model.sizes, model.sets))
        if not last or sum(box.low.size for box in waiting) >= _AT_ONCE:
            yield Boxes.joined(waiting, model.sizes)
            waiting = []


class _Column:
    """Reads the tests of an attribute of one column: intervals of its cells, and no value."""

    def __init__(self, model: TreeModel, coding: Coding, a: int) -> None:
        (self._column,) = coding.columns[a]
        cells = cells_of_states(model, coding, a)[:, 0]
        self._order = np.argsort(cells, kind="stable")
        self._cells = cells[self._order]
        self._missing = bool((self._cells[:1] == MISSING).any())
        self._keys: list[Ints] = [np.empty(0, dtype=np.int64)]

    def read(self, boxes: Boxes) -> tuple[Bools, Ints]:
        """Read the tests of some leaves; return which have a state at all, and which test it."""
        c, size = self._column, len(self._cells)
        first = np.searchsorted(self._cells, boxes.low[:, c], side="left")
        end = np.searchsorted(self._cells, boxes.high[:, c], side="right")
        also = boxes.missing[:, c] & self._missing
        count = np.maximum(end - first, 0) + also
        rows = np.flatnonzero((count > 0) & (count < size))
        self._keys.append(((first * (size + 1) + end) * 2 + also)[rows])
        return count > 0, rows

    def sets(self) -> tuple[Runs, Ints]:
        """Return the different sets of states, and that of each row."""
        keys, which = np.unique(np.concatenate(self._keys), return_inverse=True)
        ends, also = np.divmod(keys, 2)
        first, end = np.divmod(ends, len(self._cells) + 1)
        return runs_of_ranges(self._order, first, end, also.astype(np.bool_)), which


class _Columns:
    """Reads the tests of an attribute of several columns, or of sets: any sets of its states."""

    def __init__(self, model: TreeModel, coding: Coding, a: int) -> None:
        self._cells = cells_of_states(model, coding, a)
        self._tested = [(i, c) for i, c in enumerate(coding.columns[a]) if c in model.used]
        self._known: dict[bytes, int] = {}
        self._which: list[Ints] = [np.empty(0, dtype=np.int64)]

    def read(self, boxes: Boxes) -> tuple[Bools, Ints]:
        """Read the tests of some leaves; return which have a state at all, and which test it."""
        inside = np.ones((len(boxes.low), len(self._cells)), dtype=np.bool_)
        for i, c in self._tested:
            cell = self._cells[:, i]
            within = boxes.of(c, cell)
            inside &= np.where(cell == MISSING, boxes.missing[:, c, None], within)
        some = inside.any(axis=1)
        rows = np.flatnonzero(~inside.all(axis=1) & some)
        packed, known = np.packbits(inside[rows], axis=1), self._known
        different, which = np.unique(packed, axis=0, return_inverse=True)
        own = [known.setdefault(row.tobytes(), len(known)) for row in different]
        self._which.append(np.array(own, dtype=np.int64)[which.reshape(-1)])
        return np.asarray(some), rows

    def sets(self) -> tuple[Runs, Ints]:
        """Return the different sets of states, and that of each row."""
        size = len(self._cells)
        packed = np.frombuffer(b"".join(self._known), dtype=np.uint8).reshape(-1, -(-size // 8))
        rows = np.unpackbits(packed, axis=1, count=size).view(np.bool_)
        return runs_of_rows(rows), np.concatenate(self._which)
