"""What all solvers of CPMpy have in common: compile, hint, run, conclude."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

from cpx.answers.result import Termination
from cpx.backends.base import DECLINED, Backend, Outcome, Progress
from cpx.backends.cpmpy.run import Run
from cpx.errors import UnknownName
from cpx.modelling.base import Problem
from cpx.options import SolveOptions

# Constraints that are compiled without looking at the clock: some hundredths of a second.
_PART = 500

_CPMPY = {"cpmpy": "cpmpy>=1.1,<1.2"}

# Solvers of CPMpy that are not here, and what is.
_LEFT_OUT = {
    **{
        name: f"milp:{name} is the same engine, with fewer and stronger rows"
        for name in ("scip", "highs", "gurobi", "cplex")
    },
    "exact": "the backend exact is the same engine",
    "hexaly": "its answers without a licence are not known",
    "pindakaas": "it only decides, and optimises nothing",
    "pysat": "it only decides, and optimises nothing: maxsat optimises with it",
    "pysdd": "it only decides, and optimises nothing",
    "rc2": "CPMpy cannot state weighted sums for it: maxsat:rc2 is the same engine",
}


class Cpmpy(Backend):
    """The solvers that CPMpy alone has an interface for; each is a subclass.

    CPMpy compiles the statement. A solver with a native interface for solutions, bounds and
    stops is run by it, the others by CPMpy's ``solve``.

    largest: The largest sum of weights, times the largest values of their variables, that the
        engine is given. Above it nothing is solved: integers would overflow.
    """

    name: ClassVar[str] = "cpmpy"
    requires: ClassVar[Mapping[str, str]] = _CPMPY
    summary: ClassVar[str] = "solvers that CPMpy knows, as CPMpy compiles for them"
    _in_all: ClassVar[bool] = False
    members: ClassVar[dict[str, type[Cpmpy]]] = {}

    largest: ClassVar[int] = 2**60

    def __init_subclass__(cls, solver: str, requires: Mapping[str, str], **kwargs: Any) -> None:
        cls.requires = {**_CPMPY, **requires}
        cls._known_as = f"{cls.name}:{solver}"
        super().__init_subclass__(**kwargs)
        Cpmpy.members[solver] = cls
        Cpmpy.solvers = tuple(Cpmpy.members)

    def __new__(cls, solver: str | None = None) -> Cpmpy:
        """Make the member of that name."""
        return super().__new__(cls.members.get(solver or cls.solvers[0], cls))

    def __init__(self, solver: str | None = None) -> None:
        if solver in _LEFT_OUT:
            raise UnknownName(
                f"solver of backend cpmpy ({solver} of CPMpy is left out: {_LEFT_OUT[solver]})",
                solver,
                self.solvers,
            )
        super().__init__(solver)

    @classmethod
    def installed(cls) -> list[str]:
        """Return the full names of the members whose packages and programs are there."""
        return [f"{cls.name}:{name}" for name, own in cls.members.items() if own.available()]

    @classmethod
    def _preload(cls) -> None:
        """Import CPMpy's interfaces as well."""
        super()._preload()
        import_module("cpmpy.solvers")
        import_module("cpx.backends.cpmpy.magnitudes")

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """State, compile and solve; see :class:`~cpx.backends.base.Backend`."""
        from cpmpy.solvers.utils import SolverLookup

        from cpx.backends.cpmpy.magnitudes import largest_sum

        interface = SolverLookup.lookup(self.solver)
        if complaint := _unusable(interface):
            told = f"{self.solver} is installed and cannot be used: {complaint}"
            return Outcome(False, Termination.SOLVER_ERROR, told)
        with progress.phase("state"):
            statement = problem.model(options.encoding)
        with progress.phase("compile"):
            total = largest_sum(statement.model)
            if total > self.largest:
                told = f"weights that add up to {total} are too large for this engine: not solved"
                return Outcome(False, Termination.COMPLETED, DECLINED, warnings=[told])
            compiled = interface(**self.construction(options))
            if not _compile(compiled, statement.model, progress):
                told = "stopped before the search"
                return Outcome(False, progress.why_stopped(), told)
            run = Run(compiled, statement, progress)
            if options.hint_features is not None and "hint" in self.supported_options:
                self.hint(run, statement.complete(options.hint_features))
        if progress.should_stop:
            told = "stopped before the search"
            return Outcome(False, progress.why_stopped(), told, sizes=run.sizes)
        with progress.phase("solve"):
            return self.search(run, options)

    def construction(self, options: SolveOptions) -> dict[str, Any]:
        """Return what CPMpy's class takes beside the model."""
        return {}

    def parameters(self, options: SolveOptions) -> dict[str, Any]:
        """Return what CPMpy's ``solve`` takes beside the time limit."""
        return {}

    def hint(self, run: Run, values: Mapping[str, Any]) -> None:
        """Hand a known solution to the engine."""
        pairs = run.known(values)
        run.compiled.solution_hint(list(pairs), list(pairs.values()))

    def search(self, run: Run, options: SolveOptions) -> Outcome:
        """Solve with CPMpy's own ``solve``; the answer comes at the end."""
        return self.solved_by_cpmpy(run, **self.parameters(options))

    def solved_by_cpmpy(self, run: Run, **parameters: Any) -> Outcome:
        """Call CPMpy's ``solve`` and conclude from its status."""
        from cpmpy.solvers.solver_interface import ExitStatus

        left = run.progress.remaining
        if left == 0:  # which CPMpy refuses
            return run.outcome(False, None, "stopped before the search")
        found = run.compiled.solve(time_limit=left, **parameters)
        status = run.compiled.status().exitstatus
        claimed = None
        if found:
            run.cpmpy_solution()
            claimed = run.claim(run.compiled.objective_value())
        if status is ExitStatus.ERROR:
            return Outcome(False, Termination.SOLVER_ERROR, status.name, sizes=run.sizes)
        finished = status in (ExitStatus.OPTIMAL, ExitStatus.UNSATISFIABLE)
        if found or not finished:
            self.last_bound(run)
        return run.outcome(finished, claimed, status.name)

    def last_bound(self, run: Run) -> None:
        """Report the bound that the native solver has at its end, if any."""


def _compile(compiled: Any, model: Any, progress: Progress) -> bool:
    """Post the model in parts; return False when it was time to stop before the end."""
    from cpmpy.transformations.normalize import toplevel_list

    constraints = toplevel_list(model.constraints)
    for start in range(0, len(constraints), _PART):
        if progress.should_stop:
            return False
        compiled.add(constraints[start : start + _PART])
    if model.has_objective():
        compiled.objective(model.objective_, minimize=model.objective_is_min)
    compiled.solver_vars(list(compiled.user_vars))
    return True


def _unusable(interface: Any) -> str:
    """Say why CPMpy cannot use an installed solver (a licence, a version), or return ``""``."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        if interface.supported():
            return ""
    return "; ".join(str(entry.message) for entry in heard) or "CPMpy does not support it here"
