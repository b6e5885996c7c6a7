"""A lower bound on the fewest attributes: sizes whose greatest expectation is below the threshold.

Whether a set of at most k attributes reaches it is the question of :class:`.problem.MLSE`, whose
bounds come long before its optimum: the search for k ends as soon as one of its bounds is below
the threshold, or a set reaches it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from cpx.answers.explanation import Explanation
from cpx.answers.values import Value
from cpx.backends.progress import Progress
from cpx.models.expected_prediction.fewest import FewestExpected
from cpx.models.expected_prediction.problem import MLSE


def raise_bound(
    problem: FewestExpected, progress: Progress, search: Callable[[MLSE, Any, Progress], object]
) -> str:
    """Report that no set of the next size reaches the threshold, while there is time.

    search: Of the greatest expectation. Expectations must not be rounded leaf by leaf.
    Returns what was done in words.
    """
    told = ""
    while progress.best_bound is not None and not progress.should_stop:
        k = int(progress.best_bound)
        known = problem.n_features if progress.objective is None else progress.objective
        if k >= known:
            break
        greatest = MLSE(
            *(problem.tree_model, problem.x, problem.coding, problem.distribution),
            k=k,
            required=problem.required,
            forbidden=problem.forbidden,
            prediction=problem.prediction,
            side_constraints=problem.side_constraints,
        )
        watched = _OneSize(greatest, problem, progress)
        search(greatest, greatest.form(), watched)
        if not watched.too_little:
            break
        told = f"; bounds on sets of up to {k} attributes"
        progress.bound(k + 1)
    return told


class _OneSize(Progress):
    """Stops where it is known whether a set of so many attributes reaches the threshold."""

    def __init__(self, greatest: MLSE, problem: FewestExpected, whole: Progress) -> None:
        left = None if whole.remaining is None else max(whole.remaining, 0.01)
        super().__init__(greatest, replace(whole.options, time_limit=left, hint=None))
        self._unit, self._fewest, self._whole = Fraction(greatest.unit or 1), problem, whole
        self._reached = False

    @property
    def too_little(self) -> bool:
        """Whether a bound is below the threshold; expectations are rounded by a half at most."""
        bound = self.best_bound
        return bound is not None and (bound + Fraction(1, 2)) * self._unit < self._fewest.tau

    @property
    def should_stop(self) -> bool:
        """Whether it is known, or there is no time."""
        return self._reached or self.too_little or self._whole.should_stop

    @property
    def should_stop_among_ties(self) -> bool:
        """The same: it is not asked which of equally good sets is the likeliest."""
        return self.should_stop

    def found(self, explanation: Explanation) -> Value | None:
        """Take a set, and hand it on where it reaches the threshold."""
        if self._fewest.reaches(explanation.features):
            self._reached = True
            self._whole.found(self._fewest.explanation(explanation.features))
        return super().found(explanation)
