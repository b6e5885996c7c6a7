"""Gives every Python that a test starts the changed modules of ``python -m benchmarks mutate``.

Python imports this file when it starts, since its folder is on ``PYTHONPATH``. The folder that
``CPX_CHANGED`` names has the changed source of ``cpx.solving.worker`` as
``cpx.solving.worker.py``, and the file ``calls`` for what ``note_call`` is told.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType

_FOLDER = Path(os.environ["CPX_CHANGED"])


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        # As from its own place: modules look for files beside them.
        return compile(_source(self.name).read_text(), self.path, "exec")


class _Finder:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: object = None) -> object:
        if not _source(name).exists():
            return None
        spec = PathFinder.find_spec(name, path)
        assert isinstance(spec, ModuleSpec)
        assert spec.origin is not None
        spec.loader = _Loader(name, spec.origin)
        return spec


def _source(name: str) -> Path:
    return _FOLDER / f"{name}.py"


_noted: set[tuple[str, str]] = set()


def _note_call(which: tuple[str, str]) -> None:
    calls = _FOLDER / "calls"
    if not calls.stat().st_size:  # another test has begun
        _noted.clear()
    if which not in _noted:
        _noted.add(which)
        with calls.open("a") as file:
            file.write("\t".join(which) + "\n")


builtins.note_call = _note_call
sys.meta_path.insert(0, _Finder)
