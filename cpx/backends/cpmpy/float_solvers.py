"""Solvers of CPMpy that count in floating point: integer programming, and Hexaly.

Their bounds are moved outwards by their tolerances before they count, and a solution is optimal
where the bound that is left meets its recomputed value. Their relative gaps are set to 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from cpx.backends.base import Outcome
from cpx.backends.cpmpy.interface import Cpmpy
from cpx.backends.cpmpy.run import Run
from cpx.backends.progress import run_interruptibly
from cpx.modelling.statement import Statement
from cpx.options import SolveOptions

_LARGEST = 2**28
# No two values of the objective are nearer to each other than 1.
_ABSOLUTE_GAP = 0.9


class Scip(Cpmpy, solver="scip", requires={"pyscipopt": "pyscipopt>=5,<7"}):
    """SCIP: branch and cut, and constraint programming."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"seed", "gap", "hint"})
    largest: ClassVar[int] = _LARGEST
    tolerance: ClassVar[float] = 1e-8

    def hint(self, run: Run, values: Mapping[str, Any]) -> None:
        """Hand over a solution, which may leave out auxiliary variables."""
        native, varmap = run.compiled.scip_model, run.compiled._varmap
        start = native.createPartialSol()
        for variable, value in run.known(values).items():
            native.setSolVal(start, varmap[variable.name], value)
        native.addSol(start)

    def search(self, run: Run, options: SolveOptions) -> Outcome:
        """Solve with an event handler for solutions, bounds and stops."""
        import pyscipopt

        native, progress, varmap = run.compiled.scip_model, run.progress, run.compiled._varmap
        event, stages = pyscipopt.SCIP_EVENTTYPE, pyscipopt.SCIP_STAGE
        watched = event.BESTSOLFOUND | event.NODESOLVED | event.LPSOLVED | event.PRESOLVEROUND

        def best(each: Sequence[Any]) -> list[float]:
            solution = native.getBestSol()
            return [native.getSolVal(solution, varmap[v.name]) for v in each]

        def stop() -> None:
            # At other times SCIP refuses to be asked.
            if native.getStage() in (stages.PRESOLVING, stages.SOLVING):
                native.interruptSolve()

        class Watcher(pyscipopt.Eventhdlr):  # type: ignore[misc]
            def eventinit(self) -> None:
                self.model.catchEvent(watched, self)

            def eventexit(self) -> None:
                self.model.dropEvent(watched, self)

            def eventexec(self, happened: Any) -> None:
                if happened.getType() == event.BESTSOLFOUND:
                    run.solution(best)
                if happened.getType() != event.PRESOLVEROUND:
                    run.bound(self.model.getDualbound())
                if progress.should_stop:
                    stop()

        watcher = Watcher()
        native.includeEventhdlr(watcher, "cpx", "solutions, bounds, stops")
        native.setParams(
            {
                "numerics/feastol": self.tolerance,
                "limits/absgap": _ABSOLUTE_GAP,
                "randomization/randomseedshift": options.seed % 2**31,
                "misc/catchctrlc": False,
            }
        )
        if progress.remaining is not None:
            native.setParam("limits/time", progress.remaining)
        run_interruptibly(native.optimizeNogil, progress, stop)
        word = native.getStatus()
        claimed = None
        if native.getNSols() > 0:
            run.solution(best)
            claimed = run.claim(native.getObjVal())
        run.bound(native.getDualbound())
        native.freeProb()
        # What the functions of the handler's class name is held until Python collects that class:
        # the memory of SCIP must not wait for it.
        watcher.model = run.compiled.scip_model = native = None
        return run.outcome(word in ("optimal", "infeasible", "gaplimit"), claimed, word)


class Highs(Cpmpy, solver="highs", requires={"highspy": "highspy>=1.11,<1.15"}):
    """HiGHS, as CPMpy compiles for it; ``milp:highs`` gets fewer and stronger rows."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "seed"})
    _needs_worker: ClassVar[bool] = True
    largest: ClassVar[int] = _LARGEST
    tolerance: ClassVar[float] = 1e-9

    def adapted(self, statement: Statement) -> Statement:
        """Return it with a linear objective without a constant, which CPMpy takes for a column."""
        import cpmpy as cp
        from cpmpy.expressions.core import Operator
        from cpmpy.expressions.utils import get_bounds

        from cpx.backends.normal_forms import linear_sum

        model, constant = statement.model, 0
        if model.objective_ is None:
            return statement
        total, constraints = linear_sum(model.objective_), model.constraints
        if total is not None and any(total.weights):
            if not total.constant:
                return statement
            weights, variables, constant = total
            value = Operator("wsum", [weights, variables])
        else:
            value = cp.intvar(*get_bounds(model.objective_))
            constraints = [*constraints, value == model.objective_]
        goal = "minimize" if model.objective_is_min else "maximize"
        plain = cp.Model(constraints, **{goal: value})
        return replace(statement, model=plain, offset=statement.offset + constant)

    def search(self, run: Run, options: SolveOptions) -> Outcome:
        """Solve with solutions as they come."""
        return self.solved_by_cpmpy(
            run,
            display=run.cpmpy_solution,
            threads=options.threads,
            random_seed=options.seed,
            mip_rel_gap=0.0,
            mip_abs_gap=_ABSOLUTE_GAP,
            mip_feasibility_tolerance=self.tolerance,
        )

    def last_bound(self, run: Run) -> None:
        """Report the bound."""
        run.bound(run.compiled.highs.getInfo().mip_dual_bound)


class Gurobi(Cpmpy, solver="gurobi", requires={"gurobipy": "gurobipy>=11"}):
    """Gurobi, which needs a licence; the one of its package takes small models only."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "seed", "gap", "hint"})
    largest: ClassVar[int] = _LARGEST
    tolerance: ClassVar[float] = 1e-9

    def search(self, run: Run, options: SolveOptions) -> Outcome:
        """Solve with a callback for solutions, bounds and stops."""
        from gurobipy import GRB

        progress, varmap = run.progress, run.compiled._varmap
        native, kinds = run.compiled.grb_model, GRB.Callback

        def happened(model: Any, where: int) -> None:
            if where == kinds.MIPSOL:
                run.solution(lambda each: model.cbGetSolution([varmap[v.name] for v in each]))
                run.bound(model.cbGet(kinds.MIPSOL_OBJBND))
            elif where == kinds.MIP:
                run.bound(model.cbGet(kinds.MIP_OBJBND))
            if progress.should_stop:
                model.terminate()

        # Not CPMpy's solve: it knows no status of a run that was stopped.
        for name, value in {
            "TimeLimit": math.inf if progress.remaining is None else progress.remaining,
            "Threads": options.threads,
            "Seed": options.seed % 2**31,
            "MIPGap": 0.0,
            "MIPGapAbs": _ABSOLUTE_GAP,
            "IntFeasTol": self.tolerance,
            "FeasibilityTol": self.tolerance,
        }.items():
            native.setParam(name, value)
        run_interruptibly(lambda: native.optimize(happened), progress, native.terminate)
        claimed, best = None, native.SolCount > 0
        if best:
            run.solution(lambda each: [varmap[v.name].X for v in each])
            claimed = run.claim(native.ObjVal)
        if native.IsMIP:
            run.bound(native.ObjBound)
        finished = {GRB.OPTIMAL: "OPTIMAL", GRB.INFEASIBLE: "INFEASIBLE"}
        word = finished.get(native.Status, f"status {native.Status}")
        return run.outcome(native.Status in finished, claimed, word)


class Cplex(Cpmpy, solver="cplex", requires={"docplex": "docplex>=2.29", "cplex": "cplex>=22.1"}):
    """CPLEX, which needs a licence; the one of its package takes small models only."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "seed", "hint"})
    _needs_worker: ClassVar[bool] = True
    largest: ClassVar[int] = _LARGEST
    tolerance: ClassVar[float] = 1e-9

    def parameters(self, options: SolveOptions) -> dict[str, Any]:
        """Return threads, seed and tolerances."""
        return {
            "threads": options.threads,
            "randomseed": options.seed % 2**31,
            "mip.tolerances.mipgap": 0.0,
            "mip.tolerances.absmipgap": _ABSOLUTE_GAP,
            "mip.tolerances.integrality": self.tolerance,
            "simplex.tolerances.feasibility": self.tolerance,
        }

    def search(self, run: Run, options: SolveOptions) -> Outcome:
        """Solve with CPMpy's ``solve``, which raises where CPLEX was stopped by its limit."""
        try:
            return self.solved_by_cpmpy(run, **self.parameters(options))
        except NotImplementedError:
            native, varmap, claimed = run.compiled.cplex_model, run.compiled._varmap, None
            if native.solution is not None:
                run.solution(lambda each: [varmap[v.name].solution_value for v in each])
                claimed = run.claim(native.objective_value)
            self.last_bound(run)
            return run.outcome(False, claimed, native.solve_details.status)

    def last_bound(self, run: Run) -> None:
        """Report the bound."""
        bound = run.compiled.cplex_model.solve_details.best_bound
        if bound is not None:
            run.bound(bound)


class Hexaly(Cpmpy, solver="hexaly", requires={"hexaly": "hexaly>=13"}):
    """Hexaly, which needs a licence."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "seed", "hint"})
    _needs_worker: ClassVar[bool] = True
    largest: ClassVar[int] = _LARGEST
    tolerance: ClassVar[float] = 1e-6

    def parameters(self, options: SolveOptions) -> dict[str, Any]:
        """Return threads and seed."""
        return {"nb_threads": options.threads, "seed": options.seed % 2**31}
