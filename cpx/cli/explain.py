"""The commands ``cpx explain`` and ``cpx score``: explain a row of a table, measure a rule."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpx.cli import options as opt
from cpx.cli.option_groups import given, grouped
from cpx.cli.row_question import RowQuestion, RuleOptions, Source, read_source
from cpx.cli.solve import run_solve
from cpx.errors import DataError, InvalidOption, UnknownName, shown
from cpx.modelling.encodings import find_encoding
from cpx.models.expected_prediction.cli import ExpectationOptions, of_table
from cpx.processes.interrupts import noted
from cpx.support.validation import integer_in

if TYPE_CHECKING:
    import pandas as pd

    from cpx.answers.result import Result
    from cpx.models.expected_prediction.problem import ExpectedPrediction
    from cpx.models.expected_prediction.sampled_probability import FewestSampled
    from cpx.models.monomial.explainers.question import Question
    from cpx.models.sufficient_reason.problem import SufficientReason
    from cpx.options import SolveOptions
    from cpx.trees import TreeModel

__all__ = ["explain", "score"]


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
        from cpx.models.monomial.explainers.question import OBJECTIVES

        find_encoding(OBJECTIVES[question.objective], self.encoding)


KINDS = ("rule", "reason", "expectation")


@dataclass(frozen=True)
class Kind:
    """What kind of explanation is wanted."""

    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="rule: the best short rule on samples. For the models tree, forest and boosting, "
            "reason: the fewest columns that force the class; expectation: those that make "
            "the model expect it most surely.",
            autocompletion=opt.choices(KINDS),
        ),
    ] = "rule"
    level: opt.Level = None
    definition: opt.Definition = None
    missing_in: opt.MissingIn = None

    def check(self) -> None:
        """Raise for a kind that is not known, and for options of the other kind."""
        if self.kind not in KINDS:
            raise UnknownName("kind", self.kind, KINDS)
        shared = ("missing_in",) if self.kind == "expectation" else ()
        if self.kind != "reason" and (options := given(self, "kind", *shared)):
            raise InvalidOption(f"{options[0]} is for --kind reason")


_FRESH = 1000
Fresh = Annotated[
    int, typer.Option(metavar="N", help="Fresh samples the precision is measured on.")
]


@grouped
def explain(
    *,
    source: Source,
    kind: Kind,
    k: opt.OptionalK = None,
    wanted: RuleOptions,
    expected: ExpectationOptions,
    engine: Engine,
    fresh: Fresh = _FRESH,
    as_json: opt.Json = False,
    output: opt.ResultFile = None,
) -> None:
    r"""Explain the prediction of a model for one row of a table by a short rule.

    Trains the model on the table, draws samples, finds the best rule of at most k
    conditions on them, and measures its precision on fresh samples. Best is the maximum
    precision among rules that cover 1/20 of the samples, unless --objective says otherwise.
    With --kind reason, finds the fewest columns of numbers that force the class that a
    tree model gives the row, whatever the other columns are. With --kind expectation, finds at
    most k columns whose values make a tree model expect its class most surely, under a
    distribution fitted to the table.

    \b
    Examples:
      cpx explain table.csv --target y --row 17
      cpx explain table.csv --target y --row 17 --model forest --kind reason
      cpx explain table.csv --target y --row 17 --model boosting --kind expectation -k 3
      cpx explain table.csv --target y --row 17 --model forest -k 3 --min-coverage 0.2
      cpx explain table.csv --target y --row 17 --objective loss --epsilon 0.1 --delta 0.05
      cpx explain table.csv --target y --row 17 --required "age > 40" --one-per-group
      cpx explain table.csv --target y --row 17 --categorical zip,code --json

    \b
    Exit codes: 0 a rule proved optimal, or proved that there is none; 3 a rule without
    proof; 4 no rule within the limits; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import deliver
    from cpx.cli.progress import phase
    from cpx.cli.reading import output_path
    from cpx.explainers.options import BACKEND

    path = output_path(output, source.table)
    kind.check()
    if kind.kind == "expectation":
        result, title = _expected(source, kind, wanted, expected, engine, k, fresh)
        raise typer.Exit(deliver(result, as_json, path, title))
    expected.refuse("--kind expectation")
    if kind.kind == "reason":
        for option, changed in (("-k", k is not None), ("--fresh", fresh != _FRESH)):
            if changed:
                raise InvalidOption(f"{option} is for --kind rule")
        result, title = _forced(source, kind, wanted, engine)
        raise typer.Exit(deliver(result, as_json, path, title))
    chosen = engine.options(source)
    question = replace(wanted.question(k), fresh=fresh)
    engine.check(question)
    asked = RowQuestion(source)
    asked.check(question)
    if question.adaptive and engine.name == BACKEND:
        asked.train()
        with phase("drawing samples in rounds"):
            answer = asked.explainer.in_rounds(asked.x, question, engine.time_limit)
        if answer is not None:
            problem, result = answer
            result = asked.explainer.with_reachable(problem, result)
            title = f"{source.table} row {source.row}, {asked.title(problem)}"
            raise typer.Exit(deliver(result, as_json, path, title))
        question = question.without_sampling()
    engine.start()
    problem = asked.problem(question)
    result = run_solve(problem, engine.name, chosen, engine.isolate)
    with noted(threading.Event()):  # the answer is there
        with phase("measuring the rule on fresh samples"):
            result = asked.explainer.conclude(result, problem, question)
            result = asked.explainer.with_reachable(problem, result)
        title = f"{source.table} row {source.row}, {asked.title(problem)}"
        raise typer.Exit(deliver(result, as_json, path, title))


def _expected(
    source: Source,
    kind: Kind,
    wanted: RuleOptions,
    expected: ExpectationOptions,
    engine: Engine,
    k: int | None,
    fresh: int,
) -> tuple[Result, str]:
    """Return a probabilistic explanation, and the title of the answer."""
    from cpx.answers.result import Status
    from cpx.cli.output import note
    from cpx.cli.progress import phase, solve_progress
    from cpx.models.expected_prediction.expectations import nothing_found

    chosen = engine.options(source)
    integer_in("fresh", fresh, 1)
    expected.check()
    if k is not None and expected.threshold is not None:
        raise InvalidOption("-k and --threshold: give one, for the fewest columns have no k")
    engine.start()
    row = of_table(source, wanted, kind.missing_in)
    problem: ExpectedPrediction
    question: FewestSampled | None = None
    if expected.of_rows_drawn:
        question = expected.sampled(row, wanted)
        problem, words = question.problem, question.brief()
        with solve_progress(engine.name, chosen.time_limit) as listen:
            options = {name: getattr(chosen, name) for name in _OF_EACH_SIZE}
            own = {"isolate": engine.isolate, "listen": listen}
            result = question.answer(engine.name, options | own)
    else:
        problem = expected.problem(row, k, wanted)
        words = [problem.kind, *problem._brief()]
        result = run_solve(problem, engine.name, chosen, engine.isolate)
    with noted(threading.Event()), phase("drawing rows with the values that are known"):
        result = row.explainer.measured(problem, result, fresh)
        if result.status is Status.INFEASIBLE:
            if question is None:
                note(str(nothing_found(problem, result, source.seed)))
            else:
                note(str(question.nothing(result)))
    return result, f"{source.table} row {source.row}, {row.title(problem.label, words)}"


_OF_EACH_SIZE = ("time_limit", "threads", "gap", "encoding")
"""Options of the solves, one for each size, of the fewest values by rows drawn."""


def _forced(source: Source, kind: Kind, wanted: RuleOptions, engine: Engine) -> tuple[Result, str]:
    """Return a sufficient reason, and the title of the answer."""
    from cpx.models.sufficient_reason.explainer import engine_for

    if engine.backend is not None:
        engine.options(source)  # found out before the model is trained
    problem, words = _reason_of_row(source, kind, wanted)
    engine = replace(engine, backend=engine.backend or engine_for(problem))
    chosen = engine.options(source)
    engine.start()
    result = run_solve(problem, engine.name, chosen, engine.isolate)
    return result, f"{source.table} row {source.row}, {words}"


def _reason_of_row(
    source: Source, kind: Kind, wanted: RuleOptions
) -> tuple[SufficientReason, str]:
    """Train the model and state the problem; return it and its description.

    Raises
    ------
    InvalidOption
        For options that are for rules, and a model that is no tree model.
    DataError
        When a column has no numbers.
    """
    from cpx.cli.progress import phase
    from cpx.modelling.row import fitted_to, refuse_missing_conditions
    from cpx.models.sufficient_reason.problem import SufficientReason

    refused = [*given(source, "table", "target", "row", "model", "missing", "seed")]
    for option in (*refused, *given(wanted, "required", "forbidden", "where")):
        raise InvalidOption(f"{option} is for --kind rule")
    if source.model not in opt.TREES:
        raise InvalidOption(
            f"--kind reason is for tree models: --model {', '.join(opt.TREES)}, "
            f"got {shown(source.model)}"
        )
    source.check()
    missing = opt.read_missing(kind.missing_in)
    refuse_missing_conditions(kind.level, missing)
    X, y, x = read_source(source)
    with phase(f"training {source.model} on {len(X)} rows", long=True):
        model, _ = fitted_to(_trained(source, X, y), x, missing, of_data=True)
    level: Any = kind.level or "attributes"
    definition: Any = kind.definition or "sufficient"
    problem = SufficientReason(
        model,
        x,
        level,
        definition,
        required=opt.read_features(wanted.required),
        forbidden=opt.read_features(wanted.forbidden),
        side_constraints=wanted.where or (),  # type: ignore[arg-type]
        name=f"{source.table.name.partition('.')[0]}-{source.row}",
    )
    words = ", ".join([problem.kind, *problem._brief()])
    return problem, f"class {problem.label} by {source.model}: {words}"


def _trained(source: Source, X: pd.DataFrame, y: pd.Series[Any]) -> TreeModel:
    from cpx.data.classifiers import tree_classifier
    from cpx.explainers.background import fitted_to_rows
    from cpx.trees import read_model

    _require_numbers(source.table, X)
    model = read_model(tree_classifier(source.model, source.seed).fit(X, y))
    return fitted_to_rows(model, X)[0]


def _require_numbers(table: Path, X: pd.DataFrame) -> None:
    from pandas.api.types import is_numeric_dtype

    for name, kind in X.dtypes.items():
        if not is_numeric_dtype(kind):
            raise DataError(
                f"{table}: column {shown(name)} has no numbers, which a tree model of --kind "
                "sufficient needs; encode it, or train a model of your own and use 'cpx make'"
            )


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
