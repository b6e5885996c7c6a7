"""Child processes that leave nothing behind: no orphan process, no temporary file."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, Self

from cpx.processes.limits import locked_folder

OUT_OF_MEMORY = 70
"""Exit status of a program of ours that hits a limit of memory."""

_FOLDER = "CPX_FOLDER"  # of the environment: the temporary folder of a child
_PARENT_DIED = 1  # PR_SET_PDEATHSIG of <linux/prctl.h>

_running: weakref.WeakSet[Child] = weakref.WeakSet()
_folders: dict[Path, int | None] = {}  # with the lock that says that we are there
_lock = threading.Lock()
_swept = False

# At the end of the name of a folder that is locked for as long as its owner is there.
_LOCKED = ".locked"


@contextmanager
def scratch(prefix: str) -> Iterator[Path]:
    """Make a temporary folder that is removed in the end, also when all is ended at once."""
    folder = _make_folder(prefix)
    try:
        yield folder
    finally:
        _remove_folder(folder)


def _make_folder(prefix: str) -> Path:
    global _swept
    with _lock:
        folder = Path(tempfile.mkdtemp(prefix=prefix))
        lock = locked_folder(folder)
        if lock is not None:
            # Named as locked when it is, so that nobody sweeps it before.
            folder = folder.rename(f"{folder}{_LOCKED}")
        _folders[folder] = lock
        if not _swept:
            _swept = True
            _sweep(folder.parent)
    return folder


def _remove_folder(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock = _folders.pop(folder, None)
    if lock is not None:
        os.close(lock)


def _sweep(place: Path) -> None:
    """Remove folders whose owners were killed before they could."""
    for folder in place.glob(f"cpx-*{_LOCKED}"):
        if folder not in _folders and (lock := locked_folder(folder)) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def python_environment() -> dict[str, str]:
    """Return the environment for a Python that finds the modules that this one finds.

    The current directory is not among the places where it looks: a file ``random.py`` beside
    an instance is no module. Where the user has put the directory on ``PYTHONPATH``, it comes
    last, after the standard library and what is installed.
    """
    root = str(Path(__file__).parents[2])
    asked = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    places = [path for path in sys.path if path and not _is_here(path)]
    last = [os.path.abspath(path) for path in (*asked, root) if _is_here(path)]
    path = dict.fromkeys([*places, *([] if _is_here(root) else [root]), *last])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONSAFEPATH": "1"}


def _is_here(path: str) -> bool:
    with suppress(OSError):
        return os.path.samefile(path, os.curdir)
    return False


def module(name: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of ours in a fresh interpreter."""
    return [sys.executable, "-m", name, *arguments]


class Child:
    """A running program with a temporary folder; as a context it is ended at the end.

    command: Program and arguments.
    folder: Its temporary folder; or the beginning of the name of one, which is made now and
        removed in the end.
    environment: Default: that of this process. Its temporary files go to its folder in any case.
    alone: In a process group of its own, which is ended with all that it has started. Otherwise it
        stays in our group, and is ended with us when we are killed as a group.
    guarded: On Linux, end it when the thread that started it ends, however that happens: for a
        thread that waits for it. It ignores SIGTERM: we decide what that means.
    **options: Of ``subprocess.Popen``: ``stdin``, ``stdout``, ``stderr``, ``cwd``, ``bufsize``.
    folder: Its temporary folder.
    Raises OSError: When there is no such program.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path | str = "cpx-",
        *,
        environment: Mapping[str, str] | None = None,
        alone: bool = True,
        guarded: bool = False,
        **options: Any,
    ) -> None:
        self._made = isinstance(folder, str)
        self.folder = _make_folder(folder) if isinstance(folder, str) else folder
        self._alone = alone and hasattr(os, "killpg")
        temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP", _FOLDER), str(self.folder))
        guarding = _guarding(command) if guarded else []
        try:
            self.process: subprocess.Popen[Any] = subprocess.Popen(
                [*guarding, *command],
                env={**(os.environ if environment is None else environment), **temporary},
                start_new_session=self._alone,
                preexec_fn=_guard() if guarded and not guarding else None,
                **options,
            )
        except BaseException:
            if self._made:
                _remove_folder(self.folder)
            raise
        _running.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    @property
    def stdin(self) -> IO[Any]:
        """The pipe to it, which was asked for."""
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def stdout(self) -> IO[Any]:
        """The pipe from it, which was asked for."""
        assert self.process.stdout is not None
        return self.process.stdout

    def running(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def wait(self, seconds: float) -> bool:
        """Wait for its end; return whether it came in time."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def signal(self, number: int) -> None:
        """Send a signal to it, and to its group where it is alone."""
        with suppress(ProcessLookupError, PermissionError):
            if self._alone:
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)

    def kill(self) -> None:
        """End it and its group, without waiting."""
        if hasattr(signal, "SIGKILL"):
            self.signal(signal.SIGKILL)
        else:
            self.process.kill()

    def end(self) -> None:
        """End it if need be, its group in any case, and remove its folder."""
        # Before we know that it has ended its number, which is that of the group, is not
        # given to another process.
        if self.process.returncode is None:
            self.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with suppress(OSError):  # what was not read by it is of no use any more
                    pipe.close()
        _running.discard(self)
        if self._made:
            _remove_folder(self.folder)


def is_child() -> bool:
    """Whether this process is a child that another one of ours started, and kills as a group."""
    return _FOLDER in os.environ


def end_all() -> None:
    """End all programs that run and remove all temporary folders."""
    for child in list(_running):
        if child.process.returncode is None:
            child.kill()
    for folder in list(_folders):
        _remove_folder(folder)


atexit.register(end_all)


# Started too late to be ended with the parent, which is another one by now, it ends itself.
_BECOME = """[ "$PPID" = "$1" ] || exit 1; shift; trap '' TERM; exec "$@\""""


def _guarding(command: Sequence[str]) -> list[str]:
    """Return what guards a program when it is put before it; nothing where that is not possible.

    Where Python has something to do in the new process itself, the system copies the tables of
    our memory for it: 19 ms of processor time where we have 300 MB, and this takes 3.
    """
    # A program that is not there is an error of who starts it, not of a shell.
    sure = os.path.isabs(command[0]) or os.sep not in command[0]
    setpriv = find_guard() if sure and shutil.which(command[0]) else None
    if setpriv is None:
        return []
    return [setpriv, "--pdeathsig", "KILL", "/bin/sh", "-c", _BECOME, "sh", str(os.getpid())]


@cache
def find_guard() -> str | None:
    """Return the program of util-linux that guards others, where it is there and does."""
    place = shutil.which("setpriv") if sys.platform.startswith("linux") else None
    if place is None:
        return None
    # Others of that name know no such option, and a sandbox may forbid it.
    tried = subprocess.run(
        [place, "--pdeathsig", "KILL", "/bin/sh", "-c", "exit 0"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return place if tried.returncode == 0 else None


def _guard() -> Callable[[], None] | None:
    """Return what a new process does before it becomes the program."""
    if os.name != "posix":
        return None
    ends = end_with_parent()

    # Between fork and exec, where other threads do not exist and may hold locks: so little.
    def guard() -> None:
        ends()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    return guard


@cache
def end_with_parent() -> Callable[[], Any]:
    """Return a function that asks Linux to kill its process when the thread that started it ends.

    Made before a fork it costs the new process nothing.
    """
    if not sys.platform.startswith("linux"):
        return lambda: None
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PARENT_DIED, signal.SIGKILL)


def remove_own_folder() -> None:
    """Remove the folder that this process got from a :class:`Child` that is gone."""
    folder = Path(os.environ.get(_FOLDER, ""))
    if folder.name.startswith("cpx-"):
        shutil.rmtree(folder, ignore_errors=True)
