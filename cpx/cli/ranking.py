"""The command ``cpx best``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt

if TYPE_CHECKING:
    from cpx.explainers.ranking import Ranking

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
    from cpx.cli.output import warn
    from cpx.cli.reading import read_instance
    from cpx.explainers.ranking import best_rules, optimal_rules

    chosen = opt.solve_options(time_limit, threads, 0, None, None, None)
    find = optimal_rules if optimal else best_rules
    ranking = find(read_instance(inst), n, time_limit=chosen.time_limit, threads=threads)
    if as_json:
        typer.echo(json.dumps(ranking.to_dict(), indent=1, allow_nan=False))
    else:
        _print(ranking)
    for text in ranking.best.warnings:
        warn(text)
    raise typer.Exit(0 if ranking.complete else 3 if ranking.rules else 4)


def _print(ranking: Ranking) -> None:
    from cpx.answers.values import decimal, digits
    from cpx.cli.output import line

    places = digits(ranking.values)
    values = [decimal(value, places) for value in ranking.values]
    number, width = len(str(len(values))), max([5, *map(len, values)])
    if values:
        typer.echo(f"{'':{number}}   {'value':>{width}}  precision  coverage  rule")
    for place, (value, rule) in enumerate(zip(values, ranking.rules, strict=True), 1):
        precision = "-" if rule.precision is None else f"{float(rule.precision):.3f}"
        coverage = "-" if rule.coverage is None else f"{float(rule.coverage):.3f}"
        typer.echo(
            f"{place:>{number}}.  {value:>{width}}  {precision:>9}  {coverage:>8}  {rule.rule}"
        )
    line("proved", ranking.proved, "green" if ranking.complete else "yellow")
    line("checked", "yes, every rule was recomputed from the data" if values else "")
