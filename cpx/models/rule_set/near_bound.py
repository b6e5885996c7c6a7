"""The sets of rules that cost no more than a known one: what a bound leaves of a problem."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.statement import Cost
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.presolve import presolved

Ints = NDArray[np.int64]

_ROUNDS, _STEPS = 4, 32
"""Rounds of so many steps of ascent; what one leaves out makes the next one's bound better."""

_DESCENTS, _AGAIN = 50, 10
"""Local searches for the known set, from disturbed ones: at first, and after each round."""

_FIRST = 30
"""Rules for which rows pay most that are tried for a set."""

_MOST_PAIRS = 2**21
"""Pairs of good and bad rows, which the time of the bound is proportional to."""


def has_bound(form: RuleSelection) -> bool:
    """Whether there is a bound."""
    if form.side or not form.within_limits(form.required):
        return False
    return 0 < _pairs(form) <= _MOST_PAIRS


def bound_cost(form: RuleSelection, compiled: str) -> Cost:
    """Predict what the bound takes; the statement itself is small beside it."""
    return Cost(3e-6 * _pairs(form), 5.0)


def _pairs(form: RuleSelection) -> int:
    weights = presolved(form).form.weights
    return int((weights > 0).sum()) * int((weights < 0).sum())


@dataclass(frozen=True, eq=False)
class NearBound:
    """A problem without the sets that cost more than a known one.

    known, cost: The set, of rules that the presolve keeps, and what it costs.
    bound: No set costs less.
    form: The problem in which the rules of no such set are forbidden, and those of all required.
    """

    known: tuple[int, ...]
    cost: int
    bound: int
    form: RuleSelection


def near_bound(form: RuleSelection) -> NearBound:
    """Leave out the rules of no set, and require the rules of all sets, as good as a known one.

    The known set is the best of local searches, from no rules and from the rules for which rows
    pay in the shares of each round.
    """
    from cpx.models.rule_set.methods.local_search import found_by_descents
    from cpx.models.rule_set.search.multipliers import Relaxation

    known = found_by_descents(form, form.required, _DESCENTS)
    cost, left = form.cost(known), presolved(form)
    required = tuple(form.required)
    rules = np.setdiff1d(np.array(left.kept, dtype=np.int64), required)
    bound, shares = -(2**62), None
    for _ in range(_ROUNDS):
        if not rules.size:
            break
        relaxation = Relaxation(left.form, required, rules, shares)
        relaxation.climb(_STEPS)
        # Of the sets that are left; all others cost more than the known one.
        least, within, without = relaxation.certify()
        rounded = _rounded(form, required, rules[np.argsort(-relaxation.chosen(), kind="stable")])
        known = min(known, found_by_descents(form, rounded, _AGAIN), key=form.cost)
        cost = form.cost(known)
        bound, shares = max(bound, min(least, cost)), relaxation.multipliers()
        needed, possible = without > cost, within <= cost
        required = (*required, *rules[needed].tolist())
        rules = rules[possible & ~needed]
    others = set(range(form.shape[0])) - {*required, *rules.tolist()}
    near = replace(form, required=required, forbidden=tuple(sorted(others)))
    return NearBound(known, cost, bound, near)


def _rounded(form: RuleSelection, required: tuple[int, ...], rules: Ints) -> tuple[int, ...]:
    """Return the required rules and, in this order, each of the first ones that saves."""
    chosen, cost = required, form.cost(required)
    for r in rules[:_FIRST].tolist():
        more = tuple(sorted((*chosen, r)))
        if form.within_limits(more) and form.cost(more) < cost:
            chosen, cost = more, form.cost(more)
    return chosen
