"""The library with the machine code of all kernels: the best one that runs on this processor.

It is made when the package is built, by setup.py, and may be missing where there was no C
compiler. In a clone the sources lie beside it, and one that was made from others is refused.
"""

from __future__ import annotations

import ctypes
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from cpx.errors import EngineError, EngineMissing

__all__ = ["MISSING", "entry_of", "has_kernels", "load"]

MISSING = (
    "cpx was installed without its kernels for this processor, which are in C: where there is a "
    "C compiler, pip install --force-reinstall --no-deps cpx-explain, or in a clone "
    "pip install --no-deps --editable ."
)
"""What is wrong where there is no library, and what to do."""

_PACKAGE = Path(__file__).parents[1]


@cache
def _library() -> ctypes.CDLL | None:
    # The highest level first: kernels.v4.so, v3, v2; or any.
    for path in sorted((_PACKAGE / "compiled").glob("kernels.*.so"), reverse=True):
        try:
            found = ctypes.CDLL(str(path))  # its calls release the interpreter lock
        except OSError as error:
            if "failed to map segment" in str(error):  # as a limit on memory has it
                raise MemoryError(f"no memory to load {path.name}") from error
            raise
        if found.cpx_runs_here():
            return found
    return None


def has_kernels() -> bool:
    """Whether the package was installed with kernels that run on this processor."""
    return _library() is not None


@cache
def load() -> ctypes.CDLL:
    """Return the library.

    Raises EngineMissing: Where there is none.
    Raises EngineError: Where it was made from other sources than those that lie beside it.
    """
    found = _library()
    if found is None:
        raise EngineMissing(MISSING)
    made_from = ctypes.c_char_p.in_dll(found, "cpx_sources").value
    if (now := _digest()) and made_from != now.encode():
        raise EngineError(
            "the kernels were made from other sources than those beside them: in the clone, "
            "pip install --no-deps --editable ."
        )
    return found


def _digest() -> str:
    """Return what setup.py's digest does; nothing where there are no sources."""
    found = [path for pattern in ("*.c", "*.h") for path in _PACKAGE.rglob(pattern)]
    names = sorted((path.relative_to(_PACKAGE.parent).as_posix(), path) for path in found)
    texts = [path.read_bytes() for _, path in names]
    return hashlib.sha256(b"\0".join(texts)).hexdigest() if texts else ""


def entry_of(symbol: str, size: int) -> Any:
    """Return the call of a kernel, whose table has so many words."""
    try:
        words = ctypes.c_int64.in_dll(load(), f"{symbol}_words").value
        entry = getattr(load(), symbol)
    except (AttributeError, ValueError):
        raise EngineError(f"{symbol} is not among the compiled kernels") from None
    if words != size:
        raise EngineError(
            f"the table of {symbol} has {words} words in C and {size} in Python: run "
            "python -m cpx.compiled.tables, and build the kernels again"
        )
    entry.argtypes, entry.restype = [ctypes.c_void_p], None
    return entry
