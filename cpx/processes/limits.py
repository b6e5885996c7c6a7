"""What a child may use: memory by a control group of Linux or by its address space; cores.

Cores are claimed by locks on files that all processes of the user share, so that runs that are
measured at the same time, by whatever program of ours, do not meet on one core.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_CGROUPS = Path("/sys/fs/cgroup")
_numbers = count()


def limit_address_space(limit: int) -> None:
    """Let this process have no more than so many bytes of address space."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


@dataclass(frozen=True)
class Limits:
    """What a worker process is confined to.

    memory: Bytes that it may use: of memory, where the system has control groups that we may make,
        else of address space.
    cores: Those it runs on. Default: all that this process may use.
    log: File that gets what the engine prints, its own log included.
    quiet: Without a log, what it prints is not shown; its last line is told when it dies.
    """

    memory: int | None = None
    cores: tuple[int, ...] | None = None
    log: Path | None = None
    quiet: bool = False


class MemoryGroup:
    """A control group (version 2) with a limit of memory; it counts what is used, not reserved.

    limit: Bytes.
    Raises OSError: Where the system does not let us make one.
    """

    def __init__(self, limit: int) -> None:
        own = _own_group()
        _delegate(own)
        self.folder = own / f"cpx-{os.getpid()}-{next(_numbers)}"
        self.folder.mkdir()
        try:
            (self.folder / "memory.max").write_text(str(limit))
            with suppress(OSError):  # a system without swap
                (self.folder / "memory.swap.max").write_text("0")
        except OSError:
            self.remove()
            raise

    @staticmethod
    def enter(folder: str) -> None:
        """Put this process, and all that it starts, into a group."""
        (Path(folder) / "cgroup.procs").write_text("0")

    def peak(self) -> int | None:
        """Return the bytes used at most, where the system tells."""
        with suppress(OSError, ValueError):
            return int((self.folder / "memory.peak").read_text())
        return None

    def remove(self) -> None:
        """Remove the group, whose processes have ended."""
        with suppress(OSError):
            self.folder.rmdir()


def _own_group() -> Path:
    """Return the folder of the group that we are in."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        if line.startswith("0::"):
            return _CGROUPS / line[3:].lstrip("/")
    raise FileNotFoundError("no control groups of version 2")


def _delegate(own: Path) -> None:
    """Let groups within ours have limits of memory."""
    control = own / "cgroup.subtree_control"
    if "memory" in control.read_text().split():
        return
    if (own / "cgroup.procs").read_text().split() == [str(os.getpid())]:
        # A group with limited groups in it must have no processes itself; ours is the only one.
        (own / "cpx-main").mkdir(exist_ok=True)
        (own / "cpx-main" / "cgroup.procs").write_text("0")
    control.write_text("+memory")


def kills_for_memory() -> int | None:
    """Return how many processes the system has ended for want of memory, where it tells."""
    with suppress(OSError, IndexError), open("/proc/vmstat", "rb", buffering=0) as told:
        # No pathlib and no lines: it is asked around every run.
        return int(told.read().partition(b"\noom_kill ")[2].split(maxsplit=1)[0])
    return None


def usable_cores() -> list[int]:
    """Return the cores that this process may run on; none where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


@contextmanager
def claimed_cores(number: int) -> Iterator[list[int] | None]:
    """Claim so many cores that no other run of ours has claimed; None where there are not as many.

    >>> with claimed_cores(10_000) as cores:
    ...     print(cores)
    None
    """
    with ExitStack() as claims:
        claimed: list[int] = []
        for core in usable_cores() if fcntl else []:
            if len(claimed) < number and _claim(core, claims):
                claimed.append(core)
        if len(claimed) < number:
            claims.close()
        yield claimed if len(claimed) == number else None


def _claim(core: int, claims: ExitStack) -> bool:
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"cpx-cores-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        file = (folder / str(core)).open("a")
    except OSError:
        return False
    if not try_lock(file):
        file.close()
        return False
    claims.enter_context(file)
    return True


def locked_folder(folder: Path) -> int | None:
    """Lock a folder until what is returned is closed; None where it is locked, or the
    system has no such locks.
    """
    if not fcntl:
        return None
    try:
        file = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file


def try_lock(file: IO[str] | IO[bytes]) -> bool:
    """Lock an open file for as long as it is open; return False when another one has it.

    The system gives it back when the process ends, however that happens.
    """
    try:
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            # The last byte that a file could have: locked bytes cannot be read by others.
            file.seek(2**31 - 2)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return False
    return True
