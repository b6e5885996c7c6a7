"""Minimum sufficient reasons by implicit hitting sets, as a backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.methods.reasons.oracle_method import OracleMethod
from cpx.models.sufficient_reason.problem import SufficientReason

if TYPE_CHECKING:
    from cpx.models.base import Problem
    from cpx.options import SolveOptions

__all__ = ["HittingSets"]


class HittingSets(OracleMethod):
    """Solves the sufficient reason in the full sense, for which there is no statement.

    A lower bound from minimum hitting sets of counterexamples, which an exact oracle of our own
    finds, and an upper bound from reasons that were made subset-minimal, come closer until
    they meet; see :func:`cpx.methods.reasons.minimum_reason`.
    """

    name: ClassVar[str] = "hitting-sets"
    requires: ClassVar[dict[str, str]] = {
        **OracleMethod.requires,
        "pysat": "python-sat[pb]>=1.9.dev2,<2",
    }
    supported_options: ClassVar[frozenset[str]] = frozenset({"seed", "gap", "hint"})
    summary: ClassVar[str] = "implicit hitting sets: sufficient reasons, exact, anytime"

    def accepts(self, problem: Problem) -> bool:
        """Whether the problem is a sufficient reason in the full sense."""
        return isinstance(problem, SufficientReason) and problem.definition == "sufficient"

    def refusal(self, problem: Problem) -> str:
        """Say that the problem is no such reason."""
        if not isinstance(problem, SufficientReason):
            return super().refusal(problem)
        return (
            f"backend {self.name!r} is for the definition sufficient, the problem has "
            f"{problem.definition}"
        )

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Search for a minimum reason; see :class:`~cpx.backends.base.Backend`."""
        assert isinstance(problem, SufficientReason)
        with progress.phase("compile"):
            self.preload()
            from cpx.methods.reasons import minimum_reason

        model, row = problem.free
        weights = None if problem.weights is None else list(problem.weights)
        if {*problem.required} & {*problem.forbidden}:
            return Outcome(True, Termination.COMPLETED, "required and forbidden contradict")

        left = progress.remaining
        if left == 0:
            return Outcome(False, progress.why_stopped(), "stopped before the search")

        def hear(lower: int, upper: int, attributes: tuple[int, ...]) -> None:
            progress.bound(lower)
            if progress.objective is None or upper < progress.objective:
                progress.found(problem.explanation(attributes))

        oracle = problem.oracle_of_rows()
        oracle.stop = lambda: progress.should_stop
        try:
            with progress.phase("solve"):
                found = minimum_reason(
                    model,
                    row,
                    weights=weights,
                    must_keep=problem.required,
                    must_avoid=problem.forbidden,
                    time_limit=left,
                    seed=options.seed,
                    listen=hear,
                    oracle=oracle,
                )
        finally:
            # The problem keeps its oracle, which has to decide again whatever it is asked.
            oracle.stop = oracle.deadline = oracle.patience = None
        if found.attributes is not None:
            # A stop may fall into the report of a reason, which measures it: nothing is claimed
            # of a reason that is not reported. The oracle knows by now that it is one.
            progress.found(problem.explanation(found.attributes))
        message = f"{found.rounds} hitting sets, {found.changes} changes, {found.calls} calls"
        if found.lower is not None:
            progress.bound(found.lower)
        return Outcome(
            found.proved,
            Termination.COMPLETED if found.proved else progress.why_stopped(),
            message,
            found.upper,
        )
