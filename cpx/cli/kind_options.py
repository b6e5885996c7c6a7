"""The options that kinds of explanations declare, as those of a command."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

from cpx.cli import options as opt
from cpx.cli.option_groups import option
from cpx.errors import UnknownName
from cpx.explainers.doors import Kind, loaded
from cpx.explainers.options import Engine, Option

OF_ENGINES = tuple(Engine.__annotations__)
"""Options that say who answers, and how long it may take."""


@dataclass(frozen=True)
class Shared:
    """An option of one kind or several: its name in Python, its title in help, what it means."""

    name: str
    title: str
    default: Any
    option: Option


class KindOptions:
    """The options of kinds, all of them unless some are named; the command gets those given.

    What the command gets are the values that Python takes, by the names that it has for them.
    """

    def __init__(self, *named: str, without: tuple[str, ...] = ()) -> None:
        self.title = named[0].capitalize() if len(named) == 1 else None
        chosen = [one for one in loaded() if not named or one.name in named]
        self.shared = _shared(chosen, without)

    def parameters(self) -> list[inspect.Parameter]:
        """Return them as parameters of a command."""
        return [_parameter(called, shared) for called, shared in self.shared.items()]

    def read(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return what was given."""
        found = {}
        for called, shared in self.shared.items():
            value, read = values[called.replace("-", "_")], shared.option.read
            if value is not None and value is not False and value != []:
                found[shared.name] = value if read is None else read(value)
        return found


def _shared(chosen: list[Kind], without: tuple[str, ...]) -> Mapping[str, Shared]:
    """Return the options of the kinds by their names in the shell."""
    found: dict[str, Shared] = {}
    for one in chosen:
        for name, declared in one.options.items():
            option = declared.option
            if option is None or option.shell is None or name in without:
                continue
            called = option.shell or name.replace("_", "-")
            if called in found:
                title = "Several kinds"
                option, default = found[called].option, found[called].default
            else:
                title, default = one.name.capitalize(), declared.default
                if declared.prepared and len(chosen) == 1:
                    title = "Rows"
            if name in OF_ENGINES:
                title = "Engine"
            found[called] = Shared(name, title, default, option)
    return found


def _parameter(called: str, shared: Shared) -> inspect.Parameter:
    """Return an option of the command; None is what was not given."""
    declared, name = shared.option, shared.name
    told = declared.about
    if shared.default not in (None, (), "", False):
        told += f"  [default: {shared.default}]"
    complete = opt.choices(declared.choices) if declared.choices else None
    if name in ("backend", "encoding"):
        complete = getattr(opt, f"complete_{name}s")
    info = typer.Option(
        *flags(called),
        metavar=declared.metavar or None,
        help=told,
        autocompletion=complete,
        show_default=False,
    )
    flag = declared.kind is bool
    kind_: Any = list[str] if declared.many else declared.kind
    hint: Any = Annotated[kind_ if flag else kind_ | None, info]
    return option(called.replace("-", "_"), hint, False if flag else None, shared.title)


def flags(called: str) -> tuple[str, ...]:
    """Return what an option is called on the command line."""
    if called == "backend":
        return "--backend", "-b"
    return (f"-{called}" if len(called) == 1 else f"--{called}",)


def check_values(one: Kind, asked: Mapping[str, Any]) -> None:
    """Raise for what is wrong with the options of a kind, where no data are needed to tell."""
    for name, value in asked.items():
        option = one.options[name].option
        # Options of a value may follow it in braces.
        if option and option.choices and str(value).partition("{")[0] not in option.choices:
            files = ("the path of a file",) if option.or_file else ()
            if not files or not os.path.isfile(value):
                raise UnknownName(name, value, (*option.choices, *files))
    for cls in one.explainer.asks:
        cls(**{f.name: asked[f.name] for f in fields(cls) if f.name in asked})
