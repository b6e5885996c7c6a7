"""Table 1 of Koriche et al.: with the cardinality constraint as an equality, and as printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cpx.modelling.statement import Statement, Values, samples
from cpx.models.monomial.encodings.common import (
    bools,
    choice,
    cost,
    limit_constraints,
    needs,
    refuse_limits,
)
from cpx.models.monomial.form import WeightedMonomial


def channelling(form: WeightedMonomial) -> Statement:
    """Table 1 with sum X_j = K: samples are counted against the size of the rule.

    Variables: X_j, feature j is chosen; K in 0..k, the number of chosen features; L_i,
    sample i is lost, for each sample with a cost::

        minimise    sum_i (cost_uncovered_i + cost_covered_i) L_i
        subject to  sum_j X_j = K
                    L_i  <->  sum_j a_ij X_j <  K     where not covering costs (v_i = 1)
                    L_i  <->  sum_j a_ij X_j >= K     where covering costs (v_i = 0)

    Sample i is covered exactly when all K chosen features agree with it. With the equality K is
    the size of S; see :func:`~cpx.models.monomial.encodings.channelling.table1_literal` for
    what happens without it.

    Limits on coverage and precision are linear constraints over [i covered], which is L_i or
    not L_i; samples that cost nothing have an L_i of their own then, as if covering cost.

    Size: d + m Boolean variables, one integer variable, one linear constraint and m
    reified linear constraints of up to d + 1 terms.

    Source: F. Koriche, J.-M. Lagniez, S. Mengel, C. Tran: Learning Model Agnostic
    Explanations via Constraint Programming, Table 1, with (iv) as an equality. Under
    negative-only costs only (vi) remains, their "Sat".
    """
    return table1(form, exact_size=True)


def table1(form: WeightedMonomial, exact_size: bool) -> Statement:
    """State Table 1 with ``sum X_j = K`` (``exact_size``) or ``sum X_j <= K``, as printed."""
    import cpmpy as cp

    _, d = form.shape
    under, over = needs(form)
    priced = np.flatnonzero(form.cost_covered | form.cost_uncovered | under | over)
    # L_i stands for "covered" where covering costs, and where nothing does.
    positive = (form.cost_covered > 0) | (form.cost_uncovered == 0)
    X, L = bools(d, "X"), bools(priced.size, "L")
    K = cp.intvar(0, form.k, shape=(1,), name="K") if form.k else cp.cpm_array([0])
    size = K[0]

    stated = choice(form, X)
    if exact_size:
        stated.under("sum_j X_j = K", [cp.sum(X) == size])
    else:
        stated.under("sum_j X_j <= K", [cp.sum(X) <= size])
    for i, lost in zip(priced, L, strict=True):
        agreeing = np.flatnonzero(form.agreement[i])
        met = cp.sum(X[agreeing]) if agreeing.size else 0
        covered = size - met <= 0
        if positive[i]:
            stated.under("L_i <-> sum_j a_ij X_j >= K", [lost == covered])
        else:
            stated.under("L_i <-> sum_j a_ij X_j < K", [lost == ~covered])
    literals: list[Any] = [None] * form.shape[0]
    for i, lost in zip(priced, L, strict=True):
        literals[i] = lost if positive[i] else ~lost
    limits = limit_constraints(form.limits, literals, literals)
    stated.under("what is covered keeps the limits", limits)

    costs = (form.cost_covered + form.cost_uncovered)[priced]

    def complete(chosen: Sequence[int]) -> Values:
        covered = form.covered(chosen)[priced]
        values = {"X": np.zeros(d, dtype=np.int64)}
        values["X"][list(chosen)] = 1
        values["L"] = np.where(positive[priced], covered, ~covered).astype(np.int64)
        if form.k:
            values["K"] = np.array([len(chosen)], dtype=np.int64)
        return values

    variables = {"X": X, "L": L}
    if form.k:
        variables["K"] = K
    return Statement(
        model=cp.Model(stated, minimize=cost(X, (costs, L))),
        variables=variables,
        complete=complete,
        lines=stated.lines,
        means={"L": samples(priced), "K": lambda _: "the size of the rule"},
    )


def table1_literal(form: WeightedMonomial) -> Statement:
    """Table 1 as printed, sum X_j <= K: its value is *not* the loss; for study only.

    The variables and constraints of
    :func:`~cpx.models.monomial.encodings.channelling.channelling`, but for (iv)::

        sum_j X_j <= K        with K free in 0..k

    A solver may take K greater than the size of S. Then no sample meets K chosen features,
    so none counts as covered, whatever S is, and the objective falls to the weight of the
    agreeing samples. Where few samples agree that beats every real monomial, and S is
    arbitrary.

    Every solution of the faithful statement (K = size of S) is one of this statement with the
    same value, so this is a relaxation: its bound is a valid bound on the loss, its optimum
    is not attained. Results therefore recompute the loss of S and carry a warning. Limits on
    coverage and precision are refused: what counts as covered here is not what S covers.

    Source: F. Koriche, J.-M. Lagniez, S. Mengel, C. Tran: Learning Model Agnostic
    Explanations via Constraint Programming, Table 1 (iv) as printed.
    """
    refuse_limits(form.limits, "table1-literal")
    return table1(form, exact_size=False)
