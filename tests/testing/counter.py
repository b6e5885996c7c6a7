"""A sequential counter for the number of features, as a student would write it."""

from __future__ import annotations

from typing import Any

import cpmpy as cp
import numpy as np

from cpx.models import Statement
from cpx.models.monomial.encodings.common import bools, choice, cost


def counter(form: Any) -> Statement:
    """S_jc, more than c of the features up to j are chosen; for rules without limits."""
    (m, d), k = form.shape, form.k
    X, V, S = bools(d, "X"), bools(m, "V"), cp.boolvar(shape=(d, max(1, k)), name="S")
    rows = choice(form, X)
    for i in range(m):
        differing = X[~form.agreement[i]]
        rows.append(V[i] == ~cp.any(list(differing)) if len(differing) else V[i])
    for j in range(d):
        rows.append(X[j].implies(S[j, 0]) if k else ~X[j])
    for j in range(1, d):
        for c in range(k):
            rows.append(S[j - 1, c].implies(S[j, c]))
            if c:
                rows.append((X[j] & S[j - 1, c - 1]).implies(S[j, c]))
        if k:
            rows.append(X[j].implies(~S[j - 1, k - 1]))
    total = cost(X, (form.cost_covered - form.cost_uncovered, V))

    def complete(chosen: Any) -> dict[str, Any]:
        chosen_ones = np.isin(np.arange(d), chosen).astype(int)
        counted = np.cumsum(chosen_ones)[:, None] > np.arange(max(1, k))
        return {"X": chosen_ones, "V": form.covered(chosen).astype(int), "S": counted.astype(int)}

    arrays = {"X": X, "V": V, "S": S}
    offset = int(form.cost_uncovered.sum())
    return Statement(cp.Model(rows, minimize=total), arrays, complete, offset=offset)
