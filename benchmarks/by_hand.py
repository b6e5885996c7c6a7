"""Encodings written by hand: the clausal one for each engine's own library, others for CP-SAT.

What somebody would write who needs no second engine: plain loops over the library's
documented calls. The yardstick for the cost of stating a problem once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.models.monomial.encodings.pairs import _excess
from cpx.models.monomial.encodings.sizes import Choices, Excluded, _least_of_three
from cpx.models.monomial.encodings.triples import KnownRule
from cpx.models.monomial.problem import WeightedMonomial


class CpSat:
    """An OR-Tools ``CpModel`` with its variables, those of ``clausal`` at first."""

    def __init__(self, form: WeightedMonomial) -> None:
        from ortools.sat.python import cp_model

        self.form, self.model, self.sum = (
            form,
            cp_model.CpModel(),
            cp_model.LinearExpr.weighted_sum,
        )
        self.x = x = self.many("X", form.shape[1])
        covered, uncovered = (
            np.flatnonzero(cost) for cost in (form.cost_covered, form.cost_uncovered)
        )
        self.c, self.u = self.many("C", covered.size), self.many("U", uncovered.size)
        for i, cost in zip(covered, self.c, strict=True):
            self.model.add_bool_or([cost, *(x[j] for j in np.flatnonzero(~form.agreement[i]))])
        lost = dict(zip(uncovered, self.u, strict=True))
        for j, variable in enumerate(x):
            implied = [lost[i] for i in uncovered if not form.agreement[i, j]]
            if implied:
                self.model.add_bool_and(implied).only_enforce_if(variable)
        self.covered, self.uncovered = form.cost_covered[covered], form.cost_uncovered[uncovered]
        self.model.add(sum(x) <= form.k)
        self.cost = self.sum(
            [*self.c, *self.u], [*self.covered.tolist(), *self.uncovered.tolist()]
        )
        self.model.minimize(self.cost)

    def many(self, name: str, n: int) -> list[Any]:
        return [self.model.new_bool_var(f"{name}[{i}]") for i in range(n)]


def cpsat(form: WeightedMonomial) -> Any:
    """Return an OR-Tools ``CpModel`` of ``clausal``."""
    return CpSat(form).model


def sizes(form: WeightedMonomial) -> Any:
    """Return that of ``sizes``."""
    return _sized(form)[0].model


def _sized(form: WeightedMonomial) -> tuple[CpSat, list[Any], Excluded, Excluded]:
    made = CpSat(form)
    c, u = Excluded(form, form.cost_covered), Excluded(form, form.cost_uncovered)
    z = made.many("Z", form.k + 1)
    made.model.add(sum(z) == 1)
    made.model.add(sum(made.x) == made.sum(z, list(range(form.k + 1))))
    first, second = np.triu_indices(form.shape[1], 1)
    each, both = u.each - c.each, (u.both - c.both)[first, second]
    least = [c.total, c.total + int(each.min())]
    least.append(c.total + int((each[first] + each[second] - both).min()))
    least += [_least_of_three(u, Choices(form), min(least))] * (form.k - 2)
    made.model.add(made.cost >= made.sum(z, least))
    return made, z, c, u


def pairs(form: WeightedMonomial) -> Any:
    """Return that of ``pairs``."""
    made, z, c, u = _sized(form)
    model, x, k, d = made.model, made.x, form.k, form.shape[1]
    w = [made.many(f"W{j}", k) for j in range(d)]
    first, second = np.triu_indices(d, 1)
    y = made.many("Y", first.size)
    for r in range(1, k + 1):
        model.add(sum(w[j][r - 1] for j in range(d)) == r * z[r])
        for j in range(d):
            model.add_implication(w[j][r - 1], z[r])
    of_feature: list[list[Any]] = [[] for _ in x]
    for both, j, n in zip(y, first.tolist(), second.tolist(), strict=True):
        model.add_implication(both, x[j])
        model.add_implication(both, x[n])
        of_feature[j].append(both)
        of_feature[n].append(both)
    for j in range(d):
        model.add(sum(w[j]) == x[j])
        model.add(sum(of_feature[j]) == made.sum(w[j], list(range(k))))

    def row(least: int, *parts: tuple[list[Any], NDArray[np.int64]]) -> None:
        weights = [int(weight) for _, some in parts for weight in some]
        if sum(map(abs, weights)) + least < 2**20:
            model.add(made.sum([one for some, _ in parts for one in some], weights) >= least)

    pair_u, pair_c = u.both[first, second], c.both[first, second]
    for s in range(1, k):
        row(0, (made.u, s * (s + 1) * u.priced), (x, -2 * s * u.each), (y, 2 * pair_u))
    for r in range(1, k + 1):
        excess = np.array([c.total * _excess(r, q) for q in range(k + 1)])
        row(r * c.total, (made.c, r * c.priced), (x, r * c.each), (y, -2 * pair_c), (z, excess))
    return model


def triples(form: WeightedMonomial) -> Any:
    """Return that of ``triples``; which features are in conflict is counted by the search."""
    known, made = KnownRule(form), CpSat(form)
    model, x, (rule,) = made.model, made.x, made.many("K", 1)
    for j, variable in enumerate(x):
        model.add_implication(rule, variable if j in known.known else ~variable)
    model.add(3 * rule + sum(x) >= 3)
    for clause in known.clauses():
        model.add_bool_or([rule, *(~x[j] for j in clause)])
    return model


def maxsat(form: WeightedMonomial) -> Any:
    """Return a PySAT ``WCNF``."""
    from pysat.card import CardEnc
    from pysat.formula import WCNF, IDPool

    pool, wcnf = IDPool(), WCNF()
    x = [pool.id(("X", j)) for j in range(form.shape[1])]
    for i in np.flatnonzero(form.cost_covered):
        cost = pool.id(("C", i))
        wcnf.append([cost, *(x[j] for j in np.flatnonzero(~form.agreement[i]))])
        wcnf.append([-cost], weight=int(form.cost_covered[i]))
    for i in np.flatnonzero(form.cost_uncovered):
        lost = pool.id(("U", i))
        for j in np.flatnonzero(~form.agreement[i]):
            wcnf.append([-x[j], lost])
        wcnf.append([-lost], weight=int(form.cost_uncovered[i]))
    for clause in CardEnc.atmost(x, bound=form.k, vpool=pool).clauses:
        wcnf.append(clause)
    return wcnf


def milp(form: WeightedMonomial) -> Any:
    """Return a PuLP ``LpProblem``."""
    import pulp

    problem = pulp.LpProblem("monomial", pulp.LpMinimize)
    x = [problem.add_variable(f"X_{j}", cat="Binary") for j in range(form.shape[1])]
    terms = []
    for i in np.flatnonzero(form.cost_covered):
        cost = problem.add_variable(f"C_{i}", cat="Binary")
        problem += cost + pulp.lpSum(x[j] for j in np.flatnonzero(~form.agreement[i])) >= 1
        terms.append(int(form.cost_covered[i]) * cost)
    for i in np.flatnonzero(form.cost_uncovered):
        lost = problem.add_variable(f"U_{i}", cat="Binary")
        for j in np.flatnonzero(~form.agreement[i]):
            problem += x[j] <= lost
        terms.append(int(form.cost_uncovered[i]) * lost)
    problem += pulp.lpSum(x) <= form.k
    problem += pulp.lpSum(terms)
    return problem


BY_HAND = {
    ("cpsat", "clausal"): cpsat,
    ("maxsat", "clausal"): maxsat,
    ("milp", "clausal"): milp,
    ("cpsat", "sizes"): sizes,
    ("cpsat", "pairs"): pairs,
    ("cpsat", "triples"): triples,
}
