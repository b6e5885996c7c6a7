"""Best-first branch and bound: the open node with the lowest bound comes next.

A family says how a node is bounded and expanded. Here is what all such searches share: the open
nodes, the bound on the whole, dropping nodes that are beaten, threads side by side, the end.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from typing import Any, Generic, TypeVar

from cpx.backends.search.work_sharing import TaskPool
from cpx.processes.threads import run_threads

__all__ = ["BestFirst"]

Node = TypeVar("Node")
Entry = tuple[tuple[Any, ...], int, Node]
"""Rank, number and node."""

_POLL_SECONDS = 0.01


class BestFirst(Generic[Node]):
    """A search tree whose open node with the lowest bound is expanded next.

    Bounds are lower bounds on a cost: where something is maximised, they are negatives of upper
    bounds. A node is dropped only where it is beaten: what is found does not depend on the order
    of the nodes, nor on the number of threads.

    expand: Searches a node, and returns what is left of it to search. Meanwhile its second
        argument takes better bounds on the node. When it is time to stop, what it returns is
        ignored and the node stays open.
    rank: From a node to its lower bound, and to what decides between equal bounds.
    beaten: Whether nothing below a node is wanted, by its bound.
    prove: Takes lower bounds on all that is open.
    stop: Whether it is time to stop; asked after each node.
    most_open: Nodes kept for their bounds; with more, the search goes depth first for a while.
    pool: Threads without a node do the tasks that are left there.
    """

    def __init__(
        self,
        expand: Callable[[Node, Callable[[Any], None]], Iterable[Node]],
        rank: Callable[[Node], tuple[Any, ...]],
        beaten: Callable[[Node], bool],
        prove: Callable[[Any], object],
        stop: Callable[[], bool] = lambda: False,
        most_open: int = sys.maxsize,
    ) -> None:
        self._expand, self._rank, self._beaten = expand, rank, beaten
        self._prove, self._stop, self._most_open = prove, stop, most_open
        self.pool = TaskPool()
        self._changed = self.pool.changed
        self._heap: list[Entry[Node]] = []
        self._stack: list[Entry[Node]] = []
        self._running: dict[int, Any] = {}  # bounds, by the number of the node
        self._numbers, self._failed = count(), False

    def search(self, root: Node, threads: int = 1) -> bool:
        """Expand nodes until none is open, which is returned, or it is time to stop."""
        self._open([root])
        if threads == 1:
            self._work()
        else:
            run_threads([self._work] * threads, self._fail)
        return not (self._heap or self._stack or self._running)

    def over(self) -> bool:
        """Whether it is time to stop, or another thread has failed."""
        return self._failed or self._stop()

    def _fail(self) -> None:
        self._failed = True

    def _work(self) -> None:
        while (entry := self._next()) is not None:
            self._tell()
            _, number, node = entry
            children = self._expand(node, partial(self._note, number))
            if self.over():
                return  # with the node among those that run
            with self._changed:
                self._open(children)
                del self._running[number]
                self._changed.notify_all()

    def _next(self) -> Entry[Node] | None:
        """Return the node with the lowest bound; None where none will be open any more."""
        while True:
            with self._changed:
                while self._stack or self._heap:
                    entry = self._stack.pop() if self._stack else heapq.heappop(self._heap)
                    rank, number, node = entry
                    if not self._beaten(node):
                        self._running[number] = rank[0]
                        return entry
                if not self._running or self.over():
                    return None
            self.pool.help(_POLL_SECONDS)

    def _open(self, nodes: Iterable[Node]) -> None:
        found = [node for node in nodes if not self._beaten(node)]
        entries = [(self._rank(node), next(self._numbers), node) for node in found]
        if len(self._heap) > self._most_open:
            self._stack += reversed(entries)
        else:
            for entry in entries:
                heapq.heappush(self._heap, entry)

    def _note(self, number: int, bound: Any) -> None:
        with self._changed:
            self._running[number] = max(self._running[number], bound)
        self._tell()

    def _tell(self) -> None:
        with self._changed:
            waiting = [rank[0] for rank, _, _ in (*self._heap[:1], *self._stack)]
            lowest = min([*self._running.values(), *waiting])  # one runs, whoever tells
        self._prove(lowest)
