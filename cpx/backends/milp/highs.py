"""HiGHS under PuLP, with events, an interrupt, a start and a model passed in bulk.

``pulp.HiGHS`` adds rows one by one, reports nothing before the end, drops the constant of
the objective and fails where HiGHS stops without a solution. Import this module lazily: it
imports PuLP and highspy.

Sources: ``pulp/apis/highs_api.py`` (PuLP 3.3); HiGHS documentation, "Callbacks".
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import highspy
import numpy as np
import pulp
from pulp import constants

from cpx.backends.milp.watch import Watch
from cpx.errors import InvalidOption, shown
from cpx.options import EngineOption

_KINDS = highspy.cb.HighsCallbackType
_EVENTS = [
    _KINDS.kCallbackMipImprovingSolution,
    _KINDS.kCallbackMipInterrupt,
    _KINDS.kCallbackMipLogging,
    _KINDS.kCallbackSimplexInterrupt,
    _KINDS.kCallbackIpmInterrupt,
]
_MIP_EVENTS = frozenset(_EVENTS[:3])
# Options of these families change how HiGHS searches; those of the second line what it claims,
# or have names of ours.
_FAMILIES = ("mip_", "simplex_", "ipm_", "presolve", "parallel", "run_crossover")
_NOT_OPTIONS = ("tolerance", "gap", "logging", "report")
_SPARE = 1e-9  # a fraction of a second that is still a legal time limit


def options() -> Mapping[str, EngineOption]:
    """Return the options of HiGHS that change how it searches, as this version has them."""
    default = highspy.HighsOptions()
    found = {
        name: EngineOption(type(getattr(default, name)))
        for name in dir(default)
        if name.startswith(_FAMILIES) and not any(word in name for word in _NOT_OPTIONS)
    }
    # First-order methods are exact to a few digits only.
    return {**found, "solver": EngineOption(str, choices=("choose", "simplex", "ipm"))}


class HighsSolver(pulp.HiGHS):
    """A PuLP solver: HiGHS with a :class:`~cpx.backends.milp.watch.Watch`.

    watch: Told of solutions and bounds; asked whether to stop.
    warm_start: Start from the values (``varValue``) that the variables have. Values for a part of
        the variables are completed by HiGHS.
    log: Print the log of HiGHS.
    **options: What ``pulp.HiGHS`` takes: ``timeLimit``, ``threads``, ``gapRel``, ``gapAbs``, and
        options of HiGHS by their own names, such as ``random_seed``.
    raw_status: The model status of HiGHS after the run.
    dual_bound: Its bound after the run, in the sense and with the constant of the problem.
    statistics: Nodes and iterations of the run.
    """

    name = "cpx HiGHS"

    def __init__(
        self,
        watch: Watch | None = None,
        warm_start: bool = False,
        log: bool = False,
        **options: Any,
    ):
        super().__init__(
            msg=log,
            callbackTuple=(self._on_event, None),
            callbacksToActivate=_EVENTS,
            **options,
        )
        self.watch = watch or Watch()
        self.warm_start = warm_start
        self.raw_status = ""
        self.dual_bound: float | None = None
        self.statistics: dict[str, int] = {}
        self._sign = 1.0
        self._reported: float | None = None
        self._failure: BaseException | None = None

    def actualSolve(self, lp: Any) -> int:
        """Build, run and read back; called by ``LpProblem.solve``."""
        self._started = time.perf_counter()
        self._reported, self._failure, self.dual_bound = None, None, None
        status: int = super().actualSolve(lp)
        return status

    def buildSolverModel(self, lp: Any) -> None:
        """Pass the whole problem at once, as a minimisation."""
        columns = lp.variables()
        self._sign = -1.0 if lp.sense == constants.LpMaximize else 1.0
        inf = highspy.kHighsInf
        for i, var in enumerate(columns):
            var.index = i
        model = highspy.HighsLp()
        model.num_col_ = len(columns)
        cost = np.zeros(len(columns))
        for var, coefficient in lp.objective.items():
            cost[var.index] = self._sign * coefficient
        model.col_cost_ = cost
        model.offset_ = self._sign * lp.objective.constant
        model.col_lower_ = _limits([var.lowBound for var in columns], -inf)
        model.col_upper_ = _limits([var.upBound for var in columns], inf)
        integer, real = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
        model.integrality_ = [
            integer if self.mip and var.cat == constants.LpInteger else real for var in columns
        ]
        rows = lp.constraints()
        model.num_row_ = len(rows)
        start, index, value = [0], [], []
        for i, row in enumerate(rows):
            row.index = i
            index.extend([var.index for var in row])
            value.extend(row.values())
            start.append(len(index))
        model.row_lower_ = _limits([row.getLb() for row in rows], -inf)
        model.row_upper_ = _limits([row.getUb() for row in rows], inf)
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.array(start, dtype=np.int32)
        model.a_matrix_.index_ = np.array(index, dtype=np.int32)
        model.a_matrix_.value_ = np.array(value, dtype=np.float64)
        if lp.solverModel.passModel(model) == highspy.HighsStatus.kError:
            raise pulp.PulpSolverError("HiGHS refuses the model")
        if self.warm_start:
            self._pass_start(lp.solverModel, columns)

    @staticmethod
    def _pass_start(model: Any, columns: list[Any]) -> None:
        known = [var for var in columns if var.varValue is not None]
        model.setSolution(
            len(known),
            np.array([var.index for var in known], dtype=np.int32),
            np.array([var.varValue for var in known], dtype=np.float64),
        )

    def callSolver(self, lp: Any) -> None:
        """Run HiGHS for the rest of the time limit, which covers building the model."""
        if self.timeLimit is not None:
            left = float(self.timeLimit) - (time.perf_counter() - self._started)
            lp.solverModel.setOptionValue("time_limit", max(_SPARE, left))
        for name, value in self.optionsDict.items():
            if lp.solverModel.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                raise InvalidOption(f"HiGHS refuses the value {shown(value)} of {name}")
        # HiGHS keeps the worker threads of its last run in this thread, and refuses to run
        # with another number of them.
        highspy.Highs.resetGlobalScheduler(True)
        try:
            lp.solverModel.run()
        finally:
            # HiGHS holds what it calls, and what it calls leads back to the problem and to
            # HiGHS: a circle that no garbage collector sees.
            lp.solverModel.setCallback(None, None)
        if self._failure is not None:
            raise self._failure

    def findSolutionValues(self, lp: Any) -> tuple[int, int]:
        """Read back values, status and bound; return PuLP's two status codes."""
        model, info = lp.solverModel, lp.solverModel.getInfo()
        # -1 where there was nothing to search.
        counted = {"nodes": info.mip_node_count, "lp_iterations": info.simplex_iteration_count}
        self.statistics = {name: max(0, int(number)) for name, number in counted.items()}
        found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        values = model.getSolution().col_value if found else []
        for var in lp.variables():
            var.varValue = values[var.index] if found else None
        status = model.getModelStatus()
        self.raw_status = model.modelStatusToString(status)
        kinds = highspy.HighsModelStatus
        if status == kinds.kOptimal or (status == kinds.kModelEmpty and found):
            codes = constants.LpStatusOptimal, constants.LpSolutionOptimal
        elif status == kinds.kInfeasible:
            codes = constants.LpStatusInfeasible, constants.LpSolutionInfeasible
        elif status == kinds.kUnbounded:
            codes = constants.LpStatusUnbounded, constants.LpSolutionUnbounded
        elif found:
            codes = constants.LpStatusOptimal, constants.LpSolutionIntegerFeasible
        else:
            codes = constants.LpStatusNotSolved, constants.LpSolutionNoSolutionFound
        if codes[1] in (constants.LpSolutionOptimal, constants.LpSolutionIntegerFeasible):
            self._report_bound(info.mip_dual_bound)
            # What presolve solves alone makes no event.
            self.watch.solution(np.array(values, dtype=np.float64))
        return codes

    def _on_event(self, kind: Any, message: str, out: Any, inp: Any, data: Any) -> None:
        # An exception must not travel through the C++ frames of HiGHS.
        try:
            if kind in _MIP_EVENTS:
                self._report_bound(out.mip_dual_bound)
                if kind == _KINDS.kCallbackMipImprovingSolution:
                    self.watch.solution(np.array(out.mip_solution, dtype=np.float64))
            stop = self.watch.should_stop()
        except BaseException as error:
            self._failure, stop = error, True
        if stop and inp is not None:
            inp.user_interrupt = True

    def _report_bound(self, bound: float) -> None:
        if np.isfinite(bound) and (self._reported is None or bound > self._reported):
            self._reported = bound
            self.dual_bound = self._sign * bound
            self.watch.bound(self.dual_bound)


def _limits(values: list[float | None], missing: float) -> Any:
    return np.array([missing if v is None else v for v in values], dtype=np.float64)
