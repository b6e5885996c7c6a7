"""The best set that is known: of the sets of least cost the smallest, of these the first."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cpx.backends.base import Progress
    from cpx.models.base import Problem
    from cpx.models.rule_set.form import RuleSelection

__all__ = ["Incumbent"]


class Incumbent:
    """The best allowed set, shared by all threads; every better one is reported.

    Sets are compared by their costs, then by their sizes, then as sorted lists of rules. So the
    best of all sets is one set, in whatever order they are met.
    """

    def __init__(
        self, form: RuleSelection, problem: Problem, progress: Progress, start: Sequence[int]
    ) -> None:
        self.form, self.problem, self.progress = form, problem, progress
        rules = tuple(sorted(start))
        self._lock = threading.Lock()
        self.key = form.cost(rules), len(rules), rules
        progress.found(problem.explanation(rules))

    @property
    def cost(self) -> int:
        """The cost of the best set."""
        return self.key[0]

    def offer(self, rules: Sequence[int] | None) -> tuple[int, int]:
        """Take an allowed set, if it is better; return cost and size of the best set."""
        if rules is not None:
            chosen = tuple(sorted(rules))
            key = self.form.cost(chosen), len(chosen), chosen
            with self._lock:
                better = key[0] < self.cost
                self.key = min(self.key, key)
            if better:
                self.progress.found(self.problem.explanation(chosen))
        return self.key[:2]

    def beaten(self, bound: int, size: int) -> bool:
        """Say whether no set of at least that cost and that size is the best one."""
        cost, least, _ = self.key
        return bound > cost or (bound == cost and size > least)
