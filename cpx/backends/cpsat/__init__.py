"""CP-SAT of OR-Tools, through CPMpy.

CPMpy compiles the statement; the solve is native, because only the native solver has
callbacks for solutions and for the best bound. Install: ``pip install ortools cpmpy``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome, Progress
from cpx.backends.progress import run_interruptibly
from cpx.errors import InvalidOption
from cpx.modelling.base import Problem
from cpx.modelling.statement import Statement, Values
from cpx.options import EngineOption, SolveOptions

__all__ = ["CpSat"]

# Parameters that have names of ours, that would make the engine claim more or less than it
# proves, or that write files.
_NOT_OPTIONS = {
    "absolute_gap_limit",
    "catch_sigint_signal",
    "check_drat_proof",
    "drat_output",
    "drat_proof_output",
    "enumerate_all_solutions",
    "fill_additional_solutions_in_response",
    "fix_variables_to_their_hinted_value",
    "log_prefix",
    "log_search_progress",
    "log_subsolver_statistics",
    "log_to_response",
    "log_to_stdout",
    "max_drat_time_in_seconds",
    "max_time_in_seconds",
    "name",
    "num_search_workers",
    "num_workers",
    "presolve_inclusion_work_limit",
    "random_seed",
    "relative_gap_limit",
    "subsolver_params",
}


class _Phase(NamedTuple):
    """A part of a solve by one thread."""

    parameters: Mapping[str, Any]
    units: float
    """Of deterministic time, at most."""
    share: float
    """Of the seconds that are left, as units, at most."""
    of_core: bool = True
    """Whether it solves the core of the statement, where there is one: with constraints that
    count the costs, searches are slow."""
    from_best: bool = True
    """Whether it is told the best solution so far, or that of the caller."""


_IN_TURN = ["core", "default_lp", "quick_restart_no_lp"]
# Of a statement with a core, presolve alone: proves what follows from all constraints.
_WHOLE = _Phase({"max_number_of_conflicts": 1}, 4.0, 0.1, of_core=False)
# Of a statement with a known solution: searches through the better ones, from none, as it takes
# ten times as long when it begins with one.
_BETTER = _Phase({"linearization_level": 0}, 20.0, 0.6, from_best=False)
# Of a statement with strong linear relaxations: all its rows are in one.
_RELAXED = _Phase({"linearization_level": 2}, math.inf, 1.0)
_PHASES = (
    # Proves what is easy.
    _Phase({}, 1.0, 0.1),
    # Strategies in turn: good solutions, sooner than by the default parameters.
    _Phase({"interleave_search": True, "subsolvers": _IN_TURN}, 5.0, 0.25),
    # Bounds from cores: hardly a solution by the way, and by far the best bounds.
    _Phase({"optimize_with_core": True, "linearization_level": 0}, math.inf, 1.0),
)


class CpSat(Backend):
    """CP-SAT: lazy clause generation with linear relaxations; exact and anytime.

    One thread works in three phases, unless parameters of CP-SAT are given: by its default, by
    several strategies in turn, which is better at solutions, and by cores, which is better at
    bounds. Of a statement that has a core they solve that, after a moment with all of it. Each
    phase starts from the best solution so far. Of a statement with strong linear relaxations there
    is one phase, with all rows in them. More threads divide the work by themselves.
    """

    name: ClassVar[str] = "cpsat"
    _preferred_encodings: ClassVar[tuple[str, ...]] = ("triples", "sizes", "bounded")
    _compiles_to: ClassVar[str] = "cp-sat"
    requires: ClassVar[dict[str, str]] = {
        "ortools": "ortools>=9.15,<9.16",
        "cpmpy": "cpmpy>=1.1,<1.2",
    }
    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "seed", "gap", "hint"})
    summary: ClassVar[str] = "constraint programming, OR-Tools CP-SAT: exact, anytime"

    @classmethod
    def _preload(cls) -> None:
        """Import the solver's module as well, which its package does not, and what compiles."""
        super()._preload()
        import_module("ortools.sat.python.cp_model")
        import_module("cpx.backends.cpsat.compile")

    def options(self) -> Mapping[str, EngineOption]:
        """Return the parameters of CP-SAT that change how it searches."""
        from ortools.sat.python import cp_model

        parameters, found = cp_model.CpSolver().parameters, {}
        for name, member in vars(type(parameters)).items():
            if isinstance(member, property) and name not in _NOT_OPTIONS:
                found[name] = _option(getattr(parameters, name))
        return {name: option for name, option in found.items() if option is not None}

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """State, compile and solve; see :class:`~cpx.backends.base.Backend`."""
        from ortools.sat.python import cp_model

        from cpx.backends.cpsat.compile import compile_cp_model, counted, safe_parameters

        with progress.phase("state"):
            statement = problem.model(options.encoding)
            progress.stated(statement)
        with progress.phase("compile"):
            model, variables = compile_cp_model(statement)
            sizes = {
                "variables": len(model.proto.variables),
                "constraints": len(model.proto.constraints),
            }
        if progress.should_stop:
            return Outcome(False, progress.why_stopped(), "stopped before the search", sizes=sizes)

        outcome = Outcome(False, Termination.COMPLETED, sizes=sizes)
        with progress.phase("solve"):
            for phase in _phases(model, statement, options):
                if phase.of_core and statement.core is not None:
                    statement = statement.core
                    model, variables = compile_cp_model(statement)
                known = progress.explanation
                hint = options.hint_features if known is None else known.features
                if phase.from_best and hint is not None:
                    model.clear_hints()
                    _add_hint(model, variables, statement, hint)
                parameters = {**safe_parameters(model), **phase.parameters}
                solver = _solver(phase._replace(parameters=parameters), options, progress)
                solver.best_bound_callback = _bound_watcher(model, statement, progress)
                solve = partial(solver.solve, model, _watcher(cp_model, variables, progress))
                code = run_interruptibly(solve, progress, solver.stop_search)
                progress.count(**counted(solver.response_proto))
                outcome = self._outcome(solver, code, model, statement, progress, sizes)
                failed = outcome.termination is Termination.SOLVER_ERROR
                if outcome.proved or failed or progress.should_stop:
                    break
        return outcome

    def _outcome(
        self,
        solver: Any,
        code: Any,
        model: Any,
        statement: Statement,
        progress: Progress,
        sizes: dict[str, int],
    ) -> Outcome:
        from ortools.sat.python import cp_model

        name = solver.status_name(code)
        if code == cp_model.MODEL_INVALID:
            why = solver.solution_info()
            said = f"{name}: {why}" if why else name
            return Outcome(False, Termination.SOLVER_ERROR, said, sizes=sizes)
        solved = code in (cp_model.OPTIMAL, cp_model.FEASIBLE)
        claimed = None
        proved = code == cp_model.INFEASIBLE
        if solved:
            claimed = _objective(model, solver) + statement.offset
            bound = _bound(model, solver) + statement.offset
            progress.bound(bound)
            proved = code == cp_model.OPTIMAL and bound == claimed
        termination = Termination.COMPLETED
        if not proved:
            termination = _why_stopped(progress)
        return Outcome(proved, termination, name, claimed, sizes)


def _phases(model: Any, statement: Statement, options: SolveOptions) -> Sequence[_Phase]:
    if options.engine or options.threads > 1 or not len(model.proto.objective.vars):
        return [_Phase(options.engine, math.inf, 1.0, of_core=False)]
    if statement.relaxed:
        return (_RELAXED,)
    if statement.known is not None:
        return (_BETTER, *_PHASES[1:])
    return _PHASES if statement.core is None else (_WHOLE, *_PHASES)


def _solver(phase: _Phase, options: SolveOptions, progress: Progress) -> Any:
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    for name, value in phase.parameters.items():
        _set(solver.parameters, name, value)
    solver.parameters.num_workers = options.threads
    solver.parameters.random_seed = options.seed
    solver.parameters.log_search_progress = options.log
    # Ctrl-C is ours: the solver runs in a thread, and its own handler would swallow it.
    solver.parameters.catch_sigint_signal = False
    # By default the engine calls optimal what is within 1e-4, in floats, of its bound.
    solver.parameters.absolute_gap_limit = 0.0
    remaining, left = (math.inf if s is None else s for s in (progress.remaining, progress.left))
    solver.parameters.max_time_in_seconds = remaining
    if phase.units < math.inf:
        # Units of about a second, which stand for the same work at every repetition.
        solver.parameters.max_deterministic_time = min(phase.units, phase.share * left)
    return solver


def _option(default: Any) -> EngineOption | None:
    """Return what a parameter with this default takes; None for a message of its own."""
    if isinstance(default, bool | int | float | str):
        return EngineOption(type(default))
    if hasattr(default, "__members__"):
        return EngineOption(str, choices=tuple(default.__members__))
    if type(default).__name__ == "repeated_scalar_std_string":
        return EngineOption(list)
    return None


def _set(parameters: Any, name: str, value: Any) -> None:
    now = getattr(parameters, name)
    try:
        if isinstance(value, list):
            now.extend(value)
        elif hasattr(now, "__members__"):
            setattr(parameters, name, now.__members__[value])
        else:
            setattr(parameters, name, value)
    except (TypeError, ValueError) as error:
        raise InvalidOption(f"{name} of cpsat cannot be {value!r}") from error


def _why_stopped(progress: Progress) -> Termination:
    # The solver's clock may run a little ahead of ours: without proof it ends by itself only
    # at the limit.
    if not progress.should_stop and progress.remaining is not None:
        return Termination.TIME_LIMIT
    return progress.why_stopped()


def _objective(model: Any, solver: Any) -> int:
    """Return the objective of the solution, in integers: the solver's own value is a float."""
    objective, values = model.proto.objective, solver.response_proto.solution
    total = 0
    for variable, weight in zip(objective.vars, objective.coeffs, strict=True):
        # The place -1 - i stands for the negated literal i: 1 minus its value.
        value = values[variable] if variable >= 0 else 1 - values[-1 - variable]
        total += int(weight) * int(value)
    return _scaled(objective, total)


def _bound(model: Any, solver: Any) -> int:
    """Return the bound in integers, in which the solver proves it."""
    return _scaled(model.proto.objective, solver.response_proto.inner_objective_lower_bound)


def _scaled(objective: Any, total: int) -> int:
    """Return the value of an objective whose weights add up to a total."""
    # The constant and the sign of a maximisation, both whole numbers.
    sign, constant = int(objective.scaling_factor or 1), int(objective.offset)
    return sign * (total + constant)


def _bound_watcher(
    model: Any, statement: Statement, progress: Progress
) -> Callable[[float], None]:
    """Return what is called with each bound of a running search, which is told as a float.

    Presolve divides the objective and adds constants to it, up to the sum of all weights, and
    each such step may round: so the bound is moved outwards.
    """
    objective = model.proto.objective
    total = sum(abs(int(weight)) for weight in objective.coeffs) + abs(int(objective.offset))
    slack = Fraction(1, 10**6) + Fraction(total * (8 + len(objective.coeffs)), 2**52)
    outwards = slack if statement.sense == "max" else -slack

    def tell(value: float) -> None:
        if math.isfinite(value):
            progress.bound(Fraction(value) + outwards + statement.offset)

    return tell


def _add_hint(
    model: Any,
    variables: dict[str, list[Any]],
    statement: Statement,
    features: Sequence[int],
) -> None:
    values = statement.complete(features)
    for name, array in variables.items():
        for variable, value in zip(array, values[name], strict=True):
            model.add_hint(variable, int(value))


def _watcher(cp_model: Any, variables: dict[str, list[Any]], progress: Progress) -> Any:
    class Watcher(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            values: Values = {
                name: np.array([self.value(v) for v in array], dtype=np.int64)
                for name, array in variables.items()
            }
            progress.incumbent(values)

    return Watcher()
