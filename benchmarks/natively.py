"""Hand-written models, solved through each engine's own interface.

Values are recomputed from the chosen features, as cpx does.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from benchmarks import by_hand


def cpsat(problem: Any, limit: float) -> tuple[int | None, int | None]:
    """OR-Tools, one worker: value and bound."""
    from ortools.sat.python import cp_model

    model = by_hand.cpsat(problem.form())
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = limit
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, round(solver.best_objective_bound)
    chosen = [
        j
        for j in range(problem.n_features)
        if solver.value(model.get_bool_var_from_proto_index(j))
    ]
    return _value(problem, chosen), round(solver.best_objective_bound)


def rc2(problem: Any, limit: float) -> tuple[int | None, int | None]:
    """PySAT's RC2 with the options of its MaxSAT Evaluation entry: value and bound."""
    from pysat.examples.rc2 import RC2

    with RC2(by_hand.maxsat(problem.form()), adapt=True, exhaust=True, minz=True) as engine:
        timer = threading.Timer(limit, engine.interrupt)
        timer.start()
        model = engine.compute(expect_interrupt=True)
        timer.cancel()
        value = None if model is None else _value(problem, _chosen(problem, model))
        return value, engine.cost


def lsu(problem: Any, limit: float) -> tuple[int | None, int | None]:
    """PySAT's LSU: value; it has no bound before its end."""
    from pysat.examples.lsu import LSU

    with LSU(by_hand.maxsat(problem.form()), expect_interrupt=True) as engine:
        timer = threading.Timer(limit, engine.interrupt)
        timer.start()
        found = engine.solve()
        timer.cancel()
        value = _value(problem, _chosen(problem, engine.get_model())) if found else None
        return value, value if found and engine.found_optimum() else None


def highs(problem: Any, limit: float) -> tuple[int | None, int | None]:
    """HiGHS through PuLP, one row per implication: value and bound."""
    import pulp

    model = by_hand.milp(problem.form())
    model.solve(pulp.HiGHS(msg=False, timeLimit=limit, threads=1))
    if model.sol_status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        return None, None
    values = {variable.name: variable.varValue for variable in model.variables()}
    chosen = [j for j in range(problem.n_features) if values[f"X_{j}"] > 0.5]
    bound = model.solverModel.getInfo().mip_dual_bound
    return _value(problem, chosen), int(np.ceil(bound - 1e-6))


def _chosen(problem: Any, model: list[int]) -> list[int]:
    # The features are the first variables of the hand-written model.
    true = set(model)
    return [j for j in range(problem.n_features) if j + 1 in true]


def _value(problem: Any, chosen: list[int]) -> int:
    return problem.evaluate(problem.explanation(chosen)).objective


NATIVELY = {"cpsat": cpsat, "maxsat:rc2": rc2, "maxsat:lsu": lsu, "milp:highs": highs}
