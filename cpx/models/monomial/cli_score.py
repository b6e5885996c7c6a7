"""The command ``cpx score``: measure a rule for a row of a table, beside the best one."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt
from cpx.cli.option_groups import grouped
from cpx.cli.solve import run_solve
from cpx.models.monomial.cli_row import RowQuestion, RuleOptions, Source

if TYPE_CHECKING:
    from cpx.models.monomial.explainers.question import Question
    from cpx.options import SolveOptions


@dataclass(frozen=True)
class Engine:
    """Who finds the best rule, and how long it may take."""

    backend: Annotated[
        str | None,
        typer.Option(
            "--backend",
            "-b",
            metavar="NAME",
            help="Engine, or family:solver such as milp:cbc; 'cpx backends' lists them.  "
            "[default: search]",
            autocompletion=opt.complete_backends,
        ),
    ] = None
    encoding: opt.Encoding = None
    time_limit: opt.TimeLimit = 10.0
    threads: opt.Threads = 1
    gap: opt.Gap = None
    isolate: opt.Isolate = True

    @property
    def name(self) -> str:
        """The engine, that of rules when none is given."""
        from cpx.explainers.options import BACKEND

        return self.backend or BACKEND

    def options(self, source: Source) -> SolveOptions:
        """Return the options of the solve; a wrong one, or an engine not there, is refused."""
        from cpx.backends import backend

        opt.require_engine(self.name, None, None)
        seed = source.seed if "seed" in backend(self.name).supported_options else 0
        return opt.solve_options(self.time_limit, self.threads, seed, self.gap, self.encoding)

    def start(self) -> None:
        """Let a worker load the engine while the model is trained; else load it here."""
        from cpx.backends import backend
        from cpx.solving.servers import prepare

        if self.isolate:
            prepare(*backend(self.name)._engines)
        else:
            backend(self.name)._preload()

    def check(self, question: Question) -> None:
        """Raise for an encoding that the problem does not have."""
        from cpx.modelling.encodings import find_encoding
        from cpx.models.monomial.explainers.question import OBJECTIVES

        find_encoding(OBJECTIVES[question.objective], self.encoding)


Fresh = Annotated[
    int, typer.Option(metavar="N", help="Fresh samples the precision is measured on.")
]


@grouped
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
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            metavar="N",
            help="Size of the rules it is compared with.  [default: its own]",
        ),
    ] = None,
    wanted: RuleOptions,
    engine: Engine,
    compare: Annotated[
        bool, typer.Option("--compare/--no-compare", help="Compare it with the best rule.")
    ] = True,
    fresh: Fresh = 1000,
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
      cpx score table.csv --target y --row 17 --rule "age > 40" --objective loss -k 3

    \b
    Exit codes: 0 the rule was measured; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import print_explanation
    from cpx.cli.progress import phase
    from cpx.models.monomial.explainers.question import size_to_compare

    chosen = engine.options(source)
    replace(wanted.question(k or 0), fresh=fresh)
    asked = RowQuestion(source)
    features = asked.explainer.conditions(asked.x).features(rule)
    question = replace(wanted.question(size_to_compare(features, k)), fresh=fresh)
    engine.check(question)
    asked.check(question)
    if compare:
        engine.start()
    problem = asked.problem(question)
    best = None
    if compare:
        best = run_solve(problem, engine.name, replace(chosen, hint=features), engine.isolate)
    with phase("measuring the rule on fresh samples"):
        found = asked.explainer.judge(features, best, problem, question)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1))
        return
    print_explanation(found, f"{source.table} row {source.row}, {asked.title(problem)}")
