"""One-sided clauses, a known rule, and the triples of which a better rule has one, with bounds."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.statement import Statement, Values
from cpx.models.monomial.encodings.clausal import clausal
from cpx.models.monomial.encodings.pairs import pairs
from cpx.models.monomial.encodings.sizes import blocks, row, say
from cpx.models.monomial.encodings.triples import KnownRule, known_rule_helps
from cpx.models.monomial.form import WeightedMonomial

_MOST_TRIPLES = 300
"""With more left, branching on them is slower than on features."""

_MOST_NONZEROS = 300_000
"""Of the rows that say which samples the triples exclude."""


def branches(form: WeightedMonomial) -> Statement:
    """Clauses, a known rule S of cost v, and which of the triples left a better rule has.

    A better rule has three features that are in no conflict, as
    :func:`~cpx.models.monomial.encodings.triples.triples` finds them. The variables of
    :func:`~cpx.models.monomial.encodings.clausal.clausal`, K, the rule is S, and T_t, it is a
    better one and has the triple t, one of them::

        minimise    sum_i cost_covered_i C_i + sum_i cost_uncovered_i U_i
        subject to  the constraints of clausal
                    K -> X_j  for j in S,    K -> not X_j  for other j
                    K + sum_t T_t = 1,    sum_{t with j} T_t <= X_j  for each j in a triple
                    sum_{t in conflict with j} T_t + X_j <= 1  for each j in a triple
                    K  or  not X_j   for features j in conflict
                    sum_{t excludes i} T_t <= U_i   for each U_i
                    objective >= v K + sum_t v_t T_t

    v_t bounds the cost of the rules with t: what two more features leave is counted, what they
    lose is at least what one of them does; with k other than 5, what three features lose.

    Where ``triples`` is ``clausal``, or more than 300 triples are left, it is
    :func:`~cpx.models.monomial.encodings.pairs.pairs`. The rows for U_i are left out where they
    would have more than 300,000 nonzeros, and the last one where its coefficients add up to 2**20.

    Size: with T triples, T + 1 variables and at most 3 d + m + 2 constraints more than
    ``clausal``.

    Source: branching on a part of the solution, stated as a constraint; no paper states it so.
    """
    if not known_rule_helps(form):
        return pairs(form)
    known = KnownRule(form)
    if known.root.k < 4 or known.left.triples is None:
        return pairs(form)
    if known.count <= 2 * _MOST_TRIPLES and len(left := known.triples()) <= _MOST_TRIPLES:
        return _stated(form, known, left)
    return replace(pairs(form), known=known.known, bound=known.bound)


def _stated(form: WeightedMonomial, known: KnownRule, left: NDArray[np.int64]) -> Statement:
    base = clausal(form)
    model = blocks(base).extended(K=1, T=len(left))
    X, K, T = (model.numbers(name) for name in "XKT")
    known.state(model)
    say(model, "K + sum_t T_t = 1", (1, [1], K), (1, np.ones_like(T), T), limit=1)
    for j in np.unique(left):
        having = 1, (left == j).any(axis=1), T
        say(model, "sum_{t with j} T_t <= X_j", having, (-1, [1], [X[j]]), operator="<=")
    fits, columns = known.fitting(left)
    place = {int(j): at for at, j in enumerate(columns)}
    for j in np.unique(left):
        apart = ~fits[:, place[int(j)]]
        if apart.any():
            line = "sum_{t in conflict with j} T_t + X_j <= 1"
            say(model, line, (1, apart, T), (1, [1], [X[j]]), operator="<=", limit=1)
    dead = -X[np.setdiff1d(known.free, left)]
    each = np.eye(dead.size, dtype=np.bool_)
    line = "K or not X_j, j in conflict"
    model.clauses(line, np.broadcast_to(K, dead.size), each, dead)
    rows = np.flatnonzero(form.cost_uncovered)
    excluded: NDArray[np.bool_] = ~np.asarray(form.agreement[rows][:, left].all(axis=2))
    if 0 < excluded.sum() <= _MOST_NONZEROS:
        for u, which in zip(model.numbers("U"), excluded, strict=True):
            if which.any():
                some = (1, which, T), (-1, [1], [u])
                say(model, "sum_{t excludes i} T_t <= U_i", *some, operator="<=")
    uncovered, covered = form.cost_uncovered, form.cost_covered
    row(
        model,
        "objective >= v K + sum_t v_t T_t",
        (1, uncovered[uncovered > 0], model.numbers("U")),
        (1, covered[covered > 0], model.numbers("C")),
        (-1, [known.value, *known.bounds(left)], [*K, *T]),
    )
    places = {tuple(triple): at for at, triple in enumerate(left.tolist())}

    def complete(chosen: Sequence[int]) -> Values:
        rule = known.irreducible(chosen)
        found = None
        if rule is not None:
            those = (places.get(some) for some in itertools.combinations(sorted(rule), 3))
            found = next((at for at in those if at is not None), None)
        values = base.complete(known.known if found is None or rule is None else rule)
        T = np.zeros(len(left), dtype=np.int64)
        T[[] if found is None else [found]] = 1
        return {**values, "K": np.array([found is None], dtype=np.int64), "T": T}

    return replace(
        base,
        model=model,
        variables=model.variables,
        complete=complete,
        known=known.known,
        bound=known.bound,
        lines=model.lines,
        means={
            **base.means,
            "K": lambda _: "the rule is the known one",
            "T": lambda at: "features " + ", ".join(map(str, left[at])),
        },
    )
