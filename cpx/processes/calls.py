"""Calls of a function in a fresh interpreter, which can be stopped and may crash.

The program of that interpreter is this module: ``python -m cpx.processes.calls``.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

from cpx.errors import EngineError
from cpx.processes import interrupts
from cpx.processes.children import Child, module, python_environment, remove_own_folder, scratch
from cpx.processes.messages import Inbox, Outbox, unpack
from cpx.support.own_files import run_files

__all__ = ["Cancelled", "Overdue", "call", "claim_stdout"]

T = TypeVar("T")

_TICK = 0.05


class Cancelled(Exception):
    """The call was stopped from outside, not by an error."""


class Overdue(Exception):
    """The call took longer than it may."""


def call(
    function: Callable[..., T],
    *args: Any,
    seconds: float | None = None,
    cancel: threading.Event | None = None,
    quiet: bool = False,
) -> T:
    """Call a function of a module in a new process and return what it returns.

    function: Defined at the top of a module.
    *args: Sent by pickle, as is the answer.
    seconds: Time it may take, the start of the interpreter included.
    cancel: Ends the process when it is set.
    quiet: What it writes to standard error is not shown; the end of it is in the error when it
        ends without an answer.
    Raises Cancelled, Overdue: When ``cancel`` was set, or the time is over.
    Raises EngineError: When the process ended without an answer.
    Raises Exception: What the function raises.

    >>> call(len, "four")
    4
    """
    with scratch("cpx-call-") as folder:
        said = folder / "stderr.txt" if quiet else None
        with said.open("wb") if said else nullcontext() as log:
            child = Child(
                module("cpx.processes.calls"),
                folder,
                environment=python_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
            )
        answers = _answers(child, function, args, seconds, cancel)
        if not answers:
            raise EngineError(_ended(child, function, said))
    answer, error = answers[0]
    if error is not None:
        raise error
    result: T = answer
    return result


def _ended(child: Child, function: Callable[..., Any], said: Path | None) -> str:
    summary = f"the process of {function.__name__} ended with status {child.process.returncode}"
    last = said.read_text(errors="replace").splitlines()[-3:] if said else []
    return "\n".join([summary, *last])


def _answers(
    child: Child,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    seconds: float | None,
    cancel: threading.Event | None,
) -> list[Any]:
    """Ask, and end the process; return the answer with the error, or nothing."""
    end = None if seconds is None else time.monotonic() + seconds
    answers: list[Any] = []
    done = threading.Event()

    def ask() -> None:
        try:
            Outbox(child.stdin.fileno()).send((function.__module__, function.__qualname__, args))
            answers.extend(map(unpack, Inbox(child.stdout.fileno()).frames()))
        except OSError:  # it is gone, and its status tells
            pass
        except Exception as error:  # what cannot be sent, or read
            answers.append((None, error))
        finally:
            done.set()

    thread = threading.Thread(target=ask, name="cpx-call", daemon=True)
    with child:
        thread.start()
        try:
            while not done.wait(_TICK):
                if cancel is not None and cancel.is_set():
                    raise Cancelled
                if end is not None and time.monotonic() > end:
                    raise Overdue
        finally:
            if not answers and done.is_set():
                child.wait(_TICK)  # for its own status
            child.kill()
            thread.join()
    return answers


def claim_stdout() -> int:
    """Keep standard output for messages; what is printed goes to standard error."""
    out = os.dup(1)
    os.dup2(2, 1)
    return out


def main() -> None:
    """Make the one call that standard input asks for."""
    interrupts.ignore()
    outbox = Outbox(claim_stdout())
    frames = Inbox(sys.stdin.fileno()).frames()
    asked = next(frames)
    # Standard input ends when the process that asked is gone.
    threading.Thread(target=_end_after, args=(frames,), daemon=True).start()
    try:
        run_files()
        home, name, args = unpack(asked)
        function: Any = __import__(home, fromlist=["_"])
        for part in name.split("."):
            function = getattr(function, part)
        answer: tuple[Any, Exception | None] = function(*args), None
    except Exception as error:
        answer = None, _portable(error)
    outbox.send(answer)


def _end_after(frames: Iterator[memoryview]) -> None:
    """Wait for the end of standard input, on which nothing more is sent, and end the process."""
    next(frames, None)
    remove_own_folder()
    os._exit(1)


def _portable(error: Exception) -> Exception:
    """Return the error, or one with its text when it does not survive pickling."""
    # What cannot be pickled or read again goes as text.
    with suppress(Exception):
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return error
    return EngineError(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
