"""Words for the values that a reason keeps: intervals of cells on the sides that matter."""

from __future__ import annotations

import math

import numpy as np

from cpx.models.minimum_subset.form import LossForm
from cpx.models.sufficient_reason.form import Leaves
from cpx.trees.form import TreeModel
from cpx.trees.tree import MISSING

__all__ = ["interval_text", "sides_that_matter"]


def interval_text(model: TreeModel, a: int, low: int, high: int, value: float) -> str:
    """Return what the cells ``low .. high`` of an attribute mean, such as ``"1 < a <= 2"``.

    Parameters
    ----------
    model : TreeModel
    a : int
        The attribute.
    low, high : int
        First and last cell; -1 for a missing value.
    value : float
        The value of x, printed where the thresholds say nothing, or where it is the only
        one listed in these cells.

    Examples
    --------
    >>> from cpx.trees import Attribute, Tree
    >>> tree = Tree([0, 0, -1, -1, -1], [1, 0, 0, 0, 0], [0] * 5, [[0.0], [1.0], [2.0]], (0,))
    >>> model = TreeModel([Attribute("a")], [0, 1], [tree], [[1, 2]], "sum", "positive", [-1])
    >>> [interval_text(model, 0, *cells, 1.5) for cells in ((0, 0), (1, 1), (1, 2), (0, 2))]
    ['a <= 1', '1 < a <= 2', 'a > 1', 'a = 1.5']
    """
    attribute = model.attributes[a]
    # Thresholds that no tree tests say nothing.
    last = int(model.sizes[a]) if a in model.used else 0
    if low == MISSING:
        return f"{attribute.name} is missing"
    listed = (0.0, 1.0) if attribute.kind == "boolean" else attribute.values
    alone = False
    if listed is not None and last:
        column = np.zeros((len(listed), model.n_attributes))
        column[:, a] = listed
        cells = model.cells(column)[:, a]
        alone = int(((low <= cells) & (cells <= high)).sum()) == 1
    if alone or (low == 0 and high == last):
        return f"{attribute.name} = {'missing' if math.isnan(value) else f'{value:g}'}"
    above = model.condition(a, low - 1, holds=False) if low else ""
    upto = model.condition(a, high) if high < last else ""
    if not above or not upto:
        return above or upto
    sign, number = above.removeprefix(attribute.name).split()
    return f"{number} {sign.replace('>', '<')} {upto}"


def sides_that_matter(
    form: LossForm,
    leaves: Leaves,
    cells: tuple[int, ...],
    sizes: tuple[int, ...],
    S: tuple[int, ...],
) -> dict[int, tuple[int, int]]:
    """Return for each attribute of S the range of cells to keep, no side of which is idle.

    One after the other, lower sides first, a side of the cell of x is given up when the trees
    still lose no more than the slack; an attribute that loses both keeps its cell.

    Parameters
    ----------
    form : LossForm
        Its leaves are those of ``leaves``.
    leaves : Leaves
    cells, sizes : tuples of d integers
        The cells of x, and the numbers of thresholds.
    S : tuple of int
        A set that holds.
    """
    ranges = {a: (cells[a], cells[a]) for a in S}
    excluded = {a: leaves.excludes[:, a] for a in S}
    for a in S:
        if cells[a] == MISSING:
            continue
        for side in (0, 1):
            low, high = (0, ranges[a][1]) if side == 0 else (ranges[a][0], sizes[a])
            out = (leaves.high[:, a] < low) | (leaves.low[:, a] > high)
            rest = [column for b, column in excluded.items() if b != a]
            if (low, high) != (0, sizes[a]) and form.keeps(np.any([out, *rest], axis=0)):
                ranges[a], excluded[a] = (low, high), out
    return ranges
