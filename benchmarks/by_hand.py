"""The clausal encoding written by hand for each engine's own library.

What somebody would write who needs no second engine: plain loops over the library's
documented calls. The yardstick for the cost of stating a problem once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cpx.models.monomial.problem import WeightedMonomial


def cpsat(form: WeightedMonomial) -> Any:
    """Return an OR-Tools ``CpModel``."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = [model.new_bool_var(f"X[{j}]") for j in range(form.shape[1])]
    costs, weights = [], []
    for i in np.flatnonzero(form.cost_covered):
        cost = model.new_bool_var(f"C[{i}]")
        model.add_bool_or([cost, *(x[j] for j in np.flatnonzero(~form.agreement[i]))])
        costs.append(cost)
        weights.append(int(form.cost_covered[i]))
    charged = np.flatnonzero(form.cost_uncovered)
    lost = {i: model.new_bool_var(f"U[{i}]") for i in charged}
    for j, variable in enumerate(x):
        implied = [lost[i] for i in charged if not form.agreement[i, j]]
        if implied:
            model.add_bool_and(implied).only_enforce_if(variable)
    costs += lost.values()
    weights += [int(form.cost_uncovered[i]) for i in charged]
    model.add(sum(x) <= form.k)
    model.minimize(cp_model.LinearExpr.weighted_sum(costs, weights))
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


BY_HAND = {"cpsat": cpsat, "maxsat": maxsat, "milp": milp}
