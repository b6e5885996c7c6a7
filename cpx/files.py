"""Writing files: refused before the work when impossible, never left half done."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from cpx.errors import OutputError

__all__ = ["ensure_directory", "ensure_writable", "write_atomic"]


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
    """Write a file whole or not at all: to a neighbour first, then renamed."""
    target = ensure_writable(path)
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
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror}") from error
    finally:
        if os.path.exists(name):
            os.unlink(name)
