"""Python files of a user, run first by every process of a command: ``--register FILE``.

A file says of its engines, problems and encodings what a package says in its entry points, by
:func:`cpx.backends.register`, :func:`cpx.models.register`, :func:`cpx.models.add_encoding` and
:func:`cpx.check.register`. Workers find the names of the files in their environment.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from types import ModuleType

from cpx.errors import InvalidOption, shown

_FILES = "CPX_REGISTER"

_run: set[str] = set()
_numbers = count()
loaded: set[str] = set()
"""Modules that were imported when the files were run."""


def register_files(paths: Iterable[str] | None) -> None:
    """Run files here, and in every process that is started from here.

    Raises InvalidOption: Naming the file, and the line where it fails.
    """
    files = [str(Path(path).absolute()) for path in paths or ()]
    os.environ[_FILES] = os.pathsep.join(dict.fromkeys([*registered_files(), *files]))
    run_files()


def registered_files() -> list[str]:
    """Return the files that every process of this command runs."""
    return [path for path in os.environ.get(_FILES, "").split(os.pathsep) if path]


def run_files() -> None:
    """Run the files that the environment names, each once in a process."""
    before = set(sys.modules)
    for path in registered_files():
        if path not in _run:
            _run.add(path)
            run_file(Path(path), "--register")
    loaded.update(set(sys.modules) - before)


def run_file(path: Path, option: str = "") -> ModuleType:
    """Run a Python file as a module of its own, and return it.

    option: Which option names the file, for messages.

    Raises InvalidOption: Naming the file, and the line where it fails.
    """
    asked_by = option and f"{option}: "
    name = f"cpx_registered_{next(_numbers)}_{path.stem}"
    spec = spec_from_file_location(name, path) if path.suffix == ".py" else None
    if not path.is_file():
        raise InvalidOption(f"{asked_by}there is no file {path}")
    if spec is None or spec.loader is None:
        raise InvalidOption(f"{asked_by}{path} is no Python file")
    # Dataclasses look for the module of a class.
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        lines = [
            f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)
        ]
        place = f", line {lines[-1]}" if lines else ""
        told = f"{type(error).__name__}: {shown(str(error))}"
        raise InvalidOption(f"{asked_by}{path}{place}: {told}") from error
    return module
