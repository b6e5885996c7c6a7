"""Proofs about sets of rules learned among all conjunctions: prices by column generation.

Prices come from linear problems in floating point and from the search for the conjunction that
is worth the most at them. Nothing of this is trusted: rounded prices are proved by the checker's
own rules to leave no conjunction worth more than it costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.document import Claim, Refused
from cpx.check.proofs.learning import Table
from cpx.solving.proofs.monomials import close

__all__ = ["prove"]

_UNIT = 2**20
_ROUNDS = 200
# Conjunctions found at once.
_FOUND = 10


def prove(
    instance: Mapping[str, Any], goal: Claim, over: Callable[[], bool]
) -> tuple[Claim | None, list[str]]:
    """Return what was proved and the lines: the goal, or the bound that the prices reach.

    The claim is None where there was no time to show that no conjunction is worth its price.
    Refused is raised where the goal is that there is no solution.
    """
    table = Table(instance)
    if not isinstance(goal.bound, int):
        raise Refused("the set without a rule is a solution")
    reached, rules, lines = goal.bound, 1, []
    if not table.hamming:
        rules = _rules(table, goal.bound)
        reached = min(reached, table.few_or(rules))
        lines.append(f"rules {rules}")
        if rules == 0:
            return Claim(reached), lines
    prices, worth = _prices(table, rules, over)
    # At these prices a conjunction may be worth a little more than it costs.
    share = min(1.0, float(table.price) / worth) if worth > 0 else 1.0
    room = 2**50 // (2 * rules * max(1, int(table.costs.sum())))
    if room == 0:
        return None, []
    unit = min(_UNIT, room) * rules
    whole = np.minimum(np.floor(prices * (share * (1 - 1e-9) * unit)), table.costs * float(unit))
    scaled = np.where(table.good, whole, 0).astype(np.int64)
    reached = min(reached, table.bound(scaled, unit))
    try:
        closed, left_open = close(table.box(scaled, unit, rules), over)
    except Refused:
        return None, []  # a conjunction is worth more: the time was too short to find it
    if left_open:
        return None, []
    used = np.flatnonzero(scaled)
    numbers = np.stack([used, scaled[used]], axis=1).reshape(-1).tolist()
    lines.append(" ".join(map(str, ["prices", unit // rules, *numbers])))
    return Claim(reached), [*lines, *closed]


def _rules(table: Table, goal: int) -> int:
    """Return the least number such that sets of more rules reach the goal."""
    if table.price == 0:
        return 0
    missing = goal - table.few_or(1)
    return max(0, 1 + math.ceil(Fraction(missing, 1) / (table.price * table.scale)))


def _prices(
    table: Table, rules: int, over: Callable[[], bool]
) -> tuple[NDArray[np.float64], float]:
    """Return prices of the good samples, and what the best conjunction is worth at them."""
    from scipy.sparse import csr_array

    from cpx.backends.linear_program import minimum
    from cpx.backends.search.max_weight import max_weight_monomials

    good, costs = table.good, table.costs
    each = np.where(good, 0.0, costs / rules)
    sets: list[tuple[int, ...]] = [()]
    prices = np.zeros(len(good))
    for _ in range(_ROUNDS):
        covers = np.stack([table.literals[:, list(one)].all(axis=1) for one in sets], axis=1)
        priced = float(table.price) + each @ covers
        each_good = np.concatenate([priced, costs[good]])
        missed: Any = csr_array(-np.hstack([covers[good], np.eye(int(good.sum()))]))
        most = np.full(each_good.size, np.inf)
        found = minimum(each_good, missed, -np.ones(int(good.sum())), most)
        if found is None:
            break
        prices[good] = np.clip(-found[1], 0, costs[good])
        best = max_weight_monomials(table.literals, prices - each, table.most, n=_FOUND, stop=over)
        worth = float(best.bound) if best.bound is not None else math.inf
        new = [one for one in best.features if one not in sets]
        if worth <= float(table.price) * (1 + 1e-7) or not new or over():
            return prices, worth
        sets += new
    return prices * 0, 0.0
