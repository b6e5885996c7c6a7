"""One-sided clauses: the default encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.statement import Statement, Values, samples
from cpx.models.monomial.encodings.common import bools, choice, cost, limit_constraints, needs
from cpx.models.monomial.form import WeightedMonomial


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
    import cpmpy as cp

    from cpx.modelling.literals import all_of, any_of

    _, d = form.shape
    covering = np.flatnonzero(form.cost_covered)
    uncovering = np.flatnonzero(form.cost_uncovered)
    under, over = needs(form)
    free = np.flatnonzero((form.cost_covered | form.cost_uncovered) == 0)
    counted = free[(under | over)[free]]
    X, C, U = bools(d, "X"), bools(covering.size, "C"), bools(uncovering.size, "U")
    V = bools(counted.size, "V")
    features, charged = np.array(list(X), dtype=object), np.array(list(U), dtype=object)
    # Of each row, a literal that is implied by "covered", and one that implies it.
    high, low = _literals(form, (covering, C), (uncovering, U), (counted, V))

    stated = choice(form, X)
    if form.k < d:
        stated.under("sum_j X_j <= k", [cp.sum(X) <= form.k])
    rows = zip(C, ~form.agreement[covering], strict=True)
    stated.under("C_i or OR_{j in M_i} X_j", (any_of([c, *features[row]]) for c, row in rows))
    # C_i says so already, U_i does not.
    unsaid = np.flatnonzero(over & (form.cost_covered == 0))
    stated.under(
        "V_i or OR_{j in M_i} X_j, V_i that i is counted",
        (any_of([high[i], *features[~form.agreement[i]]]) for i in unsaid),
    )
    implied = np.flatnonzero(under & (form.cost_uncovered == 0))
    if uncovering.size or implied.size:
        differing, dropping = ~form.agreement[uncovering].T, ~form.agreement[implied].T
        for x, paid, dropped in zip(X, differing, dropping, strict=True):
            if paid.any() or dropped.any():
                conclusions = [*charged[paid], *(~low[i] for i in implied[dropped])]
                stated.under("X_j -> AND_{i : j in M_i} U_i", [x.implies(all_of(conclusions))])
    stated.under("what is covered keeps the limits", limit_constraints(form.limits, low, high))

    objective = cost(X, (form.cost_covered[covering], C), (form.cost_uncovered[uncovering], U))

    def complete(chosen: Sequence[int]) -> Values:
        covered = form.covered(chosen)
        values = {"X": np.zeros(d, dtype=np.int64)}
        values["X"][list(chosen)] = 1
        values["C"] = covered[covering].astype(np.int64)
        values["U"] = (~covered[uncovering]).astype(np.int64)
        if counted.size:
            values["V"] = covered[counted].astype(np.int64)
        return values

    variables = {"X": X, "C": C, "U": U}
    if counted.size:
        variables["V"] = V
    return Statement(
        model=cp.Model(stated, minimize=objective),
        variables=variables,
        complete=complete,
        lines=stated.lines,
        means={"C": samples(covering), "U": samples(uncovering), "V": samples(counted)},
    )


def _literals(
    form: WeightedMonomial, *arrays: tuple[NDArray[np.int64], Any]
) -> tuple[list[Any], list[Any]]:
    """Return per row the literals ``high`` (implied by "covered") and ``low`` (implying it).

    A row with C_i and U_i has both one-sided literals already; another one has one literal
    for both, and the direction it lacks must be stated.
    """
    (covering, C), (uncovering, U), (counted, V) = arrays
    high: list[Any] = [None] * form.shape[0]
    low = list(high)
    if form.limits is None:
        return high, low
    for i, u in zip(uncovering, U, strict=True):
        high[i] = low[i] = ~u
    for i, c in zip(covering, C, strict=True):
        high[i] = c
        low[i] = c if low[i] is None else low[i]
    for i, v in zip(counted, V, strict=True):
        high[i] = low[i] = v
    return high, low
