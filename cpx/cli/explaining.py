"""The commands ``cpx explain``, ``make`` and ``score``: from a table to a rule and its figures."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt
from cpx.cli.asking import Asked, Source, Wanted
from cpx.cli.forcing import Kind, reason_of_row
from cpx.cli.grouped import grouped
from cpx.cli.reasons import AskedReason, TableOrModel, reason
from cpx.cli.rule_sets import PROBLEMS as RULE_SETS
from cpx.cli.rule_sets import AskedRules, rule_set
from cpx.errors import InvalidOption
from cpx.support.validation import integer_in

if TYPE_CHECKING:
    from cpx.answers.result import Result
    from cpx.explainers.question import Question
    from cpx.models import Problem
    from cpx.options import SolveOptions

__all__ = ["explain", "make", "score"]


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
            show_default=False,
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
        return self.backend or "search"

    def options(self, source: Source) -> SolveOptions:
        """Return the options of the solve; a wrong one, or an engine not there, is refused."""
        from cpx.backends import backend

        opt.require_engine(self.name, None, None)
        seed = source.seed if "seed" in backend(self.name).supported_options else 0
        return opt.solve_options(self.time_limit, self.threads, seed, self.gap, self.encoding)

    def start(self) -> None:
        """Let a worker load the engine while the model is trained; else load it here."""
        from cpx.backends import backend
        from cpx.solving.isolate import prepare

        if self.isolate:
            prepare(self.name)
        else:
            backend(self.name).preload()

    def check(self, question: Question) -> None:
        """Raise for an encoding that the problem does not have."""
        from cpx.explainers.question import OBJECTIVES
        from cpx.models import problem_class

        problem_class(OBJECTIVES[question.objective]).encoding(self.encoding)


_K, _FRESH = 5, 1000
Fresh = Annotated[
    int, typer.Option(metavar="N", help="Fresh samples the precision is measured on.")
]


@grouped
def explain(
    *,
    source: Source,
    kind: Kind,
    k: opt.K = _K,
    wanted: Wanted,
    engine: Engine,
    fresh: Fresh = _FRESH,
    as_json: opt.Json = False,
    output: opt.ResultFile = None,
) -> None:
    r"""Explain the prediction of a model for one row of a table by a short rule.

    Trains the model on the table, draws samples, finds the best rule of at most k
    conditions on them, and measures its precision on fresh samples. Best is the greatest
    precision among rules that cover 1/20 of the samples, unless --objective says otherwise.
    With --kind sufficient, finds the fewest columns of numbers that force the class that a
    tree model gives the row, whatever the other columns are.

    \b
    Examples:
      cpx explain table.csv --target y --row 17
      cpx explain table.csv --target y --row 17 --model forest --kind sufficient
      cpx explain table.csv --target y --row 17 --model forest -k 3 --min-coverage 0.2
      cpx explain table.csv --target y --row 17 --objective loss --epsilon 0.1 --delta 0.05
      cpx explain table.csv --target y --row 17 --require "age > 40" --one-per-column
      cpx explain table.csv --target y --row 17 --categorical zip,code --json

    \b
    Exit codes: 0 a rule proved optimal, or proved that there is none; 3 a rule without
    proof; 4 no rule within the limits; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import deliver
    from cpx.cli.progress import phase
    from cpx.cli.reading import output_path
    from cpx.cli.solving import run_solve
    from cpx.processes.interrupts import noted

    path = output_path(output, source.table)
    kind.check()
    if kind.kind == "sufficient":
        for option, changed in (("-k", k != _K), ("--fresh", fresh != _FRESH)):
            if changed:
                raise InvalidOption(f"{option} is for --kind rule")
        result, title = _forced(source, kind, wanted, engine)
        raise typer.Exit(deliver(result, as_json, path, title))
    chosen = engine.options(source)
    question = wanted.question(k)
    engine.check(question)
    integer_in("fresh", fresh, 1)
    asked = Asked(source)
    asked.check(question, fresh)
    engine.start()
    problem = asked.problem(question)
    result = run_solve(problem, engine.name, chosen, engine.isolate)
    with noted(threading.Event()):  # the answer is there
        with phase("measuring the rule on fresh samples"):
            result = asked.explainer.conclude(result, problem, asked.x, question, fresh)
        title = f"{source.table} row {source.row}, {asked.words(problem)}"
        raise typer.Exit(deliver(result, as_json, path, title))


def _forced(source: Source, kind: Kind, wanted: Wanted, engine: Engine) -> tuple[Result, str]:
    """Return a sufficient reason, and what is explained, in words."""
    from cpx.cli.solving import run_solve
    from cpx.explainers.sufficient import engine_for

    if engine.backend is not None:
        engine.options(source)  # found out before the model is trained
    problem, words = reason_of_row(source, kind, wanted)
    engine = replace(engine, backend=engine.backend or engine_for(problem))
    chosen = engine.options(source)
    engine.start()
    result = run_solve(problem, engine.name, chosen, engine.isolate)
    return result, f"{source.table} row {source.row}, {words}"


@grouped
def make(
    *,
    source: TableOrModel,
    asked: AskedReason,
    k: opt.K = 5,
    wanted: Wanted,
    rules: AskedRules,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the instance.  [default: TABLE-ROW-kK]"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write it; gzipped if it ends in .gz. Default: standard output.",
        ),
    ] = None,
) -> None:
    r"""Make an instance from a table: train a model, draw samples, save the problem.

    The instance is solved later or elsewhere, by 'cpx solve' or 'cpx compare'. With
    --problem sufficient-reason it is made from the tree model of a file and a row: which
    columns force the model's class, whatever the others are. With --problem rule-set it is
    made from a table: few rules, of at most k conditions each, that mimic the model, selected
    from candidates; with --problem rule-set-learning, from all there are.

    \b
    Examples:
      cpx make table.csv --target y --row 17 -k 5 -m 1000 -o inst.json
      cpx make table.csv --target y --row 17 --objective loss -o inst.json.gz
      cpx make model.json row.csv --problem sufficient-reason --forbid age -o inst.json
      cpx make table.csv --target y --problem rule-set --label yes --bins 10 -o inst.json

    \b
    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    from cpx.cli.reading import output_path
    from cpx.instances import dumps, save

    path = output_path(output, source.table)
    asked.check()
    rules.check(asked.problem)
    if asked.problem is None:
        problem, words = _from_table(source, wanted, k, name)
    elif asked.problem in RULE_SETS:
        problem, words = rule_set(asked.problem, source, wanted, rules, k, name)
    else:
        problem, words = reason(source, wanted, asked, name)
    if path is None:
        typer.echo(dumps(problem), nl=False)
        return
    save(problem, path)
    typer.echo(f"wrote {path}: {words}")


def _from_table(
    source: TableOrModel, wanted: Wanted, k: int, name: str | None
) -> tuple[Problem, str]:
    """State the problem of a row of a table; return it and what it is, in words."""
    source.require()
    question = wanted.question(k)
    asked = Asked(source)
    title = name or f"{source.table.name.partition('.')[0]}-{source.row}-k{k}"
    asked.check(question)
    problem = asked.problem(replace(question, name=title))
    return problem, asked.words(problem)


@grouped
def score(
    *,
    source: Source,
    rule: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Conditions joined by 'and', as they are printed, or their numbers.",
            show_default=False,
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
    wanted: Wanted,
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
    from cpx.cli.solving import run_solve
    from cpx.explainers.question import size_to_compare

    chosen = engine.options(source)
    wanted.question(k or 0)
    integer_in("fresh", fresh, 1)
    asked = Asked(source)
    features = asked.explainer.conditions(asked.x).features(rule)
    question = wanted.question(size_to_compare(features, k))
    engine.check(question)
    asked.check(question, fresh)
    if compare:
        engine.start()
    problem = asked.problem(question)
    best = None
    if compare:
        best = run_solve(problem, engine.name, replace(chosen, hint=features), engine.isolate)
    with phase("measuring the rule on fresh samples"):
        found = asked.explainer.judge(features, best, problem, asked.x, question, fresh)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1))
        return
    print_explanation(found, f"{source.table} row {source.row}, {asked.words(problem)}")
