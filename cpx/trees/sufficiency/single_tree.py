"""Sufficiency for a single tree, from its leaves of other classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cpx.data.bits import minimal_sets
from cpx.trees import MISSING, TreeModel
from cpx.trees.sufficiency.grid import Grid

__all__ = ["changes_of_tree"]


def changes_of_tree(
    model: TreeModel, grid: Grid, cells: NDArray[np.int32], own: int
) -> list[int] | None:
    """Return all minimal changes, as integers of places, of a model of one tree.

    A set of attributes is a change when some leaf of another class is reached by a row that
    differs from x in these alone.

    Parameters
    ----------
    model : TreeModel
    grid : Grid
        Of the model.
    cells : (d,) array of int
        The row x.
    own : int
        Index of its class.

    Returns
    -------
    list of int, or None
        None for several trees, whose leaves do not tell.
    """
    if len(model.trees) != 1:
        return None
    (tree,), (boxes,) = model.trees, model.boxes
    values = model.exact.leaf_values[0]
    totals = np.tile(np.array(model.exact.base_values, dtype=object), (len(values), 1))
    totals[:, list(tree.outputs)] += values
    other = grid.trees[0].reachable & (model.decide(totals) != own)
    used = list(grid.used)
    at = cells[used]
    inside = (boxes.low[other][:, used] <= at) & (at <= boxes.high[other][:, used])
    differs = ~np.where(at == MISSING, boxes.missing[other][:, used], inside)
    sets = differs[minimal_sets(differs)]
    packed = np.packbits(sets, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]
