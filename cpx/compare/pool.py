"""A pool of threads, each waiting for a worker process, that Ctrl-C ends cleanly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from cpx.processes.interrupts import noted

__all__ = ["run_each"]

T = TypeVar("T")
R = TypeVar("R")

_TICK = 0.1


def run_each(
    work: Callable[[T, threading.Event], R],
    items: Sequence[T],
    keep: Callable[[int, R], None],
    jobs: int = 1,
) -> bool:
    """Do the work for each item, several at a time.

    Parameters
    ----------
    work : callable
        Called in a thread with an item and the event that asks it to stop soon.
    items : sequence
        Begun in this order.
    keep : callable
        Called in this thread with the position of an item and what came out, in the order
        in which they end. Once stopped, also for what was cut short.
    jobs : int
        How many at the same time.

    Returns
    -------
    bool
        False when Ctrl-C cut it short. Any other exception is raised after all work ended.

    Examples
    --------
    >>> found = {}
    >>> run_each(lambda n, stop: n * n, [1, 2, 3], found.__setitem__, jobs=2)
    True
    >>> sorted(found.items())
    [(0, 1), (1, 4), (2, 9)]
    """
    cancel = threading.Event()
    with (
        noted(cancel),
        ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="cpx-run") as pool,
    ):
        pending: dict[Future[R], int] = {
            pool.submit(work, item, cancel): i for i, item in enumerate(items)
        }
        while pending:
            try:
                wait(pending, timeout=_TICK, return_when=FIRST_COMPLETED)
                if cancel.is_set():
                    # Work that has begun notices within a tick, or is killed.
                    for future in pending:
                        future.cancel()
                for future in [future for future in pending if future.done()]:
                    i = pending.pop(future)
                    if not future.cancelled():
                        keep(i, future.result())
            except BaseException as error:
                cancel.set()
                for future in pending:
                    future.cancel()
                if not isinstance(error, KeyboardInterrupt):
                    raise
    return not cancel.is_set()
