"""A pool of threads, each waiting for a worker process, that Ctrl-C ends cleanly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

from cpx.processes.interrupts import noted

T = TypeVar("T")
R = TypeVar("R")

_TICK = 0.1


def run_each(
    work: Callable[[T, threading.Event], R],
    items: Iterable[T],
    keep: Callable[[T, R], None],
    jobs: int = 1,
) -> bool:
    """Do the work for each item, several at a time.

    work: Called in a thread with an item and the event that asks it to stop soon.
    items: Begun in this order, each when a thread is free for it.
    keep: Called in this thread with an item and what came out, in the order in which they end.
        Once stopped, also for what was cut short.
    jobs: How many at the same time.
    Returns: False when Ctrl-C cut it short. Any other exception is raised after all work ended.

    >>> found = {}
    >>> run_each(lambda n, stop: n * n, [1, 2, 3], found.__setitem__, jobs=2)
    True
    >>> sorted(found.items())
    [(1, 1), (2, 4), (3, 9)]
    """
    cancel, lock, todo = threading.Event(), threading.Lock(), iter(items)
    ended: SimpleQueue[tuple[T, R] | BaseException | None] = SimpleQueue()

    def serve() -> None:
        try:
            while not cancel.is_set():
                with lock:
                    item = next(todo)
                ended.put((item, work(item, cancel)))
        except StopIteration:
            pass
        except BaseException as error:
            ended.put(error)
        finally:
            ended.put(None)

    threads = [
        threading.Thread(target=serve, name=f"cpx-run-{i}", daemon=True) for i in range(jobs)
    ]
    failure: BaseException | None = None
    with noted(cancel):
        for thread in threads:
            thread.start()
        for one in _until_all_end(ended, len(threads), cancel):
            try:
                if isinstance(one, BaseException):
                    raise one
                keep(*one)
            except BaseException as error:
                cancel.set()
                if not isinstance(error, KeyboardInterrupt):
                    failure = failure or error
    if failure is not None:
        raise failure
    return not cancel.is_set()


def _until_all_end(
    ended: SimpleQueue[tuple[T, R] | BaseException | None], left: int, cancel: threading.Event
) -> Iterator[tuple[T, R] | BaseException]:
    """Yield what the threads put, until each has said that it ends; Ctrl-C is passed on."""
    while left:
        try:
            with suppress(Empty):
                # A wait without an end would not notice Ctrl-C on every system.
                one = ended.get(timeout=_TICK)
                if one is None:
                    left -= 1
                else:
                    yield one
        except KeyboardInterrupt:
            cancel.set()
