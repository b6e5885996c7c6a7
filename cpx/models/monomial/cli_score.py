"""The command ``cpx score``: measure a rule for a row of a table, beside the best one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any

import typer

from cpx.cli import options as opt
from cpx.cli.kind_options import KindOptions
from cpx.cli.option_groups import grouped
from cpx.cli.solve import run_solve
from cpx.models.monomial.cli_row import RowQuestion, Source
from cpx.options import TIME_LIMIT


@grouped(options=KindOptions("rule", without=("epsilon", "delta", "max_queries")))
def score(
    *,
    source: Source,
    rule: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Conditions joined by 'and', as they are printed, or their numbers.",
        ),
    ],
    options: dict[str, Any],
    time_limit: opt.TimeLimit = TIME_LIMIT,
    isolate: opt.Isolate = True,
    compare: Annotated[
        bool, typer.Option("--compare/--no-compare", help="Compare it with the best rule.")
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one Explanation object as JSON.")
    ] = False,
) -> None:
    r"""Measure a rule of your own for one row of a table, and compare it with the best.

    All conditions must be true of the row. Their precision and coverage are counted on the
    samples that 'cpx explain' would use, and the precision is measured on fresh ones.

    \b
    Examples:
      cpx score table.csv --target y --row 17 --rule "age > 40 and income <= 2000"
      cpx score table.csv --target y --row 17 --rule "age > 40" -k 3

    Exit codes: 0 the rule was measured; 2 wrong input; 1 anything else.
    """
    from cpx.backends import backend
    from cpx.cli.output import print_explanation
    from cpx.cli.progress import phase
    from cpx.explainers.options import Engine
    from cpx.modelling.encodings import find_encoding
    from cpx.models.monomial.explainers.question import OBJECTIVES, Question, size_to_compare
    from cpx.solving.run import default_engine
    from cpx.solving.servers import prepare

    name = options.get("backend")
    if name is not None:
        opt.require_engine(name, None, None)
    asked = RowQuestion(source, options)
    engine = Engine.taken(options)
    chosen = opt.solve_options(time_limit, engine.threads, 0, engine.gap, engine.encoding)
    features = asked.explainer.conditions(asked.x).features(rule)
    options["k"] = size_to_compare(features, options.get("k"))
    find_encoding(OBJECTIVES[Question.of(options).objective], engine.encoding)
    if compare and isolate:
        prepare(*backend(name or "search")._engines)  # while the model is trained
    problem = asked.problem(options)
    name, best = name or default_engine(problem, engine.encoding), None
    seed = options.get("seed", 0) if "seed" in backend(name).supported_options else 0
    if compare:
        chosen = replace(chosen, seed=seed, hint=features)
        best = run_solve(problem, name, chosen, isolate)
    with phase("measuring the rule on fresh samples"):
        found = asked.explainer.judge(features, best, problem, Question.of(options))
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1))
        return
    print_explanation(found, f"{source.table} row {source.row}, {asked.title(problem)}")
