"""Processor time of a process and of the programs that it has started, those that run included."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_ME = Path("/proc/self")


def children_seconds() -> float:
    """Return seconds of processor time of all descendants; of those that ended where no /proc is.

    >>> children_seconds() >= 0
    True
    """
    ended = os.times()
    return ended.children_user + ended.children_system + _running(_ME)


def process_seconds(pid: int) -> float:
    """Return seconds of processor time of a process and its descendants; 0 where no /proc is.

    >>> process_seconds(os.getpid()) >= 0
    True
    """
    with suppress(OSError, ValueError):
        return _own(Path("/proc") / str(pid)) + _running(Path("/proc") / str(pid))
    return 0.0


def _running(process: Path) -> float:
    """Return the time of all that a process has started and that still runs."""
    found = 0.0
    for listed in process.glob("task/*/children"):
        with suppress(OSError, ValueError):  # it ends while it is read
            for child in listed.read_text().split():
                found += _own(Path("/proc") / child) + _running(Path("/proc") / child)
    return found


def _own(process: Path) -> float:
    # After the name, which may have blanks and brackets, from the third field on.
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
