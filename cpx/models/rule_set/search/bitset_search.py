"""Bitset search of a subproblem: the state of its kernels, in calls that can be interrupted."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.side_constraints import buffers
from cpx.compiled.kernel import bind
from cpx.models.rule_set.search.rows import Paid, rows_of
from cpx.models.rule_set.search.tree import (
    BETTER,
    EMPTY,
    NO_ROOM,
    PAUSED,
    Stack,
    Workspace,
    branch,
    expand,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Offer = Callable[[tuple[int, ...] | None], tuple[int, int]]

    from cpx.models.rule_set.form import RuleSelection

Ints = NDArray[np.int64]

WORK = 1_000_000
"""Work between two looks at the clock: some hundredths of a second."""

_LINE = 1 / 16
"""The work of one word of a rule that is measured; what is paid takes as long for 16 rows."""

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
        self.buffers = buffers(self.rows.side)
        n, words = self.rows.bits.shape
        self.workspace = Workspace(
            *(np.zeros(4 * n + 1, dtype=np.int64) for _ in Workspace._fields)
        )
        self.stack = _new_stack(words, DEPTH, self.rows.paid.least.size)
        self.stack.uncovered[0], self.stack.once[0] = start
        self.stack.paid[0] = self.rows.paid.least.sum()
        self.stack.cost[0] = form.cost(required)
        self.stack.room[0] = self.rows.most_rules
        self.stack.best[0] = _FAR
        # Of all sets, which may cost less than the best known one that keeps side constraints.
        negative = form.weights < 0
        self._highest = int(self.stack.cost[0] + form.prices[rules].sum()) + 1
        self._highest -= int(form.weights[negative & (form.times_covered(required) == 0)].sum())
        self.weight = 1 + _LINE * (words + self.rows.paid.least.size / 16)
        self._refresh(known)
        if n and self.rows.most_rules > 0:
            self.workspace.rule[n : 2 * n] = np.arange(n)
            self.workspace.good[n : 2 * n] = _FAR
            expand(self.rows, self.workspace, self.stack, self.buffers, 0, n, 2 * n, -_FAR)

    @property
    def nodes(self) -> int:
        """Nodes that were entered."""
        return int(self.stack.tally[1])

    def bound(self) -> int:
        """Return a lower bound on the cost of all sets of the part that are better."""
        workspace, stack = self.workspace, self.stack
        best, at = int(stack.best[0]), int(stack.position[0])
        if int(stack.tally[0]) < 0 or at > int(stack.children[0]) or not stack.children[0]:
            return best
        most = int(workspace.bound[workspace.turn[max(0, at - 1)]])
        return min(best, int(stack.cost[0]) - most)

    def step(self, offer: Offer, work: int) -> bool:
        """Search until all sets are, which is returned, or so much work was done.

        ``offer`` is called with every better set, and with None at the end, and returns the cost
        and the size of the best set that is known.
        """
        work = max(1, int(work / self.weight))
        search = self._bound_to(work)
        while (status := search()) != EMPTY:
            if status == NO_ROOM:
                self._grow()
                search = self._bound_to(work)
            else:
                self._refresh(offer(self._found() if status == BETTER else None))
            if status == PAUSED:
                return False
        return True

    def _bound_to(self, work: int) -> Callable[[], int]:
        return bind(branch, self.rows, self.workspace, self.stack, self.buffers, work)

    def split_off(self) -> BitsetSearch | None:
        """Leave every other open child of the highest node that has some to another search.

        None where no node has two, or has one besides the child that is being searched.
        """
        workspace, stack = self.workspace, self.stack
        at = int(stack.tally[0])
        for depth in range(at + 1):
            first, begun = int(stack.start[depth]), int(stack.position[depth])
            turn = workspace.turn[first + begun : first + int(stack.children[depth])]
            saved = int(stack.cost[depth] - stack.best[0]) - 1
            turn = turn[workspace.bound[turn] > saved]
            given = turn[depth == at :: 2]
            if given.size:
                other = copy(self)
                other.buffers = buffers(self.rows.side)
                other.workspace = Workspace._make(table.copy() for table in workspace)
                other.stack = Stack._make(table.copy() for table in stack)
                other.stack.tally[:] = depth, 0, 0, 0
                other._keep(depth, given)
                self._keep(depth, turn[depth != at :: 2])
                return other
        return None

    def _keep(self, depth: int, turn: Ints) -> None:
        """Make these the children of an open node that are left."""
        first = int(self.stack.start[depth]) + int(self.stack.position[depth])
        self.workspace.turn[first : first + turn.size] = turn
        self.stack.children[depth] = self.stack.position[depth] + turn.size

    def _found(self) -> tuple[int, ...]:
        size = int(self.stack.best[1])
        return (*self.required, *self.rules[self.stack.best[2 : 2 + size]].tolist())

    def _refresh(self, known: tuple[int, int]) -> None:
        """Take over what was found elsewhere."""
        cost, size = min(known[0], self._highest), known[1] - len(self.required)
        best = self.stack.best
        if (cost, size) < (int(best[0]), int(best[1])):
            best[:2] = cost, size
            # Which set that is, is not known here: any other one is reported.
            best[2:] = _FAR

    def _grow(self) -> None:
        """Make twice the room for rules and for nodes."""
        self.workspace = Workspace(
            *(np.concatenate([a, np.zeros_like(a)]) for a in self.workspace)
        )
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
        paid=numbers(depth),
        cost=numbers(depth),
        literals=numbers(depth),
        overlap=numbers(depth),
        chosen=numbers(depth + 1),
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
