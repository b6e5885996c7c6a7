"""Rows of another class that are found from x by changing one feature after the other.

That a set is no reason is shown by one such row; only where none is found all rows are decided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np

from cpx.models.sufficient_reason.judge_cells import Box, Cells

_SWEEPS = 4


def loses_nearby(
    cells: Cells, box: Box, leads: Sequence[int], base: int, enough: int, look: Callable[[], None]
) -> bool:
    """Say whether a row of a box was found on which the class of x does not lead by enough.

    Each free feature in turn takes the cell in which the lead is least while the others stay.

    leads, base, enough, look: As for :func:`~.judge_class_margin.always_wins`.
    """
    first = cells.first.tolist()
    free = np.flatnonzero(np.add.reduceat(box, cells.first[:-1], dtype=np.int64) > 1).tolist()
    row = np.zeros_like(box)
    row[cells.own] = True
    least = None
    for _ in range(_SWEEPS):
        before = least
        for j in free:
            look()
            begin, end = first[j], first[j + 1]
            row[begin:end] = box[begin:end]
            added = _by_cell(cells, row, j, begin, end, leads)
            options = np.flatnonzero(box[begin:end]).tolist()
            best = min(options, key=added.__getitem__)
            row[begin:end] = False
            row[begin + best] = True
            least = added[best]
            if base + least < enough:
                return True
        if least == before:
            return False
    return False


def _by_cell(
    cells: Cells, row: Box, j: int, begin: int, end: int, leads: Sequence[int]
) -> list[int]:
    """Return the sum of leads in each cell of a feature, all others being in one cell each."""
    always, steps, absent = 0, [0] * (end - begin + 1), 0
    for at in np.flatnonzero(cells.reached(row)).tolist():
        span = cells.spans[at].get(j)
        if span is None:
            always += leads[at]
            continue
        runs, missing = span
        for low, high in runs:
            steps[low - begin] += leads[at]
            steps[high + 1 - begin] -= leads[at]
        absent += leads[at] * missing
    found = [always + step for step in accumulate(steps[:-1])]
    found[-1] = always + absent
    return found
