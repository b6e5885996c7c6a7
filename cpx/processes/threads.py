"""Threads that are begun where memory is short, too."""

from __future__ import annotations

import _thread
import threading
import weakref
from collections.abc import Callable
from functools import partial

_BEGIN_SECONDS = 0.02


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
