"""Proofs about sets of rules learned among all conjunctions: prices, or all sets are counted.

Prices are those that the engine recorded, or come from column generation here. Where they do not
reach the goal, and where the search of all sets was short, the checker goes through these.
Prices come from linear problems in floating point and from the search for the conjunction that
is worth the most at them. Nothing of this is trusted: rounded prices are proved by the checker's
own rules to leave no conjunction worth more than it costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.rule_sets.record import RecordedPrices
from cpx.check.proofs.cheaper_sets import TooMany, exact
from cpx.check.proofs.document import Claim, Refused
from cpx.check.proofs.learning import Table
from cpx.check.proofs.monomials import distinct
from cpx.solving.proofs.monomials import close
from cpx.solving.proofs.rule_sets import few

__all__ = ["prove"]

_UNIT = 2**20
_ROUNDS = 200
# Conjunctions found at once.
_FOUND = 10
# What is looked at where prices do not reach the goal.
_MANY = 2**24


def prove(
    instance: Mapping[str, Any],
    goal: Claim,
    over: Callable[[], bool],
    record: Sequence[object] = (),
) -> tuple[Claim | None, list[str]]:
    """Return what was proved and the lines: the goal, or the bound that the prices reach.

    The claim is None where there was no time to show that no conjunction is worth its price.
    Refused is raised where the goal is that there is no solution, and may be where it is wrong.
    """
    table, bound = Table(instance), goal.bound
    if not isinstance(bound, int):
        raise Refused("the set without a rule is a solution")
    listed = table.listed()
    most = int((int(table.costs.sum()) + table.price) * table.scale)
    if listed and few(record, len(table.good), listed) and exact(most, bound, listed):
        return goal, ["counted"]
    for one in record:
        if isinstance(one, RecordedPrices):
            claim, lines = _by(table, bound, one.rules, _taken(table, one), one.largest, over)
            if claim == goal:
                return claim, lines
    rules = 1 if table.hamming else _rules(table, bound)
    prices, worth = _prices(table, rules, over) if rules else (np.zeros(len(table.good)), 0.0)
    claim, lines = _by(table, bound, rules, prices, worth, over)
    if claim != goal and listed and not over():
        with suppress(TooMany):
            if not table.all_sets().counted(bound, _MANY):
                raise Refused("a set costs less")
            return goal, ["counted"]
    return claim, lines


def _by(
    table: Table,
    goal: int,
    rules: int,
    prices: NDArray[np.float64],
    worth: float,
    over: Callable[[], bool],
) -> tuple[Claim | None, list[str]]:
    """Return what prices of the good samples prove, at which no conjunction is worth more."""
    reached, lines = goal, list[str]()
    if not table.hamming:
        reached = min(reached, table.few_or(rules))
        lines.append(f"rules {rules}")
        if rules == 0:
            return Claim(reached), lines
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


def _taken(table: Table, recorded: RecordedPrices) -> NDArray[np.float64]:
    """Return the prices of samples, of which those recorded are the different ones."""
    good = np.flatnonzero(table.good)
    both = np.concatenate([recorded.literals, table.literals[good]])
    _, of = distinct(np.packbits(both, axis=1))
    n, prices = len(recorded.literals), np.zeros(len(table.good))
    shares = np.zeros(of.max(initial=0) + 1)
    shares[of[:n]] = recorded.shares
    prices[good] = shares[of[n:]] * table.costs[good]
    return prices


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
