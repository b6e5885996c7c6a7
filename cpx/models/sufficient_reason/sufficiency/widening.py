"""The widest intervals of a reason's attributes that still force the class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from cpx.models.sufficient_reason.features import Spans, widened_span
from cpx.models.sufficient_reason.sufficiency.oracle import GaveUp, SufficiencyOracle

__all__ = ["widest_ranges"]

# Boxes times leaves: some tenths of a second.
_WORK = 10_000_000


def widest_ranges(
    oracle: SufficiencyOracle, start: Mapping[int, tuple[int, int]]
) -> dict[int, Spans] | None:
    """Return a range of cells for each attribute of a reason, which cannot be extended.

    One attribute after the other, its lower side first, the range is extended as far as all
    rows in all ranges have the class of x; of an attribute with set tests, each other cell is
    added that may be. An attribute that could take any value keeps its cell, unless it may be
    missing: any value of it is then more than nothing. So the later ones get what the earlier ones
    leave.

    start: The cells of each attribute: that of x or, where one end of an interval is kept, all
        to one side.
    Returns: First and last cell of each run; -1 for a missing value. Where the oracle takes too
        long, a range is not extended further. None when these are not known to be a reason.
    """
    patience, before = oracle.patience, oracle.boxes
    most = _WORK // sum(tree.n_leaves for tree in oracle.model.trees) + 1
    ranges: dict[int, Spans] = {a: (span,) for a, span in start.items()}

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
        if not all(forced(a, *start[a]) for a in [*ranges][:1]):
            return None
        for a, span in start.items():
            # Of an attribute with set tests, the cells before the last one are known to be fine.
            alone = oracle.model.has_sets(a)

            def holds(some: Sequence[int], a: int = a, alone: bool = alone) -> bool:
                return forced(a, some[-1] if alone else some[0], some[-1])

            ranges[a] = widened_span(oracle.model, a, span, holds)
        return ranges
    finally:
        oracle.patience = patience
