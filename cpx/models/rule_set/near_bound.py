"""Encodings of the sets of rules that cost no more than a known one, by a bound on all sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cpx.modelling.statement import Statement, Values
from cpx.models.rule_set.encodings import signature
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.presolve import presolved
from cpx.support.one_thread import one_thread

_ROUNDS, _STEPS = 4, 32
"""Rounds of so many steps of ascent; what one leaves out makes the next one's bound better."""

_DESCENTS = 10
"""Local searches for the known set, from disturbed ones."""

_MOST_PAIRS, _PAIRS_PER_SECOND = 2**21, 2**15
"""Pairs of good and bad rows, which the time of the bound is proportional to: 0.3 s for 2**17."""

_LARGEST_ROW = 2**20
"""Sums of coefficients from which the numbers of a row are no longer safe in floats."""


def narrowed(form: RuleSelection) -> Statement:
    """Signatures, without the rules that a bound shows to be in no set as good as a known one.

    A local search finds a set S of cost v. The bound of cost splitting, in which each row that
    should be covered pays for one rule in full, is one for all sets, for the sets with each rule,
    and for those without it. So :func:`~cpx.models.rule_set.encodings.signature` is stated with::

        not X_r     where all sets with r cost more than v
        X_r         where all sets without r do

    S and all sets that cost less remain, and the optimum is that of ``signature``. What is left
    out makes the bound better, and more is left out, four times; then rows that the same rules
    cover are merged again. A known solution that costs more is completed as S.

    With side constraints, where the required rules break a limit, or of more than 2**21 pairs
    of rows that should and should not be covered, it is ``signature``. No engine chooses it by
    itself above 2**15 pairs for each second of the limit.

    Size: that of ``signature``. The bound takes time proportional to the pairs.

    Source: reduced-cost fixing is folklore of branch and bound; the bound is this package's, with
    its proof in :mod:`cpx.models.rule_set.search.cost_splitting`.
    """
    return _near(form)[0] if bounded_in_time(form) else signature(form)


def bounded(form: RuleSelection) -> Statement:
    """Signatures between a bound on all sets and a known one: no gap is wide.

    The statement of :func:`narrowed`, and::

        objective  >=  the bound of all sets

    It says nothing new of sets, and engines that work by linear relaxations or domains take it as
    their bound, some hundredths below the optimum. Where numbers add up to 2**20 or more the row
    is left out, as solvers that count in floats could not be trusted with it.

    Size: that of ``narrowed``, and one row with all variables that cost.

    Source: see ``narrowed``; a bound on the objective as a row is folklore.
    """
    if not bounded_in_time(form):
        return signature(form)
    import cpmpy as cp

    stated, bound = _near(form)
    total, least = stated.model.objective_, bound - stated.offset
    rest = presolved(form).form
    if int(np.abs(rest.weights).sum() + rest.prices.sum()) + abs(least) >= _LARGEST_ROW:
        return stated
    model = cp.Model([*stated.model.constraints, total >= least], minimize=total)
    return replace(stated, model=model, lines=[*stated.lines, "objective >= the bound"])


def bounded_in_time(form: RuleSelection, seconds: float = math.inf) -> bool:
    """Whether there is a bound, and it is had in a tenth of so many seconds."""
    if form.side or not form.within_limits(form.required):
        return False
    weights = presolved(form).form.weights
    pairs = int((weights > 0).sum()) * int((weights < 0).sum())
    return 0 < pairs <= min(_MOST_PAIRS, _PAIRS_PER_SECOND * seconds)


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
    """Leave out the rules of no set, and require the rules of all sets, as good as a known one."""
    from cpx.models.rule_set.methods.local_search import found_by_descents
    from cpx.models.rule_set.search.multipliers import Relaxation

    known = found_by_descents(form, _DESCENTS)
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
        bound, shares = max(bound, min(least, cost)), relaxation.multipliers()
        needed, possible = without > cost, within <= cost
        required = (*required, *rules[needed].tolist())
        rules = rules[possible & ~needed]
    others = set(range(form.shape[0])) - {*required, *rules.tolist()}
    near = replace(form, required=required, forbidden=tuple(sorted(others)))
    return NearBound(known, cost, bound, near)


def _near(form: RuleSelection) -> tuple[Statement, int]:
    """Return the statement of the sets that cost no more than a known one, and the bound."""
    with one_thread():
        near = near_bound(form)
    stated = signature(near.form)

    def complete(chosen: Sequence[int]) -> Values:
        kept = presolved(form).translate(chosen)
        return stated.complete(near.known if form.cost(kept) > near.cost else kept)

    return replace(stated, complete=complete, known=near.known, bound=near.bound), near.bound
