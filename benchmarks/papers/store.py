"""The file in which an experiment stores its records, so that it can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from cpx.errors import InvalidInstance, OutputError
from cpx.support.files import ensure_directory, ensure_writable

__all__ = ["RUNS_NAME", "Kept", "Store", "key_of", "line_of"]

RUNS_NAME = "runs.jsonl"


class Kept(Protocol):
    """What a store can keep: a dataclass with a key."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def key(self) -> str:
        """Equal for the same task only."""


R = TypeVar("R", bound=Kept)


def key_of(setting: Mapping[str, Any]) -> str:
    """Return a hash of everything that decides what becomes of a task.

    Parameters
    ----------
    setting : mapping
        Of plain JSON values.

    Examples
    --------
    >>> key_of({"seed": 0, "limit": 1.0}) == key_of({"limit": 1.0, "seed": 0})
    True
    """
    text = json.dumps(setting, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def line_of(record: Kept) -> bytes:
    """Return a record as one line of JSON; fractions are texts."""
    return json.dumps(asdict(record), allow_nan=False, default=str).encode() + b"\n"


class Store(Generic[R]):
    """The records of a directory, one line each in ``runs.jsonl``.

    A line is appended when its task ends. Of several lines with the same key the last one
    counts; a last line that was cut short, by a crash or a full disk, is dropped.

    Parameters
    ----------
    directory : path
        Made if need be.
    read : callable
        Reads a line; raises InvalidInstance for anything that is no record.

    Raises
    ------
    OutputError
        When nothing can be written there.
    InvalidInstance
        When the file holds something else, naming the line.
    """

    def __init__(self, directory: str | os.PathLike[str], read: Callable[[bytes], R]) -> None:
        self.directory: Path = ensure_directory(directory)
        self.path = ensure_writable(self.directory / RUNS_NAME)
        self.records: dict[str, R] = {}
        self._torn: int | None = None
        end = 0
        content = self.path.read_bytes() if self.path.exists() else b""
        for number, line in enumerate(content.splitlines(keepends=True), start=1):
            if not line.endswith(b"\n"):
                self._torn = end
                break
            try:
                record = read(line)
            except InvalidInstance as error:
                raise InvalidInstance(f"{self.path}, line {number}: {error}") from error
            self.records[record.key] = record
            end += len(line)

    def add(self, record: R) -> None:
        """Keep a record, on the disk first."""
        try:
            # Unbuffered: a line is one write, and stays whole beside another writer's.
            with open(self.path, "ab", buffering=0) as stream:
                if self._torn is not None:
                    stream.truncate(self._torn)
                    self._torn = None
                stream.write(line_of(record))
                os.fsync(stream.fileno())
        except OSError as error:
            raise OutputError(f"cannot write {self.path}: {error.strerror}") from error
        self.records[record.key] = record
