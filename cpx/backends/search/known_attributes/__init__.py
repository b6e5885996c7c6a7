"""Expected predictions that are no sum of tables: mixtures, trees of attributes, deep leaves.

- ``beam``: the best sets of each size by beam search, which are the first answers;
- ``enumeration``: all sets of attributes, where these are few enough: a proof;
- ``components``: a bound from the components of a mixture, each a sum of tables.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cpx.answers.result import Termination
from cpx.backends.base import Outcome
from cpx.models.expected_prediction.fewest import FewestExpected
from cpx.models.expected_prediction.problem import MLSE

if TYPE_CHECKING:
    from cpx.backends.base import Progress
    from cpx.models.expected_prediction.problem import ExpectedPrediction

__all__ = ["solve_known_attributes"]

_WIDTH = 5
"""Sets of each size that the beam keeps."""


def _out_of_reach(problem: ExpectedPrediction) -> bool:
    """Whether no row that has what is required has a score of the threshold."""
    if not isinstance(problem, FewestExpected) or problem.bounded:
        return False
    return problem.scores.greatest(problem.required) < problem.tau


def solve_known_attributes(problem: ExpectedPrediction, progress: Progress) -> Outcome:
    """Search for attributes of x; see :class:`~cpx.backends.base.Backend`."""
    from cpx.backends.search.known_attributes.beam import beam_levels, evaluator_of
    from cpx.backends.search.known_attributes.components import bound_by_components
    from cpx.backends.search.known_attributes.enumeration import Enumeration

    required = sorted({*problem.required})
    most = problem.k if isinstance(problem, MLSE) else problem.n_features
    sizes = {
        "features": problem.n_features,
        "leaves": len(problem.leaves.values),
        "components": problem.distribution.n_components,
    }
    if len(required) > most or {*required} & {*problem.forbidden}:
        return Outcome(
            True, Termination.COMPLETED, "the required features contradict", sizes=sizes
        )
    if isinstance(problem, MLSE):
        progress.bound(problem.trivial_bound())
    elif _out_of_reach(problem):
        return Outcome(True, Termination.COMPLETED, "no row has a score as high", sizes=sizes)
    evaluator = evaluator_of(problem)
    enumeration = Enumeration(problem, evaluator, most, progress)

    def stop() -> bool:
        return progress.should_stop

    if not enumeration.short or not enumeration.affordable(most):
        best = -math.inf
        for level in beam_levels(evaluator, most, _WIDTH, required, problem.forbidden, stop):
            if isinstance(problem, MLSE):
                if level[0].expected > best:
                    progress.found(problem.explanation(level[0].features))
                    best = level[0].expected
            elif any(progress.found(problem.explanation(s.features)) is not None for s in level):
                break
            if stop():
                return Outcome(False, progress.why_stopped(), "beam search", sizes=sizes)
    if enumeration.affordable(most):
        if enumeration.run():
            claimed = None if progress.objective is None else int(progress.objective)
            message = f"all {enumeration.count} sets"
            done = Outcome(True, Termination.COMPLETED, message, claimed, sizes)
            done.best_of_ties = True
            return done
        return Outcome(False, progress.why_stopped(), "stopped early", sizes=sizes)
    if isinstance(problem, MLSE):
        message = bound_by_components(problem, progress)
    else:
        message = enumeration.smallest_sizes()
        if progress.gap_reached and not progress.options.gap:
            return Outcome(
                True, Termination.COMPLETED, message, int(progress.objective or 0), sizes
            )
    return Outcome(False, progress.why_stopped(), message, sizes=sizes)
