"""Threads: begun where memory is short, too; run side by side to their end."""

from __future__ import annotations

import _thread
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial

_BEGIN_SECONDS = 0.02
_FIRST_PAUSE, _LAST_PAUSE = 0.01, 0.05


def start_thread(work: Callable[[], object]) -> threading.Event:
    """Call ``work`` in a new thread, which does not keep the process alive.

    work: What it raises is printed, as that of any thread.
    Returns: Set when ``work`` has ended.
    Raises MemoryError: When there is no memory for the thread. ``threading.Thread.start`` would
        wait forever where the system makes the thread and Python has no memory for its first call.

    >>> said = []
    >>> start_thread(lambda: said.append("done")).wait(), said
    (True, ['done'])
    """
    begun, ended = threading.Event(), threading.Event()

    def run() -> None:
        begun.set()
        try:
            work()
        finally:
            ended.set()

    # The new thread alone holds this, and is gone when it is. Not the function itself, which
    # CPython 3.11 keeps for ever when there is no memory for its call.
    called = partial(run)
    held = weakref.ref(called)
    try:
        _thread.start_new_thread(called, ())
    except RuntimeError as error:
        raise MemoryError("no memory for a thread") from error
    del called
    while not begun.wait(_BEGIN_SECONDS):
        if held() is None and not begun.is_set():
            raise MemoryError("no memory for a thread")
    return ended


def run_threads(
    works: Sequence[Callable[[], object]],
    stop: Callable[[], object],
    watch: Callable[[], object] = lambda: None,
) -> None:
    """Call each of some functions in a thread of its own, until all have ended.

    stop: Asks those that run to end: called when one has raised an error, which is raised here
        once all have ended, or when there is no memory for one more.
    watch: Called here every few hundredths of a second.

    >>> said = []
    >>> run_threads([partial(said.append, 1), partial(said.append, 2)], lambda: None)
    >>> sorted(said)
    [1, 2]
    """
    failures: list[BaseException] = []

    def target(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)
            stop()

    try:
        ends = [start_thread(partial(target, work)) for work in works]
    except MemoryError:
        stop()
        raise
    pause = _FIRST_PAUSE
    for ended in ends:
        while not ended.wait(pause):
            # Looking takes time that the threads could use: seldom in a long run.
            pause = min(_LAST_PAUSE, 1.1 * pause)
            watch()
    if failures:
        raise failures[0]
