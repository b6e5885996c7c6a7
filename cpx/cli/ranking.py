"""The command ``cpx best``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from cpx.cli import options as opt

__all__ = ["best"]


def best(
    inst: opt.Instance,
    n: Annotated[int, typer.Option("-n", metavar="N", help="How many rules at most.")] = 10,
    optimal: Annotated[
        bool, typer.Option("--optimal", help="Only rules as good as the best: all ties.")
    ] = False,
    time_limit: opt.TimeLimit = 60.0,
    threads: opt.Threads = 1,
    as_json: opt.RulesAsJson = False,
) -> None:
    r"""List the best rules of a saved instance, in their order, by the exact search.

    How many rules are nearly as good as the best one, and how they differ, tells how far a
    single rule can be trusted as "the" explanation. Rules with a condition that excludes
    nothing are left out.

    \b
    Examples:
      cpx best inst.json
      cpx best inst.json -n 100
      cpx best inst.json --optimal -n 1000
      cpx best inst.json --json | jq '.rules[].text'

    \b
    Exit codes: 0 no better rule is missing, proved; 3 a list without that proof; 4 no rule
    within the limits; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import print_blocks, warn
    from cpx.cli.reading import read_instance
    from cpx.explainers.ranking import best_rules, optimal_rules

    chosen = opt.solve_options(time_limit, threads, 0, None, None, None)
    find = optimal_rules if optimal else best_rules
    ranking = find(read_instance(inst), n, time_limit=chosen.time_limit, threads=threads)
    if as_json:
        typer.echo(json.dumps(ranking.to_dict(), indent=1, allow_nan=False))
    else:
        print_blocks(ranking.blocks(), spaced=False)
    for text in ranking.best.warnings:
        warn(text)
    raise typer.Exit(0 if ranking.complete else 3 if ranking.rules else 4)
