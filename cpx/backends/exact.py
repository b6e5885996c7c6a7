"""Exact on the pseudo-Boolean form, by its own interface: weights stay as they are.

Exact (J. Devriendt and others) learns linear constraints from conflicts, by cutting planes. Its
lower bound grows while it works, as its solutions come.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome, Progress

if TYPE_CHECKING:
    from cpx.backends.pseudo_boolean import PseudoBoolean
    from cpx.modelling.base import Problem
    from cpx.options import SolveOptions

# It keeps the interpreter's lock while it works, and loses nothing between two calls.
_SLICE_SECONDS = 0.2
_PART = 500
"""Rows that are posted without looking at the clock."""


class Exact(Backend):
    """Exact: cutting planes and conflict analysis on pseudo-Boolean constraints."""

    name: ClassVar[str] = "exact"
    requires: ClassVar[dict[str, str]] = {"exact": "exact>=2.1,<3"}
    supported_options: ClassVar[frozenset[str]] = frozenset({"seed", "gap", "hint"})
    summary: ClassVar[str] = "Exact: pseudo-Boolean conflict analysis, weights as they stand"

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """State, compile and solve; see :class:`~cpx.backends.base.Backend`."""
        from exact import Exact as Solver

        from cpx.backends.pseudo_boolean import PseudoBoolean

        with progress.phase("state"):
            statement = problem.model(options.encoding)
        with progress.phase("compile"):
            form = PseudoBoolean(statement)
            sizes = {"variables": form.top, "constraints": len(form.rows)}
            # Its own seed is not 0.
            solver = Solver([("seed", str(options.seed))] if options.seed else [])
            if not _post(form, solver, progress):
                told = "stopped before the search"
                return Outcome(False, progress.why_stopped(), told, sizes=sizes)
            if options.hint_features is not None:
                known = form.bits_of(statement.complete(options.hint_features))
                solver.setSolutionHints([(f"x{j}", int(value)) for j, value in known.items()])

        def found() -> None:
            names = [f"x{j}" for j in range(1, form.top + 1)]
            values = solver.getLastSolutionFor(names)
            progress.incumbent(form.values(lambda number: bool(values[number - 1])))

        with progress.phase("solve"):
            word, best = run_in_slices(
                solver,
                progress,
                found,
                lambda value: progress.bound(form.sign * value + form.offset),
            )
        counts = dict(solver.getStats())
        names = ("conflicts", "decisions", "propagations", "restarts", "cores")
        progress.count(**{name: int(counts[name]) for name in names if name in counts})
        claimed = None if best is None else form.sign * best + form.offset
        if word in ("SAT", "UNSAT"):
            return Outcome(True, Termination.COMPLETED, word, claimed, sizes)
        return Outcome(False, progress.why_stopped(), word, claimed, sizes)


def _post(form: PseudoBoolean, solver: Any, progress: Progress) -> bool:
    """Post the form; return False when it was time to stop before the end."""
    for number in range(1, form.top + 1):
        solver.addVariable(f"x{number}")
    for place, row in enumerate(form.rows):
        if place % _PART == 0 and progress.should_stop:
            return False
        terms = [(weight, f"x{number}") for weight, number in row.terms]
        solver.addConstraint(terms, True, row.constant, row.operator == "=", row.constant)
    solver.setObjective([(weight, f"x{number}") for weight, number in form.objective], True, 0)
    return not progress.should_stop


def run_in_slices(
    solver: Any,
    progress: Progress,
    found: Callable[[], None],
    bound: Callable[[int], None],
) -> tuple[str, int | None]:
    """Optimise until it is done or time to stop; return Exact's last word and its best value.

    After each slice ``found`` is called if there is a better solution, and ``bound`` with the
    bound on the objective that the solver has.
    """
    best, word = None, "TIMEOUT"
    while word == "TIMEOUT" and not progress.should_stop:
        word = solver.runFull(True, min(_SLICE_SECONDS, progress.remaining or _SLICE_SECONDS))
        if solver.hasSolution() and solver.getBestSoFar() != best:
            best = solver.getBestSoFar()
            found()
        if word == "TIMEOUT" or best is not None:
            bound(solver.getDualBound())
    return word, best
