"""Call a Python function in a process of its own, so that it can be stopped at any time."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from cpx.errors import EngineError

__all__ = ["Cancelled", "call"]

T = TypeVar("T")

_TICK = 0.1


class Cancelled(Exception):
    """The call was stopped from outside, not by an error."""


def call(cancel: threading.Event, function: Callable[..., T], *args: Any) -> T:
    """Call a function of a module in a new process and return what it returns.

    Parameters
    ----------
    cancel : threading.Event
        Ends the process when it is set.
    function : callable
        Defined at the top of a module.
    *args
        Sent by pickle, as is the answer: only between processes of this program.

    Raises
    ------
    Cancelled
        When ``cancel`` was set.
    EngineError
        When the process ended without an answer.
    Exception
        What the function raises.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(theirs, function, args), daemon=True)
    process.start()
    theirs.close()
    try:
        while not ours.poll(_TICK):
            if cancel.is_set():
                raise Cancelled
        answer, error = pickle.loads(ours.recv_bytes())
    except EOFError:
        process.join()
        raise EngineError(
            f"the process of {function.__name__} ended with status {process.exitcode}"
        ) from None
    finally:
        process.kill()
        process.join()
        ours.close()
    if error is not None:
        raise error
    result: T = answer
    return result


def _serve(connection: Connection, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    # Ctrl-C at a terminal goes to the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        message = pickle.dumps((function(*args), None))
    except Exception as error:
        message = pickle.dumps((None, _portable(error)))
    connection.send_bytes(message)


def _portable(error: Exception) -> Exception:
    """Return the error, or one with its text when it does not survive pickling."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return error
    except Exception:
        pass
    return EngineError(f"{type(error).__name__}: {error}")
