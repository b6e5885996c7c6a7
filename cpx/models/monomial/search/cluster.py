"""One search on the workers of a Dask cluster: they take the open branches of its root.

The search here keeps what a search of threads keeps: bounds of the branches, which of them are
done, and the best set. A branch is done when a worker has said so. One whose worker is lost is
given to another, or is searched here in the end; until then its bound counts.
"""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.errors import EngineError, shortened
from cpx.models.monomial.search.driver import Workers
from cpx.processes.cluster import connect

if TYPE_CHECKING:
    from collections.abc import Callable

    from cpx.models.monomial.search.root import Root

Ints = NDArray[np.int64]

_PAUSE = 0.01
_TELL_SECONDS = 0.3
"""How often workers hear of the best cost, and whether to stop."""
_SILENT_SECONDS = 30.0
"""Without a word from here, workers stop."""
_IN_FLIGHT = 2
"""Calls on their way for each thread of the cluster."""
_SHARE = 4
"""A call has at most this part of what is left for each thread: fewer and fewer branches."""


class _Job(NamedTuple):
    """What all branches of a search share, sent once to each worker."""

    name: str
    root: Root
    limit: int
    order: Ints


class _Said(NamedTuple):
    """What became of some branches: those that are done, the best set, and ``strict``."""

    done: list[int]
    found: Ints
    strict: int


def search_on_cluster(
    address: str, left: float | None, workers: Workers, watch: Callable[[Workers], bool]
) -> tuple[bool, list[str]]:
    """Search the branches of a root on a cluster; those that it fails on are searched here.

    left: The seconds there are: in a third of them the cluster must be found, to be named if not.

    Returns: Whether all are done, and warnings.
    Raises EngineMissing, InvalidOption: When there is no Dask, or no such cluster.
    """
    with connect(address, seconds=None if left is None else left / 3) as client:
        stopped, failure = _Sharing(workers, client, watch).run()
    rest = workers.open
    if stopped or not rest.size:
        return not rest.size, []
    notes = [f"{rest.size} branches were searched here: on the cluster {failure}"]
    workers.tasks, workers.todo = rest, iter(rest.tolist())
    return workers.run(watch), notes


class _Sharing:
    """The way of the branches to the cluster and back."""

    def __init__(self, workers: Workers, client: Any, watch: Callable[[Workers], bool]) -> None:
        self.workers, self.client, self.watch = workers, client, watch
        self.name = f"cpx-search-{uuid.uuid4().hex}"
        self.todo = workers.tasks.tolist()[::-1]
        self.pending: dict[Any, list[int]] = {}
        self.told, self.seen, self.ticks, self.room = 0.0, time.monotonic(), 0, 0

    def run(self) -> tuple[bool, str | None]:
        """Return whether ``watch`` stopped the search, and what failed."""
        stopped, failure = False, None
        try:
            stopped = self._share()
            if self.pending:
                self._tell(1)
                self.client.cancel(list(self.pending))
        except Exception as error:  # the cluster's or a worker's, of whatever kind
            failure = f"{type(error).__name__}: {shortened(error)}"
        return stopped, failure

    def _share(self) -> bool:
        """Share the branches out until all are done; return whether ``watch`` said to stop."""
        import dask
        from distributed import Variable

        self.word = Variable(self.name, client=self.client)
        workers = self.workers
        job = _Job(self.name, workers.root, workers.limit, workers.order)
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
            # As a task's result, it is made again where the machine that has it is lost.
            sent = self.client.submit(_carried, job, key=f"{self.name}-job")
        while self.todo or self.pending:
            if time.monotonic() > self.told + _TELL_SECONDS:
                self._tell(0)
            self._fill(sent)
            for future in [one for one in self.pending if one.done()]:
                self._note(self.pending.pop(future), future.result())
            if self.watch(workers):
                return True
            time.sleep(_PAUSE)
        return False

    def _fill(self, job: Any) -> None:
        """Send branches that may hold a better set, the lowest bound first."""
        workers = self.workers
        while self.todo and len(self.pending) < self.room:
            size = max(1, len(self.todo) * _IN_FLIGHT // (_SHARE * self.room))
            tasks = [self.todo.pop() for _ in range(size)]
            given = self.name, job, tasks, workers.found[0].copy(), workers.shared.copy()
            self.pending[self.client.submit(_branches, *given, pure=False)] = tasks

    def _note(self, tasks: list[int], said: _Said) -> None:
        self.todo += [task for task in reversed(tasks) if task not in said.done]
        self.workers.learn(said.done, said.found, said.strict)

    def _tell(self, stop: int) -> None:
        """Tell the workers what is known, and count them: machines may come and go."""
        self.told, self.ticks = time.monotonic(), self.ticks + 1
        self.word.set((stop, int(self.workers.shared[1]), self.ticks))
        self.room = _IN_FLIGHT * sum(self.client.nthreads().values())
        self.seen = self.told if self.room else self.seen
        if self.told > self.seen + _SILENT_SECONDS:
            raise EngineError("there are no workers")


def _carried(job: _Job) -> _Job:
    return job


# ------------------------------------------------------------ in a worker


@dataclass
class _Idle:
    """Stacks of the last search that this process had branches of."""

    name: str
    stacks: list[Workers]


_idle = _Idle("", [])
_lock = threading.Lock()


def _branches(name: str, job: _Job, tasks: list[int], found: Ints, shared: Ints) -> _Said:
    """Search some branches, with what is known of the best set."""
    from distributed import Variable, get_client

    word, heard, ticks = Variable(name, client=get_client()), time.monotonic(), -1
    last = heard

    def stop(workers: Workers) -> bool:
        nonlocal heard, last, ticks
        now = time.monotonic()
        if now < last + _TELL_SECONDS:
            return False
        last = now
        try:
            stop, least, tick = word.get(timeout=_SILENT_SECONDS)
        except TimeoutError:
            return True
        if tick != ticks:
            heard, ticks = now, tick
        workers.shared[1] = min(int(workers.shared[1]), least)
        return bool(stop) or now > heard + _SILENT_SECONDS

    workers = _taken(job)
    workers.begin(tasks, found, shared)
    workers.run(stop)
    done = [task for task in tasks if workers.done[task]]
    # The answer stays in this process until it is fetched, the arrays serve another branch.
    said = _Said(done, workers.found[0].copy(), int(workers.shared[2]))
    with _lock:
        if _idle.name == name:
            _idle.stacks.append(workers)
    return said


def _taken(job: _Job) -> Workers:
    """Return a stack that no other thread uses."""
    with _lock:
        if _idle.name != job.name:
            _idle.name, _idle.stacks = job.name, []
        if _idle.stacks:
            return _idle.stacks.pop()
    workers = Workers(job.root, job.limit, 1, by_index=False)
    if not np.array_equal(workers.order, job.order):
        raise EngineError("a worker orders the branches in another way: is its cpx another one?")
    return workers
