"""Instances of a comparison: problems in memory, or files that are read when their turn comes."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from cpx.answers.result import Result
from cpx.compare.records import Run
from cpx.errors import InvalidInstance, InvalidOption, shown
from cpx.instances import fingerprint, load
from cpx.models import Problem
from cpx.solving.isolate import bare

Problems = (
    Mapping[str, Problem | str | os.PathLike[str]]
    | Sequence[Problem | str | os.PathLike[str]]
    | Problem
)
"""Problems or files of instances, with names for the table or without."""

# Files that are in use, by path and what was in them; and the last one that was: the next run
# is most likely on it, too.
_open: WeakValueDictionary[tuple[str, str], Problem] = WeakValueDictionary()
_last: list[Problem] = []
_lock = threading.Lock()


class Source:
    """One instance: its name, what is asked in words, and the problem.

    Parameters
    ----------
    name : str
        In the table.
    given : Problem, str or path
        The problem, or a file of it.

    Attributes
    ----------
    fingerprint, statement, sense : str
        Those of a :class:`~cpx.compare.Run` on it.
    """

    def __init__(self, name: str, given: Problem | str | os.PathLike[str]) -> None:
        self.name = name
        self._held = given if isinstance(given, Problem) else None
        self._path = "" if isinstance(given, Problem) else os.path.abspath(given)
        problem = load(self._path) if self._held is None else self._held
        self.own_name = str(getattr(problem, "name", "") or "")
        self.fingerprint, self.sense = fingerprint(problem), str(problem.sense)
        with _lock:
            self._keep(problem)
        self.statement = ", ".join([problem.kind, *problem.brief()])

    def problem(self) -> Problem:
        """Return the problem, read from its file when it is not in use already.

        Raises
        ------
        InvalidInstance
            When the file cannot be read, or is not what it was.
        """
        if self._held is not None:
            return self._held
        with _lock:
            problem = _open.get((self._path, self.fingerprint))
            if problem is None:
                problem = load(self._path)
                if fingerprint(problem) != self.fingerprint:
                    raise InvalidInstance(f"{self._path} was changed after the comparison began")
            self._keep(problem)
        return problem

    def _keep(self, problem: Problem) -> None:
        if self._held is None:
            _open[self._path, self.fingerprint] = problem
            _last[:] = [problem]

    def run(self, result: Result, machine: Mapping[str, Any]) -> Run:
        """Return the record of a result on it."""
        return Run(self.name, self.fingerprint, self.statement, self.sense, result, machine)

    def __getstate__(self) -> dict[str, object]:
        # A file that other machines may not have travels as what is in it; the classifier stays.
        return {**vars(self), "_held": bare(self.problem()), "_path": ""}


def named_sources(problems: Problems) -> list[Source]:
    """Return the instances with a name each.

    Those without a given name have the problem's own. Where several have the same, files are
    called by their paths, and problems are numbered.

    Raises
    ------
    InvalidOption, InvalidInstance
        For what is no problem and no file of one, and a file that is given twice.
    """
    if isinstance(problems, Problem | str | os.PathLike):
        problems = [problems]
    if isinstance(problems, Mapping):
        return [_source(str(name), given) for name, given in problems.items()]
    sources = [_source("", given) for given in problems]
    wanted = [source.own_name for source in sources]
    names: set[str] = set()
    for i, (source, given) in enumerate(zip(sources, problems, strict=True), start=1):
        name = source.own_name
        if isinstance(given, Problem):
            name = name or f"problem {i}"
            source.name = name if name not in names else f"{name} ({i})"
        else:
            source.name = name if name and wanted.count(name) == 1 else str(given)
            if source.name in names:
                raise InvalidInstance(f"{given} is given twice")
        names.add(source.name)
    return sources


def _source(name: str, given: object) -> Source:
    if not isinstance(given, Problem | str | os.PathLike):
        what = f"{shown(name)} must be" if name else "each of the problems must be"
        raise InvalidOption(f"{what} a cpx problem or a file of one, got {type(given).__name__}")
    if not isinstance(given, Problem) and not Path(given).suffixes:
        raise InvalidOption(f"{shown(str(given))} is no file of an instance, .json or .json.gz")
    return Source(name, given)
