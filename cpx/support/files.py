"""File input and output: plain or packed, limited in size, written atomically."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import IO, Any

from cpx.errors import CpxError, OutputError, printable, shortened

# What an unpacked file may cost: a million samples of two hundred features pack into next to
# nothing when they repeat, and cost half of this. Ordinary files unpack to ten times their size.
_MOST_UNPACKED, _MOST_TIMES = 2**29, 100

_DEEPEST = 100

# What spreadsheets take for the start of a formula, after the quotes that we put before it.
_FORMULA = re.compile(r"'* *[=+\-@]")


def ensure_writable(path: str | os.PathLike[str]) -> Path:
    """Return the path if a file can be written there, without touching it.

    Raises OutputError: When the directory does not exist or is not writable, or the path is a
        directory.
    """
    target = Path(path)
    parent = target.parent
    if target.is_dir():
        raise OutputError(f"cannot write {target}: it is a directory")
    if target.exists() and not target.is_file():
        return target  # a pipe or a device
    if not parent.is_dir():
        raise OutputError(f"cannot write {target}: the directory {parent} does not exist")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write {target}: the directory {parent} is not writable")
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(f"cannot write {target}: the file is write-protected")
    return target


def ensure_directory(path: str | os.PathLike[str]) -> Path:
    """Return the directory, made if need be, and writable."""
    target = Path(path)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the directory {target}: {error.strerror}") from error
    if not os.access(target, os.W_OK | os.X_OK):
        raise OutputError(f"the directory {target} is not writable")
    return target


def write_atomic(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file whole or not at all: to a neighbour first, then renamed.

    A link stays one, to the new content; a pipe or a device is written to, never replaced; and a
    file that is there keeps its permissions.
    """
    target = ensure_writable(path)
    if target.exists() and not target.is_file():
        try:
            target.write_bytes(data)
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}") from error
        return
    target = target.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        # mkstemp makes private files; a saved instance has the permissions of any new file.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask)
        os.replace(name, target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror}") from error
    finally:
        if os.path.exists(name):
            os.unlink(name)


def read_bytes(
    path: str | os.PathLike[str], error: type[CpxError], *, packed: bool = False
) -> bytes:
    """Return what a file holds, unpacked when it is gzipped.

    packed: Unpack what ends in ``.bz2``, ``.xz`` or ``.zip`` as well. An archive must have one
        file.
    Raises error: With the path, when the file cannot be read or is damaged; and, before anything
        is kept in memory, when it unpacks to far more than its size (see :func:`refuse_bomb`).
    """
    source = Path(path)
    try:
        raw = source.read_bytes()
    except OSError as cause:
        raise error(f"{source}: cannot be read: {cause.strerror}") from cause
    packer = "gzip" if raw[:2] == _GZIP else source.suffix[1:] if packed else ""
    if packer not in _UNPACK:
        return raw
    try:
        cost = 0
        with _UNPACK[packer](BytesIO(raw)) as stream:
            while chunk := stream.read(2**20):
                # What Python makes of JSON and CSV: an object per bracket, an entry per comma.
                cost += len(chunk) + 64 * (chunk.count(b"[") + chunk.count(b"{"))
                cost += 16 * chunk.count(b",")
                refuse_bomb(cost, len(raw), f"{source}: ", error)
        with _UNPACK[packer](BytesIO(raw)) as stream:
            content: bytes = stream.read()
            return content
    except _DAMAGED as cause:
        raise error(f"{source}: truncated or damaged {packer}: {shortened(cause)}") from cause


def _only_file(stream: BytesIO) -> IO[bytes]:
    archive = zipfile.ZipFile(stream)
    names = [name for name in archive.namelist() if not name.endswith("/")]
    if len(names) != 1:
        raise zipfile.BadZipFile(f"one file is wanted, there are {len(names)}")
    return archive.open(names[0])


_GZIP = b"\x1f\x8b"

_UNPACK: dict[str, Callable[[BytesIO], Any]] = {
    "gzip": lambda stream: gzip.GzipFile(fileobj=stream),
    "bz2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zip": _only_file,
}

# A zip may also be locked (RuntimeError), or packed in a way that Python does not know.
_DAMAGED = (
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
)


def refuse_bomb(unpacked: int, packed: int, what: str, error: type[CpxError]) -> None:
    """Raise when bytes unpack to more than 512 MiB and more than 100 times their number."""
    if unpacked > max(_MOST_UNPACKED, _MOST_TIMES * packed):
        raise error(
            f"{what}its {packed} bytes unpack to more than {unpacked // 2**20} MiB, as a "
            "decompression bomb does; if you know where it is from, unpack it first"
        )


def read_text(path: str | os.PathLike[str], error: type[CpxError]) -> str:
    """Return the text of a file in UTF-8, plain or gzipped, without a mark of its encoding."""
    try:
        return read_bytes(path, error).decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise error(f"{path}: not UTF-8: {cause}") from cause


def parse_json(text: str, error: type[CpxError], **hooks: Any) -> Any:
    """Return the value that JSON text stands for.

    Raises error: When the text is no JSON, nested more than a hundred levels deep, or has integers
        of thousands of digits.

    >>> parse_json("[1, 2", CpxError)
    Traceback (most recent call last):
    cpx.errors.CpxError: no JSON: Expecting ',' delimiter: line 1 column 6 (char 5)
    """
    try:
        data = json.loads(text, **hooks)
    except CpxError:
        raise
    except ValueError as cause:  # besides JSONDecodeError, integers of thousands of digits
        raise error(f"no JSON: {cause}") from cause
    except RecursionError:
        raise error("nested too deeply") from None
    level = [data] if isinstance(data, list | dict) else []
    for _ in range(_DEEPEST):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, list | dict)
        ]
        if not level:
            return data
    raise error("nested too deeply")


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    r"""Return CSV text with a header, in which no text is a formula.

    Texts are as :func:`cpx.errors.printable` makes them. One that starts with ``=``, ``+``, ``-``
    or ``@`` gets a single quote in front, since spreadsheets would run it; :func:`from_cell` takes
    the quote away.

    >>> csv_text(["name", "value"], [{"name": "=1+1", "value": -1}])
    "name,value\n'=1+1,-1\n"
    """
    lines = []
    for row in (dict(zip(columns, columns, strict=True)), *rows):
        line = StringIO()
        # The writer quotes the characters of its line end, so a carriage return ends no line.
        csv.DictWriter(line, columns, lineterminator="\r\n").writerow(
            {name: _to_cell(value) for name, value in row.items()}
        )
        lines.append(line.getvalue().removesuffix("\r\n") + "\n")
    return "".join(lines)


def _to_cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if _FORMULA.match(text) else text


def from_cell(text: str) -> str:
    """Return the text that :func:`csv_text` made a cell of.

    >>> from_cell("'=1+1"), from_cell("''=1+1"), from_cell("'quoted'")
    ('=1+1', "'=1+1", "'quoted'")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
