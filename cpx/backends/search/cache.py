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
from itertools import accumulate, pairwise
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from cpx.backends.search.native import Kinds, Stored
from cpx.support.files import write_atomic
from cpx.support.versions import installed_version

__all__ = ["Entry", "entry", "places"]

_PACKAGE = Path(__file__).parent
# The packages that have kernels; the others use instructions of the first.
_FOLDERS = {
    __package__: _PACKAGE,
    f"{__package__}.dnf": _PACKAGE / "dnf",
    f"{__package__}.sets": _PACKAGE / "sets",
    "cpx.methods.reasons": _PACKAGE.parents[1] / "reasons",
}
_SUFFIX = ".kernel"


def _hash_sources() -> str | None:
    """Return a digest of the packages' sources; None where they cannot be read."""
    digest = hashlib.sha256()
    try:
        paths = [path for folder in _FOLDERS.values() for path in sorted(folder.glob("*.py"))]
        for path in paths:
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    except OSError:
        return None
    return digest.hexdigest() if paths else None


# Taken with the import: the sources may be edited while this process runs.
_sources = _hash_sources()


@cache
def _surroundings() -> list[Any] | None:
    """Return what code depends on beside its source; None where it cannot be told."""
    from llvmlite import __version__, binding

    features = binding.get_host_cpu_features().flatten()
    options = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    options.pop("NUMBA_CACHE_DIR", None)
    numba = installed_version("numba")
    if numba is None:
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
    # Beside others' files, a name that tells copies of the package apart.
    own = f"cpx_{hashlib.sha256(str(_PACKAGE).encode()).hexdigest()[:32]}"
    found = [_PACKAGE / "__pycache__"]
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        found.insert(0, Path(chosen) / own)
    with suppress(RuntimeError):  # no home
        found.append(_user_caches() / own)
    return found


def _user_caches() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def entry(function: FunctionType, kinds: Kinds) -> Entry:
    """Return the file of a kernel for arguments of these kinds.

    It has no name, and never exists, for a kernel of a package whose sources are not
    looked at, and where the sources or the version of Numba are not known.
    """
    surroundings = _surroundings()
    foreign = function.__module__.rpartition(".")[0] not in _FOLDERS
    if surroundings is None or _sources is None or foreign:
        return Entry("", "")
    name = function.__name__
    key = json.dumps([function.__module__, name, repr(kinds), _sources, surroundings])
    digest = hashlib.sha256(key.encode()).hexdigest()
    return Entry(f"{name}-{_sources[:16]}-{digest[:32]}{_SUFFIX}", key)


@dataclass(frozen=True)
class Entry:
    """A file of a kernel, which may not exist.

    Attributes
    ----------
    name : str
        Its name in any of the :func:`places`; empty for one that never exists.
    key : str
        All that its content depends on, which it must repeat.
    """

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
        if not self.name or _sources is None or _hash_sources() != _sources:
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
                _forget(place, _sources)
                return

    def _parse(self, data: bytes) -> Stored | None:
        digest, content = data[:32], data[32:]
        if hashlib.sha256(content).digest() != digest:
            return None
        line, _, rest = content.partition(b"\n")
        header = json.loads(line)
        if header["key"] != self.key:
            return None
        ends = list(accumulate(header["sizes"], initial=0))
        objects = tuple(rest[start:end] for start, end in pairwise(ends))
        return Stored(objects, tuple(header["results"]), header["single"])


def _read_own(path: Path) -> bytes:
    """Read a file that belongs to this user: no one else's code is run."""
    with path.open("rb") as stream:
        if hasattr(os, "geteuid") and os.fstat(stream.fileno()).st_uid != os.geteuid():
            raise PermissionError(path)
        return stream.read()


def _forget(place: Path, sources: str) -> None:
    """Remove what was compiled from other sources than those that are there now."""
    for path in place.glob(f"*-*-*{_SUFFIX}"):
        if path.name.split("-")[-2] != sources[:16]:
            with suppress(OSError):
                path.unlink()
