"""Local search over formulas: one clause at a time is replaced by the best one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cpx.models.kernel_rule.form import DNFForm
from cpx.models.kernel_rule.search.restriction import Restriction
from cpx.models.kernel_rule.search.terms import Terms
from cpx.models.monomial.search.max_weight import max_weight_monomials

__all__ = ["best_clause", "exchange", "improve", "restarts"]

Clause = tuple[int, ...]

# Weights add up to less than 2**53, with another one to less than 2**54: none is rounded.
_BITS = 54

_RESTARTS = 20
"""Restarts without a better formula after which the search ends."""


def best_clause(form: DNFForm, others: list[Clause], stop: Callable[[], bool]) -> Clause | None:
    """Return the clause that adds the greatest weight to the others: the pricing problem.

    It is a monomial of greatest weight, where what the others cover weighs nothing, and one that
    keeps the side constraints with the others. None where there is none, or ``stop`` said so
    before one was proved the best.
    """
    table, weights, literals = form.table, form.weights.copy(), form.max_literals
    weights[form.covered(others)] = 0
    side = Terms.of(form).left(others)
    found = max_weight_monomials(table, weights, literals, bits=_BITS, stop=stop, side=side)
    if found.proved and found.features == ((),):
        # A clause has a feature: only the empty one is true of a row of zeros, and with the
        # weight of this row it is worth less than all negative weight.
        table = np.vstack([table, np.zeros(table.shape[1], dtype=np.bool_)])
        worst = -int(np.maximum(weights, 0).sum()) - 1
        found = max_weight_monomials(
            table, np.append(weights, worst), literals, bits=_BITS, stop=stop, side=side
        )
    return next((features for features in found.features if features and found.proved), None)


def improve(
    form: DNFForm,
    clauses: list[Clause],
    report: Callable[[list[Clause]], None],
    stop: Callable[[], bool],
) -> list[Clause]:
    """Add clauses while the weight grows, then replace one at a time by the best of all.

    clauses: Where to start, perhaps nowhere; they may break side constraints.
    report: Told of every improvement.
    stop: Asked before every step.
    Returns: A formula that no single step improves, unless the search was stopped; or what to
        start from, where that breaks side constraints and no step leads to a formula.
    """
    value = form.value(clauses) if form.allows(clauses) else None
    idle = 0
    while not stop() and idle <= len(clauses):
        # A clause is added where there is room, else the one that was replaced longest ago goes.
        full = len(clauses) == form.max_clauses
        others = clauses[1:] if full or idle else clauses
        clause = best_clause(form, others, stop)
        if clause is None:
            break
        tried = [*others, clause]
        found = form.value(tried)
        if value is None or found > value:
            clauses, value, idle = tried, found, 0
            report(clauses)
        else:
            # Rotated, so that every clause has its turn.
            clauses, idle = [*clauses[1:], *clauses[:1]], idle + 1
    return clauses


def restarts(
    form: DNFForm,
    clauses: list[Clause],
    report: Callable[[list[Clause]], None],
    stop: Callable[[], bool],
) -> list[Clause]:
    """Drop some clauses at random and improve what is left, until nothing better comes of it.

    form, clauses, report, stop: As in :func:`improve`; ``report`` is told of all formulas, better
        or not.
    """
    rng = np.random.default_rng(0)
    # Whatever is allowed is better than what is not.
    best, value, idle = clauses, (form.allows(clauses), form.value(clauses)), 0
    while idle < _RESTARTS and not stop():
        share = int(rng.integers(1, max(2, len(best) // 2 + 1)))
        gone = {*rng.choice(len(best), min(share, len(best)), replace=False).tolist()}
        kept = [clause for at, clause in enumerate(best) if at not in gone]
        found = improve(form, kept, report, stop)
        idle += 1
        if (worth := (form.allows(found), form.value(found))) > value:
            best, value, idle = found, worth, 0
    return best


Ints = NDArray[np.int64]


def exchange(part: Restriction, among: Ints, most: int) -> tuple[Ints, int]:
    """Return up to ``most`` of some clauses, by place, and what their formula is worth.

    The first of them are exchanged one at a time, until that makes nothing better.

    among: The places of the clauses to choose from, the most promising first.
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
