"""CPLEX, COPT, Xpress and MOSEK by PuLP: solvers that answer at their end only.

PuLP builds the model, solves and reads back. What it says of a run that was stopped is not
believed: for CPLEX, "no solution within the limit" comes out as "infeasible". Import this module
lazily: it imports PuLP.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pulp
from pulp import constants

from cpx.backends.milp.pulp_objective import with_constant
from cpx.backends.milp.watch import Watch


class _Known(NamedTuple):
    pulp: str
    """Its name in PuLP."""
    bound: Callable[[Any], float]
    """From the native model to its bound."""
    word: Callable[[Any], object]
    """From the native model to its own status."""
    parameters: Callable[[float, int, int], dict[str, Any]]
    """What PuLP's class takes for an absolute gap, threads and a seed."""


def _mosek_bound(task: Any) -> float:
    import mosek

    return float(task.getdouinf(mosek.dinfitem.mio_obj_bound))


def _mosek_parameters(gap: float, threads: int, seed: int) -> dict[str, Any]:
    import mosek

    return {
        "options": {
            mosek.dparam.mio_tol_abs_gap: gap,
            mosek.dparam.mio_tol_rel_gap: 0.0,
            mosek.iparam.num_threads: threads,
            mosek.iparam.mio_seed: seed,
        }
    }


KNOWN = {
    "cplex": _Known(
        "CPLEX_PY",
        lambda model: float(model.solution.MIP.get_best_objective()),
        lambda model: model.solution.get_status_string(),
        lambda gap, threads, seed: {"threads": threads},
    ),
    "copt": _Known(
        "COPT",
        lambda model: float(model.bestbnd),
        lambda model: f"status {model.status}",
        lambda gap, threads, seed: {"AbsGap": gap, "Threads": threads},
    ),
    "xpress": _Known(
        "XPRESS_PY",
        lambda model: float(model.attributes.bestbound),
        lambda model: f"{model.attributes.solstatus}".rpartition(".")[2],
        lambda gap, threads, seed: {
            "options": [
                ("mipabsstop", gap),
                ("threads", threads),
                ("randomseed", seed),
            ]
        },
    ),
    "mosek": _Known("MOSEK", _mosek_bound, lambda task: "", _mosek_parameters),
}
"""By the names that they have here."""


class EndSolver(pulp.LpSolver):
    """A PuLP solver around one of PuLP's own.

    which: One of :data:`KNOWN`.
    watch: Told of the solution and the bound at the end; asked whether the run was stopped.
    warm_start: Start from the values that the variables have, where PuLP can hand them over.
    timeLimit, gapRel, gapAbs, threads, random_seed, log: As for the other solvers here.
    """

    name = "cpx, at the end"

    def __init__(
        self,
        which: str,
        watch: Watch | None = None,
        warm_start: bool = False,
        timeLimit: float | None = None,
        gapRel: float = 0.0,
        gapAbs: float = 0.0,
        threads: int = 1,
        random_seed: int = 0,
        log: bool = False,
    ) -> None:
        super().__init__(msg=log, timeLimit=timeLimit)
        self._known, self.watch, self.raw_status = KNOWN[which], watch or Watch(), ""
        options = {"msg": log, "timeLimit": timeLimit, "gapRel": gapRel, "warmStart": warm_start}
        options |= self._known.parameters(gapAbs, threads, random_seed % 2**31)
        cls = getattr(pulp, self._known.pulp)
        taken = inspect.signature(cls.__init__).parameters
        every = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in taken.values())
        self._solver = cls(**{k: v for k, v in options.items() if every or k in taken})

    def available(self) -> bool:
        """Whether PuLP finds it and its licence."""
        return bool(self._solver.available())

    def actualSolve(self, lp: Any) -> int:
        """Solve with PuLP's class, and read its words again; called by ``LpProblem.solve``."""
        if not self.available():
            raise pulp.PulpSolverError(f"{self._known.pulp}: no library, or no licence")
        columns = list(lp.variables())
        for i, column in enumerate(columns):
            column.index = i
        work = with_constant(lp)
        self._solver.actualSolve(work)
        native = work.solverModel
        self.raw_status = str(self._known.word(native)) or str(constants.LpStatus[work.status])
        stopped = self.watch.should_stop()
        codes = constants.LpStatusNotSolved, constants.LpSolutionNoSolutionFound
        if work.sol_status in (constants.LpSolutionOptimal, constants.LpSolutionIntegerFeasible):
            done = work.sol_status == constants.LpSolutionOptimal and not stopped
            kind = constants.LpSolutionOptimal if done else constants.LpSolutionIntegerFeasible
            codes = constants.LpStatusOptimal, kind
            self.watch.solution(np.array([c.varValue for c in columns], dtype=np.float64))
            self.watch.bound(self._known.bound(native))
        elif work.sol_status == constants.LpSolutionInfeasible and not stopped:
            codes = constants.LpStatusInfeasible, constants.LpSolutionInfeasible
        lp.assignStatus(*codes)
        return int(codes[0])
