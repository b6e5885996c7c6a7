"""The command of the fuzzer, and how it runs the command ``cpx``."""

from __future__ import annotations

import io
import signal
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.fuzz import loop
from cpx.backends import backend
from cpx.backends.base import require
from cpx.cli import app as cpx_app
from cpx.cli import main as run_application
from cpx.cli import options as opt
from cpx.cli.app import CommandGroup
from cpx.cli.groups import help_text
from cpx.errors import InvalidOption


def fuzz(
    minutes: Annotated[
        float, typer.Option("--minutes", "-m", metavar="N", help="How long.")
    ] = 1.0,
    seed: opt.Seed = 0,
    problem: Annotated[
        str, typer.Option("--problem", "-p", metavar="KIND,KIND", help="Kinds; default all.")
    ] = "",
    engine: Annotated[
        str, typer.Option("--backend", "-b", metavar="A", help="An engine or family; default all.")
    ] = "",
    keep: Annotated[
        Path, typer.Option("--keep", metavar="DIR", help="Where wrong cases are written.")
    ] = Path("fuzz"),
    solves: Annotated[
        int | None, typer.Option("--solves", metavar="N", help="End after so many solves.")
    ] = None,
    repeat: Annotated[
        Path | None, typer.Option("--repeat", metavar="FILE", help="Solve a kept case again.")
    ] = None,
) -> None:
    r"""Solve random problems with every engine, and look for wrong answers.

    Tiny problems of all kinds are judged by brute force; larger ones by changes that say what
    their optimum must be, each solved by another engine. Hints, limits, interrupts, weights up
    to 2**53 and altered answers are among them. What is wrong is made smaller and saved.

    \b
    Examples:
      python -m benchmarks fuzz --minutes 10
      python -m benchmarks fuzz --minutes 10 --problem kernel-rule --backend search --seed 3
      python -m benchmarks fuzz --repeat fuzz/kernel-rule-search-bound-1.json

    \b
    Exit codes: 0 nothing is wrong; 1 something is; 2 wrong input.
    """
    # The solves are interrupted again and again: a second time does not end the command.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    if repeat is not None:
        found = loop.repeat(repeat, _shell)
        typer.echo("\n".join(found) or "nothing is wrong")
        raise typer.Exit(int(bool(found)))
    if not minutes > 0:
        raise InvalidOption(f"minutes must be a number > 0, got {minutes}")
    if engine:
        require(backend(engine))
    kinds = [kind.strip() for kind in problem.split(",") if kind.strip()]
    wrong = loop.fuzz(
        keep,
        minutes=minutes,
        solves=solves,
        seed=seed,
        kinds=kinds,
        engine=engine,
        shell=_shell,
        say=typer.echo,
    )
    raise typer.Exit(int(bool(wrong)))


def _shell(arguments: list[str]) -> tuple[int, str]:
    """Run the command ``cpx`` in this process, as a shell would."""
    printed = io.BytesIO()
    stream = io.TextIOWrapper(printed, encoding="utf-8", write_through=True)
    try:
        with redirect_stdout(stream), redirect_stderr(stream):
            typer.main.get_command(cpx_app).main(arguments, prog_name="cpx")
    except SystemExit as error:
        return int(error.code or 0), printed.getvalue().decode()
    raise AssertionError("a command ends with SystemExit")


app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback()
def root() -> None:
    """Look for wrong answers of engines on random problems."""


app.command("fuzz", help=help_text(fuzz))(fuzz)


def main(arguments: list[str]) -> None:
    """Run the command; it exits."""
    run_application(lambda: app(["fuzz", *arguments], prog_name="python -m benchmarks"))
