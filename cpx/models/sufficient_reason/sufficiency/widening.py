"""The widest intervals of a reason's attributes that still force the class."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from cpx.models.sufficient_reason.sufficiency.oracle import GaveUp, SufficiencyOracle
from cpx.trees import MISSING

__all__ = ["widest_ranges"]

# Boxes times leaves: some tenths of a second.
_WORK = 10_000_000


def widest_ranges(
    oracle: SufficiencyOracle, attributes: Iterable[int]
) -> dict[int, tuple[int, int]] | None:
    """Return a range of cells for each attribute of a reason, which cannot be extended.

    One attribute after the other, its lower side first, the range is extended as far as all
    rows in all ranges have the class of x; an attribute that could take any value keeps its
    cell, unless it may be missing: any value of it is then more than nothing. So the later ones
    get what the earlier ones leave.

    attributes: A set of attributes.
    Returns: First and last cell; -1 for a missing value. Where the oracle takes too long, a range
        is not extended further. None when the set is not known to be a reason.
    """
    patience, before = oracle.patience, oracle.boxes
    most = _WORK // sum(tree.n_leaves for tree in oracle.model.trees) + 1
    cells, sizes = oracle.cells.tolist(), oracle.model.sizes.tolist()
    ranges = {a: (cells[a], cells[a]) for a in attributes}

    def forced(a: int, side: int, end: int) -> bool:
        oracle.patience = most - (oracle.boxes - before)
        if oracle.patience <= 0:
            return False
        low, high = ranges[a]
        try:
            return oracle.forced({**ranges, a: (low, end) if side else (end, high)})
        except GaveUp:
            return False

    try:
        if not all(forced(a, 0, cells[a]) for a in [*ranges][:1]):
            return None
        ordered = (a for a in ranges if not oracle.model.has_sets(a))
        for a, cell in ((a, cells[a]) for a in ordered if cells[a] != MISSING):
            ranges[a] = (_furthest(cell, 0, partial(forced, a, 0)), cell)
            ranges[a] = (ranges[a][0], _furthest(cell, sizes[a], partial(forced, a, 1)))
            if ranges[a] == (0, sizes[a]) and not oracle.model.attributes[a].missing:
                ranges[a] = (cell, cell)
        return ranges
    finally:
        oracle.patience = patience


def _furthest(start: int, end: int, holds: Callable[[int], bool]) -> int:
    """Return the place nearest the end for which it holds, when it does from the start on."""
    if start == end or holds(end):
        return end
    while abs(end - start) > 1:
        middle = (start + end) // 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start
