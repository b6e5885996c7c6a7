"""Work in Python that is stopped when its time is over, without asking it to look at a clock."""

from __future__ import annotations

import _thread
import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from cpx.processes.threads import start_thread

_POLL_SECONDS, _AGAIN_SECONDS = 0.02, 0.5
_STEPS = 20  # of Python, of which the next one raises what another thread has set


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
    me, state, done = threading.get_ident(), _State(), _thread.allocate_lock()
    done.acquire()

    def watch() -> None:
        wait = _POLL_SECONDS
        while not state.left and not done.acquire(timeout=wait):
            if over():
                state.decided, state.deciding = False, True
                if not state.left:
                    _raise_in(me)
                state.decided = True
                # Raised in a destructor or a callback it is lost.
                wait = _AGAIN_SECONDS

    try:
        with suppress(MemoryError):  # none for a thread: the block is not stopped
            start_thread(watch)
        yield
    finally:
        # One step, and the first: an interrupt in those below leaves nobody to raise more.
        state.left = True
        interrupt, settled = None, False
        while not settled:
            try:
                while state.deciding and not state.decided:
                    time.sleep(0)
                # What was raised arrives here, if it has not. To take it back would leave
                # CPython 3.11 in a state in which profilers and debuggers never go on.
                for _ in range(_STEPS):
                    pass
                settled = True
            except OutOfTime:
                settled = True
            except KeyboardInterrupt as error:
                interrupt = error
        done.release()
        if interrupt is not None:
            raise interrupt


class _State:
    """Of a block: whether it was left, and what its watcher is about to do."""

    left = deciding = decided = False


def _raise_in(thread: int) -> None:
    what = ctypes.py_object(OutOfTime)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)
