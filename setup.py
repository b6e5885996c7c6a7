"""The part of the build that pyproject.toml cannot declare: the kernels, in C.

They become shared libraries that ctypes loads, the same for any version of Python. There is one
for each level of processors. The lowest is built, for any machine that shares the installation,
and the one for this processor; with `CPX_LEVELS=all`, as for wheels, all of them. Where there is
no C compiler Zig's is a requirement of the build. Without either the package is installed without
kernels, and says so.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from setuptools import Extension, setup
from setuptools._distutils.ccompiler import new_compiler
from setuptools._distutils.sysconfig import customize_compiler
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

# Arithmetic is that of NumPy: integers wrap around, and no operation is left out or joined.
UNIX = ["-O3", "-g0", "-std=gnu11", "-fwrapv", "-ffp-contract=off", "-fno-math-errno"]
UNIX += ["-fno-trapping-math", "-fno-strict-aliasing", "-fvisibility=hidden"]
MSVC = ["/O2", "/std:c11", "/fp:precise"]

V2 = ["-msse3", "-mssse3", "-msse4.1", "-msse4.2", "-mpopcnt"]
V3 = [*V2, "-mavx2", "-mbmi", "-mbmi2", "-mf16c", "-mfma", "-mlzcnt", "-mmovbe"]
V4 = [*V3, "-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl"]
V4 += ["-mavx512vpopcntdq", "-mprefer-vector-width=512"]
X86 = {"v4": V4, "v3": V3, "v2": V2}  # the highest first

SOURCES = sorted(path.as_posix() for path in Path("cpx").rglob("*.c"))
HEADERS = sorted(path.as_posix() for path in Path("cpx").rglob("*.h"))


def digest() -> str:
    """Return what tells the sources of the kernels from others; see cpx/compiled/library.py."""
    texts = (Path(name).read_bytes() for name in sorted([*SOURCES, *HEADERS]))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def compilers() -> list[list[str]]:
    """Return the compilers to try where the one that Python was built with is not there."""
    found = [[path] for name in ("cc", "gcc", "clang") if (path := shutil.which(name))]
    # It makes code for the processor that it runs on, unless it is told.
    zig = [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"]
    return [*found, zig] if find_spec("ziglang") else found


def own_compiler() -> str | None:
    """Return where the compiler of the environment, or of this Python, is."""
    named = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
    return shutil.which(named.split()[0]) if named else None


class Build(build_ext):
    """Build a library for each level that is wanted."""

    def run(self):
        self.compiler = new_compiler(self.compiler)
        customize_compiler(self.compiler)
        if not self._find_compiler():
            print("cpx: no C compiler: installed without kernels, the exact search is missing")
            return
        folder = Path("." if self.inplace else self.build_lib) / "cpx" / "compiled"
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("kernels.*.so"):
            old.unlink()
        for level, flags in self._levels().items():
            path = folder / f"kernels.{level}.so"
            self._make(SOURCES, flags, Path(self.build_temp) / level, path)

    def get_outputs(self):
        return [str(path) for path in Path(self.build_lib, "cpx", "compiled").glob("kernels.*.so")]

    def get_output_mapping(self):
        return {}

    def _find_compiler(self) -> bool:
        if self._runs([]) is not None:
            return True
        for compiler in compilers() if self.compiler.compiler_type == "unix" else []:
            self.compiler.set_executables(
                compiler=compiler,
                compiler_so=[*compiler, "-fPIC"],
                linker_so=[*compiler, "-shared"],
            )
            if self._runs([]) is not None:
                return True
        return False

    def _levels(self) -> dict[str, list[str]]:
        """Return the flags of the levels that are wanted."""
        machine = platform.machine().lower()
        if self.compiler.compiler_type == "msvc" or machine not in ("x86_64", "amd64"):
            return {"any": []}
        if os.environ.get("CPX_LEVELS") == "all":
            return X86
        runs = [name for name, flags in X86.items() if self._runs(flags)]
        return {name: X86[name] for name in {*runs[:1], *runs[-1:]}} or {"any": []}

    def _runs(self, flags: list[str]) -> bool | None:
        """Whether this processor is of a level; None where it cannot be compiled."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "levels.so"
            try:
                self._make(["cpx/compiled/levels.c"], flags, Path(folder), path)
                loaded = ctypes.CDLL(str(path))
                runs = bool(loaded.cpx_runs_here())
            except Exception:  # the errors of compilers come in classes of several modules
                return None
            if sys.platform == "win32":  # else its file could not be removed
                ctypes.windll.kernel32.FreeLibrary(ctypes.c_void_p(loaded._handle))
            return runs

    def _make(self, sources: list[str], flags: list[str], folder: Path, path: Path) -> None:
        flags = [*(MSVC if self.compiler.compiler_type == "msvc" else UNIX), *flags]
        macros = [("CPX_SOURCES", f'"{digest()}"')]

        def compiled(source: str) -> list[str]:
            return self.compiler.compile(
                [source], str(folder), macros, ["."], extra_postargs=flags
            )

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = [name for names in pool.map(compiled, sources) for name in names]
        self.compiler.link_shared_object(objects, str(path))


class Wheel(bdist_wheel):
    """A wheel for one kind of processors and one system, but for any version of Python."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(
    # On Windows Python's own compiler is looked for in other places, and by the build.
    setup_requires=["ziglang"] * (sys.platform != "win32" and not (own_compiler() or compilers())),
    ext_modules=[Extension("cpx.compiled.kernels", SOURCES, depends=HEADERS)],
    cmdclass={"build_ext": Build, "bdist_wheel": Wheel},
)
