"""Available memory, and the refusal of samples that would not fit."""

from __future__ import annotations

import os
from pathlib import Path

from cpx.errors import InvalidOption

__all__ = ["free_memory", "require_rows_fit"]

# Sixteen bytes per entry are less than any way from a sample to an answer takes.
_ENTRY = 16


def free_memory() -> int | None:
    """Return the bytes that this process may still use; None where the system does not tell."""
    free = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text(encoding="ascii"))
        free.append(limit - int((group / "memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError):  # another system, or a group without a limit
        pass
    if not free and hasattr(os, "sysconf"):
        free.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(free, default=None)


def require_rows_fit(name: str, rows: int, columns: int) -> None:
    """Raise for a number of rows that memory cannot hold, before any is made.

    Parameters
    ----------
    name : str
        The option that asks for them, named in the message.
    rows, columns : int

    Examples
    --------
    >>> require_rows_fit("m", 1000, 90)
    """
    free = free_memory()
    needed = rows * columns * _ENTRY
    if free is not None and needed > free:
        raise InvalidOption(
            f"{name} is too large: {rows} rows of {columns} features take at least "
            f"{needed / 1e9:.1f} GB of memory, {free / 1e9:.1f} GB are free"
        )
