"""Exact search over sets of rules: branch and bound on bitsets, anytime.

- ``rows``: rules as sets of good and bad rows, after the presolve;
- ``tree``: the kernels, with the proof of the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.backends.base import Outcome
from cpx.backends.search.sets.rows import rows_of
from cpx.backends.search.sets.tree import DONE, FULL, Arena, Stack, branch, expand
from cpx.models.rulesets.form import RuleSelection
from cpx.models.rulesets.presolve import presolve
from cpx.result import Termination

if TYPE_CHECKING:
    from cpx.backends.base import Progress
    from cpx.models.base import Problem

__all__ = ["load_kernels", "optimise_sets"]

_WORK = 1_000_000
"""Rules measured between two looks at the clock: some hundredths of a second."""

_FAR = 2**62

_DEPTH, _LONGEST = 16, 64
"""Rules of a set there is room for at first, and terms of a bound."""


def optimise_sets(problem: Problem, form: RuleSelection, progress: Progress) -> Outcome:
    """Search a selection of rules whose form this is; see :mod:`cpx.backends.search.sets.tree`.

    The first of the best sets that it meets is the answer: it depends on the start alone.
    """
    if not form.allows(form.required):
        # Limits never get tighter when a rule is left out: nothing else is allowed either.
        return Outcome(True, Termination.COMPLETED, "the required rules break a limit")
    with progress.phase("compile"):
        load_kernels()
        search = _Search(form)
    with progress.phase("solve"):
        return search.run(problem, progress)


def load_kernels() -> None:
    """Load or compile the kernels on a toy, so that it is not counted as solving."""
    global _loaded
    if not _loaded:
        ones = np.ones(3, dtype=np.int64)
        toy = RuleSelection(~np.eye(3, dtype=bool), ones, 0 * ones, 0, (), (), ones, ones)
        search = _Search(toy)
        search.begin()
        branch(search.rows, search.arena, search.stack, _WORK)
        _loaded = True


_loaded = False


class _Search:
    """The state of a search."""

    def __init__(self, form: RuleSelection) -> None:
        presolved = presolve(form)
        self.required = tuple(form.required)
        self.rows, self.rules, start = rows_of(presolved)
        self.floor = presolved.form.offset
        n, words = self.rows.bits.shape
        self.arena = Arena(*(np.zeros(4 * n + 1, dtype=np.int64) for _ in Arena._fields))
        self.stack = _new_stack(words, _DEPTH)
        self.stack.uncovered[0], self.stack.once[0] = start
        self.stack.cost[0] = self.stack.best[0] = form.cost(self.required)
        self.stack.room[0] = self.rows.most_rules
        self.sizes = {"rules": n, "rows": int(np.count_nonzero(presolved.form.worth))}

    def chosen(self) -> tuple[int, ...]:
        """Return the best set that was met, in the numbers of the problem."""
        size = int(self.stack.best[1])
        return (*self.required, *self.rules[self.stack.best[2 : 2 + size]].tolist())

    def bound(self) -> int:
        """Return a lower bound on the cost of all sets."""
        arena, stack = self.arena, self.stack
        best, at = int(stack.best[0]), int(stack.position[0])
        if int(stack.tally[0]) < 0 or at > int(stack.children[0]) or not stack.children[0]:
            return best
        most = int(arena.bound[arena.turn[max(0, at - 1)]])
        return max(self.floor, min(best, int(stack.cost[0]) - most))

    def begin(self) -> None:
        """List the children of the root."""
        n = len(self.rules)
        if n and self.rows.most_rules > 0:
            self.arena.rule[n : 2 * n] = np.arange(n)
            self.arena.good[n : 2 * n] = _FAR
            expand(self.rows, self.arena, self.stack, 0, n, 2 * n, -1)

    def run(self, problem: Problem, progress: Progress) -> Outcome:
        """Search, reporting every better set and the bound."""
        progress.found(problem.explanation(self.required))
        if progress.objective is not None:
            self.stack.best[0] = min(int(self.stack.best[0]), int(progress.objective))
        known = int(self.stack.best[0])
        self.begin()
        while True:
            if int(self.stack.best[0]) < known:
                known = int(self.stack.best[0])
                progress.found(problem.explanation(self.chosen()))
            progress.bound(self.bound())
            if progress.should_stop:
                break
            status = branch(self.rows, self.arena, self.stack, _WORK)
            if status == FULL:
                self._grow()
            elif status == DONE:
                break
        told = f"{int(self.stack.tally[1])} nodes"
        progress.bound(self.bound())
        proved = progress.objective is not None and progress.best_bound == progress.objective
        why = Termination.COMPLETED if proved else progress.why_stopped()
        claimed = None if progress.objective is None else int(progress.objective)
        return Outcome(proved, why, told, claimed, self.sizes)

    def _grow(self) -> None:
        """Make twice the room for rules and for nodes."""
        self.arena = Arena(*(np.concatenate([a, np.zeros_like(a)]) for a in self.arena))
        old = self.stack
        depth, words = old.uncovered.shape
        new = _new_stack(words, 2 * depth)
        for mine, theirs in zip(new, old, strict=True):
            mine[: len(theirs)] = theirs
        self.stack = new


def _new_stack(words: int, depth: int) -> Stack:
    def numbers(size: int) -> NDArray[np.int64]:
        return np.zeros(size, dtype=np.int64)

    def levels() -> NDArray[np.uint64]:
        return np.zeros((depth, words), dtype=np.uint64)

    return Stack(
        uncovered=levels(),
        once=levels(),
        cost=numbers(depth),
        literals=numbers(depth),
        overlap=numbers(depth),
        chosen=numbers(depth),
        room=numbers(depth),
        start=numbers(depth),
        end=numbers(depth),
        children=numbers(depth),
        position=numbers(depth),
        union=np.zeros(words, dtype=np.uint64),
        top=numbers(_LONGEST),
        best=numbers(depth + 2),
        tally=numbers(4),
    )
