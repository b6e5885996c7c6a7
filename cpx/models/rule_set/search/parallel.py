"""Work stealing: idle threads take parts of a search of sets of rules from busy ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cpx.backends.search.work_sharing import TaskPool
from cpx.models.rule_set.search import bitset_search
from cpx.models.rule_set.search.bitset_search import BitsetSearch

_POLL_SECONDS = 0.01


class ParallelSearch:
    """A search, and those that were split off from it.

    Whenever a thread is idle, a search leaves it half of the open children of a node, and goes
    on with the others. All know the best set that any of them found. So every set is searched
    once, or closed by the bound of one of its nodes, whoever does it.

    stop: Called often; True ends the search.
    offer: See :meth:`~cpx.models.rule_set.search.bitset_search.BitsetSearch.step`.
    note: Called with lower bounds on the cost of all sets that are better than the best known.
    """

    def __init__(
        self,
        search: BitsetSearch,
        pool: TaskPool,
        stop: Callable[[], bool],
        offer: Callable[[tuple[int, ...] | None], tuple[int, int]],
        note: Callable[[int], None],
    ) -> None:
        self.pool, self.work = pool, 0
        self.stop, self.offer, self.note = stop, offer, note
        self.nodes = search.nodes
        self._bounds = {search: search.bound()}  # of searches that are not done
        self._waiting = [search]
        self._busy = 0

    def bound(self) -> int:
        """Return a lower bound on the cost of all sets that are better than the best known."""
        with self.pool.changed:
            return min(self._bounds.values(), default=self.offer(None)[0])

    def run(self, work: int) -> bool:
        """Search until all sets are, which is returned, or work was done, or ``stop`` says so.

        It goes on where it ended when it is called again. The work is that of all threads.
        """
        self.work = work
        while self._bounds and not self._over():
            self._help()
            self._wait()
        while self._busy:
            self._wait()
        return not self._bounds

    def _wait(self) -> None:
        with self.pool.changed:
            if self._busy and not self._waiting:
                self.pool.changed.wait(_POLL_SECONDS)

    def _over(self) -> bool:
        return self.work <= 0 or self.stop()

    def _help(self) -> None:
        """Do a search that is waiting, if there is one."""
        with self.pool.changed:
            if not self._waiting:
                return
            search = self._waiting.pop()
            self._busy += 1
        try:
            self._search(search)
        finally:
            with self.pool.changed:
                self._busy -= 1
                self.pool.changed.notify_all()

    def _search(self, search: BitsetSearch) -> None:
        done = False
        while not done and not self._over():
            before = search.nodes
            work = min(bitset_search.WORK, self.work)
            done = search.step(partial(self._tell, search), work)
            with self.pool.changed:
                self.work -= work
                self.nodes += search.nodes - before
                if done:
                    del self._bounds[search]
            if not done and self.pool.wanted:
                self._split_off(search)
        if not done:
            with self.pool.changed:
                self._waiting.append(search)

    def _split_off(self, search: BitsetSearch) -> None:
        other = search.split_off()
        if other is not None:
            with self.pool.changed:
                self._bounds[other] = other.bound()
                self._waiting.append(other)
            self.pool.leave(self._help)

    def _tell(self, search: BitsetSearch, found: tuple[int, ...] | None) -> tuple[int, int]:
        with self.pool.changed:
            self._bounds[search] = search.bound()
        self.note(self.bound())
        return self.offer(found)
