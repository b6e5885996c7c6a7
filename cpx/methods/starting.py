"""The solution that an engine starts from, where one is found in no time.

Engines that get a selection of rules without a solution take long to find one that a greedy search
has at once. So they get the set of a greedy and local search as a hint on all variables, and the
better of that and what they find is the answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cpx.methods.local_search import descend
from cpx.models.rulesets.problem import RuleSetProblem

if TYPE_CHECKING:
    from cpx.backends.base import Backend, Progress

__all__ = ["Start"]


class Start:
    """A known solution of the problem of a solve, reported to its progress.

    Nothing is done for problems of other kinds, for heuristics, and for engines that have a start
    of their own.

    Parameters
    ----------
    engine : Backend
        Who is to solve the problem.
    progress : Progress
        Of the solve. A hint that counts as a solution is improved.

    Attributes
    ----------
    options : SolveOptions
        Those of the solve, with the start as the hint.
    """

    def __init__(self, engine: Backend, progress: Progress) -> None:
        self.options = progress.options
        self._known = False
        problem = progress.problem
        if not (isinstance(problem, RuleSetProblem) and problem.stated):
            return
        if engine.starts_alone or not engine.exact:
            return
        if not problem.form.allows(problem.required):
            return
        given = progress.explanation
        with progress.phase("state"):
            rules = problem.required if given is None else given.features
            rules = descend(problem.form, rules, lambda: progress.should_stop)
        progress.found(problem.explanation(rules))
        if progress.explanation is None:
            return
        self.options = replace(self.options, hint=progress.explanation.features)
        self._known, self._value = True, progress.objective
        self._rules = progress.explanation.features

    def told(self, progress: Progress) -> list[str]:
        """Say whether the answer is the start's or the engine's."""
        if not self._known:
            return []
        if progress.objective == self._value:
            assert progress.explanation is not None
            if progress.explanation.features != self._rules:
                return [
                    f"the engine was given the value {self._value} of the local search before and "
                    "found nothing better; the answer is the first of the sets of that value"
                ]
            return [
                f"the answer is that of the local search before: the engine was given its value "
                f"{self._value} and found nothing better"
            ]
        return [f"the engine improved the value {self._value} of the local search before"]
