"""What is graded: an encoding, from a function, a name, or a Python file of one's own."""

from __future__ import annotations

import inspect
import os
import traceback
from pathlib import Path
from typing import Any

from cpx.errors import InvalidOption, UnknownName, shown
from cpx.modelling.encodings import encoding_names, find_encoding
from cpx.modelling.registry import problem_class
from cpx.modelling.statement import Encoding
from cpx.processes.overtime import OutOfTime
from cpx.support.own_files import run_file
from cpx.testing.apart import ended_in_time
from cpx.testing.minizinc_models import MINIZINC
from cpx.testing.written_models import SUFFIXES

__all__ = ["find_submitted", "is_python", "line_in"]


def find_submitted(given: object, kind: str) -> Encoding[Any]:
    """Return what is graded as an encoding."""
    if isinstance(given, Encoding):
        return given
    if isinstance(given, str | os.PathLike):
        text = os.fspath(given)
        file, name = _file_and_name(text)
        if file.endswith(".py"):
            return _of_module(Path(file), name, kind)
        if Path(text).suffix:
            known = ", ".join((".py", *SUFFIXES, MINIZINC))
            raise InvalidOption(f"{shown(text)} is no model: a file must end in one of {known}")
        return find_encoding(problem_class(kind), text)
    if not callable(given):
        raise InvalidOption(
            f"encoding must be a function, an Encoding or a file, got {shown(given)}"
        )
    return Encoding(getattr(given, "__name__", "encoding"), given)


def _of_module(path: Path, name: str, kind: str) -> Encoding[Any]:
    """Return the encoding of a name in a Python file, or the only one."""
    cls = problem_class(kind)
    before = {known: find_encoding(cls, known) for known in encoding_names(cls)}
    try:
        with ended_in_time():
            module = run_file(path)
    except OutOfTime as error:
        raise InvalidOption(f"{path}{line_in(error, str(path))}: it does not end") from None
    found: dict[str, object] = {}
    for known in encoding_names(cls):
        if before.get(known) != find_encoding(cls, known):
            found[known] = find_encoding(cls, known)
    public = {key: value for key, value in vars(module).items() if not key.startswith("_")}
    if not found:
        found = {key: value for key, value in public.items() if isinstance(value, Encoding)}
    if not found or name:
        found |= {
            key: value
            for key, value in public.items()
            if inspect.isfunction(value)
            and value.__module__ == module.__name__
            and (name == key or len(inspect.signature(value).parameters) == 1)
        }
    if name and name not in found:
        raise UnknownName(f"encoding of {path}", name, tuple(found))
    if not name and len(found) != 1:
        told = f"which of {', '.join(found)}? {path}:NAME says it" if found else "there is none"
        raise InvalidOption(f"{path}: one function from arrays to a statement is graded: {told}")
    return find_submitted(found[name] if name else next(iter(found.values())), kind)


def is_python(given: str | os.PathLike[str]) -> bool:
    """Whether it is a Python file, with the name of a function or not."""
    return _file_and_name(os.fspath(given))[0].endswith(".py")


def _file_and_name(text: str) -> tuple[str, str]:
    """Return the parts of ``FILE.py:NAME``."""
    file, _, name = text.rpartition(":") if not text.endswith(".py") else (text, "", "")
    return file, name


def line_in(error: BaseException, file: str | None) -> str:
    """Say in which line of a file an error was raised, for the end of a sentence."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    return f" in line {lines[-1]}" if lines else ""
