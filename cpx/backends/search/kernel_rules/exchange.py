"""Better formulas: one clause after the other is exchanged for the best of some."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.kernel_rules.restriction import Part

__all__ = ["exchange"]

Ints = NDArray[np.int64]


def exchange(part: Part, among: Ints, most: int) -> tuple[Ints, int]:
    """Return up to ``most`` of some clauses, by place, and what their formula is worth.

    The first of them are exchanged one at a time, until that makes nothing better.

    Parameters
    ----------
    part : Part
    among : ndarray of int64
        The places of the clauses to choose from, the most promising first.
    most : int
    """
    # Sums of weights are below 2**53, so exact in floats, which have fast products.
    having, hitting = part.tables(among)
    inside, outside = having.astype(np.float64), hitting.astype(np.float64)
    gains, costs = part.gains.astype(np.float64), part.costs.astype(np.float64)
    chosen = list(range(min(most, among.size)))
    idle = 0
    while idle <= len(chosen):
        full = len(chosen) == most
        kept = chosen[1:] if full or idle else chosen
        gained = gains * ~having[kept].any(axis=0)
        paid = costs * ~hitting[kept].any(axis=0)
        nets = inside @ gained - outside @ paid
        best = int(nets.argmax())
        worth = 0.0 if kept is chosen else float(nets[chosen[0]])
        if nets[best] > worth:
            chosen, idle = [*kept, best], 0
        else:
            chosen, idle = [*chosen[1:], *chosen[:1]], idle + 1
    covered, hit = (table[chosen].any(axis=0) for table in (having, hitting))
    return among[chosen], int(part.gains[covered].sum() - part.costs[hit].sum())
