"""The programs that the user has defined, in one small TOML file of their own.

It is the file that the environment variable ``CPX_PROGRAMS`` names, or else ``cpx/programs.toml``
in the user's folder for configuration (``~/.config``). Nothing else names a program: no instance,
no plan, no file beside them. One table for each program::

    [clasp]
    command = ["clasp", "{file}", "--time-limit={seconds}"]
    format = "opb"
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cpx.errors import EngineError, nearest, shortened, shown

FORMATS = {
    "wcnf": "maxsat",
    "wcnf-classic": "maxsat",
    "opb": "pb",
    "lp": "glpk",
    "mps": "glpk",
    "flatzinc": "flatzinc",
}
"""The forms in which a program can read a problem, and how it then answers unless told."""

ANSWERS = tuple(dict.fromkeys(FORMATS.values()))
"""The forms in which a program can answer."""

_PLACEHOLDERS = ("file", "solution", "seconds", "threads", "seed")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
_KEYS = ("command", "format", "answer", "version")
_LARGEST_FILE = 1 << 20


@dataclass(frozen=True)
class Definition:
    """A program: the words of its command, what it reads, how it answers, how it says which."""

    name: str
    command: tuple[str, ...]
    format: str
    answer: str
    version: tuple[str, ...] = ("--version",)

    def takes(self, placeholder: str) -> bool:
        """Whether the command has this placeholder."""
        return any("{" + placeholder + "}" in word for word in self.command)

    def words(self, **values: object) -> list[str]:
        """Return the command with values for its placeholders.

        >>> Definition("c", ("clasp", "{file}", "-t{seconds}"), "opb", "pb").words(
        ...     file="a.opb", seconds=3
        ... )
        ['clasp', 'a.opb', '-t3']
        """

        def value(found: re.Match[str]) -> str:
            return str(values[found[1]])

        return [re.sub(r"\{([a-z]+)\}", value, word) for word in self.command]


def place() -> Path:
    """Return where the file is, or would be."""
    if given := os.environ.get("CPX_PROGRAMS"):
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or "~"
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "cpx" / "programs.toml"


def definitions() -> dict[str, Definition]:
    """Return the programs by their names; none where there is no file.

    Raises EngineError: When the file cannot be read or makes no sense, with its name, the table
        and the key.
    """
    path = place()
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except FileNotFoundError:
        if "CPX_PROGRAMS" in os.environ:
            raise EngineError(f"CPX_PROGRAMS names {shown(str(path))}: no such file") from None
        return {}
    except OSError as error:
        raise EngineError(f"{path}: {error.strerror}") from error
    if len(data) > _LARGEST_FILE:
        raise EngineError(f"{path}: larger than 1 MB, no list of programs")
    try:
        tables = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise EngineError(f"{path}: no TOML: {shortened(error)}") from error
    return {name: _definition(path, name, table) for name, table in tables.items()}


def _definition(path: Path, name: str, table: Any) -> Definition:
    where = f"{path}, [{shortened(name)}]"
    if not _NAME.fullmatch(name):
        raise EngineError(f"{where}: names have letters, digits, _ . + and -")
    if not isinstance(table, dict):
        raise EngineError(f"{where}: a program is a table, got {shown(table)}")
    for key in table:
        if key not in _KEYS:
            raise EngineError(
                f"{where}: unknown key {shown(key)}{nearest(key, _KEYS)}; known: "
                + ", ".join(_KEYS)
            )
    command = table.get("command")
    if (
        not isinstance(command, list)
        or not command
        or not all(isinstance(word, str) and "\0" not in word for word in command)
    ):
        raise EngineError(f"{where}: command must be a list of texts, got {shown(command)}")
    for found in re.findall(r"\{([a-z]+)\}", " ".join(command)):
        if found not in _PLACEHOLDERS:
            raise EngineError(
                f"{where}: unknown placeholder {{{found}}}{nearest(found, _PLACEHOLDERS)}; known: "
                + ", ".join(f"{{{known}}}" for known in _PLACEHOLDERS)
            )
    form = _one_of(where, "format", table.get("format"), tuple(FORMATS))
    answer = _one_of(where, "answer", table.get("answer", FORMATS[form]), ANSWERS)
    if (answer == "maxsat") != (FORMATS[form] == "maxsat"):
        raise EngineError(f"{where}: format {form} cannot have the answer {answer}")
    version = table.get("version", list(Definition.version))
    if not isinstance(version, list) or not all(isinstance(word, str) for word in version):
        raise EngineError(f"{where}: version must be a list of texts, got {shown(version)}")
    definition = Definition(name, tuple(command), form, answer, tuple(version))
    if not definition.takes("file"):
        raise EngineError(f"{where}: command must have {{file}}, the problem's file")
    if answer == "glpk" and not definition.takes("solution"):
        raise EngineError(f"{where}: the answer glpk needs {{solution}} in the command (-w)")
    return definition


def _one_of(where: str, key: str, value: object, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        near = nearest(value, known) if isinstance(value, str) else ""
        raise EngineError(
            f"{where}: {key} must be one of {', '.join(known)}, got {shown(value)}{near}"
        )
    return value
