"""Files: read plain or gzipped; written whole or not at all, refused before the work."""

from __future__ import annotations

import gzip
import os
import tempfile
import zlib
from pathlib import Path

from cpx.errors import CpxError, OutputError

__all__ = ["ensure_directory", "ensure_writable", "read_bytes", "read_text", "write_atomic"]


def ensure_writable(path: str | os.PathLike[str]) -> Path:
    """Return the path if a file can be written there, without touching it.

    Raises
    ------
    OutputError
        When the directory does not exist or is not writable, or the path is a directory.
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


def read_bytes(path: str | os.PathLike[str], error: type[CpxError]) -> bytes:
    """Return what a file holds, unpacked when it is gzipped.

    Raises
    ------
    error
        With the path, when the file cannot be read or is damaged.
    """
    source = Path(path)
    try:
        raw = source.read_bytes()
        return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as cause:
        raise error(f"{source}: truncated or damaged gzip: {cause}") from cause
    except OSError as cause:
        raise error(f"{source}: cannot be read: {cause.strerror}") from cause


def read_text(path: str | os.PathLike[str], error: type[CpxError]) -> str:
    """Return the text of a file in UTF-8, plain or gzipped; see :func:`read_bytes`."""
    try:
        return read_bytes(path, error).decode("utf-8")
    except UnicodeDecodeError as cause:
        raise error(f"{path}: not UTF-8: {cause}") from cause
