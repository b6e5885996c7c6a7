"""Encodings of the sets of rules that cost no more than a known one, by a bound on all sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cpx.modelling.statement import Constraints, Statement, Values
from cpx.models.rule_set.conflicts import cliques, conflicts
from cpx.models.rule_set.encodings import signature
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.near_bound import NearBound, has_bound, near_bound
from cpx.models.rule_set.payments import payments
from cpx.models.rule_set.presolve import presolved
from cpx.models.rule_set.search.multipliers import Relaxation
from cpx.support.one_thread import one_thread

_STEPS = 128
"""Of ascent, for the shares of the rules that are left."""

_DENSE = 0.75
"""Share of the pairs of rules that are in conflict from which cliques help clauses: with fewer,
cliques are small and many, and RC2 has worse solutions."""

_LARGEST_ROW = 2**20
"""Sums of coefficients from which the numbers of a row are no longer safe in floats."""


def narrowed(form: RuleSelection) -> Statement:
    """Signatures, without rules and pairs of rules that are in no set as good as a known one.

    Local searches find a set S of cost v. The bound of cost splitting, in which each row that
    should be covered pays for one rule in full, is one for all sets, for the sets with each rule,
    for those without it, and for those with two rules. So
    :func:`~cpx.models.rule_set.encodings.signature` is stated with::

        not X_r                   where all sets with r cost more than v
        X_r                       where all sets without r do
        sum_{r in Q} X_r  <=  1   where all sets with two rules of Q do

    S and all sets that cost less remain, and the optimum is that of ``signature``. What is left
    out makes the bound better, and more is left out, four times; then rows that the same rules
    cover are merged again. Cliques Q cover the pairs, where three quarters of all pairs or more
    are left out so. A known solution that costs more is completed as S.

    With side constraints, where the required rules break a limit, or of more than 2**21 pairs
    of rows that should and should not be covered, it is ``signature``.

    Size: that of ``signature``, and a row for each clique. The bound takes time proportional to
    the pairs of rows; where these times the pairs of rules are more than 2**32, no clique is
    looked for.

    Source: reduced-cost fixing is folklore of branch and bound; the bound is this package's, with
    its proof in :mod:`cpx.models.rule_set.search.cost_splitting`.
    """
    if not has_bound(form):
        return signature(form)
    with one_thread():
        near = near_bound(form)
        return _stated(form, near, _relaxation(near), _DENSE)


def bounded(form: RuleSelection) -> Statement:
    """Signatures near a bound, with what each row that should be covered pays at least.

    The statement of :func:`narrowed`, with all cliques, and::

        p_g U_g + sum_r c_rg X_r + sum_h b_hg C_h  >=  p_g      for each g where w_g > 0
        objective  >=  the bound of all sets

    Of the costs of rules and of rows that should not be covered each signature g has the shares
    c_rg and b_hg, by which the bound was found: where g is covered by a rule, it pays at least p_g
    for that one. So linear relaxations begin with the bound, and raise it as they branch. Each of
    these rows is in integers of its own. Where numbers add up to 2**20 or more the last row is
    left out, as solvers that count in floats could not be trusted with it.

    Size: that of ``narrowed``, a row for each U_g, and one with all variables that cost.

    Source: see ``narrowed``; the rows are of :mod:`cpx.models.rule_set.payments`; a bound on the
    objective as a row is folklore.
    """
    if not has_bound(form):
        return signature(form)
    from cpmpy.expressions.core import Operator

    with one_thread():
        near = near_bound(form)
        relaxation = _relaxation(near)
        stated, rest = _stated(form, near, relaxation), presolved(near.form).form
        paid = payments(rest, relaxation)
    X, U, C = (stated.variables[name] for name in "XUC")
    good = rest.weights > 0
    places, rows = np.where(good, np.cumsum(good), np.cumsum(rest.weights < 0)) - 1, Constraints()
    for g, least, r, c, h, b in paid:
        terms = [U[places[g]], *(X[i] for i in r), *(C[places[j]] for j in h)]
        total = Operator("wsum", [[least, *c.tolist(), *b.tolist()], terms])
        rows.under("p_g U_g + sum_r c_rg X_r + sum_h b_hg C_h >= p_g", [total >= least])
    cost, bound = stated.model.objective_, near.bound - stated.offset
    if int(np.abs(rest.weights).sum() + rest.prices.sum()) + abs(bound) < _LARGEST_ROW:
        rows.under("objective >= the bound", [cost >= bound])
    return replace(_with(stated, rows), relaxed=True)


def _relaxation(near: NearBound) -> Relaxation:
    """Return the bound of the sets that are left, of the rules that the presolve keeps."""
    rest, required = presolved(near.form), tuple(near.form.required)
    rules = np.setdiff1d(np.array(rest.kept, dtype=np.int64), required)
    relaxation = Relaxation(rest.form, required, rules)
    if relaxation.good.size:
        relaxation.climb(_STEPS)
        relaxation.certify()
    return relaxation


def _stated(
    form: RuleSelection, near: NearBound, relaxation: Relaxation, dense: float = 0.0
) -> Statement:
    """Return the statement of the sets that cost no more than a known one.

    dense: Share of the pairs of rules that are in conflict from which that is stated.
    """
    import cpmpy as cp

    stated, rows = signature(near.form), Constraints()
    X: Any = stated.variables["X"]
    pairs = conflicts(presolved(near.form).form, relaxation, near.cost)
    R = relaxation.rules.size
    for clique in cliques(pairs) if pairs.sum() >= dense * R * (R - 1) else []:
        few = cp.sum(X[relaxation.rules[clique]]) <= 1
        rows.under("sum_{r in Q} X_r <= 1, all pairs of Q in conflict", [few])

    def complete(chosen: Sequence[int]) -> Values:
        kept = presolved(form).translate(chosen)
        return stated.complete(near.known if form.cost(kept) > near.cost else kept)

    return replace(_with(stated, rows), complete=complete, known=near.known, bound=near.bound)


def _with(stated: Statement, rows: Constraints) -> Statement:
    """Return a statement with more constraints."""
    import cpmpy as cp

    model = cp.Model([*stated.model.constraints, *rows], minimize=stated.model.objective_)
    return replace(stated, model=model, lines=[*stated.lines, *rows.lines])
