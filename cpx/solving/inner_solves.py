"""Solves within a solve: of an encoding's stand-in, and of the problem that breaks ties.

An encoding with a ``stand_in`` states another objective, such as the Hamming loss of a set of
rules in place of its errors. The engine solves that problem. Its solutions are solutions of the
problem that was asked, measured by its own objective; what it proves is about the other
objective, and is told in words only.

Of the solutions with the proved optimum, one may be preferred to the others. Two objectives in
lexicographic order would need weights that engines cannot count in, so the second one is a
problem of its own, with the optimum of the first as a limit.
"""

from __future__ import annotations

from dataclasses import replace

from cpx.backends.base import Backend, Outcome, Progress, contradiction
from cpx.backends.progress import InnerProgress
from cpx.modelling.base import Problem
from cpx.options import SolveOptions


def break_ties(
    engine: Backend, outcome: Outcome, options: SolveOptions, progress: Progress
) -> Outcome:
    """Solve the problem's second problem, in what is left of the time.

    Parameters
    ----------
    engine : Backend
    outcome : Outcome
        Of the engine. Without a proof, and for a problem that does not care for ties, it is
        returned as it is.
    options : SolveOptions
    progress : Progress
        Of the problem that was asked. It gets the solutions of the second problem, all of which
        have its objective.

    Returns
    -------
    Outcome
        The same proof, whatever comes of the second problem.
    """
    objective = progress.objective
    if not _proved(outcome, progress) or objective is None or progress.explanation is None:
        return outcome
    step = progress.problem.tie_step(objective)
    if step is None or not engine.accepts(step):
        return outcome
    best = progress.explanation.features
    # An encoding of another package states the problem that was asked, and may not state this.
    encoding = options.encoding if options.encoding in step.encoding_names() else None
    options = replace(options, hint=best, gap=None, encoding=encoding)
    inner = _TieProgress(step, options, progress)
    inner.found(progress.explanation)
    if inner.should_stop:
        return outcome
    second = engine.solve(step, inner.options, inner)
    outcome.warnings += [text for text in second.warnings if text not in outcome.warnings]
    if wrong := contradiction(step, second, inner.objective, inner.best_bound):
        return replace(outcome, wrong=f"second solve: {wrong}")
    proved = _proved(second, inner)
    preferred = inner.explanation if proved else None
    return replace(outcome, best_of_ties=proved, preferred=preferred)


def _proved(outcome: Outcome, progress: Progress) -> bool:
    """Whether there is a proof: an engine may have been stopped when the bound was met."""
    return outcome.proved or progress.objective == progress.best_bound


class _TieProgress(InnerProgress):
    """The progress of the second problem, which goes on where the whole has met its bound."""

    @property
    def gap_reached(self) -> bool:
        """Whether this solve has met its own bound."""
        return super(InnerProgress, self).gap_reached


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
