"""Work in Python that is stopped when its time is over, without asking it to look at a clock."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from cpx.processes.threads import start_thread

_POLL_SECONDS = 0.02


class OutOfTime(BaseException):
    """The time of the work is over. Like KeyboardInterrupt, no error that work may catch."""


@contextmanager
def stopped_when(over: Callable[[], bool]) -> Iterator[None]:
    """Raise :class:`OutOfTime` in the block, between two steps of Python, once ``over`` says so.

    A call of a compiled library is not cut; what it returns is lost. Nothing is raised once the
    block is left.

    >>> try:
    ...     with stopped_when(lambda: True):
    ...         while True:
    ...             pass
    ... except OutOfTime:
    ...     print("stopped")
    stopped
    """
    me, lock, ended, raised = threading.get_ident(), threading.RLock(), threading.Event(), [False]
    left = [False]

    def watch() -> None:
        while not ended.wait(_POLL_SECONDS) and not left[0]:
            if over():
                with lock:
                    if not left[0]:
                        raised[0] = True
                        _raise_in(me, OutOfTime)
                return

    try:
        with suppress(MemoryError):  # none for a thread: the block is not stopped
            start_thread(watch)
        yield
    finally:
        # One step, and the first: an interrupt in those below leaves nobody to raise more.
        left[0] = True
        interrupt = None
        while not ended.is_set():
            try:
                with lock:
                    if raised[0]:
                        _raise_in(me, None)  # takes back what has not arrived
                    ended.set()
            except OutOfTime:
                pass
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    what = ctypes.py_object() if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)
