"""One-sided clauses: the default encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.statement import Statement, Values, samples
from cpx.models.monomial.encodings.common import limit_sums, needs
from cpx.models.monomial.form import WeightedMonomial

if TYPE_CHECKING:
    from cpx.modelling.blocks import BlockModel


def clausal(form: WeightedMonomial) -> Statement:
    """One-sided clauses: a sample is charged as soon as, not exactly when, it must be.

    Variables: X_j, feature j is chosen; C_i for each sample with a cost of covering;
    U_i for each sample with a cost of not covering. With M_i = {j : a_ij = 0}, the
    features on which sample i differs from x::

        minimise    sum_i cost_covered_i C_i + sum_i cost_uncovered_i U_i
        subject to  sum_j X_j <= k
                    C_i  or  OR_{j in M_i} X_j        for each C_i
                    X_j  ->  AND_{i : j in M_i} U_i   for each feature j

    The clauses force C_i when no chosen feature differs, and U_i when one does. The other
    directions are left out: costs are positive, so in an optimal solution no C_i or U_i is
    true without need, and the value of any solution is an upper bound on the loss of its S.

    Limits on coverage and precision are linear in literals that count the covered samples:
    C_i, not U_i, or a new V_i for a sample that costs nothing. Where a limit needs it, the
    other direction is added: X_j -> not C_i (so a counted sample is covered), and
    not U_i or OR_{j in M_i} X_j (so a covered sample is counted)::

        sum_i w_i [i covered]  >=  minimum weight,  <=  maximum weight
        sum_{i: s_i = 1} w_i (q - p) [i covered]  -  sum_{i: s_i = 0} w_i p [i covered]  >=  0

    for a least precision p/q.

    Size: d + m variables, one cardinality constraint, one clause of up to d + 1 literals
    per C_i, and as many binary clauses as the M_i of all U_i have elements, stated as at
    most d grouped implications. Limits add a linear constraint each, and for each sample
    whose other direction is needed as many literals as the first one has.

    Source: the direction argument is folklore of one-sided (Plaisted-Greenbaum) encodings;
    Koriche et al., section 4.1, note that their negative constraints split into clauses.
    """
    from cpx.modelling.blocks import BlockModel

    differs = ~form.agreement
    covering = np.flatnonzero(form.cost_covered)
    uncovering = np.flatnonzero(form.cost_uncovered)
    under, over = needs(form)
    free = (form.cost_covered | form.cost_uncovered) == 0
    counted = np.flatnonzero(free & (under | over))
    model = BlockModel(
        X=form.shape[1],
        C=covering.size,
        U=uncovering.size,
        **({"V": counted.size} if counted.size else {}),
    )
    X, C, U = model.numbers("X"), model.numbers("C"), model.numbers("U")
    counting = {"V": model.numbers("V")} if counted.size else {}
    # Of each row, a literal that is implied by "covered", and one that implies it. A row with
    # C_i and U_i has both; another one has one for both, whose other direction must be stated.
    high, low = np.zeros((2, form.shape[0]), dtype=np.int64)
    high[uncovering], high[covering] = -U, C
    low[covering], low[uncovering] = C, -U
    high[counted] = low[counted] = counting.get("V", [])

    _choice(form, model, X)
    if form.k < X.size:
        model.sum("sum_j X_j <= k", np.ones_like(X), X, "<=", form.k)
    model.clauses("C_i or OR_{j in M_i} X_j", C, differs[covering], X)
    # C_i says so already, U_i does not.
    unsaid = np.flatnonzero(over & (form.cost_covered == 0))
    line = "V_i or OR_{j in M_i} X_j, V_i that i is counted"
    model.clauses(line, high[unsaid], differs[unsaid], X)
    implied = np.flatnonzero(under & (form.cost_uncovered == 0))
    paid, conclusions = np.append(uncovering, implied), np.append(U, -low[implied])
    model.implications("X_j -> AND_{i : j in M_i} U_i", X, differs[paid].T, conclusions)
    for limit in limit_sums(form.limits, low, high):
        model.sum("what is covered keeps the limits", *limit)
    weights = np.append(form.cost_covered[covering], form.cost_uncovered[uncovering])
    model.minimise(weights, np.append(C, U))

    def complete(chosen: Sequence[int]) -> Values:
        covered = form.covered(chosen)
        values = {"X": np.zeros(X.size, dtype=np.int64)}
        values["X"][list(chosen)] = 1
        values["C"] = covered[covering].astype(np.int64)
        values["U"] = (~covered[uncovering]).astype(np.int64)
        if counted.size:
            values["V"] = covered[counted].astype(np.int64)
        return values

    return Statement(
        model=model,
        variables=model.variables,
        complete=complete,
        lines=model.lines,
        means={"C": samples(covering), "U": samples(uncovering), "V": samples(counted)},
    )


def _choice(form: WeightedMonomial, model: BlockModel, X: NDArray[np.int64]) -> None:
    """State what restricts the choice of features other than their number."""
    model.facts("X_j, j required", X[list(form.required)])
    model.facts("not X_j, j forbidden", -X[list(form.forbidden)])
    for group in () if form.groups is None else np.unique(form.groups):
        members = X[form.groups == group]
        if members.size > 1:
            line = "sum_{j in G} X_j <= 1, G a column"
            model.sum(line, np.ones_like(members), members, "<=", 1)
