"""Instances of a comparison: problems in memory, or files that are read when their turn comes."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from cpx.answers.result import Result
from cpx.compare.records import Run, Skipped
from cpx.errors import InvalidInstance, InvalidOption, shown
from cpx.modelling.base import Problem
from cpx.modelling.instances import fingerprint, load
from cpx.solving.isolate import bare
from cpx.support.files import parse_json, read_bytes

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

_OURS = "cpx-instance"


class Source:
    """One instance: its name, what is asked in words, and the problem.

    name: In the table.
    given: The problem, or a file of it.
    fingerprint, statement, sense: Those of a :class:`~cpx.compare.Run` on it.
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
        self.statement = ", ".join([problem.kind, *problem._brief()])

    def problem(self) -> Problem:
        """Return the problem, read from its file when it is not in use already.

        Raises InvalidInstance: When the file cannot be read, or is not what it was.
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

    Raises InvalidOption, InvalidInstance: For what is no problem and no file of one, and a file
        that is given twice.
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


def with_files(problems: Problems) -> tuple[Problems, list[Skipped]]:
    """Put the instances in the places of directories and patterns; return the other files, too.

    Raises InvalidOption: For a directory or a pattern without instances.
    """
    if isinstance(problems, Mapping | Problem):
        return problems, []
    given = [problems] if isinstance(problems, str | os.PathLike) else list(problems)
    found: list[Problem | str | os.PathLike[str]] = []
    foreign: dict[str, str] = {}
    for each in given:
        if isinstance(each, Problem) or not isinstance(each, str | os.PathLike):
            found.append(each)
        elif _is_several(each):
            formats = {str(file): _format(file) for file in _files_of(Path(each))}
            own = [file for file, form in formats.items() if form == _OURS]
            if not own:
                raise InvalidOption(f"{shown(str(each))} has no instances, .json or .json.gz")
            found += [file for file in own if file not in found]
            foreign |= {file: form for file, form in formats.items() if form != _OURS}
        elif len(given) > 1 and (form := _format(each)) not in ("", _OURS):
            foreign[str(each)] = form  # a shell has made names of a pattern
        else:
            found.append(each)
    told = [
        Skipped(file, "", f"no instance: {f'its format is {form}' if form else 'no file of cpx'}")
        for file, form in foreign.items()
    ]
    return found, told


def _is_several(given: str | os.PathLike[str]) -> bool:
    path = Path(given)
    return path.is_dir() or (has_magic(str(path)) and not path.exists())


def _files_of(given: Path) -> Iterator[Path]:
    """Yield the files of a directory that may be instances, or those of a pattern."""
    if given.is_dir():
        yield from sorted([*given.glob("*.json"), *given.glob("*.json.gz")])
        return
    for path in map(Path, sorted(glob(str(given), recursive=True))):
        yield from _files_of(path) if path.is_dir() else [path]


def _format(path: str | os.PathLike[str]) -> str:
    """Return what format of cpx a file says it has; whether that is so is seen when it is read.

    Raises InvalidInstance: For a JSON file that is none: it may be the start of an instance.
    """
    raw = read_bytes(path, InvalidInstance)
    if said := re.search(rb'"format"\s*:\s*"(cpx-[a-z-]+)"', raw):
        return said[1].decode()
    if str(path).endswith((".json", ".json.gz")):
        try:
            parse_json(raw.decode("utf-8", errors="replace"), InvalidInstance)
        except InvalidInstance as error:
            raise InvalidInstance(f"{path}: {error}") from None
    return ""


def _source(name: str, given: object) -> Source:
    if not isinstance(given, Problem | str | os.PathLike):
        what = f"{shown(name)} must be" if name else "each of the problems must be"
        raise InvalidOption(f"{what} a cpx problem or a file of one, got {type(given).__name__}")
    if not isinstance(given, Problem) and not Path(given).suffixes:
        raise InvalidOption(f"{shown(str(given))} is no file of an instance, .json or .json.gz")
    return Source(name, given)
