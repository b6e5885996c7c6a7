"""Options that several commands share, and their completion in the shell."""

from __future__ import annotations

import math
import os.path
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpx.backends.base import require
from cpx.errors import InvalidOption, shown
from cpx.modelling.encodings import encoding_names, find_encoding
from cpx.options import names

if TYPE_CHECKING:
    from cpx.modelling.base import Problem
    from cpx.options import SolveOptions

ENGINE, ANSWER = "Engine", "Answer"
"""Titles of options in help."""

CLASSIFIERS = ("mlp", "forest", "tree", "boosting", "logistic")
TREES = ("tree", "forest", "boosting")


# ---------------------------------------------------------------- completion


def complete_backends(incomplete: str) -> list[str]:
    """Complete the last name of a list of backends."""
    from cpx.backends import backend_class
    from cpx.backends import names as engines

    known = []
    for name in engines():
        known += [name, *(f"{name}:{solver}" for solver in backend_class(name).solvers)]
    return complete_last(incomplete, known)


def complete_encodings(incomplete: str) -> list[str]:
    """Complete the last name of a list of encodings."""
    from cpx.modelling.registry import PROBLEMS

    known = [name for problem in PROBLEMS.values() for name in encoding_names(problem)]
    return complete_last(incomplete, list(dict.fromkeys(known)))


def complete_show_forms(incomplete: str) -> list[str]:
    """Complete a form of ``cpx show``."""
    from cpx.export import SHOW_FORMS

    return complete_last(incomplete, SHOW_FORMS)


def complete_export_forms(incomplete: str) -> list[str]:
    """Complete a form of ``cpx export``."""
    from cpx.export import EXPORT_FORMS

    return complete_last(incomplete, EXPORT_FORMS)


def complete_at_most(incomplete: str) -> list[str]:
    """Complete the last name of a list of encodings of cardinalities."""
    from cpx.backends.maxsat.cardinality import AT_MOST

    return complete_last(incomplete, AT_MOST)


def complete_last(incomplete: str, known: list[str] | tuple[str, ...]) -> list[str]:
    """Return the whole lists that end in a known name.

    >>> complete_last("cpsat,mi", ["cpsat", "milp"])
    ['cpsat,milp']
    """
    head, comma, last = incomplete.rpartition(",")
    return [f"{head}{comma}{name}" for name in known if name.startswith(last)]


def choices(known: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Return the completion of one of the known names."""
    return lambda incomplete: complete_last(incomplete, known)


def seconds(text: str | float) -> float:
    """Read a time limit; 'none' is infinite."""
    if isinstance(text, str) and text.strip().lower() == "none":
        return math.inf
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(
            f"{shown(text)} is neither a number of seconds nor 'none'"
        ) from None


# ------------------------------------------------------------------- options


def seconds_option(text: str) -> Any:
    """Return the option of a time limit, with what it is the limit of."""
    return typer.Option(
        "--time-limit",
        "-t",
        metavar="SECONDS",
        parser=seconds,
        help=text,
        rich_help_panel=ENGINE,
    )


Table = Annotated[
    Path,
    typer.Argument(metavar="TABLE", help="CSV file with a header, or packed: .gz, .zip."),
]
_TARGET: Any = typer.Option(metavar="COLUMN", help="Column with the classes; rows do not have it.")
Target = Annotated[str, _TARGET]
OptionalTarget = Annotated[str | None, _TARGET]
_ROW: Any = typer.Option(metavar="N", help="Row to explain, counted from 0.")
Row = Annotated[int, _ROW]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL",
        help="Class that is described; needed where there are more than two.  "
        "[default: the last one]",
    ),
]
Categorical = Annotated[
    str | None,
    typer.Option(metavar="COL,COL", help="Numeric columns that are categories."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORD,WORD",
        help="Cells without a value, such as '?,NA'. Repeatable. The empty field always is one.",
    ),
]
Instance = Annotated[
    Path, typer.Argument(metavar="INST", help="Saved instance, .json or .json.gz.")
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How the problem is stated, such as clausal or sizes; default: the engine's choice, "
        "or the problem's first.",
        autocompletion=complete_encodings,
        rich_help_panel=ENGINE,
    ),
]
AtMost = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How 'at most k of these' becomes clauses, of cnf, wcnf and opb: pairwise, "
        "sequential, totalizer, cardinality-network or adder; default: what is small.",
        autocompletion=complete_at_most,
    ),
]
Backend = Annotated[
    str | None,
    typer.Option(
        "--backend",
        "-b",
        metavar="NAME",
        help="Engine, or family:solver such as milp:cbc; 'cpx backends' lists them.  [default: "
        "what is best for the problem]",
        autocompletion=complete_backends,
        rich_help_panel=ENGINE,
    ),
]
ListingBackend = Annotated[
    str | None,
    typer.Option(
        "--backend",
        "-b",
        metavar="NAME",
        help="An exact engine; default: what lists such answers soonest.",
        autocompletion=complete_backends,
        rich_help_panel=ENGINE,
    ),
]
TimeLimit = Annotated[
    float, seconds_option("Hard limit for stating, compiling and solving; 'none' for no limit.")
]
Seed = Annotated[
    int, typer.Option(metavar="N", help="Seed of every random choice.", rich_help_panel=ENGINE)
]
Threads = Annotated[
    int, typer.Option(metavar="N", help="Threads the engine may use.", rich_help_panel=ENGINE)
]
Gap = Annotated[
    float | None,
    typer.Option(
        metavar="G",
        help="Stop once |value - bound| / |value| is at most G, such as 0.05.",
        rich_help_panel=ENGINE,
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="A side constraint, such as 'not (age > 60 and sex == male)'. Repeatable.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one Result object as JSON.", rich_help_panel=ANSWER)
]
RulesAsJson = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one object as JSON, with all rules.", rich_help_panel=ANSWER
    ),
]
ResultFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Also write the Result as JSON here.",
        rich_help_panel=ANSWER,
    ),
]
Records = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="DIR", help="Where records and tables are kept."),
]
Isolate = Annotated[
    bool,
    typer.Option(
        "--isolate/--no-isolate",
        help="Solve in a worker process, which makes the time limit hard, or in this one.",
        rich_help_panel=ENGINE,
    ),
]
K = Annotated[int, typer.Option("-k", metavar="N", help="Maximum number of conditions.")]
MOST = 5
"""Conditions of a rule, unless -k is given."""


# ------------------------------------------------------------------- helpers


def limit(time_limit: float) -> float | None:
    """Return seconds, and None for no limit."""
    return None if time_limit == math.inf else time_limit


def solve_options(
    time_limit: float,
    threads: int,
    seed: int,
    gap: float | None,
    encoding: str | None,
    hint: str | None = None,
) -> SolveOptions:
    """Return the checked options of a solve."""
    from cpx.options import SolveOptions

    return SolveOptions(
        time_limit=limit(time_limit),
        threads=threads,
        seed=seed,
        gap=gap,
        hint=None if hint is None else read_hint(hint),
        encoding=encoding,
    )


def read_hint(text: str) -> tuple[int, ...]:
    """Read a hint: feature indices with commas, or the path of a saved result.

    >>> read_hint("3, 7,12")
    (3, 7, 12)
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if all(part.isdecimal() and len(part) < 1000 for part in parts):
        return tuple(int(part) for part in parts)
    from cpx.cli.reading import read_result

    if not os.path.isfile(text):
        raise InvalidOption(
            f"hint must be feature indices such as '3,7,12' or a saved result, got {shown(text)}"
        )
    found = read_result(Path(text)).explanation
    if found is None:
        raise InvalidOption(f"hint: the result {text} has no explanation")
    return found.features


def require_engine(backend: str, problem: Problem | None, encoding: str | None) -> None:
    """Raise for an engine or encoding that is not known or not installed."""
    from cpx.backends import backend as find

    require(find(backend))
    if problem is not None:
        find_encoding(problem, encoding)


def words(given: list[str] | None) -> list[str]:
    """Return the words of an option that is repeatable, and takes lists with commas."""
    return [word for text in given or () for word in names(text)]


def split(text: str | None) -> list[str] | None:
    """Return the names in a list with commas, or None for an option that is not given."""
    return None if text is None else names(text)
