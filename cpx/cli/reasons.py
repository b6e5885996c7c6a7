"""``cpx make MODEL ROW``: a sufficient reason of a tree model, saved to be solved later."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpx.cli import options as opt
from cpx.cli.asking import Source, Wanted
from cpx.cli.rule_sets import PROBLEMS as RULE_SETS
from cpx.errors import InvalidOption, ModelError, UnknownName

if TYPE_CHECKING:
    from cpx.models import Problem
    from cpx.trees import TreeModel

__all__ = [
    "AskedReason",
    "DefinitionName",
    "LevelName",
    "TableOrModel",
    "features",
    "given",
    "reason",
]

PROBLEM = "sufficient-reason"
PROBLEMS = (PROBLEM, *RULE_SETS)
LEVELS = ("attributes", "conditions")
DEFINITIONS = ("sufficient", "majoritary", "tree-specific")

LevelName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What a reason is made of: attributes (the columns, default) or conditions "
        "(the tests of the model).",
        autocompletion=opt.choices(LEVELS),
        show_default=False,
    ),
]
DefinitionName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="sufficient, majoritary or tree-specific; default: sufficient, in 'make' by the "
        "model.",
        autocompletion=opt.choices(DEFINITIONS),
        show_default=False,
    ),
]


@dataclass(frozen=True)
class TableOrModel(Source):
    """A row of a table to train a model on, or a tree model and a file with a row."""

    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="CSV file with a header; .csv.gz is fine. For a sufficient reason, the file of "
            "a tree model: scikit-learn (skops, joblib), XGBoost, LightGBM or cpx.",
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


@dataclass(frozen=True)
class AskedReason:
    """What makes a sufficient reason of a model of a file."""

    row_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[ROW]",
            help="For a sufficient reason: CSV file with a header and one row.",
            show_default=False,
        ),
    ] = None
    problem: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="sufficient-reason: explain a row by the tree model of a file. rule-set: mimic a "
            "model on all rows by few rules, selected from candidates. rule-set-learning: by few "
            "of all rules of at most k conditions.",
            autocompletion=opt.choices(PROBLEMS),
            show_default=False,
        ),
    ] = None
    level: LevelName = None
    definition: DefinitionName = None
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Open a joblib or pickle file, which can run any code: only if you know where "
            "it is from.",
        ),
    ] = False

    def check(self) -> None:
        """Raise for options that are for another kind of instance."""
        if self.problem is not None and self.problem not in PROBLEMS:
            raise UnknownName("problem", self.problem, PROBLEMS)
        if self.problem != PROBLEM:
            for option in given(self, "problem"):
                raise InvalidOption(f"{option} is for --problem {PROBLEM}")


def reason(
    source: Source, wanted: Wanted, asked: AskedReason, name: str | None
) -> tuple[Problem, str]:
    """Read model and row, and state the problem; return it and what it is, in words."""
    from cpx.cli.output import note
    from cpx.cli.progress import phase
    from cpx.data.tables import read_row
    from cpx.models.sufficient_reason.column_names import fitted_to
    from cpx.models.sufficient_reason.problem import SufficientReason

    for option in (*given(source, "table"), *given(wanted, "require", "forbid")):
        raise InvalidOption(f"{option} is for tables, not for --problem {PROBLEM}")
    if asked.row_file is None:
        raise InvalidOption(f"--problem {PROBLEM} needs a model and a CSV file with the row")
    with phase(f"reading {source.table}"):
        model = _read(source.table, asked.trust)
    x = read_row(asked.row_file)
    model, notes = fitted_to(model, x)
    for text in notes:
        note(text)
    level: Any = asked.level or LEVELS[0]
    definition: Any = asked.definition
    problem = SufficientReason(
        model,
        x,
        level=level,
        definition=definition,
        required=features(wanted.require),
        forbidden=features(wanted.forbid),
        name=name or f"{source.table.name.partition('.')[0]}-{asked.row_file.stem}",
    )
    return problem, ", ".join([f"class {problem.label}: {problem.kind}", *problem.brief()])


def _read(path: Path, trust: bool) -> TreeModel:
    from cpx.trees import read_model

    try:
        return read_model(path, trusted=trust)
    except ModelError as error:
        if trust or "trusted" not in str(error):
            raise
        raise type(error)(f"{error}; on the command line that is --trust") from error


def features(given: list[str] | None) -> tuple[int | str, ...]:
    """Return features that are given by number or name."""
    return tuple(int(text) if text.isdecimal() else text for text in given or ())


def given(options: Any, *apart: str) -> list[str]:
    """Return the options that do not have their default, apart from some."""
    return [
        "--" + field.name.replace("_", "-")
        for field in fields(options)
        if field.name not in apart
        and (field.default is MISSING or getattr(options, field.name) != field.default)
    ]
