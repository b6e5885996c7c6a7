"""Parameters that a problem declares, as options of the command that makes it."""

from __future__ import annotations

import inspect
import json
from dataclasses import MISSING
from typing import Annotated, Any

import typer

from cpx.cli.option_groups import option
from cpx.cli.options import choices
from cpx.modelling.parameters import Choice, Flag, Integer, Kind, Parameter, ShareOf, parameters_of


class Declared:
    """Some parameters of a class of problems; the command gets those that are given, by name.

    The problem checks what they can be. A value of a kind of its own is JSON, or else text.
    """

    def __init__(self, problem: type, *names: str, title: str | None = None) -> None:
        self._declared = {name: parameters_of(problem)[name] for name in names}
        self.title = title

    def parameters(self) -> list[inspect.Parameter]:
        """Return them as parameters of a command."""
        return [_parameter(p, self.title) for p in self._declared.values()]

    def read(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values that are given."""
        return {
            name: _read(self._declared[name], value)
            for name, value in values.items()
            if value is not None and value is not False
        }


def _parameter(declared: Parameter, title: str | None) -> inspect.Parameter:
    kind, name = declared.kind, declared.name
    metavars = {Integer: "N", ShareOf: "SHARE", Choice: "NAME", Flag: None, Kind: "VALUE"}
    info: Any = typer.Option(
        metavar=next(shown for cls, shown in metavars.items() if isinstance(kind, cls)),
        help=_help(declared),
        autocompletion=choices(kind.known) if isinstance(kind, Choice) else None,
    )
    if isinstance(kind, Flag):
        info.param_decls = (f"--{name.replace('_', '-')}",)
        return option(name, Annotated[bool, info], False, title)
    taken: Any = int if isinstance(kind, Integer) else str
    if declared.default is MISSING:
        return option(name, Annotated[taken, info], MISSING, title)
    return option(name, Annotated[taken | None, info], None, title)


def _help(declared: Parameter) -> str:
    meaning, told = declared.meaning.partition("; absent")[0], declared.kind.range
    text = meaning[0].upper() + meaning[1:] + (f": {told}." if told else ".").replace("`", "")
    usual = declared.default
    unsaid = usual is MISSING or usual is None or usual is False or usual == ()
    return text if unsaid else f"{text}  [default: {usual}]"


def _read(declared: Parameter, value: Any) -> Any:
    if isinstance(declared.kind, Integer | ShareOf | Choice | Flag):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
