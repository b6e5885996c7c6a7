"""A solve within a solve: of the problem that breaks ties.

Of the solutions with the proved optimum, one may be preferred to the others. Two objectives in
lexicographic order would need weights that engines cannot count in, so the second one is a
problem of its own, with the optimum of the first as a limit.
"""

from __future__ import annotations

from dataclasses import replace

from cpx.backends.base import Backend, Outcome, Progress, contradiction
from cpx.backends.progress import InnerProgress
from cpx.modelling.encodings import encoding_names
from cpx.options import SolveOptions


def break_ties(
    engine: Backend, outcome: Outcome, options: SolveOptions, progress: Progress
) -> Outcome:
    """Solve the problem's second problem, in what is left of the time.

    outcome: Of the engine. Without a proof, and for a problem that does not care for ties, it is
        returned as it is.
    progress: Of the problem that was asked. It gets the solutions of the second problem, all of
        which have its objective.
    Returns: The same proof, whatever comes of the second problem.
    """
    objective = progress.objective
    if not _proved(outcome, progress) or objective is None or progress.explanation is None:
        return outcome
    step = progress.problem._tie_step(objective)
    if step is None or not engine.accepts(step):
        return outcome
    best = progress.explanation.features
    # An encoding of another package states the problem that was asked, and may not state this.
    encoding = options.encoding if options.encoding in encoding_names(step) else None
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
