"""A child process whose lines are read as it prints them, not when its buffer is full.

The C library flushes each line to a terminal, but only every few kilobytes to a file or a
pipe, and nothing when the process crashes or is killed. So the child prints to a
pseudo-terminal where there is one, and to a file elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from cpx.processes.children import Child

_POLL_SECONDS = 0.05
_MOST_PRINTED = 2**30


class Console:
    """A running process and its lines; as a context it leaves no process behind.

    command: Program and arguments.
    folder: Where it runs, and where its temporary files go.
    alone: In a process group of its own, so that what it has started ends with it. Otherwise in
        that of this process: who kills a worker reaches it, too.
    most: Bytes that it may print; beyond them it is killed.

    >>> import sys
    >>> with Console([sys.executable, "-c", "print(1); print(2)"], Path(".")) as console:
    ...     lines = []
    ...     while console.running():
    ...         lines += console.lines()
    ...     lines += console.lines()
    >>> lines, console.exit_status
    ([b'1', b'2'], 0)
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        alone: bool = False,
        most: int = _MOST_PRINTED,
    ) -> None:
        self._left = most
        try:
            self._source, sink = os.openpty()
            os.set_blocking(self._source, False)
            self._terminal = True
        except (AttributeError, OSError):  # of the system, or of a sandbox without /dev/pts
            self._terminal = False
            log = folder / "log.txt"
            sink = os.open(log, os.O_WRONLY | os.O_CREAT)
            self._source = os.open(log, os.O_RDONLY)
        try:
            self._child = Child(
                command,
                folder,
                alone=alone,
                guarded=True,
                # It is a terminal that nobody looks at: Python 3.13 prints errors in colours.
                environment={**os.environ, "NO_COLOR": "1"},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
            )
        except BaseException:
            os.close(self._source)
            raise
        finally:
            os.close(sink)
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._child.end()
        os.close(self._source)

    @property
    def exit_status(self) -> int | None:
        """Exit status, negative for the signal that ended it; None while it runs."""
        return self._child.process.returncode

    def running(self) -> bool:
        """Wait a moment, less when it prints or ends; return whether it runs."""
        if self._terminal:
            select.select([self._source], [], [], _POLL_SECONDS)
            # The terminal closes a little before the process is gone.
            wait = 0.001
        else:
            wait = _POLL_SECONDS
        return not self._child.wait(wait)

    def lines(self) -> Iterator[bytes]:
        """Yield the complete lines printed since the last call, without their ends."""
        with contextlib.suppress(OSError):  # nothing to read now, or closed by the child
            while chunk := os.read(self._source, 1 << 16):
                self._left -= len(chunk)
                if self._left < 0:
                    self.kill()
                    return
                *whole, self._rest = (self._rest + chunk).split(b"\n")
                yield from (line.rstrip(b"\r") for line in whole)

    @property
    def printed_too_much(self) -> bool:
        """Whether it was killed because of what it printed."""
        return self._left < 0

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C does."""
        if os.name == "nt":
            self._child.process.terminate()
        else:
            self._child.signal(signal.SIGINT)

    def kill(self) -> None:
        """End it."""
        self._child.kill()
