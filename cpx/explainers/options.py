"""Options that doors share: who answers and how long it may take, and how a model is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Self, TypedDict

from cpx.answers.explanation import Explanation
from cpx.answers.result import Result
from cpx.backends import Event
from cpx.data.words import words_file
from cpx.errors import InvalidOption, nearest, shown
from cpx.explainers.preparation import solve_in_time
from cpx.options import TIME_LIMIT, names

FRESH = 1000
"""Fresh samples that an answer is measured on, unless their number is given."""


@dataclass(frozen=True)
class Option:
    """What an option means, and how the shell takes it.

    about: In a sentence, for help and tables.
    metavar: What stands for its value in help.
    kind: What the shell reads: ``str``, ``int``, ``float``, or ``bool`` for a flag.
    choices: Its values, where they have names.
    many: Whether it can be given several times in the shell.
    read: Makes of what the shell has read what Python takes.
    or_file: Whether the path of a file may stand for one of these.
    shell: Its name in the shell: empty for the same one, None where the shell has it not.
    """

    about: str
    metavar: str = ""
    kind: type = str
    choices: tuple[str, ...] = ()
    many: bool = False
    read: Callable[[Any], Any] | None = None
    or_file: bool = False
    shell: str | None = ""


def features(given: Sequence[str]) -> tuple[int | str, ...]:
    """Read features that the shell has by number or name.

    >>> features(["age > 40", "3"])
    ('age > 40', 3)
    """
    return tuple(int(text) if text.isdecimal() else text for text in given)


def missing_in(text: str) -> str | list[str]:
    """Read which values may be missing: a word for all, or names of columns."""
    return text if text in ("auto", "never", "always") else names(text)


def two_numbers(text: str) -> tuple[float, ...]:
    """Read two numbers with a comma, or a colon, between them.

    >>> two_numbers("1,2.5"), two_numbers("-1:2")
    ((1.0, 2.5), (-1.0, 2.0))
    """
    try:
        found = tuple(float(part) for part in text.replace(":", ",").split(","))
    except ValueError:
        found = ()
    if len(found) != 2:
        raise InvalidOption(f"between must be two numbers, such as 1.5,20, got {shown(text)}")
    return found


REQUIRED = Option(
    "What the answer must have: conditions as they are printed, columns by name, or numbers.",
    "FEATURE",
    many=True,
    read=features,
)
FORBIDDEN = Option("What it must not have.", "FEATURE", many=True, read=features)
WHERE = Option(
    "A side constraint, such as 'not (age > 60 and sex == male)'.", "TEXT", many=True, read=list
)
NAME = Option("Name of the problem.", shell=None)
LABEL = Option("The class of x, to be sure of it.", shell=None)
WEIGHTS = Option("What features cost, 1 where nothing is given.", shell=None)
CLASS_NAMES = Option("Names of the classes, by position or by label.", shell=None)
WORDS = Option(
    "What columns are called: of each a label, or label, unit and, for rules, cuts. In the shell "
    "a file, JSON or TOML.",
    "FILE",
    read=words_file,
)
ABOVE = Option("Of a model that predicts numbers: why above this, or why not.", "NUMBER", float)
BELOW = Option("The same: why below this, or why not.", "NUMBER", float)
BETWEEN = Option(
    "The same: why between these two, or on which side of them.", "LOW,HIGH", read=two_numbers
)
SEED = Option("Seed of every random choice.", "N", int)
MISSING_IN = Option(
    "Columns of which rows may lack the value, with commas; or always, never, or auto: those of "
    "which x, X or the model shows missing values.",
    "COLUMNS",
    read=missing_in,
    shell="missing-in",
)


@dataclass(frozen=True)
class Engine:
    """Who answers, and how long it may take; as for :func:`cpx.solve`."""

    backend: Annotated[
        str | None,
        Option(
            "Engine, or family:solver such as milp:cbc; 'cpx backends' lists them. None: what is "
            "best for the kind.",
            "NAME",
        ),
    ] = None
    time_limit: Annotated[
        float | None,
        Option("Seconds for preparation and engine; 'none' for no limit.", "SECONDS", shell=None),
    ] = TIME_LIMIT
    threads: Annotated[int, Option("Threads the engine may use.", "N", int)] = 1
    gap: Annotated[
        float | None,
        Option("Stop once |value - bound| / |value| is at most this, such as 0.05.", "G", float),
    ] = None
    hint: Annotated[
        Explanation | Sequence[int | str] | None, Option("A known answer.", shell=None)
    ] = None
    encoding: Annotated[
        str | None, Option("How the problem is stated; None: the engine's choice.", "NAME")
    ] = None
    isolate: Annotated[
        bool | None, Option("Solve in a worker process, which makes the limit hard.", shell=None)
    ] = None
    listen: Annotated[
        Callable[[Event], None] | None, Option("Called with each event.", shell=None)
    ] = None

    @classmethod
    def taken(cls, asked: dict[str, Any]) -> Self:
        """Take the options of the engine out of all that is asked."""
        return cls(**{f.name: asked.pop(f.name) for f in fields(cls) if f.name in asked})

    @property
    def options(self) -> dict[str, Any]:
        """Those that :func:`cpx.solve` takes by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "backend"}

    def solve(self, problem: Any, seed: int) -> Result:
        """Solve in what preparation has left of the time limit."""
        return solve_in_time(problem, self.backend, seed, self.options)


class ReaderOptions(TypedDict, total=False):
    """What :func:`cpx.read_model` takes by name; each reader has some of them."""

    trusted: bool | Iterable[str]
    rounds: int | str | None
    classes: int | Sequence[Any] | None
    rule: Any
    output: int | None
    attributes: Any
    objective: str | None
    base: Sequence[float] | None
    num_parallel_tree: int


READER_OPTIONS = tuple(ReaderOptions.__annotations__)


def built(cls: type[Any], asked: Mapping[str, Any]) -> Any:
    """Return a dataclass of options by name; an unknown name is refused."""
    known = [field.name for field in fields(cls)]
    for name in asked:
        if name not in known:
            raise InvalidOption(f"there is no option {shown(name)}{nearest(name, known)}")
    return cls(**asked)
