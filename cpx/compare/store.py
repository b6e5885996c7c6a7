"""The store of a comparison: a folder whose ``runs.jsonl`` has one line for each run.

Lines are only ever added, each in one piece. A last line that was cut short is no line, so a
process that is killed, or a full disk, costs at most the run that was being written. One process
writes at a time; any number may read.

There are three kinds of lines. ``{"session": ...}``, the first one with the format and the
version, says who writes what follows: the time, the host, which plan, and which pairs of it were
skipped. ``{"run": ..., "place": n}`` is a run and its place in the plan. ``{"done": plan}`` says
that all runs of a plan, or of a shard of it, were made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from cpx.compare.records import Run, Skipped
from cpx.errors import InvalidInstance, OutputError, shown
from cpx.processes.limits import try_lock
from cpx.support.files import ensure_directory, parse_json
from cpx.support.garbage import no_garbage

NAME = "runs.jsonl"
_FORMAT, _VERSION = "cpx-runs", 1


@dataclass
class Stored:
    """What a store holds.

    placed: The place of each run in its plan, and the run: each experiment once, in that order.
    sessions: Who wrote it.
    done: The plans that were done, and which shard of each.
    """

    placed: list[tuple[int, Run]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    sessions: list[dict[str, Any]] = field(default_factory=list)
    done: set[tuple[str, str]] = field(default_factory=set)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs without their places."""
        return tuple(run for _, run in self.placed)

    @property
    def plan(self) -> str:
        """The plan of the last session."""
        return str(self.sessions[-1].get("plan", "")) if self.sessions else ""

    @property
    def complete(self) -> bool:
        """Whether the last plan is done, whole or in all its shards."""
        shards = {shard for plan, shard in self.done if plan == self.plan}
        last = {shard.partition("/")[2] for shard in shards}
        numbers = [int(text) for text in last if text.isdecimal() and len(text) < 7]
        return any({f"{i}/{n}" for i in range(1, n + 1)} <= shards for n in numbers if n)


def read(folder: str | os.PathLike[str]) -> Stored:
    """Read a store, also while another process writes to it.

    Raises InvalidInstance: With the file and the line, when it is no store or a line cannot be
        read.
    """
    path = Path(folder) / NAME
    try:
        with path.open("rb") as file:
            return _read(file, path)
    except OSError as error:
        raise InvalidInstance(f"{path}: cannot be read: {error.strerror}") from error


def _read(file: IO[bytes], path: Path) -> Stored:
    found = Stored()
    runs: dict[tuple[Any, ...], tuple[int, Run]] = {}
    with no_garbage():
        _read_lines(file, path, found, runs)
    found.placed = sorted(runs.values(), key=lambda placed: placed[0])
    return found


def _read_lines(
    file: IO[bytes],
    path: Path,
    found: Stored,
    runs: dict[tuple[Any, ...], tuple[int, Run]],
) -> None:
    for number, line in enumerate(_lines(file, path), start=1):
        try:
            if "run" in line:
                _add(runs, Run.from_dict(line["run"]), _place(line))
            elif "session" in line:
                _begin(found, line)
            elif "done" in line:
                found.done.add(_done(line))
            else:
                raise InvalidInstance("neither a run nor a session")
        except InvalidInstance as error:
            raise InvalidInstance(f"{path}, line {number}: {error}") from error


def _add(runs: dict[tuple[Any, ...], tuple[int, Run]], run: Run, place: int) -> None:
    """Keep one run of each experiment: the first that need not be run again, else the last."""
    key = run.key
    known = runs.get(key)
    if known is None or not known[1].finished:
        runs[key] = place, run


def _place(line: Mapping[str, Any]) -> int:
    place = line.get("place", 0)
    if not isinstance(place, int):
        raise InvalidInstance(f"place must be an integer, got {shown(place)}")
    return place


def _begin(found: Stored, line: dict[str, Any]) -> None:
    session = line["session"]
    if not found.sessions and line.get("format") != _FORMAT:
        raise InvalidInstance(f"not a store of runs: 'format' must be {_FORMAT!r}")
    if not found.sessions and line.get("version") != _VERSION:
        raise InvalidInstance(
            f"version {shown(line.get('version'))} is not known; known: {_VERSION}"
        )
    if not isinstance(session, dict):
        raise InvalidInstance(f"a session must be an object, got {shown(session)}")
    found.sessions.append(session)
    given = session.get("skipped", [])
    if not isinstance(given, list):
        raise InvalidInstance(f"skipped must be a list, got {shown(given)}")
    for pair in given:
        skipped = Skipped.from_dict(pair)
        if skipped not in found.skipped:
            found.skipped.append(skipped)


def _done(line: Mapping[str, Any]) -> tuple[str, str]:
    plan, shard = line["done"], line.get("shard", "1/1")
    if not isinstance(plan, str) or not isinstance(shard, str):
        raise InvalidInstance(f"what is done must be a text, got {shown(line)}")
    return plan, shard


def _lines(file: IO[bytes], path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file, but for a last line that was cut short."""
    for number, raw in enumerate(file, start=1):
        if not raw.endswith(b"\n"):
            return
        yield _parsed(raw, path, number)


def _parsed(raw: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        line = parse_json(raw.decode("utf-8"), InvalidInstance)
    except (UnicodeDecodeError, InvalidInstance) as error:
        raise InvalidInstance(f"{path}, line {number}: {error}") from error
    if not isinstance(line, dict):
        raise InvalidInstance(f"{path}, line {number}: not an object")
    return line


class Writer:
    """The one process that adds to a store, until it lets go of it (:meth:`close`).

    folder: Made if need be.
    session: Who writes what.
    resume: Whether the folder may have runs already.
    Raises OutputError: When the folder cannot be written, has runs and is not to be resumed, or
        another process is writing there.
    finished: The keys of the runs that need not be made again.
    unsaved: Places and runs that could not be written yet: the disk is full.
    """

    def __init__(
        self, folder: str | os.PathLike[str], session: Mapping[str, Any], resume: bool = False
    ) -> None:
        self.folder = ensure_directory(folder)
        self.unsaved: list[tuple[int, Run]] = []
        path = self.folder / NAME
        if (self.folder / "results.csv").exists() and not resume:
            raise self._has_results()
        try:
            self._file: IO[bytes] = path.open("ab+")
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}") from error
        try:
            if not try_lock(self._file):
                raise OutputError(f"{self.folder} is in use: {_who(path)}")
            self._mend()
            stored = self.stored()
            if stored.placed and not resume:
                raise self._has_results()
            head = {"session": dict(session)} if stored.sessions else _head(session)
            self._session: dict[str, Any] | None = head
            self.retry()
        except BaseException:
            self._file.close()
            raise
        self.finished = {run.key for run in stored.runs if run.finished}

    def stored(self) -> Stored:
        """Return what the store holds, also when its folder was removed."""
        self._file.seek(0)
        return _read(self._file, self.folder / NAME)

    def _has_results(self) -> OutputError:
        return OutputError(
            f"{self.folder} has results already: --resume keeps them and makes the missing "
            "runs, another directory starts anew"
        )

    def _mend(self) -> None:
        """Cut off a last line without an end, and remove what a killed writer left."""
        self._file.seek(0)
        self._size = 0
        for raw in self._file:
            if not raw.endswith(b"\n"):
                self._file.truncate(self._size)
                break
            self._size += len(raw)
        for left in self.folder.glob(".results.csv.*"):
            with suppress(OSError):
                left.unlink()

    def add(self, run: Run, place: int) -> None:
        """Add a run, and those that could not be added before.

        Raises OutputError: When it cannot be written. It is kept, and the next call tries again.
        """
        self.unsaved.append((place, run))
        self.retry()

    def retry(self) -> None:
        """Write what could not be written before, and the line of the session."""
        if self._session is not None:
            self._write(self._session)
            self._session = None
        while self.unsaved:
            place, run = self.unsaved[0]
            self._write(_run_line(run, place))
            del self.unsaved[0]

    def done(self, plan: str, shard: str) -> None:
        """Note that all runs of a plan, or of a shard of it, were made."""
        self._write({"done": plan, "shard": shard})

    def _write(self, line: Mapping[str, Any]) -> None:
        if os.fstat(self._file.fileno()).st_nlink == 0 and os.name == "posix":
            raise OutputError(f"cannot write {self.folder / NAME}: it was removed")
        data = _line(line)
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file.fileno(), left) :]
        except OSError as error:
            # What was written of the line is in the way of the next one.
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), self._size)
            raise OutputError(f"cannot write {self.folder / NAME}: {error.strerror}") from error
        self._size += len(data)

    def close(self) -> None:
        """Let go of the store, whose lines are on the disk by then."""
        with suppress(OSError):
            os.fsync(self._file.fileno())
        self._file.close()


def _head(session: Mapping[str, Any]) -> dict[str, Any]:
    return {"format": _FORMAT, "version": _VERSION, "session": dict(session)}


def _run_line(run: Run, place: int) -> dict[str, Any]:
    return {"run": run.to_dict(), "place": place}


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _who(path: Path) -> str:
    """Say who holds the lock, as far as is known."""
    with suppress(InvalidInstance):
        for session in read(path.parent).sessions[-1:]:
            if "pid" in session:
                return f"process {shown(session['pid'])} on {shown(session.get('host'))} has it"
    return "another process has it"


def as_lines(stored: Stored) -> bytes:
    """Return the whole file of a store."""
    session = {**(stored.sessions or [{}])[-1], "skipped": [asdict(p) for p in stored.skipped]}
    lines = [_head(session)]
    lines += [_run_line(run, place) for place, run in stored.placed]
    lines += [{"done": plan, "shard": shard} for plan, shard in sorted(stored.done)]
    return b"".join(map(_line, lines))


def merge(stores: Sequence[Stored], output: str | os.PathLike[str]) -> None:
    """Write what several stores hold to a new one, each experiment once.

    Raises OutputError: When it is not new, or cannot be written.
    """
    plans = {store.plan for store in stores}
    plan = plans.pop() if len(plans) == 1 else "several"
    skipped = list(dict.fromkeys(pair for store in stores for pair in store.skipped))
    session = {"plan": plan, "skipped": [asdict(pair) for pair in skipped]}
    with closing(Writer(output, session)) as writer:
        for place, run in sorted(
            (placed for store in stores for placed in store.placed), key=lambda placed: placed[0]
        ):
            writer.add(run, place)
        shards = {shard for store in stores for made, shard in store.done if made == plan}
        if plan == "several" and all(store.complete for store in stores):
            shards = {"1/1"}
        for shard in sorted(shards):
            writer.done(plan, shard)
