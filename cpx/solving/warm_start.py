"""The solution that an engine starts from, where one is found in no time.

Engines that get a selection of rules without a solution take long to find one that a greedy search
has at once, and core-guided MaxSAT has no smallest set of features before the optimum. So they get
the set of a local search, or of deletion, as a hint on all variables, and the better of that and
what they find is the answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cpx.methods.local_search import descend
from cpx.methods.reasons.deletion_methods import BestOfOrders, delete_in_orders
from cpx.models.minimum_subset.problem import SmallestSet
from cpx.models.rule_set.problem import RuleSetProblem

if TYPE_CHECKING:
    from cpx.backends.base import Backend, Progress

__all__ = ["Start"]

# Leaves that a set of features must exclude: with fewer, engines end before a start would help.
_FEW = 100


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
        self._method = ""
        if engine.has_own_start or not engine.exact:
            return
        with progress.phase("state"):
            method = _start(engine, progress)
        if method and progress.explanation is not None:
            self._method = method
            self._value, self._chosen = progress.objective, progress.explanation.features
            self.options = replace(self.options, hint=self._chosen)

    def told(self, progress: Progress) -> list[str]:
        """Say whether the answer is the start's or the engine's."""
        if not self._method:
            return []
        start = f"the value {self._value} of the {self._method} before"
        if progress.objective != self._value:
            return [f"the engine improved {start}"]
        assert progress.explanation is not None
        if progress.explanation.features != self._chosen:
            return [
                f"the engine was given {start} and found nothing better; the answer is the first "
                "of the sets of that value"
            ]
        return [
            f"the answer is that of the {self._method} before: the engine was given its value "
            f"{self._value} and found nothing better"
        ]


def _start(engine: Backend, progress: Progress) -> str:
    """Report a solution; return the name of the method that found it, "" where none was asked."""
    problem = progress.problem
    if isinstance(problem, RuleSetProblem) and problem.stated:
        if not problem.form.allows(problem.required):
            return ""
        given = progress.explanation
        rules = problem.required if given is None else given.features
        rules = descend(problem.form, rules, lambda: progress.should_stop)
        progress.found(problem.explanation(rules))
        return "local search"
    if isinstance(problem, SmallestSet) and engine.needs_model and BestOfOrders.available():
        if len(problem.form.tree) <= _FEW:
            return ""
        from cpx.methods.reasons.deletion import deleting

        asked = deleting(problem, lambda: progress.should_stop)
        delete_in_orders(problem, asked, progress.options.seed, progress)
        return "deletion"
    return ""
