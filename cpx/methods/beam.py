"""Greedy and beam search over monomials: the heuristics every exact engine is measured by."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.backends.base import Backend, Outcome, Progress
from cpx.methods.forms import allowed, monomial_form
from cpx.result import Termination

if TYPE_CHECKING:
    from cpx.models.base import Problem
    from cpx.models.monomial import WeightedMonomial
    from cpx.options import SolveOptions

__all__ = ["Beam", "Greedy"]

Floats = NDArray[np.float64]
Features = tuple[int, ...]


class Beam(Backend):
    """Keeps the 16 best sets of each size and extends all of them by every feature.

    Sets are ranked by the problem's own objective, equal ones by feature number. The best set
    met is the answer, the smallest of equally good ones; nothing is proved of it. It starts
    from the required features, and never adds a forbidden one or a second one of a group.
    """

    name: ClassVar[str] = "beam"
    requires: ClassVar[dict[str, str]] = {"numpy": "numpy>=2.0,<3"}
    honours: ClassVar[frozenset[str]] = frozenset({"hint"})
    encodes: ClassVar[bool] = False
    exact: ClassVar[bool] = False
    summary: ClassVar[str] = "beam search, the 16 best sets of each size"
    width: ClassVar[int] = 16

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Search level by level; see :class:`~cpx.backends.base.Backend`."""
        with progress.phase("state"):
            form = monomial_form(problem, self.name)
        with progress.phase("compile"):
            levels = _Levels(form)
        with progress.phase("solve"):
            beam: list[Features] = [form.required]
            _report(problem, progress, beam)
            for _ in range(len(form.required), form.k):
                # Between levels, each of which takes a fraction of a second.
                if progress.should_stop:
                    return Outcome(False, progress.why_stopped(), levels.told)
                beam = levels.best_extensions(beam, self.width)
                if not beam:
                    break
                _report(problem, progress, beam)
        return Outcome(
            False,
            Termination.COMPLETED,
            levels.told,
            sizes={"samples": form.shape[0], "features": form.shape[1]},
        )


class Greedy(Beam):
    """Adds the feature of the best value again and again; returns the best set on the way."""

    name: ClassVar[str] = "greedy"
    summary: ClassVar[str] = "greedy search, the best feature again and again"
    width: ClassVar[int] = 1


class _Levels:
    """The sets of one size after another, ranked by the objective.

    The objective of a set S is a constant plus the sum of ``change`` over the samples S
    covers, so that one matrix product values all extensions of a beam.
    """

    def __init__(self, form: WeightedMonomial) -> None:
        self.form = form
        # Sums of integers below 2**53 are exact in floats, and only these have fast products.
        self.agreement: Floats = form.agreement.astype(np.float64)
        self.change: Floats = (form.cost_covered - form.cost_uncovered).astype(np.float64)
        self.scored = 0

    @property
    def told(self) -> str:
        return f"{self.scored} sets scored"

    def best_extensions(self, beam: list[Features], width: int) -> list[Features]:
        """Return the best sets with one feature more, the best first."""
        covers = np.array([self.form.covered(chosen) for chosen in beam], dtype=np.float64)
        values = (covers * self.change) @ self.agreement
        ranked = {
            (float(values[s, j]), tuple(sorted((*chosen, j))))
            for s, chosen in enumerate(beam)
            for j in allowed(self.form, chosen)
        }
        self.scored += len(ranked)
        return [features for _, features in nsmallest(width, ranked)]


def _report(problem: Problem, progress: Progress, beam: list[Features]) -> None:
    """Report the best set of a level that satisfies the constraints."""
    for chosen in beam:
        if progress.found(problem.explanation(chosen)) is not None:
            return
