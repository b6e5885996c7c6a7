"""Recorders of runs: what keeps them while a comparison is made, in memory or in a store."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Self

from cpx.compare.comparison import CSV_NAME, Comparison
from cpx.compare.plan import Plan
from cpx.compare.records import Run
from cpx.compare.store import NAME, Writer
from cpx.errors import CpxError, OutputError
from cpx.modelling.instances import save
from cpx.support.files import ensure_directory, ensure_writable

_DISAGREEMENTS = "disagreements"


def file_name(text: str) -> str:
    """Return a text as a part of a name of a file, on every system.

    >>> file_name("a/b: 1"), len(file_name("x" * 500))
    ('a-b- 1', 100)
    """
    return re.sub(r"[^A-Za-z0-9 _=,.{}+-]", "-", text)[:100]


class InMemory:
    """Keeps runs in memory.

    resume: Earlier runs.
    plan: What is to be run.
    shared: What all runs share.
    finished: The keys of the runs that need not be made.
    """

    def __init__(self, resume: Comparison | bool, plan: Plan, shared: Mapping[str, Any]) -> None:
        earlier = resume.runs if isinstance(resume, Comparison) else ()
        self.finished = {run.key for run in earlier if run.finished}
        again = {task.key for task in plan.tasks} - self.finished
        self._kept = [run for run in earlier if run.key not in again]
        self._found: dict[int, Run] = {}
        self._plan, self._shared = plan, dict(shared)

    def add(self, run: Run, place: int) -> Callable[[], Comparison]:
        """Keep a run; return what makes the comparison so far."""
        self._found[place] = run
        return lambda: self.end(False)

    def end(self, complete: bool) -> Comparison:
        """Return the comparison."""
        runs = (*self._kept, *(self._found[place] for place in sorted(self._found)))
        return Comparison(runs, self._shared, complete, self._plan.skipped)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class InStore:
    """Adds runs to the store of a folder; of its own memory it keeps only their keys.

    resume: Whether the folder may have runs, or runs from elsewhere that are added to it.
    plan: What is to be run.
    shared: What all runs share.
    shard: Which part of the plan.
    finished: The keys of the runs that need not be made.
    Raises OutputError: When the folder cannot be written, or has runs and is not to be resumed.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        resume: Comparison | bool,
        plan: Plan,
        shared: Mapping[str, Any],
        shard: str,
    ) -> None:
        self._folder = ensure_directory(folder)
        for name in (NAME, CSV_NAME):
            ensure_writable(self._folder / name)
        self._plan, self._shared, self._shard = plan, dict(shared), shard
        self._warned = False
        keys = hashlib.sha256(repr([task.key for task in plan.tasks]).encode())
        self._mark = keys.hexdigest()[:16]
        session = {
            "plan": self._mark,
            "shard": shard,
            "tasks": len(plan.tasks),
            "options": self._shared,
            "skipped": [asdict(pair) for pair in plan.skipped],
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "pid": os.getpid(),
            **machine(),
        }
        self._writer = Writer(self._folder, session, resume is not False)
        self.finished = self._writer.finished
        if isinstance(resume, Comparison):
            for place, run in enumerate(resume.runs):
                if run.key not in self.finished:
                    self.add(run, place)
            self.finished |= {run.key for run in resume.runs if run.finished}

    def add(self, run: Run, place: int) -> Callable[[], Comparison]:
        """Add a run to the store; return what makes a comparison of it alone."""
        try:
            self._writer.add(run, place)
        except OutputError as error:
            # A full disk loses no run: told once, and tried again with the next one.
            if not self._warned:
                warnings.warn(str(error), RuntimeWarning, stacklevel=2)
            self._warned = True
        return lambda: Comparison((run,), self._shared, False)

    def end(self, complete: bool) -> Comparison:
        """Write what is written once; return the comparison, read from the store."""
        failures: list[str] = []

        def attempt(step: Callable[[], object]) -> None:
            try:
                step()
            except OutputError as error:
                failures.append(str(error))

        attempt(self._writer.retry)
        lost = tuple(run for _, run in self._writer.unsaved)
        if complete and not lost:
            attempt(lambda: self._writer.done(self._mark, self._shard))
        found = Comparison.of(self._writer.stored())
        found = replace(
            found,
            runs=(*found.runs, *lost),
            complete=complete and (found.complete or self._shard != "1/1"),
        )
        attempt(lambda: found.save_table(self._folder))
        attempt(lambda: self._save_disagreements(found))
        return replace(found, unsaved=failures[-1] if failures else "")

    def _save_disagreements(self, found: Comparison) -> None:
        """Save the instances on which a claim is wrong, for whoever looks into it."""
        wrong = found.contradictions
        sources = {task.source.name: task.source for task in self._plan.tasks}
        for name in wrong.keys() & sources.keys():
            source = sources[name]
            folder = ensure_directory(self._folder / _DISAGREEMENTS)
            path = folder / f"{file_name(name)}-{source.fingerprint[:8]}.json.gz"
            try:
                if not path.exists():
                    save(source.problem(), path)
            except CpxError as error:
                raise OutputError(f"cannot save the instance {name}: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()


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
