"""Groups of commands, each imported when it is run or asked for help, and how help is laid out."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cpx.cli.dashes import FileCommand
from cpx.errors import EngineError
from cpx.support.families import ShellCommand, families
from cpx.support.lazy_imports import named_object
from cpx.support.own_files import register_files

Sections = Mapping[str, Mapping[str, ShellCommand]]


class Command(FileCommand):
    """A command whose options stand in help under the titles that they name.

    All commands have ``--register``.
    """

    def __init__(self, *args: Any, params: list[Any], **more: Any) -> None:
        super().__init__(*args, params=[*params, _register_option()], **more)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by their titles; those without one come last."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                kind = f"{parameter.param_type_name}s".capitalize()
                title = getattr(parameter, "rich_help_panel", None) or kind
                rows.setdefault(title, []).append(record)
        titles = ["Arguments", *(t for t in rows if t not in ("Arguments", "Options")), "Options"]
        for title in filter(rows.get, titles):
            with formatter.section(title):
                formatter.write_dl(rows[title])


class LazyGroup(TyperGroup):
    """A group that knows the names and summaries of its commands, and imports one at a time."""

    @abstractmethod
    def sections(self) -> Sections:
        """Return the commands by their names, under titles."""

    def known(self) -> dict[str, ShellCommand]:
        """Return the commands by their names, in their order."""
        return {name: entry for part in self.sections().values() for name, entry in part.items()}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return [*self.known()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command; None where there is none of this name."""
        entry = self.known().get(cmd_name)
        return None if entry is None else command(cmd_name, entry)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is asked for, or name the nearest one."""
        # What is suggested are the keys; nothing reads the values.
        self.commands = dict.fromkeys(self.known())  # type: ignore[assignment]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the names and summaries, without importing the commands."""
        width = max(map(len, self.known()))
        for title, part in self.sections().items():
            if part:
                with formatter.section(title):
                    formatter.write_dl([(f"{n:{width}}", e.summary) for n, e in part.items()])


def _register_option() -> Any:
    """Return the option that names files to run first."""
    single = typer.Typer(add_completion=False)
    single.command()(_only_registers)
    return typer.main.get_command(single).params[0]


def _only_registers(
    register: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            callback=register_files,
            is_eager=True,
            expose_value=False,
            help="Python file that registers encodings, problems or engines of your own. "
            "Repeatable.",
        ),
    ] = None,
) -> None: ...


def of_families(group: str = "") -> dict[str, ShellCommand]:
    """Return the commands that families register in a group, "" for those in none."""
    return dict(_registered(group))


def _registered(group: str) -> Iterator[tuple[str, ShellCommand]]:
    for family in families():
        for words, entry in family.commands.items():
            *before, name = words.split()
            if " ".join(before) == group:
                yield name, entry


def command(name: str, entry: ShellCommand) -> Any:
    """Import a command; a function becomes one, with its docstring as help."""
    found = named_object(entry.function, f"the command {name}", EngineError)
    if isinstance(found, TyperGroup):
        return found
    single = typer.Typer(
        add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
    )
    single.command(name, cls=Command, short_help=entry.summary, help=help_text(found))(found)
    return typer.main.get_command(single)


def help_text(function: Callable[..., None]) -> str:
    r"""Return the help text of a command: its docstring.

    A line of its own with \\b keeps the paragraph below it as it is written.
    """
    return inspect.cleandoc(function.__doc__ or "").replace("\\b", "\b")
