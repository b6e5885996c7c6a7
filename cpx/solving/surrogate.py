"""Solve a problem by another one with the same solutions: its bounds are kept apart.

An encoding with a ``stand_in`` states another objective, such as the Hamming loss of a set of
rules in place of its errors. The engine solves that problem. Its solutions are solutions of the
problem that was asked, measured by its own objective; what it proves is about the other
objective, and is told in words only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cpx.backends.base import Backend, Outcome, Progress, contradiction
from cpx.backends.progress import InnerProgress

if TYPE_CHECKING:
    from cpx.models.base import Problem
    from cpx.options import SolveOptions

__all__ = ["solve_stand_in"]


def solve_stand_in(
    engine: Backend, other: Problem, options: SolveOptions, progress: Progress
) -> Outcome:
    """Let an engine solve ``other`` and report its solutions to the progress of the problem.

    Parameters
    ----------
    engine : Backend
    other : Problem
        With the same solutions, and decoded in the same way.
    options : SolveOptions
    progress : Progress
        Of the problem that was asked. It gets no bound.

    Returns
    -------
    Outcome
        Proved only where there is no solution; what was proved of the other objective is a
        warning.
    """
    inner = InnerProgress(other, replace(options, gap=None), progress)
    if options.hint_features is not None:
        inner.found(other.explanation(options.hint_features))
    outcome = engine.solve(other, inner.options, inner)
    if wrong := contradiction(other, outcome, inner.objective, inner.best_bound):
        return replace(outcome, proved=False, claimed=None, wrong=wrong)
    least = inner.objective if outcome.proved else inner.best_bound
    if inner.objective is not None:
        known = "no bound" if least is None else f"bound {least}"
        outcome.warnings.append(f"the objective of the encoding: value {inner.objective}, {known}")
    empty = outcome.proved and inner.objective is None
    return replace(outcome, proved=empty, claimed=None)
