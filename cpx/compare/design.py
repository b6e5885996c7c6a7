"""The design of an experiment as data: what is run, and under which limits.

One TOML file can name the whole design. Its keys are the fields of :class:`Design`, with
``instances`` for the problems, as files, directories or patterns beside it, ``engines`` for the
backends, and ``memory`` in megabytes as in the command.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cpx.compare.sources import Problems
from cpx.errors import InvalidOption, UnknownName, shown
from cpx.options import RUN_LIMIT
from cpx.support.files import read_text
from cpx.support.validation import positive_integer, seconds, valid_seed

__all__ = ["Design"]

_ELSEWHERE = {"instances": "problems", "engines": "backends"}


@dataclass(frozen=True)
class Design:
    """What an experiment runs: each problem with each engine in each setting.

    Parameters
    ----------
    problems : mapping of str to Problem or path, or sequence of them
        With their names in the table; a sequence takes the problems' own, and may have
        directories of instances and patterns such as ``"planted-*.json.gz"``. Files of
        instances are read when their turn comes.
    backends : iterable of str or str, optional
        See :func:`cpx.compare.engine_names`.
    encodings : iterable of str, optional
        Each with every engine that needs one. Default: the default encoding of each problem.
    options : iterable of mapping, optional
        Options of engines by their own names, such as ``[{}, {"linearization_level": 2}]``;
        each with every engine that has them.
    seeds : iterable of int
        An engine that ignores the seed runs once, with the first.
    time_limit : float, None, or several of them
        Seconds; each with every engine.
    threads, gap
        As for :func:`cpx.solve`, the same for all runs.
    warm_start : bool
        Whether engines may be handed a start of another method. Default: they are left to
        themselves, since it is they that are compared; ``"milp{warm_start=true}"`` for one.
    cpu_limit : float, optional
        Seconds of processor time that each run may use, beside ``time_limit``.
    jobs : int
        Runs at the same time. More jobs than idle cores make the times meaningless.
    memory : int, optional
        Bytes that each run may use.

    Raises
    ------
    InvalidOption
        Naming the field and its value.
    """

    problems: Problems
    backends: Iterable[str] | str | None = None
    encodings: Iterable[str] | None = None
    options: Iterable[Mapping[str, Any]] = ({},)
    seeds: Iterable[int] = (0,)
    time_limit: float | Iterable[float | None] | None = RUN_LIMIT
    threads: int = 1
    gap: float | None = None
    warm_start: bool = False
    cpu_limit: float | None = None
    jobs: int = 1
    memory: int | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        if self.backends is not None and not isinstance(self.backends, str):
            put("backends", _several("backends", self.backends))
        if self.encodings is not None:
            put("encodings", _several("encodings", self.encodings))
        put("options", _several("options", self.options))
        for given in self.options:
            if not isinstance(given, Mapping):
                raise InvalidOption(f"options must map names to values, got {shown(given)}")
        put("seeds", tuple(valid_seed(seed) for seed in _several("seeds", self.seeds)))
        put("time_limit", tuple(map(seconds, _limits(self.time_limit))))
        put("cpu_limit", seconds(self.cpu_limit, "cpu_limit"))
        positive_integer("jobs", self.jobs)
        if self.memory is not None:
            positive_integer("memory", self.memory)

    @property
    def limits(self) -> tuple[float | None, ...]:
        """The time limits."""
        return _limits(self.time_limit)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None
    ) -> Design:
        """Read a design from a TOML file.

        Parameters
        ----------
        path : str or path
        folder : str or path, optional
            Where its instances are looked for; default: beside the file.

        Raises
        ------
        InvalidOption
            With the path: what is no TOML, a key that is not known.
        """
        text = read_text(path, InvalidOption)
        try:
            data = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            raise InvalidOption(f"{path}: no TOML: {error}") from error
        try:
            return cls._from_toml(data, Path(path).parent if folder is None else Path(folder))
        except (InvalidOption, UnknownName) as error:
            raise InvalidOption(f"{path}: {error}") from error

    @classmethod
    def _from_toml(cls, data: dict[str, Any], folder: Path) -> Design:
        known = {field.name for field in fields(cls)} - set(_ELSEWHERE.values())
        for key in data:
            if key not in known | set(_ELSEWHERE):
                raise UnknownName("key of a design", key, known | set(_ELSEWHERE))
        if "instances" not in data:
            raise InvalidOption("a design must name its instances")
        values = {_ELSEWHERE.get(key, key): value for key, value in data.items()}
        values["problems"] = _files(data["instances"], folder)
        if "memory" in values:
            values["memory"] = in_bytes(values["memory"])
        if "time_limit" in values:
            values["time_limit"] = [
                None if limit == "none" else limit for limit in _limits(values["time_limit"])
            ]
        return cls(**values)


def in_bytes(memory: object) -> int:
    """Return megabytes as bytes."""
    if isinstance(memory, bool) or not isinstance(memory, int | float) or not 0 < memory < 1e12:
        raise InvalidOption(f"memory must be a number of MB > 0, got {shown(memory)}")
    return max(1, round(memory * 1e6))


def _files(patterns: object, folder: Path) -> list[str]:
    found = []
    for pattern in _several("instances", [patterns] if isinstance(patterns, str) else patterns):
        if not isinstance(pattern, str) or "\0" in pattern:
            raise InvalidOption(f"instances must be files or patterns, got {shown(pattern)}")
        found.append(str(folder / pattern))
    return found


def _several(name: str, values: object) -> tuple[Any, ...]:
    """Return the values, each once and at least one."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise InvalidOption(f"{name} must be a list, got {shown(values)}")
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    if not found:
        raise InvalidOption(f"{name} must not be empty")
    return tuple(found)


def _limits(limit: object) -> tuple[Any, ...]:
    if isinstance(limit, Iterable) and not isinstance(limit, str):
        return _several("time_limit", limit)
    return (limit,)
