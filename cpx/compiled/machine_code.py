"""The machine code of all kernels: the file for this processor, found or made once.

A file is an object as linkers take them, with all kernels. One for each level of processors is
made when the package is built. Its name tells the level and what it was made from, so that none
is ever out of date: where there is none for the sources that are there, because their code was
edited, or for this processor, it is made when it is first needed, which takes a while and is
said on standard error.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cpx.errors import EngineError
from cpx.support.files import write_atomic

_PACKAGE = Path(__file__).parents[1]
FOLDERS = (
    "compiled",
    "backends/search",
    "backends/search/kernel_rules",
    "backends/search/rule_sets",
    "backends/search/table_sums",
    "trees/sufficiency",
    "methods/reasons",
)
"""Folders of the package with the sources of kernels, and of what these use."""

# Parsing would take twenty times as long as all else that a process does before its first call.
_KERNEL = re.compile(r"^@(?:kernel|subroutine)$", re.MULTILINE)
_IMPORT = re.compile(r"^from (cpx[\w.]*) import", re.MULTILINE)
_DOCSTRING = re.compile(r'^( *)r?"""(?=\S)(?s:.*?)"""$', re.MULTILINE)
_COMMENT = re.compile(r"^ *(?:#.*)?\n", re.MULTILINE)

BUILT = Path(__file__).parent / "objects"
"""Where the files are that were made when the package was built."""

_EXPECTED = 40


class Level(NamedTuple):
    """Processors with some instructions, in the words of LLVM."""

    name: str
    processor: str
    features: str  # what it has beside these, and how it is to be used
    needs: tuple[str, ...]  # features that tell such a processor


_V2 = ("cx16", "popcnt", "sse4.2", "ssse3")
_V3 = (*_V2, "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512vpopcntdq")
# The highest level first. Vectors of 512 bits are what the kernels are laid out for.
_X86 = (
    Level("x86-64-v4", "x86-64-v4", "+avx512vpopcntdq,-prefer-256-bit", _V4),
    Level("x86-64-v3", "x86-64-v3", "", _V3),
    Level("x86-64-v2", "x86-64-v2", "", _V2),
)


def levels() -> tuple[Level, ...]:
    """Return the levels of this kind of processors, the highest first."""
    machine = platform.machine().lower()
    return _X86 if machine in ("x86_64", "amd64") else (Level(machine, "", "", ()),)


def baseline() -> Level:
    """Return the level of all processors of this kind, for which nothing is built beforehand."""
    return Level(f"{platform.machine().lower()}-baseline", "", "", ())


@cache
def _sources() -> str:
    """Return a digest of the code that the machine code is made from."""
    digest = hashlib.sha256()
    for name, text in sorted(sources().items()):
        digest.update(f"{name}\0{code_only(text)}\0".encode())
    return digest.hexdigest()[:32]


def sources() -> dict[str, str]:
    """Return the modules that kernels are made from, by their names.

    These are the modules of this folder, those with kernels, and what these import at their top
    from the folders: a kernel may use constants and types from there.
    """
    texts = {
        f"cpx.{folder.replace('/', '.')}.{path.stem}": path.read_text(encoding="utf-8")
        for folder in FOLDERS
        for path in (_PACKAGE / folder).glob("*.py")
    }
    names = [n for n in texts if n.startswith("cpx.compiled.") or _KERNEL.search(texts[n])]
    for name in names:
        imported = set(_IMPORT.findall(texts[name]))
        names += imported & texts.keys() - {*names}
    return {name: texts[name] for name in names}


def code_only(text: str) -> str:
    """Return a source without comments and blank lines, and with ``...`` for each docstring."""
    return _COMMENT.sub("", _DOCSTRING.sub(r"\1...", text))


def note_sources() -> None:
    """Note which sources are there now: the kernels that are imported are made from these."""
    _sources()


def machine_code() -> tuple[bytes, float]:
    """Return the object for this processor, and how many seconds it took to make it now, if any.

    It was built with the package, or is kept from before, or is made.
    """
    own = level()
    name = file_of(own)
    for place in _places():
        with suppress(OSError):
            return _read(place / name, place == BUILT), 0.0
    print(
        f"cpx: compiling once, about {_EXPECTED} s: there is no machine code of the kernels for "
        f"{own.name} and these sources",
        file=sys.stderr,
        flush=True,
    )
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        compile_objects(Path(folder), [own])
        code = (Path(folder) / name).read_bytes()
    seconds = time.perf_counter() - start
    for place in _places():
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            write_atomic(place / name, code)
            break
    return code, seconds


def file_of(wanted: Level) -> str:
    """Return the name of the file of a level, made from the sources that are there."""
    return f"{wanted.name}-{_sources()}.o"


def level() -> Level:
    """Return the highest level that this processor is of."""
    possible = levels()
    if len(possible) == 1:
        return possible[0]
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    for one in possible:
        if all(features.get(feature) for feature in one.needs):
            return one
    return baseline()


def _places() -> list[Path]:
    """Return the folders where files may be, in the order in which they are tried."""
    # Beside others' files, a name that tells copies of the package apart.
    own = f"cpx_{hashlib.sha256(str(_PACKAGE).encode()).hexdigest()[:32]}"
    found = [BUILT]
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        found.append(Path(chosen) / own)
    with suppress(RuntimeError):  # no home
        found.append(_user_caches() / own)
    return found


def _user_caches() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _read(path: Path, built: bool) -> bytes:
    """Read a file of the package or of this user: no one else's code is run."""
    with path.open("rb") as stream:
        owner = os.fstat(stream.fileno()).st_uid
        if not built and hasattr(os, "geteuid") and owner != os.geteuid():
            raise PermissionError(path)
        return stream.read()


def compile_objects(folder: Path, wanted: list[Level]) -> None:
    """Write the objects of some levels to a folder.

    Numba runs in a process of its own, with its own options and not with those that the
    environment has for others.
    """
    environment = {n: value for n, value in os.environ.items() if not n.startswith("NUMBA_")}
    paths = [str(_PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    environment |= {"NUMBA_OPT": "0", "PYTHONPATH": os.pathsep.join(paths)}
    names = [level.name for level in wanted]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "cpx.compiled.build", str(folder), *names],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise EngineError(f"the kernels could not be compiled:\n{done.stdout}{done.stderr}")
