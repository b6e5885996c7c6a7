"""Files of compiled kernels, in the places where Numba would keep them.

A file is found by everything its content depends on: the sources of all kernels, as one may be
part of another, the kinds of the arguments, the versions of the compiler, and the processor.
So none is ever out of date.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from cpx.backends.search.native import Kinds, Stored
from cpx.files import write_atomic

__all__ = ["Entry", "entry", "places"]

_PACKAGE = Path(__file__).parent
_SUFFIX = ".kernel"


def _hash_sources() -> str:
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


# Taken with the import: the sources may be edited while this process runs.
_sources = _hash_sources()


@cache
def _surroundings() -> list[Any] | None:
    """Return what code depends on beside its source; None where it cannot be told."""
    from llvmlite import __version__, binding

    features = binding.get_host_cpu_features().flatten()
    options = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    options.pop("NUMBA_CACHE_DIR", None)
    try:
        numba = version("numba")
    except PackageNotFoundError:
        return None
    return [
        [numba, __version__, np.__version__, *sys.version_info[:2]],
        [sys.platform, binding.get_process_triple(), binding.get_host_cpu_name(), features],
        sorted(options.items()),
    ]


def places() -> list[Path]:
    """Return the folders where files may be, in the order in which they are tried.

    They are those of Numba's own cache: ``NUMBA_CACHE_DIR`` if it is set, beside the sources,
    and the user's folder for caches.
    """
    package = os.path.abspath(_PACKAGE)
    inner = f"{_PACKAGE.name}_{hashlib.sha1(package.encode()).hexdigest()}"
    home = Path.home()
    if sys.platform == "win32":
        user = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    elif sys.platform == "darwin":
        user = home / "Library" / "Caches"
    else:
        user = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    first = [Path(chosen) / inner] if chosen else []
    return [*first, _PACKAGE / "__pycache__", user / "cpx" / inner]


def entry(function: FunctionType, kinds: Kinds) -> Entry:
    """Return the file of a kernel for arguments of these kinds."""
    surroundings = _surroundings()
    inside = Path(function.__code__.co_filename).parent == _PACKAGE
    if surroundings is None or not inside:
        return Entry("", "")
    name = function.__name__
    signature = [kind.str if isinstance(kind, np.dtype) else kind for kind in kinds]
    key = json.dumps([function.__module__, name, signature, _sources, surroundings])
    digest = hashlib.sha256(key.encode()).hexdigest()
    return Entry(f"{name}-{_sources[:16]}-{digest[:32]}{_SUFFIX}", key)


@dataclass(frozen=True)
class Entry:
    """A file, which may not exist; one without a name never does."""

    name: str
    key: str

    def read(self) -> Stored | None:
        """Return the code; None when there is no file, or it is not whole or not ours."""
        for place in places() if self.name else []:
            with suppress(OSError):
                stored = self._parse(_read_own(place / self.name))
                if stored is not None:
                    return stored
        return None

    def write(self, stored: Stored) -> None:
        """Write the file to the first place that can be written, if there is any."""
        # Who edits a source while this process runs must not find the old code.
        if not self.name or _hash_sources() != _sources:
            return
        header = {
            "key": self.key,
            "sizes": [len(code) for code in stored.objects],
            "results": stored.results,
            "single": stored.single,
        }
        content = json.dumps(header).encode() + b"\n" + b"".join(stored.objects)
        for place in places():
            with suppress(OSError):
                place.mkdir(parents=True, exist_ok=True)
                write_atomic(place / self.name, hashlib.sha256(content).digest() + content)
                _forget(place)
                return

    def _parse(self, data: bytes) -> Stored | None:
        digest, content = data[:32], data[32:]
        if hashlib.sha256(content).digest() != digest:
            return None
        line, _, rest = content.partition(b"\n")
        header = json.loads(line)
        if header["key"] != self.key:
            return None
        objects, at = [], 0
        for size in header["sizes"]:
            objects.append(rest[at : at + size])
            at += size
        return Stored(tuple(objects), tuple(header["results"]), header["single"])


def _read_own(path: Path) -> bytes:
    """Read a file that belongs to this user: no one else's code is run."""
    with path.open("rb") as stream:
        if hasattr(os, "geteuid") and os.fstat(stream.fileno()).st_uid != os.geteuid():
            raise PermissionError(path)
        return stream.read()


def _forget(place: Path) -> None:
    """Remove what was compiled from other sources than those that are there now."""
    for path in place.glob(f"*-*-*{_SUFFIX}"):
        if path.name.split("-")[-2] != _sources[:16]:
            with suppress(OSError):
                path.unlink()
