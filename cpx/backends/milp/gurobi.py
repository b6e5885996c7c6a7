"""Gurobi under PuLP, with solutions and bounds while it runs, and a stop.

``pulp.GUROBI`` reports nothing before its end, and no solution of a run that was stopped. Import
this module lazily: it imports PuLP and gurobipy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pulp
from gurobipy import GRB
from pulp import constants

from cpx.backends.milp.watch import Watch


class GurobiSolver(pulp.GUROBI):
    """A PuLP solver: Gurobi with a :class:`~cpx.backends.milp.watch.Watch`.

    watch: Told of solutions and bounds; asked whether to stop.
    warm_start: Start from the values (``varValue``) that the variables have.
    random_seed, threads, gapAbs: As Gurobi's ``Seed``, ``Threads`` and ``MIPGapAbs``.
    log: Print the log of Gurobi.
    **options: What ``pulp.GUROBI`` takes: ``timeLimit``, ``gapRel``, parameters of Gurobi.
    """

    name = "cpx Gurobi"

    def __init__(
        self,
        watch: Watch | None = None,
        warm_start: bool = False,
        random_seed: int = 0,
        threads: int = 1,
        gapRel: float = 0.0,
        gapAbs: float = 0.0,
        log: bool = False,
        **options: Any,
    ) -> None:
        # PuLP leaves Gurobi its own gap, 1e-4, where 0 is asked for.
        own: dict[str, Any] = {
            "OutputFlag": int(log),
            "MIPGap": gapRel,
            "MIPGapAbs": gapAbs,
            "Threads": threads,
        }
        own |= {
            "Threads": threads,
            "Seed": random_seed % 2**31,
            "IntFeasTol": 1e-9,
            "FeasibilityTol": 1e-9,
        }
        super().__init__(msg=log, warmStart=warm_start, **own, **options)
        self.watch = watch or Watch()
        self.raw_status = ""
        self.statistics: dict[str, int] = {}

    def callSolver(self, lp: Any, callback: Any = None) -> None:
        """Run Gurobi with a callback."""
        watch, columns = self.watch, lp.variables()
        for i, column in enumerate(columns):
            column.index = i
        # PuLP leaves it out, and the gap that Gurobi ends at is one of the whole objective.
        lp.solverModel.ObjCon = lp.objective.constant
        events = GRB.Callback

        def happened(model: Any, where: int) -> None:
            if where == events.MIPSOL:
                found = model.cbGetSolution([column.solverVar for column in columns])
                watch.solution(np.array(found, dtype=np.float64))
                watch.bound(model.cbGet(events.MIPSOL_OBJBND))
            elif where == events.MIP:
                watch.bound(model.cbGet(events.MIP_OBJBND))
            if watch.should_stop():
                model.terminate()

        lp.solverModel.optimize(happened)
        if lp.solverModel.IsMIP:
            watch.bound(lp.solverModel.ObjBound)

    def findSolutionValues(self, lp: Any) -> int:
        """Read back values and status; return PuLP's code."""
        model, columns = lp.solverModel, lp.variables()
        words = {getattr(GRB, word): word for word in ("OPTIMAL", "INFEASIBLE", "TIME_LIMIT")}
        self.raw_status = words.get(model.Status, f"status {model.Status}")
        self.statistics = {
            "nodes": int(model.NodeCount),
            "lp_iterations": int(model.IterCount),
        }
        found = model.SolCount > 0
        for column in columns:
            column.varValue = column.solverVar.X if found else None
        codes = constants.LpStatusNotSolved, constants.LpSolutionNoSolutionFound
        if found:
            self.watch.solution(np.array([c.varValue for c in columns], dtype=np.float64))
            done = model.Status == GRB.OPTIMAL
            kind = constants.LpSolutionOptimal if done else constants.LpSolutionIntegerFeasible
            codes = constants.LpStatusOptimal, kind
        elif model.Status in (GRB.INFEASIBLE, GRB.INF_OR_UNBD):  # all columns have limits
            codes = constants.LpStatusInfeasible, constants.LpSolutionInfeasible
        lp.assignStatus(*codes)
        return int(codes[0])
