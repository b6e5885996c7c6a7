"""The group ``cpx make``: families register what it makes, and share how instances are saved."""

from __future__ import annotations

import os.path
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli.groups import LazyGroup, Sections, of_families
from cpx.errors import InvalidOption

if TYPE_CHECKING:
    from cpx.modelling.base import Problem

_HELP = """\
Make an instance: state a problem and save it, to be solved later or elsewhere.

Each command states a problem of one kind. 'cpx make rule --help' has its options.

\b
Examples:
  cpx make rule table.csv --target y --row 17 -k 5 -o inst.json
  cpx make rule table.csv --target y --row 17 -o - | cpx solve -

Exit codes: 0 written; 2 wrong input; 1 anything else.
"""


class _Make(LazyGroup):
    def sections(self) -> Sections:
        return {"What is made": of_families("make")}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a call that begins with a table or an option, and say what stands before it."""
        first, known = args[0] if args else "", [*self.known()]
        begins = first.startswith("-") or os.path.isfile(first)
        if begins and known and first not in ("-h", "--help") and not ctx.resilient_parsing:
            raise InvalidOption(
                f"say what is made ({', '.join(known)}): cpx make {known[0]} {shlex.join(args)}"
            )
        return list(super().parse_args(ctx, args))


make = _Make(
    name="make",
    help=_HELP,
    short_help="Make an instance, to solve later or elsewhere.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@dataclass(frozen=True)
class Saving:
    """The name of an instance, and where it is written."""

    title: ClassVar[str] = "Instance"

    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Its name.  [default: of the table and the row]"),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write it; gzipped if it ends in .gz. Default: standard output.",
        ),
    ] = None

    def check(self, *inputs: Path) -> None:
        """Raise when it cannot be written, or would overwrite an input."""
        from cpx.cli.reading import output_path

        output_path(self.output, *inputs)

    def write(self, problem: Problem, words: str) -> None:
        """Write the instance to its file or to standard output, and say what it is."""
        from cpx.cli.output import say
        from cpx.modelling.instances import dumps, save

        if self.output is None:
            typer.echo(dumps(problem), nl=False)
            return
        save(problem, self.output)
        say(f"wrote {self.output}: {words}")


def in_words(problem: Problem, label: object, by: str = "") -> str:
    """Return what an instance is, in a line: ``by`` says by which model the class is given."""
    return ", ".join([f"class {label}{by}: {problem.kind}", *problem._brief()])
