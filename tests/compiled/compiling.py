"""Kernels of the tests, compiled as those of the package are."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cpx.compiled.kernel import Kernel
from cpx.compiled.tables import headers

ROOT = Path(__file__).parents[2]
FLAGS = ["-shared", "-fPIC", "-O2", "-std=gnu11", "-fwrapv", "-ffp-contract=off"]
COMPILER = shutil.which(os.environ.get("CC", "cc"))


def compiled(*functions: Callable[..., Any], flags: list[str] | None = None) -> list[Kernel]:
    """Return functions as kernels; their code is in a C file beside their module."""
    if COMPILER is None or sys.platform == "win32":
        pytest.skip("no C compiler")
    module = Path(sys.modules[functions[0].__module__].__file__ or "")
    made = [Kernel(function) for function in functions]
    with tempfile.TemporaryDirectory() as folder:
        tables, library = Path(folder, "tables.h"), Path(folder, "kernels.so")
        tables.write_text(headers(made)[module.with_name("tables.h")])
        source, places = str(module.with_suffix(".c")), [f"-I{ROOT}", f"-I{folder}"]
        command = [COMPILER, *FLAGS, *(flags or []), *places, source, "-o", str(library)]
        subprocess.run(command, check=True)
        loaded = ctypes.CDLL(str(library))
    for one in made:
        one.entry = getattr(loaded, one.symbol)
        one.entry.argtypes, one.entry.restype = [ctypes.c_void_p], None
    return made
