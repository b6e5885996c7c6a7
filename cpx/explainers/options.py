"""Options that doors share: who answers and how long it may take, and how a model is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, TypedDict

from cpx.answers.explanation import Explanation
from cpx.answers.result import Result
from cpx.backends import Event
from cpx.compiled.library import has_kernels
from cpx.errors import InvalidOption, nearest, shown
from cpx.explainers.preparation import solve_in_time

BACKEND = "search" if has_kernels() else "cpsat"
TIME_LIMIT, FRESH = 10.0, 1000
"""The engine, its seconds and the number of fresh samples, unless they are given."""


@dataclass(frozen=True)
class Engine:
    """Who answers, and how long it may take; as for :func:`cpx.solve`."""

    backend: str | None = None
    time_limit: float | None = TIME_LIMIT
    threads: int = 1
    gap: float | None = None
    hint: Explanation | Sequence[int | str] | None = None
    encoding: str | None = None
    isolate: bool | None = None
    listen: Callable[[Event], None] | None = None

    @classmethod
    def taken(cls, asked: dict[str, Any]) -> Self:
        """Take the options of the engine out of all that is asked."""
        return cls(**{f.name: asked.pop(f.name) for f in fields(cls) if f.name in asked})

    @property
    def options(self) -> dict[str, Any]:
        """Those that :func:`cpx.solve` takes by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "backend"}

    def solve(self, problem: Any, seed: int, usual: str = BACKEND) -> Result:
        """Solve in what preparation has left of the time limit; usually by this engine."""
        return solve_in_time(problem, self.backend or usual, seed, self.options)


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
