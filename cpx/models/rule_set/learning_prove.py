"""Proofs about sets of rules learned among all conjunctions: prices, or all sets are counted.

Prices are those that the engine recorded, or come from column generation here. Where they do not
reach the goal, and where the search of all sets was short, the checker goes through these.
Prices come from linear problems in floating point and from the search for the conjunction that
is worth the most at them. They are rounded, and proved by the checker's own rules to leave no
conjunction worth more than sets of few rules may cost. Those that the engine recorded were priced
by the exact search, and the checker is the first to look at them again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.document import Claim, Refused
from cpx.models.monomial.proof_check import distinct
from cpx.models.monomial.prove import close
from cpx.models.rule_set.learning_proof_check import Table
from cpx.models.rule_set.proof_cheaper_sets import TooMany, exact
from cpx.models.rule_set.prove import few
from cpx.models.rule_set.search.record import RecordedPrices

__all__ = ["prove"]

_UNIT = 2**20
_ROUNDS = 200
# Conjunctions found at once.
_FOUND = 10
# Floating point has a little less, or more, than what is meant.
_NEAR = 1e-6
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
    rules, recorded = _rules(table, bound), False
    for one in record:
        if isinstance(one, RecordedPrices):
            recorded = True
            most = rules if table.hamming else one.rules
            prices = _taken(table, one)
            claim, lines = _by(table, bound, most, prices, one.largest, over, trusted=True)
            if claim == goal:
                return claim, lines
    # Where the engine found no prices, it has gone through sets of rules.
    if recorded and listed and _counted(table, bound):
        return goal, ["counted"]
    prices, worth = np.zeros(len(table.good)), 0.0
    if rules > 0:
        prices, worth = _prices(table, 1 if table.hamming else rules, over)
    claim, lines = _by(table, bound, rules, prices, worth, over)
    if claim != goal and not recorded and listed and not over() and _counted(table, bound):
        return goal, ["counted"]
    return claim, lines


def _counted(table: Table, goal: int) -> bool:
    """Whether the sets that may cost less than the goal are few, and none does."""
    try:
        none = table.all_sets().counted(goal, _MANY)
    except TooMany:
        return False
    if not none:
        raise Refused("a set costs less")
    return True


def _by(
    table: Table,
    goal: int,
    rules: int,
    prices: NDArray[np.float64],
    worth: float,
    over: Callable[[], bool],
    trusted: bool = False,
) -> tuple[Claim | None, list[str]]:
    """Return what prices of the good samples prove, at which no conjunction is worth more.

    Sets of more rules are set aside. If that is ``trusted``, conjunctions are left to the checker,
    where it does not depend on how prices are rounded.
    """
    reached, shared = min(goal, table.few_or(rules)), 1 if table.hamming else rules
    if rules == 0:
        return Claim(reached), ["up-to 0"]
    room = 2**50 // (2 * shared * max(1, int(table.costs.sum())))
    if room == 0:
        return None, []
    unit, price = min(_UNIT, room) * shared, float(table.price)
    # As much of the prices as leaves no conjunction worth more than it costs; or all of them.
    share = min(1.0, price / worth) if worth > 0 else 1.0
    if (1 - share) * float(prices.sum()) > rules * (worth - price):
        share = 1.0
    whole = np.minimum(np.floor(prices * (share * unit) + _NEAR), table.costs * float(unit))
    scaled = np.where(table.good, whole, 0).astype(np.int64)
    spare = price - share * worth
    value = float(scaled.sum()) / unit + min(spare, rules * spare)
    reached = min(reached, math.ceil(value * table.scale - _NEAR))
    most = table.most_worth(scaled, unit, rules, reached)
    # Each price is rounded up by less than 1.
    trusted &= share * worth * unit + len(scaled) < most
    try:
        box = table.box(scaled, unit, shared, most)
        closed, left_open = close(box, over, trusted=trusted)
    except Refused:
        return None, []  # a conjunction is worth more: the time was too short to find it
    if left_open:
        return None, []
    used = np.flatnonzero(scaled)
    numbers = np.stack([used, scaled[used]], axis=1).reshape(-1).tolist()
    named = " ".join(map(str, ["prices", unit // shared, *numbers]))
    return Claim(reached), [f"up-to {rules}", named, *closed]


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
    most = int(np.count_nonzero(table.different[1]))
    if table.price == 0:
        return most
    errors = int(table.different.min(axis=0).sum())
    missing = Fraction(goal, table.scale) - errors - table.price
    return max(0, min(most, math.ceil(missing / table.price)))


def _prices(
    table: Table, rules: int, over: Callable[[], bool]
) -> tuple[NDArray[np.float64], float]:
    """Return prices of the good samples, and what the best conjunction is worth at them."""
    from scipy.sparse import csr_array

    from cpx.backends.linear_program import minimum
    from cpx.models.monomial.search.max_weight import max_weight_monomials

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
