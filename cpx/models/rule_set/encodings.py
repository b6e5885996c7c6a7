"""Encodings of the selection of rules: arrays in, statement out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.statement import Constraints, Statement, Values
from cpx.models.monomial.encodings.common import bools, cost
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.presolve import Presolved, presolved


def signature(form: RuleSelection) -> Statement:
    """One-sided clauses over signatures: rows that the same rules cover are one row.

    Variables: X_r, rule r is selected; U_g for each signature g whose rows are worth covering,
    C_g for each whose rows cost when covered. With w_g the net weight of the rows, R_g the rules
    that cover them, and c_r the price of a rule::

        minimise    sum_r c_r X_r  +  sum_g w_g U_g  +  sum_g -w_g C_g
        subject to  U_g  or  OR_{r in R_g} X_r          where w_g > 0
                    X_r  ->  AND_{g : r in R_g} C_g     where w_g < 0

    The other directions are left out: costs are positive, so in an optimal solution no U_g or
    C_g is true without need. Rules that no set needs (the presolve: worthless, dominated) are
    false, and count as covering nothing.

    Limits: sum_r X_r, and the sum of literals, are bounded; where the overlap is, V_g stands
    for each signature of two rules or more, and, with its weight v_g::

        not V_g  ->  sum_{r in R_g} X_r <= 1,      sum_g v_g V_g  <=  most

    Size: with G signatures, at most R + 2 G variables, one clause for each U_g, one grouped
    implication for each rule.

    Source: this package; merging rows is that of set covering with equal columns.
    """
    return _one_sided(form, presolved(form))


def channelling(form: RuleSelection) -> Statement:
    """Both sides of every row: a row is lost exactly when the set is wrong about it.

    Variables: X_r, rule r is selected; L_i, row i is lost, for each row with a cost. With R_i
    the rules that cover row i::

        minimise    sum_r c_r X_r  +  sum_i w_i L_i
        subject to  L_i  <->  not OR_{r in R_i} X_r     where row i should be covered
                    L_i  <->  OR_{r in R_i} X_r         where it should not

    Nothing is merged and no rule is left out: this is the definition, to compare with. Limits
    are stated as in :func:`signature`, with V_i <-> sum_{r in R_i} X_r >= 2 for each row.

    Size: R + m variables, m reified disjunctions.

    Source: the usual reified statement of set covering with errors.
    """
    import cpmpy as cp

    X = bools(form.shape[0], "X")
    priced = np.flatnonzero(form.weights)
    L = bools(priced.size, "L")
    stated = _choice(form, X, range(form.shape[0]))
    for lost, i in zip(L, priced, strict=True):
        covering = X[np.flatnonzero(form.covers[:, i])]
        covered = cp.any(covering) if len(covering) else False
        if form.weights[i] < 0:
            stated.under("L_i <-> OR_{r in R_i} X_r", [lost == covered])
        else:
            stated.under("L_i <-> not OR_{r in R_i} X_r", [~lost == covered])
    V, doubled, often = _overlap(form, form.covers, X, stated, both=True)

    def complete(chosen: Sequence[int]) -> Values:
        times = form.times_covered(chosen)
        wrong = (times > 0) == (form.weights < 0)
        values = {"X": _indicator(form, chosen), "L": wrong[priced].astype(np.int64)}
        return {**values, **doubled(times[often])}

    objective = cost(X, (form.prices, X), (np.abs(form.weights[priced]), L))
    return Statement(
        model=cp.Model(stated, minimize=objective),
        variables={"X": X, "L": L} | V,
        complete=complete,
        offset=form.offset,
        lines=stated.lines,
        means={"L": lambda at: f"row {priced[at]}", "V": lambda at: f"row {often[at]}"},
    )


def _one_sided(form: RuleSelection, left: Presolved) -> Statement:
    import cpmpy as cp

    from cpx.modelling.literals import all_of, any_of

    kept, merged = list(left.kept), left.form
    X = bools(form.shape[0], "X")
    covers = merged.covers
    uncovering, covering = np.flatnonzero(merged.weights > 0), np.flatnonzero(merged.weights < 0)
    U, C = bools(uncovering.size, "U"), bools(covering.size, "C")
    rules, charged = np.array(list(X), dtype=object), np.array(list(C), dtype=object)
    stated = _choice(form, X, kept)
    for u, g in zip(U, uncovering, strict=True):
        stated.under("U_g or OR_{r in R_g} X_r", [any_of([u, *rules[covers[:, g]]])])
    for r in kept:
        paid = charged[covers[r, covering]]
        if paid.size:
            implied = X[r].implies(all_of(paid))
            stated.under("X_r -> AND_{g : r in R_g} C_g", [implied])
    V, doubled, often = _overlap(merged, covers, X, stated, both=False)

    def complete(chosen: Sequence[int]) -> Values:
        rest = left.translate(chosen)
        times = merged.times_covered(rest)
        values = {
            "X": _indicator(form, rest),
            "U": (times[uncovering] == 0).astype(np.int64),
            "C": (times[covering] > 0).astype(np.int64),
        }
        return {**values, **doubled(times[often])}

    terms = [(form.prices[kept], [X[r] for r in kept])]
    terms += [(merged.weights[uncovering], U), (-merged.weights[covering], C)]
    return Statement(
        model=cp.Model(stated, minimize=cost(X, *terms)),
        variables={"X": X, "U": U, "C": C} | V,
        complete=complete,
        offset=merged.offset,
        lines=stated.lines,
        means={
            "U": lambda at: f"signature {uncovering[at]}",
            "C": lambda at: f"signature {covering[at]}",
            "V": lambda at: f"signature {often[at]}",
        },
    )


def _indicator(form: RuleSelection, chosen: Sequence[int]) -> NDArray[np.int64]:
    values = np.zeros(form.shape[0], dtype=np.int64)
    values[list(chosen)] = 1
    return values


def _choice(form: RuleSelection, X: Any, kept: Sequence[int]) -> Constraints:
    """State which rules must and must not be selected, and the limits on their numbers."""
    import cpmpy as cp
    from cpmpy.expressions.core import Operator

    R = form.shape[0]
    stated, left_out = Constraints(), set(range(R)) - set(kept) | set(form.forbidden)
    stated.under("X_r, r required", (X[r] for r in form.required))
    stated.under("not X_r, r forbidden or worthless", (~X[r] for r in sorted(left_out)))
    if form.max_rules is not None and form.max_rules < R:
        stated.under("sum_r X_r, at most max_rules", [cp.sum(X) <= form.max_rules])
    if form.max_literals is not None:
        long = np.flatnonzero(form.lengths)
        if form.lengths.sum() > form.max_literals:
            weights = form.lengths[long].tolist()
            total = Operator("wsum", [weights, [X[r] for r in long]])
            stated.under("sum_r |r| X_r, at most max_literals", [total <= form.max_literals])
    return stated


def _overlap(
    form: RuleSelection, covers: NDArray[np.bool_], X: Any, stated: Constraints, both: bool
) -> tuple[dict[str, Any], Callable[[NDArray[np.int64]], Values], NDArray[np.intp]]:
    """State the limit on the overlap; return its variables, their values, and their rows."""
    import cpmpy as cp
    from cpmpy.expressions.core import Operator

    often = np.flatnonzero((covers.sum(axis=0) > 1) & (form.counted > 0))
    if form.max_overlap is None or not often.size:
        return {}, lambda times: {}, often[:0]
    V = bools(often.size, "V")
    for v, i in zip(V, often, strict=True):
        few = cp.sum(X[np.flatnonzero(covers[:, i])]) <= 1
        said = ~v == few if both else (~v).implies(few)
        stated.under("not V_g -> sum_{r in R_g} X_r <= 1", [said])
    total = Operator("wsum", [form.counted[often].tolist(), list(V)])
    stated.under("sum_g v_g V_g, at most max_overlap", [total <= form.max_overlap])
    return {"V": V}, lambda times: {"V": (times > 1).astype(np.int64)}, often
