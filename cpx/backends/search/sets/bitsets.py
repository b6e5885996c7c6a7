"""A part of the search on bitsets: the state of the kernels, and calls that may be interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.sets.measures import Arena, Stack
from cpx.backends.search.sets.rows import rows_of
from cpx.backends.search.sets.tree import BETTER, DONE, FULL, PAUSED, branch, expand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Offer = Callable[[tuple[int, ...] | None], tuple[int, int]]

    from cpx.backends.search.sets.rows import Paid
    from cpx.models.rulesets.form import RuleSelection

__all__ = ["DEPTH", "LONGEST", "WORK", "BitsetSearch"]

Ints = NDArray[np.int64]

WORK = 1_000_000
"""Rules measured between two looks at the clock: some hundredths of a second."""

_FAR = 2**62

DEPTH, LONGEST = 16, 64
"""Rules of a set there is room for at first, and terms of a bound."""


class BitsetSearch:
    """The search of the sets with some rules, and more of others."""

    def __init__(
        self,
        form: RuleSelection,
        required: Sequence[int],
        rules: Ints,
        paid: Paid | None,
        known: tuple[int, int],
    ) -> None:
        self.required, self.rules = tuple(required), rules
        self.rows, start = rows_of(form, required, rules, paid)
        n, words = self.rows.bits.shape
        self.arena = Arena(*(np.zeros(4 * n + 1, dtype=np.int64) for _ in Arena._fields))
        self.stack = _new_stack(words, DEPTH, self.rows.paid.least.size)
        self.stack.uncovered[0], self.stack.once[0] = start
        self.stack.cost[0] = form.cost(required)
        self.stack.room[0] = self.rows.most_rules
        self.stack.best[0] = _FAR
        self._refresh(known)
        if n and self.rows.most_rules > 0:
            self.arena.rule[n : 2 * n] = np.arange(n)
            self.arena.good[n : 2 * n] = _FAR
            expand(self.rows, self.arena, self.stack, 0, n, 2 * n, -1)

    @property
    def nodes(self) -> int:
        """Nodes that were entered."""
        return int(self.stack.tally[1])

    def bound(self) -> int:
        """Return a lower bound on the cost of all sets of the part that are better."""
        arena, stack = self.arena, self.stack
        best, at = int(stack.best[0]), int(stack.position[0])
        if int(stack.tally[0]) < 0 or at > int(stack.children[0]) or not stack.children[0]:
            return best
        most = int(arena.bound[arena.turn[max(0, at - 1)]])
        return min(best, int(stack.cost[0]) - most)

    def run(self, work: int, stop: Callable[[], bool], offer: Offer) -> bool:
        """Search until all sets are, which is returned, or work was done, or ``stop`` says so.

        ``offer`` is called with every better set, or with None, and returns the cost and the size
        of the best set that is known.
        """
        while work > 0 and not stop():
            status = branch(self.rows, self.arena, self.stack, min(work, WORK))
            if status == DONE:
                return True
            if status == FULL:
                self._grow()
            elif status == PAUSED:
                work -= WORK
            self._refresh(offer(self._found() if status == BETTER else None))
        return False

    def _found(self) -> tuple[int, ...]:
        size = int(self.stack.best[1])
        return (*self.required, *self.rules[self.stack.best[2 : 2 + size]].tolist())

    def _refresh(self, known: tuple[int, int]) -> None:
        """Take over what was found elsewhere."""
        cost, size = known[0], known[1] - len(self.required)
        best = self.stack.best
        if (cost, size) < (int(best[0]), int(best[1])):
            best[:2] = cost, size
            # Which set that is, is not known here: any other one is reported.
            best[2:] = _FAR

    def _grow(self) -> None:
        """Make twice the room for rules and for nodes."""
        self.arena = Arena(*(np.concatenate([a, np.zeros_like(a)]) for a in self.arena))
        old = self.stack
        depth, words = old.uncovered.shape
        new = _new_stack(words, 2 * depth, old.due.shape[1])
        pairs: Iterable[tuple[NDArray[Any], NDArray[Any]]] = zip(new, old, strict=True)
        for mine, theirs in pairs:
            mine[: len(theirs)] = theirs
        self.stack = new


def _new_stack(words: int, depth: int, good: int) -> Stack:
    def numbers(size: int) -> Ints:
        return np.zeros(size, dtype=np.int64)

    def levels() -> NDArray[np.uint64]:
        return np.zeros((depth, words), dtype=np.uint64)

    return Stack(
        uncovered=levels(),
        once=levels(),
        due=np.zeros((depth, good), dtype=np.int32),
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
        top=numbers(LONGEST),
        best=np.full(depth + 2, _FAR, dtype=np.int64),
        scratch=numbers(depth + 1),
        tally=numbers(4),
    )
