"""From a model, a row and a definition to plain arrays of losses."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.models.minimum_subset.form import ceiling, reduced
from cpx.models.sufficient_reason.margins import class_of_leaves, requirements, votes_needed
from cpx.trees.form import TreeModel
from cpx.trees.tree import MISSING

__all__ = ["Definition", "Leaves", "Losses", "automatic_unit", "losses_of", "rounded"]

Definition = Literal["sufficient", "majoritary", "tree-specific"]

Losses = tuple[list[NDArray[Any]], list[int]]
"""Per requirement: the exact loss of each leaf, and the slack."""

_EXACT_BITS = 20
_WIDEST_BITS = 30
"""Weights of linear constraints: engines that count in floats want few bits."""


class Leaves:
    """All leaves of a model that some row reaches, as boxes around the row x.

    Parameters
    ----------
    model : TreeModel
    cells : (d,) array of int32
        The cells of x.

    Attributes
    ----------
    tree, leaf : (N,) arrays of int
        Tree of each leaf, and its number in that tree.
    low, high : (N, d) arrays of int32
    excludes : (N, d) array of bool
        Whether a row that agrees with x on the attribute does not reach the leaf.
    reached : (T,) array of int
        The leaf of each tree that x reaches.
    """

    def __init__(self, model: TreeModel, cells: NDArray[np.int32]) -> None:
        self.reached = model.leaves_of(cells.reshape(1, -1))[0]
        boxes = model.boxes
        low = np.concatenate([b.low for b in boxes])
        high = np.concatenate([b.high for b in boxes])
        missing = np.concatenate([b.missing for b in boxes])
        tree = np.repeat(np.arange(len(boxes)), [len(b.low) for b in boxes])
        leaf = np.concatenate([np.arange(len(b.low)) for b in boxes])
        inside = (low <= cells) & (cells <= high)
        self.tree, self.leaf = tree.astype(np.int64), leaf.astype(np.int64)
        self.low, self.high, self.missing = low, high, missing
        self.excludes = ~np.where(cells == MISSING, missing, inside)
        self._keep(_not_empty(model, low, high, missing))

    def _keep(self, some: NDArray[np.bool_]) -> None:
        for name in ("tree", "leaf", "low", "high", "missing", "excludes"):
            setattr(self, name, getattr(self, name)[some])

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


def _not_empty(
    model: TreeModel,
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    missing: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    some = np.ones(len(low), dtype=bool)
    for a in model.used:
        before = np.concatenate(([0], np.cumsum(model.possible[a])))
        values = (high[:, a] >= low[:, a]) & (before[high[:, a] + 1] > before[low[:, a]])
        some &= values | (missing[:, a] & model.attributes[a].missing)
    return some


def losses_of(model: TreeModel, leaves: Leaves, label: int, definition: Definition) -> Losses:
    """Return losses and slacks by a definition: with them, S is a reason when it holds.

    See :class:`~cpx.models.minimum_subset.form.LossForm` for losses. In every tree the leaf of x
    loses nothing. "sufficient" is for a model of one tree here.
    """
    if definition == "sufficient":
        other = class_of_leaves(model) != label
        return [leaves.of_tree([other.astype(object)])], [0]
    if definition == "majoritary":
        votes = [
            np.array(tree.outputs)[tree.values.argmax(axis=1)] != label for tree in model.trees
        ]
        lost = leaves.of_tree(votes)
        against = np.array(leaves.of_x(votes))
        lost[against[leaves.tree]] = False  # no vote to lose
        return [lost.astype(object)], [int((~against).sum()) - votes_needed(model, label)]
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
