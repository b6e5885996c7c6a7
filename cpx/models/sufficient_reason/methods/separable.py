"""The fewest changes of a sum of functions of one column each, as linear models are: knapsacks.

A change gives a rival class more than that of x only if what its columns gain at most, added up,
makes up for what the rival lacks on x. The lightest such columns are those of greatest gain where
all weigh the same, and a knapsack's otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.sufficiency.class_margin import differences
from cpx.trees import MISSING, TreeModel

__all__ = ["lightest_gain"]

_MOST_WEIGHT = 10_000
"""Of all columns together, up to which knapsacks of different weights are solved."""


def lightest_gain(
    model: TreeModel,
    cells: NDArray[np.int32],
    own: int,
    rivals: Iterable[int],
    cost: Mapping[int, int],
) -> tuple[int, tuple[int, ...]] | None:
    """Return columns of least weight whose gain suffices for one of some rivals, and the weight.

    No row of these rivals' classes differs from x in columns of less weight. None where some tree
    tests several columns, or no column's gain suffices.

    cells: Of x.
    own: The class of x.
    cost: What a change of each column weighs that may change.

    >>> from cpx.trees import Attribute, Tree
    >>> trees = [Tree([a, -1, -1], [0] * 3, [0] * 3, [[0], [2 - a]], (0,)) for a in (0, 1)]
    >>> names = [Attribute("a", "boolean"), Attribute("b", "boolean")]
    >>> model = TreeModel(names, [0, 1], trees, [[0.5], [0.5]], "sum", "positive", [-1.5])
    >>> lightest_gain(model, model.cells([0, 0]), 0, [1], {0: 1, 1: 1})
    (1, (0,))
    """
    tested = [{*tree.attribute[tree.attribute >= 0].tolist()} for tree in model.trees]
    whole = sum(cost.values()) if len({*cost.values()}) > 1 else 0
    if any(len(columns) > 1 for columns in tested) or whole > _MOST_WEIGHT:
        return None
    found = []
    for rival in rivals:
        values, base, need = differences(model, own, rival)
        gains, lacking = dict.fromkeys(cost, 0), need - base
        for columns, boxes, value in zip(tested, model.boxes, values):
            now = value[int(np.argmax(boxes.holding(cells)))]
            lacking -= now
            for a in columns & cost.keys():
                reached = boxes.of(a, np.flatnonzero(model.possible[a])).any(axis=1)
                if model.attributes[a].missing or cells[a] == MISSING:
                    reached |= boxes.missing[:, a]
                gains[a] += max(value[reached].tolist()) - now
        chosen = _cover(gains, cost, lacking)
        if chosen is not None:
            found.append((sum(cost[a] for a in chosen), chosen))
    return min(found, default=None)


def _cover(
    gains: Mapping[int, int], cost: Mapping[int, int], least: int
) -> tuple[int, ...] | None:
    """Return elements of least cost whose gains add up to so much; None where none do."""
    order = sorted((a for a in gains if gains[a] > 0), key=lambda a: -gains[a])
    if sum(gains[a] for a in order) < least:
        return None
    if len({cost[a] for a in order}) < 2:
        chosen, total = list[int](), 0
        while total < least:
            chosen.append(order[len(chosen)])
            total += gains[chosen[-1]]
        return tuple(sorted(chosen))
    whole = sum(cost[a] for a in order)
    # The greatest gain for each cost, and the elements that have it.
    best: list[tuple[int, tuple[int, ...]]] = [(0, ())] * (whole + 1)
    for a in order:
        for spent in range(whole, cost[a] - 1, -1):
            before = best[spent - cost[a]]
            if before[0] + gains[a] > best[spent][0]:
                best[spent] = before[0] + gains[a], (*before[1], a)
    return next(tuple(sorted(chosen)) for gain, chosen in best if gain >= least)
