"""What there is to know of a program that ran: its command, path, checksum and version."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from cpx.answers.text import one_line

# A program that takes longer to say which it is, or reads on, is not waited for.
_SECONDS = 1.0
_LONGEST = 200


def provenance(
    name: str, path: str, command: Sequence[str] = (), version: Sequence[str] = ("--version",)
) -> dict[str, str]:
    """Return version, command, path and checksum, by names that begin with the program's.

    Files that the command names, such as a script or an archive of Java, have checksums too.
    """
    printed = _version(path, tuple(version), _stamp(path))
    found = {name: re.sub(rf"(?i)^({re.escape(name)}\s+)?version:?\s+", "", printed)}
    if command:
        found[f"{name} command"] = " ".join(command)
    found[f"{name} path"] = os.path.realpath(path)
    found[f"{name} sha256"] = _checksum(path, _stamp(path))
    for word in command[1:]:
        if os.path.isabs(word) and os.path.isfile(word):
            found[f"{name} sha256 of {word}"] = _checksum(word, _stamp(word))
    return found


def _stamp(path: str) -> tuple[int, int]:
    """Return what changes with a file's content."""
    status = Path(path).stat()
    return status.st_mtime_ns, status.st_size


@lru_cache
def _checksum(path: str, stamp: tuple[int, int]) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache
def _version(path: str, options: tuple[str, ...], stamp: tuple[int, int]) -> str:
    """Return the first line with a number that the program prints when asked for its version."""
    try:
        done = subprocess.run(
            [path, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    lines = done.stdout[:10_000].decode("utf-8", "replace").splitlines()
    first = next((line for line in lines if re.search("[0-9]", line)), "unknown")
    return one_line(first.strip())[:_LONGEST]
