"""What commands print: the answer on standard output, remarks on standard error."""

from __future__ import annotations

import shutil
import sys
import textwrap
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cpx.answers.rule_set import RuleSet
from cpx.errors import OutputError
from cpx.processes.interrupts import noted

if TYPE_CHECKING:
    from cpx.answers.explanation import Explanation
    from cpx.answers.result import Result
    from cpx.answers.rule import Rule

__all__ = [
    "deliver",
    "exit_code",
    "line",
    "note",
    "print_explanation",
    "print_result",
    "warn",
    "wrapped",
    "write_result",
]

_INDENT = 11
_COLOURS = {"OPTIMAL": "green", "INFEASIBLE": "green", "ERROR": "red"}


def warn(text: str) -> None:
    """Print a warning on standard error."""
    typer.echo(f"cpx: warning: {text}", err=True)


def note(text: str) -> None:
    """Print a remark on standard error."""
    typer.echo(f"cpx: {text}", err=True)


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
    if title:
        typer.echo(wrapped(title) + "\n")
    if result.explanation is not None:
        print_explanation(result.explanation)
    else:
        typer.secho(_nothing(result), bold=True)
        typer.echo()
    line("value", _figures(result))
    line("status", f"{result.status} ({_words(result)})", _COLOURS.get(result.status, "yellow"))
    line("time", _times(result))
    line("engine", _engine(result))
    line("checked", "yes, recomputed from the data" if result.verified else "no")


def print_explanation(found: Explanation) -> None:
    """Print a rule, its figures, and what is proved, guaranteed and noted of it."""
    _print_rule(found.rule)
    if found.fresh is not None:
        line("precision", str(found.fresh))
    if found.precision is not None:
        line(
            "precision" if found.fresh is None else "",
            f"{float(found.precision):.3f} on the samples",
        )
    elif found.fresh is None and found.coverage is not None:
        line("precision", "undefined: the rule covers no sample")
    if found.coverage is not None:
        line("coverage", f"{float(found.coverage):.3f} of the samples")
    line("proved", found.proved)
    line("guarantee", found.guarantee)
    for text in found.notes:
        line("note", text)


def _print_rule(rule: Rule) -> None:
    text = str(rule)
    # One condition per line where the rule is longer than a line of the terminal.
    if sys.stdout.isatty() and len(text) > _width():
        text = f"\n  {rule.joint:<3} ".join(rule.words)
        text = f"      {text}\n  => {rule.conclusion}"
    typer.secho(text, bold=True)
    typer.echo()
    if isinstance(rule, RuleSet) and rule.literals:
        typer.echo(rule.table() + "\n")


def _nothing(result: Result) -> str:
    texts = {
        "INFEASIBLE": "No rule satisfies the constraints; this is proved.",
        "UNKNOWN": "No rule was found within the limits.",
    }
    return texts.get(str(result.status), "The engine failed.")


def line(name: str, text: str, colour: str | None = None) -> None:
    """Print a named line, its first word in a colour."""
    if not text:
        return
    row = wrapped(text, f"{name:<{_INDENT}}")
    if colour is not None:
        word = text.split()[0]
        row = row.replace(word, typer.style(word, fg=colour), 1)
    typer.echo(row)


def wrapped(text: str, head: str = "") -> str:
    """Wrap to the terminal, indented below the head; one line in a pipe."""
    if not sys.stdout.isatty():
        return head + text
    return textwrap.fill(text, _width(), initial_indent=head, subsequent_indent=" " * len(head))


def _width() -> int:
    return max(40, shutil.get_terminal_size((100, 24)).columns)


def _figures(result: Result) -> str:
    from cpx.answers.values import digits, in_words

    values = (result.objective, result.bound)
    places = digits(values)
    value, bound = ("none" if v is None else in_words(v, places) for v in values)
    gap = "" if result.gap is None else f", gap {result.gap:.1%}".replace("%", " %")
    return f"{value}, bound {bound}{gap}"


def _words(result: Result) -> str:
    reason = str(result.termination).lower().replace("_", " ")
    return f"{reason}; the engine said {result.raw_status!r}" if result.raw_status else reason


def _times(result: Result) -> str:
    times = result.times
    return (
        f"{times.total:.2f} s: stating {times.state:.2f}, compiling {times.compile:.2f}, "
        f"solving {times.solve:.2f}"
    )


def _engine(result: Result) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in result.versions.items())
    name = result.engine + (f", encoding {result.encoding}" if result.encoding else "")
    return name + (f" ({versions})" if versions else "")
