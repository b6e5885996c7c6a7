"""Run a blocking native call so that Ctrl-C still stops it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cpx.backends.base import Progress
from cpx.support.threads import start_thread

__all__ = ["run_interruptibly"]

T = TypeVar("T")

# Python handles signals between bytecodes of the main thread. A wait without a timeout
# would delay Ctrl-C until the native call returns.
_POLL_SECONDS = 0.05


def run_interruptibly(
    call: Callable[[], T], progress: Progress, stop: Callable[[], None] | None = None
) -> T:
    """Run ``call`` in a thread; on Ctrl-C ask the engine to stop and wait for it.

    Parameters
    ----------
    call : callable
        The blocking call. It must release the interpreter lock while it works.
    progress : Progress
        ``progress.stop()`` is called on Ctrl-C.
    stop : callable, optional
        Called once when the engine should stop, because of Ctrl-C, of the time limit or of
        the gap; for engines that do not ask ``progress.should_stop`` themselves.

    Returns
    -------
    What ``call`` returns. Its exception is raised again, if any.
    """
    box: list[T] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            box.append(call())
        except BaseException as error:
            failure.append(error)

    # Not Thread.join: interrupted by Ctrl-C it takes the thread for ended (CPython 3.11).
    done = start_thread(target)
    stopped = False
    while not done.is_set():
        try:
            done.wait(_POLL_SECONDS)
            if stop is not None and not stopped and progress.should_stop and not done.is_set():
                stopped = True
                stop()
        except KeyboardInterrupt:
            progress.stop()
    if failure:
        raise failure[0]
    return box[0]
