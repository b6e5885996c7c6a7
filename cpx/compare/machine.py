"""The record of a machine: what a reader has to know to make sense of times."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["machine"]

_GIT_SECONDS = 5.0


def machine() -> dict[str, Any]:
    """Return the record of this machine as plain JSON values.

    ``host``, ``cpu`` (its model), ``cores`` (those this process may use), ``memory`` (bytes of
    the machine), ``system``, ``python``, ``load`` (runnable processes in the last minute), and
    ``git``: the commit of the working directory, with ``+`` behind it when files were changed.
    What the system does not tell is None, and ``git`` is None outside a repository.
    """
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {**_fixed(), "load": None if load is None else round(load, 2)}


@cache
def _fixed() -> dict[str, Any]:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "host": platform.node(),
        "cpu": _cpu(),
        "cores": usable,
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "git": _git(),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _git() -> str | None:
    """Return the commit of the working directory; None where there is no repository or no git."""
    commit = _said("git", "rev-parse", "--short=12", "HEAD")
    if not commit:
        return None
    changed = _said("git", "status", "--porcelain", "--untracked-files=no")
    return f"{commit}+" if changed else commit


def _said(*command: str) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GIT_SECONDS,
            stdin=subprocess.DEVNULL,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
