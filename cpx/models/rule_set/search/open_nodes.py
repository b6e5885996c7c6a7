"""The incumbent, and the open subproblems: some rules are required, some others still free."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cpx.backends.base import Progress
from cpx.backends.search.remaining_constraints import Remaining
from cpx.modelling.base import Problem
from cpx.modelling.side_constraints.form import propagated
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.search.multipliers import Multipliers


class Incumbent:
    """The best allowed set, shared by all threads; every better one is reported.

    Sets are compared by their costs, then by their sizes, then as sorted lists of rules. So the
    best of all sets is one set, in whatever order they are met. Where none is known, as side
    constraints may have it, the cost is one that no set reaches.
    """

    def __init__(
        self,
        form: RuleSelection,
        problem: Problem,
        progress: Progress,
        start: Sequence[int] | None,
    ) -> None:
        self.form, self.problem, self.progress = form, problem, progress
        self._lock = threading.Lock()
        self.beyond = form.offset + int(np.abs(form.weights).sum() + form.prices.sum()) + 1
        self.key: tuple[int, int, tuple[int, ...]] = self.beyond, 0, ()
        self.offer(start)

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


@dataclass(frozen=True, eq=False)
class Subproblem:
    """The sets that have ``required``, and besides only some of ``rules``.

    bound: A lower bound on the cost of all of them.
    """

    required: tuple[int, ...]
    rules: NDArray[np.int64]
    bound: int
    start: Multipliers | None = None  # those of the parent; None for the whole problem


def restrict(form: RuleSelection, part: Subproblem, incumbent: Incumbent) -> Subproblem | None:
    """Offer the required rules as a set; leave out rules of no use besides them.

    None if nothing is left to search: if the required rules break a limit, which larger sets do
    as well, or one of them is of no use, or no other rule is. A rule is of no use besides others
    if the good rows that it alone covers are worth no more than its price: without it, any set
    with these others is no worse, and smaller; and no side constraint may ask for it. What side
    constraints require and forbid where these rules are required comes first.
    """
    if form.side:
        unused = set(part.rules.tolist())
        others = set(range(form.shape[0])) - unused - set(part.required)
        decided = propagated(form.side, part.required, others)
        if decided is None:
            return None
        more = sorted(decided[0] - set(part.required))
        left = np.array(sorted(unused - decided[0] - decided[1]), dtype=np.int64)
        part = replace(part, required=(*part.required, *more), rules=left)
    required = list(part.required)
    if not form.within_limits(required):
        return None
    if form.side.allow(required):
        incumbent.offer(required)
    times = form.times_covered(required)
    saved = np.maximum(form.weights, 0)
    alone = form.covers[required] @ np.where(times == 1, saved, 0)
    kept = form.side.wanted.union(form.required)
    free = np.array([r not in kept for r in required], dtype=bool)
    if ((alone <= form.prices[required]) & free).any():
        return None
    rules = part.rules
    useful = form.covers[rules] @ np.where(times == 0, saved, 0) > form.prices[rules]
    if form.side:
        useful |= Remaining.of(form.side, rules, tuple(required)).with_sign(positive=True)
    if form.max_rules is not None:
        useful &= len(required) < form.max_rules
    if form.max_literals is not None:
        useful &= form.lengths[rules] <= form.max_literals - int(form.lengths[required].sum())
    if form.max_overlap is not None:
        room = form.max_overlap - form.overlap(required)
        useful &= form.covers[rules] @ np.where(times == 1, form.counted, 0) <= room
    if not useful.any():
        return None
    return replace(part, rules=rules[useful])
