"""One-sided clauses: the default encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cpx.models.base import Statement, Values
from cpx.models.encodings.common import bools, choice, cost

if TYPE_CHECKING:
    from cpx.models.monomial import WeightedMonomial

__all__ = ["clausal"]


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

    Size: d + m variables, one cardinality constraint, one clause of up to d + 1 literals
    per C_i, and as many binary clauses as the M_i of all U_i have elements, stated as at
    most d grouped implications.

    Source: the direction argument is folklore of one-sided (Plaisted-Greenbaum) encodings;
    Koriche et al., section 4.1, note that their negative constraints split into clauses.
    """
    import cpmpy as cp
    from cpmpy.expressions.core import Operator

    _, d = form.shape
    covering = np.flatnonzero(form.cost_covered)
    uncovering = np.flatnonzero(form.cost_uncovered)
    X, C, U = bools(d, "X"), bools(covering.size, "C"), bools(uncovering.size, "U")
    features, charged = np.array(list(X), dtype=object), np.array(list(U), dtype=object)

    constraints = choice(form, X)
    if form.k < d:
        constraints.append(cp.sum(X) <= form.k)
    for c, row in zip(C, ~form.agreement[covering], strict=True):
        constraints.append(Operator("or", [c, *features[row]]))
    if uncovering.size:
        for x, column in zip(X, ~form.agreement[uncovering].T, strict=True):
            if column.any():
                constraints.append(x.implies(Operator("and", charged[column].tolist())))

    objective = cost(X, (form.cost_covered[covering], C), (form.cost_uncovered[uncovering], U))

    def complete(chosen: Sequence[int]) -> Values:
        covered = form.covered(chosen)
        values = {"X": np.zeros(d, dtype=np.int64)}
        values["X"][list(chosen)] = 1
        values["C"] = covered[covering].astype(np.int64)
        values["U"] = (~covered[uncovering]).astype(np.int64)
        return values

    return Statement(
        model=cp.Model(constraints, minimize=objective),
        variables={"X": X, "C": C, "U": U},
        complete=complete,
    )
