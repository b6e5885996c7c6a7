"""Sufficient reasons as plain arrays: what excludes each leaf, what it loses; and changes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.ends import Ends
from cpx.models.sufficient_reason.minimum_subset.form import ceiling, reduced
from cpx.trees.form import TreeModel
from cpx.trees.tree import Boxes

__all__ = [
    "DEFINITIONS",
    "ChangeForm",
    "Definition",
    "Leaves",
    "Losses",
    "automatic_unit",
    "losses_of",
    "rounded",
    "votes_needed",
]

Definition = Literal["sufficient", "majoritary", "tree-specific"]

DEFINITIONS: tuple[Definition, ...] = get_args(Definition)

Losses = tuple[list[NDArray[Any]], list[int]]
"""Per requirement: the exact loss of each leaf, and the slack."""

# Tree, number and box of each leaf that some row reaches: the same for all rows of a model.
_reachable: WeakKeyDictionary[TreeModel, tuple[NDArray[np.int64], NDArray[np.int64], Boxes]] = (
    WeakKeyDictionary()
)

_EXACT_BITS = 20
_WIDEST_BITS = 30
"""Weights of linear constraints: engines that count in floats want few bits."""


@dataclass(frozen=True, eq=False)
class ChangeForm:
    """What a search for a lightest change needs.

    model: Its attributes say what values may change to.
    x: The row.
    wanted: The classes of which one is to be reached, by index.
    frozen: Attributes that may not change.
    weights: What the change of each attribute costs.
    """

    model: TreeModel
    x: tuple[float, ...]
    wanted: tuple[int, ...]
    frozen: tuple[int, ...]
    weights: tuple[int, ...]


class Leaves:
    """All leaves of a model that some row reaches, as boxes around the row x.

    cells: The cells of x.
    ends: The ends of intervals, where they are the features, and not attributes.
    tree, leaf: Tree of each leaf, and its number in that tree.
    excludes: Whether a row that agrees with x on the feature does not reach the leaf.
    reached: The leaf of each tree that x reaches.
    """

    def __init__(
        self, model: TreeModel, cells: NDArray[np.int32], ends: Ends | None = None
    ) -> None:
        self.reached = model.leaves_of(cells.reshape(1, -1))[0]
        if model not in _reachable:
            _reachable[model] = _reachable_leaves(model)
        self.tree, self.leaf, self.boxes = _reachable[model]
        self.excludes = ~self.boxes.having(cells) if ends is None else ends.excludes(self.boxes)

    def _keep(self, some: NDArray[np.bool_]) -> None:
        for name in ("tree", "leaf", "excludes"):
            setattr(self, name, getattr(self, name)[some])
        self.boxes = self.boxes.only(some)

    def only(self, some: NDArray[np.bool_]) -> Leaves:
        """Return these leaves without others, shape (N,)."""
        part = copy.copy(self)
        part._keep(some)
        return part

    def of_tree(self, values: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return the values, given per tree and leaf, of the leaves here; shape (N,)."""
        every = np.concatenate(values)
        starts = np.cumsum([0, *(len(v) for v in values)])[:-1]
        return np.asarray(every[starts[self.tree] + self.leaf])

    def of_x(self, values: Sequence[NDArray[Any]]) -> list[Any]:
        """Return the value of the leaf of each tree that x reaches."""
        return [v[leaf] for v, leaf in zip(values, self.reached.tolist())]


def _reachable_leaves(model: TreeModel) -> tuple[NDArray[np.int64], NDArray[np.int64], Boxes]:
    """Return tree, number and box of each leaf that some row reaches."""
    sizes = [tree.n_leaves for tree in model.trees]
    tree = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    leaf = np.concatenate([np.arange(size, dtype=np.int64) for size in sizes])
    boxes = Boxes.joined(model.boxes, model.sizes)
    some = _not_empty(model, boxes)
    return tree[some], leaf[some], boxes.only(some)


def _not_empty(model: TreeModel, boxes: Boxes) -> NDArray[np.bool_]:
    missing = np.array([attribute.missing for attribute in model.attributes], dtype=np.bool_)
    values = (boxes.high >= boxes.low) | (boxes.missing & missing)
    for a in model.used:
        if a in boxes.sets:
            some = (boxes.sets[a] & model.possible[a]).any(axis=1)
        elif model.possible[a].all():
            continue
        else:
            low, high = boxes.low[:, a], boxes.high[:, a]
            before = np.concatenate(([0], np.cumsum(model.possible[a])))
            some = (high >= low) & (before[high + 1] > before[low])
        values[:, a] = some | (boxes.missing[:, a] & missing[a])
    return np.asarray(values[:, list(model.used)].all(axis=1))


def losses_of(model: TreeModel, leaves: Leaves, label: int, definition: Definition) -> Losses:
    """Return losses and slacks by a definition: with them, S is a reason when it holds.

    See :class:`~cpx.models.sufficient_reason.minimum_subset.form.LossForm` for losses. In every
    tree the leaf of x loses nothing. "sufficient" is for a model of one tree here.
    """
    if definition == "sufficient":
        other = class_of_leaves(model) != label
        return [leaves.of_tree([other.astype(np.int64)])], [0]
    if definition == "majoritary":
        votes = [
            np.array(tree.outputs)[tree.values.argmax(axis=1)] != label for tree in model.trees
        ]
        lost = leaves.of_tree(votes)
        against = np.array(leaves.of_x(votes))
        lost[against[leaves.tree]] = False  # no vote to lose
        return [lost.astype(np.int64)], [int((~against).sum()) - votes_needed(model, label)]
    rows, slacks = [], []
    for requirement in requirements(model, label):
        ours = leaves.of_x(requirement.margins)
        margins = leaves.of_tree(requirement.margins)
        lost = np.array(ours, dtype=object)[leaves.tree] - margins
        rows.append(np.maximum(lost, 0))
        slacks.append(sum(ours) - requirement.need)
    return rows, slacks


def automatic_unit(losses: Losses, exponent: int) -> Fraction:
    """Return what losses are rounded to: 0 where the exact numbers are small enough.

    Otherwise a power of two, about a millionth of the least slack, but not so small that
    the greatest slack gets more than 30 bits.
    """
    pairs = zip(*losses, strict=True)
    if all(reduced(row, slack)[1] < 2**_EXACT_BITS for row, slack in pairs):
        return Fraction(0)
    slacks = [slack for slack in losses[1] if slack > 0]
    least = max(min(slacks) >> _EXACT_BITS, max(slacks) >> _WIDEST_BITS, 1)
    return Fraction(2 ** (least.bit_length() - 1), 2**exponent)


def rounded(losses: Losses, unit: Fraction, exponent: int) -> Losses:
    """Return losses rounded up, and slacks rounded down, to multiples of the unit.

    Sets that hold for the rounded numbers hold for the exact ones too.
    """
    if not unit:
        return losses
    times, by = unit.denominator, unit.numerator * 2**exponent
    rows = [
        np.array([ceiling(int(v) * times, by) for v in row], dtype=object) for row in losses[0]
    ]
    return rows, [slack * times // by for slack in losses[1]]


# ------------------------------------------------------------------- margins


@dataclass(frozen=True, eq=False)
class Requirement:
    """The class of x beats a rival class when margins of the reached leaves add up to ``need``.

    rival: Index of the rival class.
    margins (L_t,): What each leaf adds to the class of x minus what it adds to the rival, times
        2**exact.exponent of the model.
    need: In the same unit; ties are decided by it.
    """

    rival: int
    margins: tuple[NDArray[Any], ...]
    need: int


def requirements(model: TreeModel, label: int) -> tuple[Requirement, ...]:
    """Return one requirement per rival class; together they say "the class is ``label``".

    >>> from cpx.trees import Attribute, Tree
    >>> stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> model = TreeModel([Attribute("a")], [0, 1], [stump], [[2.5]], "sum", "positive", [0])
    >>> [(q.rival, q.margins[0].tolist(), q.need) for q in requirements(model, 1)]
    [(0, [-2, 1], 1)]
    """
    exact = model.exact
    if model.decision != "first":
        sign = 1 if label == 1 else -1
        # A score of 0 is class 1 only where the decision says so.
        strict = (label == 1) == (model.decision == "positive")
        margins = tuple(sign * values[:, 0] for values in exact.leaf_values)
        return (Requirement(1 - label, margins, int(strict) - sign * exact.base_values[0]),)
    found = []
    for rival in range(len(model.classes)):
        if rival == label:
            continue
        margins = tuple(
            _column(tree.outputs, values, label) - _column(tree.outputs, values, rival)
            for tree, values in zip(model.trees, exact.leaf_values)
        )
        lead = exact.base_values[label] - exact.base_values[rival]
        # The first of equal classes wins.
        found.append(Requirement(rival, margins, int(rival < label) - lead))
    return tuple(found)


def _column(outputs: tuple[int, ...], values: NDArray[Any], score: int) -> NDArray[Any]:
    if score in outputs:
        return np.asarray(values[:, outputs.index(score)])
    return np.zeros(len(values), dtype=object)


def class_of_leaves(model: TreeModel) -> NDArray[np.int64]:
    """Return the class that each leaf of a model of one tree gives, shape (L,)."""
    leaves = np.arange(model.trees[0].n_leaves, dtype=np.int32)
    return model.decide(model.exact.add(leaves.reshape(-1, 1)))


def votes_needed(model: TreeModel, label: int) -> int:
    """Return the least number of votes that win whatever the other trees vote for.

    With k votes for the class, a rival gets at most T - k; the first of equal classes wins.
    """
    count, base = len(model.trees), [Fraction(v) for v in model.base]
    least = [0]
    for rival, start in enumerate(base):
        if rival != label:
            lead = start - base[label]
            # 2 k >= count + lead, and more than that where the rival wins ties
            twice = count + lead
            half = ceiling(twice.numerator, 2 * twice.denominator)
            least.append(half + (rival < label and 2 * half == twice))
    return max(least)
