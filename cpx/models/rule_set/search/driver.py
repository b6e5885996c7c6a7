"""The driver of the search: a best-first queue of subproblems, threads, and the global bound."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.search.open_nodes import Incumbent, Subproblem
from cpx.models.rule_set.search.parallel import TaskPool
from cpx.models.rule_set.search.subproblem import SubproblemSearch
from cpx.processes.threads import start_thread

_POLL_SECONDS = 0.01


class BestFirstSearch:
    """Threads that take the open part with the lowest bound and leave parts of it.

    Parts differ in their rules, so that no set is met twice, and a part is closed only where
    nothing in it is better than the best known set: the best set of all does not depend on the
    number of threads, nor on their order.
    """

    def __init__(
        self,
        form: RuleSelection,
        rules: NDArray[np.int64],
        incumbent: Incumbent,
        stop: Callable[[], bool],
    ) -> None:
        self.form, self.incumbent, self.stop = form, incumbent, stop
        self.nodes, self.shared = 0, False
        self._serial = 0
        self._open: list[tuple[int, int, Subproblem]] = []
        self._running: dict[int, int] = {}
        self.pool = TaskPool()
        self._changed = self.pool.changed
        self._failures: list[BaseException] = []
        self._push(Subproblem(tuple(form.required), rules, form.offset))

    def bound(self) -> int:
        """Return a lower bound on the cost of all sets."""
        with self._changed:
            lowest = [bound for bound, _, _ in self._open[:1]]
            return min([self.incumbent.cost, *self._running.values(), *lowest])

    def run(self, threads: int, watch: Callable[[], None]) -> bool:
        """Work until done, which is returned, or stopped; ``watch`` is called now and then."""
        try:
            ends = [start_thread(partial(self._work, n)) for n in range(threads)]
        except MemoryError as error:
            self._failures.append(error)  # stops those that run
            raise
        for ended in ends:
            while not ended.wait(_POLL_SECONDS):
                watch()
        if self._failures:
            raise self._failures[0]
        return not self._open and not self._running

    def _push(self, part: Subproblem) -> None:
        if not self.incumbent.beaten(part.bound, len(part.required)):
            heapq.heappush(self._open, (part.bound, self._serial, part))
            self._serial += 1

    def _work(self, number: int) -> None:
        try:
            while (part := self._next(number)) is not None:
                note = partial(self._note, number)
                search = SubproblemSearch(
                    self.form, self.incumbent, self.pool, self._stopped, note
                )
                left = search.explore(part)
                with self._changed:
                    self.nodes += search.nodes
                    self.shared |= search.shared
                    if self._stopped():
                        return  # with the bound of this part as it is
                    for child in left:
                        self._push(child)
                    del self._running[number]
                    self._changed.notify_all()
        except BaseException as error:
            self._failures.append(error)

    def _stopped(self) -> bool:
        return bool(self._failures) or self.stop()

    def _next(self, number: int) -> Subproblem | None:
        """Return the part with the lowest bound; None where none will be open any more.

        Until there is one, do what other threads leave.
        """
        while True:
            with self._changed:
                while self._open:
                    bound, _, part = heapq.heappop(self._open)
                    if not self.incumbent.beaten(bound, len(part.required)):
                        self._running[number] = bound
                        return part
                if not self._running or self._stopped():
                    return None
            self.pool.help(_POLL_SECONDS)

    def _note(self, number: int, bound: int) -> None:
        with self._changed:
            self._running[number] = max(self._running[number], bound)
