"""Encoding by reified constraints: coverage as equivalences, which CPMpy compiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cpx.modelling.statement import Statement, Values, samples
from cpx.models.monomial.encodings.common import bools, choice, cost, limit_constraints, needs
from cpx.models.monomial.form import WeightedMonomial


def reified(form: WeightedMonomial) -> Statement:
    """Equivalences: covered_i is defined as "no chosen feature mismatches".

    Variables: X_j, feature j is chosen; V_i, sample i is covered, for each sample with a
    cost. With M_i = {j : a_ij = 0}::

        minimise    sum_i (cost_covered_i - cost_uncovered_i) V_i  +  sum_i cost_uncovered_i
        subject to  sum_j X_j <= k
                    V_i  <->  not OR_{j in M_i} X_j    for each V_i

    The constant of the objective is the statement's offset. This is the definition of
    coverage word for word (S covers i when a_ij = 1 for all j in S), both directions, and the
    compilation is left to CPMpy; it is the reference the faster encodings are tested against.

    Limits on coverage and precision are linear constraints over the V_i; then the samples
    that cost nothing have one as well.

    Size: d + m variables and m equivalences, each of which becomes one clause over M_i and
    one binary clause per element of M_i.

    Source: the definition of coverage; no paper states it so.
    """
    import cpmpy as cp

    _, d = form.shape
    under, over = needs(form)
    priced = np.flatnonzero(form.cost_covered | form.cost_uncovered | under | over)
    X, V = bools(d, "X"), bools(priced.size, "V")

    stated = choice(form, X)
    if form.k < d:
        stated.under("sum_j X_j <= k", [cp.sum(X) <= form.k])
    for covered, row in zip(V, ~form.agreement[priced], strict=True):
        mismatching = X[np.flatnonzero(row)]
        defined = covered == ~cp.any(mismatching) if len(mismatching) else covered
        stated.under("V_i <-> not OR_{j in M_i} X_j", [defined])

    literals: list[Any] = [None] * form.shape[0]
    for i, covered in zip(priced, V, strict=True):
        literals[i] = covered
    limits = limit_constraints(form.limits, literals, literals)
    stated.under("what is covered keeps the limits", limits)

    net = form.cost_covered[priced] - form.cost_uncovered[priced]

    def complete(chosen: Sequence[int]) -> Values:
        values = {"X": np.zeros(d, dtype=np.int64)}
        values["X"][list(chosen)] = 1
        values["V"] = form.covered(chosen)[priced].astype(np.int64)
        return values

    return Statement(
        model=cp.Model(stated, minimize=cost(X, (net, V))),
        variables={"X": X, "V": V},
        complete=complete,
        offset=int(form.cost_uncovered.sum()),
        lines=stated.lines,
        means={"V": samples(priced)},
    )
