"""The widest intervals of a reason's attributes that still force the class."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import product

from cpx.models.sufficient_reason.features import Spans, more_cells, spans_of
from cpx.models.sufficient_reason.sufficiency.oracle import GaveUp, SufficiencyOracle
from cpx.trees import MISSING

__all__ = ["widest_ranges"]

# Boxes times leaves: some tenths of a second.
_WORK = 10_000_000


def widest_ranges(oracle: SufficiencyOracle, attributes: Iterable[int]) -> dict[int, Spans] | None:
    """Return a range of cells for each attribute of a reason, which cannot be extended.

    One attribute after the other, its lower side first, the range is extended as far as all
    rows in all ranges have the class of x; of an attribute with set tests, each other cell is
    added that may be. An attribute that could take any value keeps its cell, unless it may be
    missing: any value of it is then more than nothing. So the later ones get what the earlier ones
    leave.

    attributes: A set of attributes.
    Returns: First and last cell of each run; -1 for a missing value. Where the oracle takes too
        long, a range is not extended further. None when the set is not known to be a reason.
    """
    patience, before = oracle.patience, oracle.boxes
    most = _WORK // sum(tree.n_leaves for tree in oracle.model.trees) + 1
    cells, sizes = oracle.cells.tolist(), oracle.model.sizes.tolist()
    ranges: dict[int, Spans] = {a: ((cells[a], cells[a]),) for a in attributes}

    def forced(a: int, low: int, high: int) -> bool:
        """Say whether all rows with a in these cells, and the others in their ranges, are."""
        others = [a for a in ranges if len(ranges[a]) > 1]
        for chosen in product(*(ranges[b] for b in others)):
            oracle.patience = most - (oracle.boxes - before)
            if oracle.patience <= 0:
                return False
            part = {b: spans[0] for b, spans in ranges.items()} | dict(zip(others, chosen))
            try:
                if not oracle.forced({**part, a: (low, high)}):
                    return False
            except GaveUp:
                return False
        return True

    try:
        if not all(forced(a, cells[a], cells[a]) for a in [*ranges][:1]):
            return None
        for a, cell in ((a, cells[a]) for a in ranges if cells[a] != MISSING):
            if oracle.model.has_sets(a):
                also = partial(_alone, partial(forced, a))
                ranges[a] = spans_of(oracle.model, a, more_cells(oracle.model, a, cell, also))
                continue
            low = _furthest(cell, 0, partial(_upto, partial(forced, a), cell))
            high = _furthest(cell, sizes[a], partial(forced, a, low))
            whole = (low, high) == (0, sizes[a]) and not oracle.model.attributes[a].missing
            ranges[a] = ((cell, cell),) if whole else ((low, high),)
        return ranges
    finally:
        oracle.patience = patience


def _alone(forced: Callable[[int, int], bool], some: set[int], cell: int) -> bool:
    """Whether rows of another cell have the class; those of the cells so far do."""
    return forced(cell, cell)


def _upto(forced: Callable[[int, int], bool], high: int, low: int) -> bool:
    return forced(low, high)


def _furthest(start: int, end: int, holds: Callable[[int], bool]) -> int:
    """Return the place nearest the end for which it holds, when it does from the start on."""
    if start == end or holds(end):
        return end
    while abs(end - start) > 1:
        middle = (start + end) // 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start
