"""Work on what somebody else has written, which may never end or take all memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from cpx.errors import EngineError
from cpx.processes.calls import Cancelled, call
from cpx.processes.children import scratch
from cpx.processes.limits import limit_address_space
from cpx.processes.overtime import stopped_when

__all__ = ["CPU_SECONDS", "Stopped", "called_apart", "confined", "ended_in_time"]

CPU_SECONDS = 5.0
"""Of the processor, for one instance."""

_WALL_SECONDS = 20.0  # by the clock, for what waits
_SILENT_SECONDS = 30.0  # after which the process is ended, for what runs in a compiled library
_MEMORY = 4 << 30
_POLL_SECONDS = 0.2

T = TypeVar("T")


class Stopped(Exception):
    """The process was ended, or ended by itself without an answer.

    note: What it had noted last.
    why: In words.
    """

    def __init__(self, note: str, why: str) -> None:
        super().__init__(note, why)
        self.note, self.why = note, why


@contextmanager
def ended_in_time() -> Iterator[None]:
    """Raise ``OutOfTime`` in a block of Python that does not end."""
    cpu, wall = time.process_time(), time.monotonic()
    with stopped_when(
        lambda: time.process_time() - cpu > CPU_SECONDS or time.monotonic() - wall > _WALL_SECONDS
    ):
        yield


def confined() -> None:
    """Limit the memory of this process, where the system can."""
    with suppress(ImportError, ValueError, OSError):
        limit_address_space(_MEMORY)


def called_apart(function: Callable[..., T], *args: Any) -> T:
    """Call a function in a process of its own, with a file as its last argument.

    It writes into the file what it is about to do, at least once in 30 seconds.

    Raises Stopped: Where it did not, or died.
    """
    with scratch("cpx-grade-") as folder:
        note = folder / "note.json"
        late, done = threading.Event(), threading.Event()

        def watch() -> None:
            while not done.wait(_POLL_SECONDS):
                with suppress(OSError):  # nothing is noted yet
                    if time.time() - note.stat().st_mtime > _SILENT_SECONDS:
                        late.set()

        watcher = threading.Thread(target=watch, name="cpx-grade", daemon=True)
        watcher.start()
        try:
            return call(function, *args, note, cancel=late)
        except Cancelled:
            why = f"it had not ended after {_SILENT_SECONDS:g} s: it was stopped"
            raise Stopped(_read(note), why) from None
        except EngineError as error:
            why = f"its process ended{str(error).partition(' ended')[2]}"
            raise Stopped(_read(note), why) from None
        finally:
            done.set()
            watcher.join()


def _read(note: Path) -> str:
    return note.read_text(encoding="utf-8") if note.exists() else ""
