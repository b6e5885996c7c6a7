"""The backend ``milp``: HiGHS, CBC, and the other solvers of PuLP, through CPMpy and PuLP.

Install: ``pip install 'pulp>=3.3.1,<4' 'highspy>=1.11,<1.15'``; CBC comes with PuLP.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.answers.result import Termination
from cpx.backends.base import DECLINED, Backend, Outcome, Progress
from cpx.backends.milp.watch import Watch
from cpx.backends.progress import run_interruptibly
from cpx.backends.provenance import provenance
from cpx.errors import EngineMissing
from cpx.options import EngineOption, SolveOptions

if TYPE_CHECKING:
    from cpx.backends.milp.pulp_solver import CPM_pulp
    from cpx.modelling.base import Problem
    from cpx.modelling.statement import Statement

__all__ = ["Milp"]

# How far from an integer CPM_pulp lets the engines take a value, and how far from optimal
# the engines let a reduced cost be (their default).
_INTEGRALITY, _DUAL = 1e-9, 1e-7

# What CBC's optimal values can be off by, as a share of the objective's weights: 1.4e-9 was seen.
_CBC = 1e-8

# Engines that round bounds to integers where weights are, and what one of many weights is changed
# by so that they do not.
_ROUNDING = ("highs", "scip")
_PART = 2.0**-10

# Sum of weights from which they may round a bound to an integer beyond it: they round up but for
# 1e-9, and floats are further apart there.
_ROUNDED = 2**22

# Some engines write this, or more, where they have no bound.
_INFINITE = 1e19

# Sums of absolute coefficients from which numbers are handled with care, or not at all.
_LOOSENED_ROW, _LARGEST_ROW, _LARGEST_OBJECTIVE = 2**20, 2**28, 2**50

# Of the time, at most, for the root of a statement's core: without a solution, and with one.
_SHARE, _SHARE_KNOWN = 0.25, 0.1
_NODES = {"highs": "mip_max_nodes", "cbc": "maxNodes"}

_NEEDED = {"cpmpy": "cpmpy>=1.1,<1.2", "pulp": "pulp>=3.3.1,<4"}


class Milp(Backend):
    """Branch and cut: HiGHS (default), CBC, and, each a subclass, the other solvers of PuLP.

    Where a statement has a core, which says the same with weaker relaxations, the root of the
    core is searched first: it proves what is easy, and has solutions sooner. That takes a quarter
    of the time at most, a tenth where a solution is known, and is left out when options of the
    engine are given.
    """

    name: ClassVar[str] = "milp"
    solvers: ClassVar[tuple[str, ...]] = ("highs", "cbc")
    requires: ClassVar[Mapping[str, str]] = {**_NEEDED, "highspy": "highspy>=1.11,<1.15"}
    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "seed", "gap", "hint"})
    others: ClassVar[dict[str, type[Milp]]] = {}
    _preferred_encodings: ClassVar[tuple[str, ...]] = ("branches", "pairs", "bounded")
    _compiles_to: ClassVar[str] = "lp"
    _start: ClassVar[Literal["given", "needed", "own"]] = "needed"
    summary: ClassVar[str] = "mixed integer programming through PuLP: exact, anytime"

    def _provenance(self) -> dict[str, str]:
        """Return version, path and checksum of CBC or GLPK, which are programs."""
        from cpx.backends.milp.subsolvers import program_of

        path, version = program_of(self.solver)
        return {} if path is None else provenance(self.solver, path, version=version)

    def __init_subclass__(
        cls, solver: str = "", requires: Mapping[str, str] | None = None, **kwargs: Any
    ) -> None:
        if solver:
            cls.requires = {**_NEEDED, **(requires or {})}
            cls._known_as = f"{cls.name}:{solver}"
            Milp.others[solver] = cls
            Milp.solvers = (*Milp.solvers, solver)
        super().__init_subclass__(**kwargs)

    def __new__(cls, solver: str | None = None) -> Milp:
        """Make the member of that name."""
        return super().__new__(cls.others.get(solver or "", cls))

    @classmethod
    def installed(cls) -> list[str]:
        """Return the full names of the members whose packages and programs are there."""
        ours = [f"{cls.name}:highs", f"{cls.name}:cbc"] if Milp.available() else []
        return ours + [f"{cls.name}:{name}" for name, own in cls.others.items() if own.available()]

    @classmethod
    def _preload(cls) -> None:
        """Import what compiles and runs the engines as well."""
        super()._preload()
        import_module("cpx.backends.milp.pulp_solver")
        if not cls._known_as:
            import_module("cpx.backends.milp.highs")
            import_module("cpx.backends.milp.cbc")

    def options(self) -> Mapping[str, EngineOption]:
        """Return the options of HiGHS or CBC that change how they search."""
        if self._known_as:
            return {}
        if self.solver == "cbc":
            from cpx.backends.milp.cbc import OPTIONS

            return OPTIONS
        from cpx.backends.milp.highs import options

        return options()

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """State, compile and solve; see :class:`~cpx.backends.base.Backend`.

        The engines count in floating point. The objective and each row are divided by what their
        coefficients have in common. Rows whose coefficients add up to 2**28 or more,
        and objectives of 2**50 or more, are not given to them: a sum of so many units of
        rounding could be a unit, and the engines do claim infeasibility then. Nothing is
        proved of such a problem, and a warning says so. Rows from 2**20 on are loosened by half
        a unit, which changes no solution in integers and keeps errors of rounding from
        excluding one. Of an objective of 2**22 or more HiGHS and SCIP get one weight with a
        fraction, so that they round no bound to an integer. Before a bound is reported it is
        moved outwards, by the tolerance of integrality (for CBC ten times that, which its optimal
        values can be off by) times the sum of the objective's weights, the tolerance of reduced
        costs times the number of columns, and that fraction, and then rounded to what the weights
        can add up to.
        Optimality is claimed only where the bound that is left meets the recomputed objective.
        """
        with progress.phase("state"):
            statement = problem.model(options.encoding)
            progress.stated(statement)
        own = self.solver in _NODES and not options.engine
        if own and statement.core is not None:
            share = _SHARE_KNOWN if options.hint_features else _SHARE
            root = self._solve(statement.core, options, progress, share)
            if root.proved or progress.should_stop:
                return replace(root, raw_status=f"{root.raw_status} at the root of the core")
            if progress.explanation is not None:
                options = replace(options, hint=progress.explanation.features)
        return self._solve(statement, options, progress)

    def _solve(
        self,
        statement: Statement,
        options: SolveOptions,
        progress: Progress,
        share: float | None = None,
    ) -> Outcome:
        """Solve a statement; with a share of the time, its root only."""
        from cpx.backends.milp.pulp_solver import CPM_pulp

        with progress.phase("compile"):
            compiled = CPM_pulp(statement.model, subsolver=self.solver)
            _hint(compiled, statement, options)
            sizes = _sizes(compiled.lp)
            run = _Run(compiled, statement, progress)
            too_large = _prepare(compiled.lp)
        if too_large:
            return Outcome(
                False, Termination.COMPLETED, DECLINED, sizes=sizes, warnings=[too_large]
            )
        if progress.should_stop:
            return Outcome(False, progress.why_stopped(), "stopped before the search", sizes=sizes)
        with progress.phase("solve"):
            engine = self._engine(compiled, run, options, share)
            run_interruptibly(lambda: compiled.run(engine), progress)
            progress.count(**getattr(engine, "statistics", {}))
        return run.outcome(engine, sizes)

    def _engine(
        self, compiled: CPM_pulp, run: _Run, options: SolveOptions, share: float | None
    ) -> Any:
        left, own = run.progress.remaining, dict(options.engine)
        if share is not None:
            own[_NODES[self.solver]] = 1
            left = None if run.progress.left is None else share * run.progress.left
        settings: dict[str, Any] = {
            "timeLimit": left,
            "threads": options.threads,
            "random_seed": options.seed,
            "log": options.log,
            # No value of the objective is nearer to another one than 1.
            "gapAbs": max(0.0, 0.999 - 2 * run.slack),
            "gapRel": options.gap or 0.0,
        }
        if self.solver == "cbc":
            from cpx.backends.milp.cbc import cbc_path

            if cbc_path() is None:
                raise EngineMissing("no CBC for this platform in PuLP: pip install 'pulp[cbc]'")
            settings["settings"] = own
        else:
            settings |= own
        return compiled.pulp_solver(run.watch, **settings)


class Scip(Milp, solver="scip", requires={"pyscipopt": "pyscipopt>=5,<7"}):
    """SCIP."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"seed", "gap", "hint"})


class Glpk(Milp, solver="glpk"):
    """GLPK, whose program is needed."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"gap"})
    _program: ClassVar[str] = "glpsol"


class Gurobi(Milp, solver="gurobi", requires={"gurobipy": "gurobipy>=11"}):
    """Gurobi, which needs a licence; the one of its package takes small models only."""


class _AtTheEnd(Milp):
    """Those that report nothing before their end, and cannot be stopped."""

    _needs_worker: ClassVar[bool] = True


class Cplex(_AtTheEnd, solver="cplex", requires={"cplex": "cplex>=22.1"}):
    """CPLEX, which needs a licence; the one of its package takes small models only."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "gap", "hint"})


class Copt(_AtTheEnd, solver="copt", requires={"coptpy": "coptpy>=7"}):
    """COPT, which needs a licence."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "gap", "hint"})


class Xpress(_AtTheEnd, solver="xpress", requires={"xpress": "xpress>=9"}):
    """Xpress, which needs a licence; the one of its package takes small models only."""


class Mosek(_AtTheEnd, solver="mosek", requires={"mosek": "mosek>=10"}):
    """MOSEK, which needs a licence."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "seed", "gap"})


class _Run:
    """Between one run of an engine and its progress: columns to values, bounds made safe.

    The objective of the ``LpProblem`` is divided: it becomes that of the statement when it is
    multiplied by ``unit`` and ``constant`` is added.
    """

    def __init__(self, compiled: CPM_pulp, statement: Statement, progress: Progress) -> None:
        self.compiled, self.statement, self.progress = compiled, statement, progress
        objective = compiled.lp.objective
        self.unit = math.gcd(*(int(weight) for weight in objective.values())) or 1
        _divide(objective, self.unit)
        self.constant = int(objective.constant) + statement.offset
        # Only a relative gap depends on it.
        objective.constant = self.constant // self.unit if progress.options.gap else 0
        total = sum(abs(weight) for weight in objective.values())
        share = _CBC if compiled.subsolver == "cbc" else _INTEGRALITY
        self.slack = share * total + _DUAL * len(compiled.lp.variables())
        if compiled.subsolver in _ROUNDING and total >= _ROUNDED:
            column, weight = next(iter(objective.items()))
            objective[column] = weight + math.copysign(_PART, weight)
            self.slack += _PART * max(abs(column.lowBound), abs(column.upBound))
        self._columns: dict[str, list[Any]] = {
            name: [compiled.solver_var(v) for v in array]
            for name, array in statement.variables.items()
        }
        self.watch = Watch(
            should_stop=lambda: progress.should_stop, solution=self._solution, bound=self._bound
        )

    def _solution(self, by_column: NDArray[np.float64]) -> None:
        def value(column: Any) -> int:
            # A variable of no row and no objective is no column; any value will do.
            index = getattr(column, "index", None)
            return int(column.lowBound) if index is None else round(float(by_column[index]))

        self.progress.incumbent(
            {
                name: np.array([value(column) for column in columns], dtype=np.int64)
                for name, columns in self._columns.items()
            }
        )

    def _bound(self, bound: float) -> None:
        if not abs(bound) < _INFINITE:
            return
        outwards = 1 if self.statement.sense == "max" else -1
        steps = bound - self.compiled.lp.objective.constant + outwards * self.slack
        safe = math.floor(steps + 1e-9) if outwards > 0 else math.ceil(steps - 1e-9)
        self.progress.bound(safe * self.unit + self.constant)

    def _claimed(self) -> int:
        objective = self.compiled.lp.objective
        total: int = sum(int(w) * round(column.varValue) for column, w in objective.items())
        return total * self.unit + self.constant

    def outcome(self, engine: Any, sizes: dict[str, int]) -> Outcome:
        """Return what was proved, in the words of the contract."""
        from pulp import constants

        progress, state = self.progress, self.compiled.lp.sol_status
        if state == constants.LpSolutionInfeasible:
            return Outcome(True, Termination.COMPLETED, engine.raw_status, sizes=sizes)
        found = state in (constants.LpSolutionOptimal, constants.LpSolutionIntegerFeasible)
        claimed = self._claimed() if found else None
        finished = state == constants.LpSolutionOptimal
        proved = found and claimed == progress.objective == progress.best_bound
        warnings = []
        if finished and not proved and not progress.options.gap:
            warnings.append(
                f"{self.compiled.subsolver} calls its solution optimal, but within its "
                f"tolerances only the bound {progress.best_bound} is proved"
            )
        termination, told = Termination.COMPLETED, engine.raw_status
        if not (finished or proved):
            termination = _why_stopped(engine, progress)
        if not finished and progress.gap_reached:
            # Its own word ("Interrupted by user") reads as if somebody had given up.
            near = "are within the gap" if progress.options.gap else "have met"
            told = f"stopped by cpx: value and bound {near}"
        return Outcome(proved, termination, told, claimed, sizes, warnings)


def _why_stopped(engine: Any, progress: Progress) -> Termination:
    if progress.should_stop:
        return progress.why_stopped()
    told = engine.raw_status.lower()
    # The engine's clock may run a little ahead of ours; CBC is asked to end before the limit.
    ahead = "time" in told or getattr(engine, "stopped", False)
    if progress.remaining is not None and ahead:
        return Termination.TIME_LIMIT
    # Limits of its own, which were asked for.
    if progress.options.engine and ("limit" in told or "stopped on" in told):
        return Termination.COMPLETED
    return Termination.SOLVER_ERROR


def _hint(compiled: CPM_pulp, statement: Statement, options: SolveOptions) -> None:
    if options.hint_features is None:
        return
    values = statement.complete(options.hint_features)
    names = list(statement.variables)
    compiled.solution_hint(
        [v for name in names for v in statement.variables[name]],
        [int(value) for name in names for value in values[name]],
    )


def _prepare(lp: Any) -> str:
    """Loosen rows of large coefficients; return what is too large for floats, or ``""``."""
    total = sum(abs(weight) for weight in lp.objective.values())
    if total >= _LARGEST_OBJECTIVE:
        return f"weights that add up to {total} are too large for this engine: not solved"
    for row in lp.constraints():
        common = math.gcd(*(int(weight) for weight in row.values()))
        # The constant, on the left, is rounded to what sums of integers can reach.
        if common > 1 and (row.sense or row.constant % common == 0):
            _divide(row.expr, common)
            side = row.sense or 1
            row.constant = side * (side * int(row.constant) // common)
        total = sum(abs(weight) for weight in row.values())
        if total >= _LARGEST_ROW:
            return f"a limit with weights that add up to {total} is too large: not solved"
        if total >= _LOOSENED_ROW:
            # 1 for >=, -1 for <=.
            row.constant += row.sense * 0.5
    return ""


def _divide(terms: Any, by: int) -> None:
    """Divide the integer coefficients of a row or an objective by what they have in common."""
    if by > 1:
        for column, weight in list(terms.items()):
            terms[column] = int(weight) // by


def _sizes(lp: Any) -> dict[str, int]:
    rows = lp.constraints()
    return {
        "variables": len(lp.variables()),
        "constraints": len(rows),
        "nonzeros": sum(len(row) for row in rows),
    }
