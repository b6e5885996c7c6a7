"""Printing: answers on standard output, remarks on standard error, and exit codes."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cpx.answers.text import Block, Paragraph, Tone, as_text
from cpx.cli.dashes import as_given
from cpx.errors import OutputError, printable
from cpx.processes.interrupts import noted

if TYPE_CHECKING:
    from cpx.answers.explanation import Explanation
    from cpx.answers.result import Result

_COLOURS: dict[Tone, str] = {"good": "green", "open": "yellow", "bad": "red"}


def warn(text: str) -> None:
    """Print a warning on standard error."""
    typer.echo(f"cpx: warning: {printable(text)}", err=True)


def note(text: str) -> None:
    """Print a remark on standard error."""
    typer.echo(f"cpx: {printable(as_given(text))}", err=True)


def say(text: str) -> None:
    """Print a line on standard output."""
    typer.echo(printable(as_given(text)))


def exit_code(result: Result) -> int:
    """Return 0 for a proof, 3 for a solution without one, 4 for nothing, 1 for a failure."""
    from cpx.answers.result import Status

    codes = {Status.FEASIBLE: 3, Status.UNKNOWN: 4, Status.ERROR: 1}
    return codes.get(result.status, 0)


def deliver(result: Result, as_json: bool, path: Path | None, title: str = "") -> int:
    """Write the result to a file, print it, Ctrl-C or not and also where writing fails.

    Returns the exit code.
    """
    with noted(threading.Event()):
        return _deliver(result, as_json, path, title)


def _deliver(result: Result, as_json: bool, path: Path | None, title: str) -> int:
    failure = None
    if path is not None:
        try:
            write_result(result, path)
        except OutputError as error:
            failure = error
    if as_json:
        typer.echo(result.to_json(indent=1))
    else:
        print_result(result, title)
    for text in result.warnings:
        warn(text)
    if failure is not None:
        raise failure
    if path is not None:
        note(f"wrote {path}")
    return exit_code(result)


def write_result(result: Result, path: Path) -> None:
    """Write a result as JSON, whole or not at all."""
    from cpx.support.files import write_atomic

    write_atomic(path, result.to_json(indent=1).encode() + b"\n")


def print_result(result: Result, title: str = "") -> None:
    """Print rule, precision, what was proved, and the figures of the solve."""
    # Warnings go to standard error.
    print_blocks([*_titled(title), *replace(result, warnings=()).blocks()])


def print_explanation(found: Explanation, title: str = "") -> None:
    """Print a rule, its figures, and what is proved, guaranteed and noted of it."""
    print_blocks([*_titled(title), *found.blocks()])


def print_blocks(blocks: Sequence[Block], spaced: bool = True) -> None:
    """Print what answers are made of: wrapped and in colour on a terminal, plain in a pipe."""
    width = None
    if sys.stdout.isatty():
        width = max(40, shutil.get_terminal_size((100, 24)).columns)
    typer.echo(as_text(blocks, spaced=spaced, width=width, style=_style))


def _titled(title: str) -> list[Block]:
    return [Paragraph(as_given(title))] if title else []


def _style(text: str, tone: Tone) -> str:
    if tone == "strong":
        return typer.style(text, bold=True)
    return typer.style(text, fg=_COLOURS[tone]) if tone else text
