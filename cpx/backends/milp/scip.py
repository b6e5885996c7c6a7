"""SCIP under PuLP, with solutions and bounds while it runs, and a stop.

``pulp.SCIP_PY`` reports nothing before its end. Import this module lazily: it imports PuLP and
PySCIPOpt.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pulp
import pyscipopt
from pulp import constants

from cpx.backends.milp.watch import Watch

_EVENT, _STAGE = pyscipopt.SCIP_EVENTTYPE, pyscipopt.SCIP_STAGE
_WATCHED = _EVENT.BESTSOLFOUND | _EVENT.NODESOLVED | _EVENT.LPSOLVED | _EVENT.PRESOLVEROUND


class ScipSolver(pulp.SCIP_PY):
    """A PuLP solver: SCIP with a :class:`~cpx.backends.milp.watch.Watch`.

    watch: Told of solutions and bounds; asked whether to stop.
    warm_start: Start from the values (``varValue``) that the variables have.
    random_seed: Shift of all seeds of SCIP.
    log: Print the log of SCIP.
    threads: Not used: SCIP has one here.
    **options: What ``pulp.SCIP_PY`` takes: ``timeLimit``, ``gapRel``, ``gapAbs``.
    """

    name = "cpx SCIP"

    def __init__(
        self,
        watch: Watch | None = None,
        warm_start: bool = False,
        random_seed: int = 0,
        log: bool = False,
        threads: int = 1,
        **options: Any,
    ) -> None:
        super().__init__(msg=log, warmStart=warm_start, **options)
        self.watch, self.seed = watch or Watch(), random_seed % 2**31
        self.raw_status = ""
        self.statistics: dict[str, int] = {}

    def callSolver(self, lp: Any) -> None:
        """Run SCIP with an event handler."""
        model, columns = lp.solverModel, lp.variables()
        for i, column in enumerate(columns):
            column.index = i
        # PuLP leaves it out, and the gap that SCIP ends at is one of the whole objective.
        model.addObjoffset(lp.objective.constant)

        self._watcher = _Watcher(self.watch, columns)
        model.includeEventhdlr(self._watcher, "cpx", "solutions, bounds, stops")
        model.setParams(
            {
                "numerics/feastol": 1e-9,
                "randomization/randomseedshift": self.seed,
                "misc/catchctrlc": False,
            }
        )
        model.optimizeNogil()
        self.watch.bound(model.getDualbound())

    def findSolutionValues(self, lp: Any) -> int:
        """Read back values and status; return PuLP's code."""
        model = lp.solverModel
        self.raw_status = model.getStatus()
        self.statistics = {
            "nodes": model.getNTotalNodes(),
            "lp_iterations": model.getNLPIterations(),
        }
        found = model.getNSols() > 0
        for column in lp.variables():
            column.varValue = None
        codes = constants.LpStatusNotSolved, constants.LpSolutionNoSolutionFound
        if found:
            values = _values(model, lp.variables())
            for column, value in zip(lp.variables(), values, strict=True):
                column.varValue = float(value)
            self.watch.solution(values)
            done = self.raw_status in ("optimal", "gaplimit")
            kind = constants.LpSolutionOptimal if done else constants.LpSolutionIntegerFeasible
            codes = constants.LpStatusOptimal, kind
        elif self.raw_status == "infeasible":
            codes = constants.LpStatusInfeasible, constants.LpSolutionInfeasible
        lp.assignStatus(*codes)
        # What refers to each other waits for the collector, and with it the memory of SCIP.
        model.freeProb()
        self._watcher.model = lp.solverModel = None
        for column in lp.variables():
            column.solverVar = None
        return int(codes[0])


class _Watcher(pyscipopt.Eventhdlr):
    """Tells a watch what SCIP finds. It is no closure: these keep the models of SCIP alive."""

    def __init__(self, watch: Watch, columns: list[Any]) -> None:
        self.watch, self.columns = watch, columns

    def eventinit(self) -> None:
        self.model.catchEvent(_WATCHED, self)

    def eventexit(self) -> None:
        self.model.dropEvent(_WATCHED, self)

    def eventexec(self, event: Any) -> None:
        if event.getType() == _EVENT.BESTSOLFOUND:
            self.watch.solution(_values(self.model, self.columns))
        if event.getType() != _EVENT.PRESOLVEROUND:
            self.watch.bound(self.model.getDualbound())
        # At other times SCIP refuses to be asked.
        solving = self.model.getStage() in (_STAGE.PRESOLVING, _STAGE.SOLVING)
        if self.watch.should_stop() and solving:
            self.model.interruptSolve()


def _values(model: Any, columns: list[Any]) -> Any:
    solution = model.getBestSol()
    return np.array([solution[column.solverVar] for column in columns], dtype=np.float64)
