"""The command ``cpx grade``: hold an encoding of one's own against the definition, set by set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cpx.cli import options as opt


def grade(
    encoding: Annotated[
        str,
        typer.Argument(
            metavar="ENCODING",
            help="Python file with a function from arrays to a statement, FILE.py:NAME where it "
            "has several; a model as .mzn, .wcnf, .opb, .lp or .mps; or an encoding's name.",
        ),
    ],
    problem: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Kind of problem that it states; default: that of rules of least loss.",
        ),
    ] = None,
    instance: Annotated[
        Path | None,
        typer.Option(
            metavar="INST", help="Grade it on this saved instance alone, as a model in a file."
        ),
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(
            metavar="PART,PART",
            help="What need not be stated: limits, weights, 'k = 0', or parameters such as "
            "one_per_group.",
        ),
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", metavar="N", help="On how many instances at most.")
    ] = None,
    time_limit: Annotated[
        float, opt.seconds_option("After it no further instance is tried; 'none' for no limit.")
    ] = 10.0,
    seed: opt.Seed = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one object, with points, as JSON.")
    ] = False,
) -> None:
    r"""Grade an encoding of your own on tiny instances, against the definition.

    Every set of features of each instance is tried by itself: it must be allowed exactly when it
    is a solution, with the right value. Says whether the encoding is right, too weak, too strong
    or has another objective, what it breaks on, and shows the smallest counterexample.

    \b
    Examples:
      cpx grade my.py
      cpx grade my.py:counter --without limits
      cpx grade mine.wcnf --instance inst.json
      cpx grade my.py --json

    Exit codes: 0 right; 1 wrong; 2 wrong input.
    """
    from cpx.cli.output import print_blocks
    from cpx.cli.reading import read_instance
    from cpx.testing.exercise import grade as graded

    parts = [part.strip() for part in (without or "").split(",") if part.strip()]
    asked = problem if instance is None else read_instance(instance)
    limit = opt.limit(time_limit)
    verdict = graded(encoding, asked, without=parts, n=n, time_limit=limit, seed=seed)
    if as_json:
        typer.echo(json.dumps(verdict.to_dict(), indent=1))
    else:
        print_blocks(verdict.blocks())
    raise typer.Exit(0 if verdict.right else 1)
