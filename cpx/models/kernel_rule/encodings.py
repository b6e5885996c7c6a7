"""A formula as slots for its clauses: the encoding of kernel rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cpx.modelling.statement import Constraints, Statement, Values
from cpx.models.kernel_rule.form import DNFForm
from cpx.models.monomial.encodings.common import bools


def slots(form: DNFForm) -> Statement:
    """One slot per clause: which literals it has, and which samples it covers.

    Variables, for each slot t of D: X_tj, the clause has feature j; U_t, the slot has a clause;
    F_ti for each sample i of positive weight, the clause counts for it. Y_i, such a sample is
    gained; N_i for each sample of negative weight, it is paid for. With M_i = {j : a_ij = 0}::

        maximise    sum_i w_i Y_i  +  sum_i w_i N_i
        subject to  U_0,   U_t -> U_(t-1)
                    U_t -> OR_j X_tj,   X_tj -> U_t,   sum_j X_tj <= C
                    Y_i -> OR_t F_ti
                    F_ti -> U_t,   X_tj -> AND_{i : j in M_i} not F_ti
                    N_i  or  not U_t  or  OR_{j in M_i} X_tj

    The direction of the objective makes the other directions superfluous: no Y_i is false and
    no N_i true without need.

    Size: D (d + p + 1) + p + q variables, for p samples of positive and q of negative weight;
    a clause of up to d + 2 literals per slot and negative sample, and D d grouped implications.

    Source: the usual encoding of a DNF of bounded size, as in SAT-based learning of formulas.
    """
    import cpmpy as cp
    from cpmpy.expressions.core import Operator

    from cpx.modelling.literals import all_of, any_of

    d, D = form.table.shape[1], form.max_clauses
    gained, paid = np.flatnonzero(form.weights > 0), np.flatnonzero(form.weights < 0)
    X, U = bools(D * d, "X"), bools(D, "U")
    F, Y, N = bools(D * gained.size, "F"), bools(gained.size, "Y"), bools(paid.size, "N")
    differing = ~form.table[gained].T
    stated = Constraints()
    stated.under("U_0", [U[0]])
    for t in range(D):
        chosen = np.array(list(X[t * d : (t + 1) * d]), dtype=object)
        counts = np.array(list(F[t * gained.size : (t + 1) * gained.size]), dtype=object)
        if t:
            stated.under("U_t -> U_(t-1)", [U[t].implies(U[t - 1])])
        stated.under("U_t -> OR_j X_tj", [any_of([~U[t], *chosen])])
        if form.max_literals < d:
            stated.under("sum_j X_tj <= C", [cp.sum(chosen) <= form.max_literals])
        for x, lost in zip(chosen, differing, strict=True):
            implied = x.implies(all_of([U[t], *(~f for f in counts[lost])]))
            stated.under("X_tj -> U_t AND_{i : j in M_i} not F_ti", [implied])
        stated.under("F_ti -> U_t", (f.implies(U[t]) for f in counts))
        for n, i in zip(N, paid, strict=True):
            covers = any_of([n, ~U[t], *chosen[~form.table[i]]])
            stated.under("N_i or not U_t or OR_{j in M_i} X_tj", [covers])
    for number, y in enumerate(Y):
        stated.under("Y_i -> OR_t F_ti", [any_of([~y, *F[number :: gained.size]])])
    weights = [*form.weights[gained].tolist(), *form.weights[paid].tolist()]
    goal = Operator("wsum", [weights, [*Y, *N]])

    def complete(chosen: Sequence[int]) -> Values:
        clauses = form.clauses(chosen)
        values = {name: np.zeros(len(list(v)), dtype=np.int64) for name, v in variables.items()}
        covered = np.zeros((D, len(form.table)), dtype=np.bool_)
        for t, clause in enumerate(clauses):
            values["X"][[t * d + j for j in clause]] = 1
            values["U"][t] = 1
            covered[t] = form.table[:, clause].all(axis=1)
        values["F"][:] = covered[:, gained].ravel()
        values["Y"][:] = covered[:, gained].any(axis=0)
        values["N"][:] = covered[:, paid].any(axis=0)
        return values

    variables = {"X": X, "U": U, "F": F, "Y": Y, "N": N}
    return Statement(
        model=cp.Model(stated, maximize=goal),
        variables={name: v for name, v in variables.items() if len(list(v))},
        complete=complete,
        sense="max",
        lines=stated.lines,
        means={
            "U": lambda at: f"slot {at}",
            "F": lambda at: f"sample {gained[at % gained.size]} in slot {at // gained.size}",
            "Y": lambda at: f"sample {gained[at]}",
            "N": lambda at: f"sample {paid[at]}",
        },
    )
