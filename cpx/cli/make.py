"""The command ``cpx make``: state a problem and save it, to be solved later."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpx.cli import options as opt
from cpx.cli.model_file import ModelFile
from cpx.cli.option_groups import given, grouped
from cpx.cli.row_question import RowQuestion, RuleOptions, Source
from cpx.errors import InvalidOption, UnknownName, shown
from cpx.models.expected_prediction.cli import KINDS as EXPECTED
from cpx.models.expected_prediction.cli import ExpectationOptions, of_file, of_table
from cpx.models.rule_set.cli_make import PROBLEMS as RULE_SETS
from cpx.models.rule_set.cli_make import RuleSetOptions, rule_set
from cpx.support.validation import integer_in

if TYPE_CHECKING:
    from cpx.modelling.base import Problem
    from cpx.models.monomial.problem import MonomialProblem

__all__ = ["declared_values", "make", "one_rule_problems", "restated"]

PROBLEM = "sufficient-reason"
PROBLEMS = (PROBLEM, *EXPECTED, *RULE_SETS)


@dataclass(frozen=True)
class TableOrModel(Source):
    """A row of a table to train a model on, or a tree model and a file with a row."""

    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="CSV file with a header; .csv.gz and .zip are fine. For a sufficient reason, the "
            "file of a tree model: scikit-learn (skops, joblib), XGBoost, LightGBM or cpx.",
        ),
    ]
    # Not required here; a table that comes without them is refused by require().
    target: opt.OptionalTarget = None  # type: ignore[assignment]
    row: opt.OptionalRow = None  # type: ignore[assignment]

    def require(self) -> None:
        """Raise when what a table needs is not given."""
        for option, value in (("--target", self.target), ("--row", self.row)):
            if value is None:
                raise InvalidOption(f"{option} is missing: which of the table's?")


def _complete_problems(incomplete: str) -> list[str]:
    return opt.complete_last(incomplete, (*PROBLEMS, *_objectives(), *one_rule_problems()))


def _objectives() -> dict[str, str]:
    """Return the objectives of one rule by the kinds that their problems have."""
    from cpx.models.monomial.explainers.question import OBJECTIVES

    return {cls.kind: objective for objective, cls in OBJECTIVES.items()}


def _refuse_unstatable(kind: str) -> None:
    """Raise for a kind that is known, and made of what no file of a table has."""
    from cpx.modelling.registry import PROBLEMS as KINDS

    if kind in KINDS:
        name = KINDS[kind].__name__
        raise InvalidOption(f"--problem {kind} is made in Python, by cpx.models: {name}(...)")


@dataclass(frozen=True)
class ReasonOptions:
    """What makes a sufficient reason of a model of a file."""

    row_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[ROW]",
            help="For a sufficient reason: CSV file with a header and one row.",
        ),
    ] = None
    problem: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="sufficient-reason: explain a row by the tree model of a file. mlse: by what a "
            "tree model expects, of a file or trained on a table; fewest-expected: by the fewest "
            "columns that reach a threshold. rule-set: mimic a "
            "model on all rows by few rules, selected from candidates. rule-set-learning: by few "
            "of all rules of at most k conditions. k-monomial, max-precision, max-coverage and "
            "negative-only: the kinds of the --objective. Or a problem of one rule, of another "
            "package.",
            autocompletion=_complete_problems,
        ),
    ] = None
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter that a problem of another package declares. Repeatable.",
        ),
    ] = None
    background: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="For mlse and fewest-expected of the model of a file: CSV file with rows that "
            "the distribution is fitted to.",
        ),
    ] = None
    level: opt.Level = None
    definition: opt.Definition = None
    missing_in: opt.MissingIn = None

    def check(self, file: ModelFile) -> None:
        """Raise for options that are for another kind of instance."""
        if self.problem is None or self.problem in PROBLEMS:
            if self.parameter:
                raise InvalidOption("--set is for --problem of another package")
        elif self.problem not in (known := one_rule_problems()):
            _refuse_unstatable(self.problem)
            raise UnknownName("problem", self.problem, (*PROBLEMS, *_objectives(), *known))
        if self.problem in EXPECTED:
            for option in given(self, "problem", "row_file", "background", "missing_in"):
                raise InvalidOption(f"{option} is not for --problem {self.problem}")
        elif self.background is not None:
            raise InvalidOption(f"--background is for --problem {' or '.join(EXPECTED)}")
        elif self.problem != PROBLEM:
            for option in (*given(self, "problem", "parameter"), *given(file)):
                raise InvalidOption(f"{option} is for --problem {PROBLEM}")


def _sufficient_reason(
    source: Source, wanted: RuleOptions, asked: ReasonOptions, file: ModelFile, name: str | None
) -> tuple[Problem, str]:
    """Read model and row, and state the problem; return it and its description."""
    from cpx.cli.output import note
    from cpx.data.tables import read_row
    from cpx.modelling.row import fitted_to, refuse_missing_conditions
    from cpx.models.sufficient_reason.problem import SufficientReason

    for option in (
        *given(source, "table", "missing"),
        *given(wanted, "required", "forbidden", "where"),
    ):
        raise InvalidOption(f"{option} is for tables, not for --problem {PROBLEM}")
    if asked.row_file is None:
        raise InvalidOption(f"--problem {PROBLEM} needs a model and a CSV file with the row")
    model = file.read(source.table)
    x = read_row(asked.row_file, missing=opt.words(source.missing))
    missing = opt.read_missing(asked.missing_in)
    refuse_missing_conditions(asked.level, missing)
    model, notes = fitted_to(model, x, missing)
    for text in notes:
        note(text)
    level: Any = asked.level or opt.LEVELS[0]
    definition: Any = asked.definition
    problem = SufficientReason(
        model,
        x,
        level=level,
        definition=definition,
        required=opt.read_features(wanted.required),
        forbidden=opt.read_features(wanted.forbidden),
        side_constraints=wanted.where or (),  # type: ignore[arg-type]
        name=name or f"{source.table.name.partition('.')[0]}-{asked.row_file.stem}",
    )
    return problem, ", ".join([f"class {problem.label}: {problem.kind}", *problem._brief()])


@grouped
def make(
    *,
    source: TableOrModel,
    asked: ReasonOptions,
    file: ModelFile,
    k: opt.OptionalK = None,
    wanted: RuleOptions,
    expected: ExpectationOptions,
    rules: RuleSetOptions,
    unseen: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="For a rule of a row: N more samples, which no engine sees. Precision and "
            "coverage on them stand beside those on the samples wherever the rule is shown.",
            show_default=False,
        ),
    ] = 0,
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
      cpx make model.json row.csv --problem sufficient-reason --forbidden age -o inst.json
      cpx make table.csv --target y --row 17 --model forest --problem mlse -k 3 -o inst.json
      cpx make table.csv --target y --problem rule-set --label yes --n-bins 10 -o inst.json

    \b
    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    from cpx.cli.reading import output_path

    path = output_path(output, source.table)
    objective = _objectives().get(asked.problem or "")
    if objective is not None:
        if "--objective" in given(wanted) and wanted.objective != objective:
            raise InvalidOption(f"--problem {asked.problem} has the objective {objective}")
        asked, wanted = replace(asked, problem=None), replace(wanted, objective=objective)
    asked.check(file)
    rules.check(asked.problem)
    size = opt.MOST if k is None else k
    integer_in("unseen", unseen, 0)
    if unseen and asked.problem in PROBLEMS:
        raise InvalidOption(f"--unseen is for a rule of a row, not for --problem {asked.problem}")
    if asked.problem in EXPECTED:
        problem, words = _expected(source, wanted, asked, file, expected, k, name)
        _deliver(problem, path, words)
        return
    expected.refuse(f"--problem {' or '.join(EXPECTED)}")
    if asked.problem is None or asked.problem not in PROBLEMS:
        problem, words = _from_table(source, wanted, asked, k, unseen, name)
    elif asked.problem in RULE_SETS:
        problem, words = rule_set(asked.problem, source, wanted, rules, size, name)
    else:
        problem, words = _sufficient_reason(source, wanted, asked, file, name)
    _deliver(problem, path, words)


def _deliver(problem: Problem, path: Path | None, words: str) -> None:
    """Write the instance to a file or to standard output."""
    from cpx.cli.output import say
    from cpx.modelling.instances import dumps, save

    if path is None:
        typer.echo(dumps(problem), nl=False)
        return
    save(problem, path)
    say(f"wrote {path}: {words}")


def _expected(
    source: TableOrModel,
    wanted: RuleOptions,
    asked: ReasonOptions,
    file: ModelFile,
    expected: ExpectationOptions,
    k: int | None,
    name: str | None,
) -> tuple[Problem, str]:
    """State a problem of expected predictions; return it and its description."""
    fewest = asked.problem == EXPECTED[1]
    if fewest != (expected.threshold is not None):
        told = "needs" if fewest else "has no"
        raise InvalidOption(f"--problem {asked.problem} {told} --threshold")
    expected.check()
    if asked.background is not None:
        of = asked.row_file, asked.background, file
        row = of_file(source, *of, wanted, name, asked.missing_in)
    elif asked.row_file is not None or given(file):
        raise InvalidOption(
            f"--problem {asked.problem} of the model of a file needs rows to fit a distribution "
            "to: --background TABLE"
        )
    else:
        source.require()
        row = of_table(source, wanted, asked.missing_in, name)
    if not expected.of_rows_drawn:
        problem = expected.problem(row, k, wanted)
        return problem, row.title(problem.label, [problem.kind, *problem._brief()])
    asked_of = expected.sampled(row, wanted)
    of_size = asked_of.question(min(opt.MOST, asked_of.problem.n_features) if k is None else k)
    return of_size, row.title(asked_of.problem.label, [of_size.kind, *of_size._brief()])


def _from_table(
    source: TableOrModel,
    wanted: RuleOptions,
    asked: ReasonOptions,
    k: int | None,
    unseen: int,
    name: str | None,
) -> tuple[Problem, str]:
    """State the problem of a row of a table; return it and its description."""
    source.require()
    question = wanted.question(k)
    own: dict[str, Any] = {}
    if asked.problem is not None:
        if "--objective" in given(wanted):
            raise InvalidOption(f"--objective is not for --problem {asked.problem}")
        own = declared_values(asked.problem, asked.parameter or ())
        # What it shares with a problem of least loss is taken from one, which sets no limits.
        question = replace(question, objective="loss")
    row = RowQuestion(source)
    size = question.size(row.explainer.distribution.n_features)
    title = name or f"{source.table.name.partition('.')[0]}-{source.row}-k{size}"
    row.check(question)
    problem = row.problem(replace(question, name=title), unseen)
    if asked.problem is not None:
        problem = restated(problem, asked.problem, own)
    return problem, row.title(problem)


def one_rule_problems() -> dict[str, type[MonomialProblem]]:
    """Return the problems of one rule that are no objective of ``cpx make``, by their kinds."""
    from cpx.modelling.registry import PROBLEMS
    from cpx.models.monomial.explainers.question import OBJECTIVES
    from cpx.models.monomial.problem import MonomialProblem

    return {
        kind: cls
        for kind, cls in PROBLEMS.items()
        if issubclass(cls, MonomialProblem) and cls not in OBJECTIVES.values()
    }


def declared_values(kind: str, given: Sequence[str]) -> dict[str, Any]:
    """Read ``NAME=VALUE`` for parameters that a kind of problem declares, and no rule has.

    A value is JSON, or else text: ``alarm=20``, ``share=1/3``, ``columns=[0, 2]``. Whether it is
    one that the parameter can have is checked when the problem is made.

    Raises
    ------
    UnknownName
        For a name that is not declared.
    InvalidOption
        For what has no name, and a parameter that is missing.
    """
    from cpx.modelling.parameters import parameters_of
    from cpx.models.monomial.problem import MonomialProblem

    of_all = parameters_of(MonomialProblem)
    declared = parameters_of(one_rule_problems()[kind])
    own = {name: p for name, p in declared.items() if name not in of_all}
    values: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidOption(f"--set takes NAME=VALUE, got {shown(text)}")
        if name not in own:
            raise UnknownName(f"parameter of {kind}", name, own)
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    for name, parameter in own.items():
        if parameter.required and name not in values:
            told = f"{parameter.meaning}, {parameter.kind.range}"
            raise InvalidOption(f"--set {name}=... is missing: {told}")
    return values


def restated(problem: MonomialProblem, kind: str, values: dict[str, Any]) -> MonomialProblem:
    """Return the problem of a kind with the samples and limits of another one of one rule.

    Raises
    ------
    InvalidInstance
        For a value that its parameter cannot have.
    """
    from cpx.modelling.parameters import parameters_of
    from cpx.models.monomial.problem import MonomialProblem

    shared = {name: getattr(problem, name) for name in parameters_of(MonomialProblem)}
    return one_rule_problems()[kind](**shared, **values)
