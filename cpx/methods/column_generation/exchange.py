"""Local search on the errors of a set, over all rules: add, drop, and put one for another."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from cpx.methods.column_generation.beams import beams
from cpx.methods.column_generation.table import Features, Table

__all__ = ["exchange"]

_SEEDS, _WIDTH = 12, 3


def exchange(
    table: Table, chosen: Sequence[Features], k: int, price: float, seed: int, end: float
) -> list[Features]:
    """Return a set of rules of no greater zero-one loss plus price, after local steps.

    For each rule of the set, and for none, take it out: each sample that no other rule covers is
    then worth its weight, or minus it, to a new rule. The worthiest that beams find replaces
    the old one where it saves more; a rule that saves less than its price is dropped. Ends
    when no step helps, or at time ``end`` of :func:`time.monotonic`.
    """
    rng, rules = np.random.default_rng(seed), list(chosen)
    covers = [table.covered(rule) for rule in rules]
    full = table.worths(table.weights[table.own].astype(np.float64))
    improved = True
    while improved:
        improved = False
        for place in [*range(len(rules)), None]:
            if time.monotonic() > end:
                return rules
            others = [cover for i, cover in enumerate(covers) if i != place]
            free = ~np.logical_or.reduce(others) if others else np.ones(len(full), dtype=bool)
            worths = np.where(free, full, 0.0)
            old = 0.0 if place is None else max(0.0, worths[covers[place]].sum() - price)
            wanted = np.flatnonzero(worths > 0)
            found = None
            if len(wanted):
                seeds = rng.choice(wanted, min(_SEEDS, len(wanted)), replace=False)
                found = next(iter(beams(table, worths, seeds, k, _WIDTH)), None)
            cover = None if found is None else table.covered(found)
            new = -np.inf if cover is None else worths[cover].sum() - price
            if new > old:
                assert found is not None
                assert cover is not None
                if place is None:
                    rules.append(found)
                    covers.append(cover)
                else:
                    rules[place], covers[place] = found, cover
                improved = True
            elif place is not None and worths[covers[place]].sum() < price:
                del rules[place], covers[place]
                improved = True
                break
    return rules
