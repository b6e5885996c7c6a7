"""The command ``cpx conformance``: check that an engine keeps the contract."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from cpx.cli.options import complete_backends
from cpx.errors import InvalidOption, printable


def conformance(
    engine: Annotated[
        str,
        typer.Argument(
            metavar="ENGINE", help="Name of an engine.", autocompletion=complete_backends
        ),
    ],
    problem: Annotated[
        list[str] | None,
        typer.Option(
            "--problem",
            metavar="KIND",
            help="Only cases of this set, as monomial; others are named when one is not known. "
            "Can be given again.",
        ),
    ] = None,
    patience: Annotated[
        float, typer.Option(help="Factor of all deadlines, for slow engines.")
    ] = 1.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each check.")
    ] = False,
) -> None:
    r"""Check that an engine keeps the contract, and print a table.

    Each check runs in a process of its own with a deadline: an engine that ignores its limit is
    named, and not waited for. The problems are tiny and their optima known; the rules of
    behaviour are hints, limits, stops, seeds, events and workers.

    \b
    Examples:
      cpx conformance cpmpy:choco
      cpx conformance mine --register engine.py --problem monomial

    Exit codes: 0 all checks pass; 1 one does not; 2 no such engine.
    """
    from cpx.testing.conformance_report import conform

    if not patience > 0:
        raise InvalidOption(f"patience must be a number > 0, got {patience}")
    good = True
    for found in conform(engine, problem, patience=patience):
        good &= found.verdict == "ok"
        if as_json:
            typer.echo(json.dumps(vars(found)))
            continue
        word = typer.style(f"{found.verdict:<8}", fg="green" if found.verdict == "ok" else "red")
        why = printable(found.why)
        typer.echo(f"{found.check:<32} {word} {found.seconds:>7.1f} s  {why}".rstrip())
    raise typer.Exit(0 if good else 1)
