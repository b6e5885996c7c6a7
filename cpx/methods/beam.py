"""Greedy and beam search over sets of features, baselines for exact engines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Protocol

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome, Progress
from cpx.errors import EngineError
from cpx.modelling.base import Problem
from cpx.options import EngineOption, SolveOptions
from cpx.support.families import registered
from cpx.support.lazy_imports import named_object

__all__ = ["Beam", "Greedy", "Levels"]


class Levels(Protocol):
    """The best sets of each size, which a family registers for the class of a form.

    Parameters
    ----------
    form : object
    width : int
        So many sets of each size are kept.
    progress : Progress
        Of the solve: its threads, its best value, and whether to stop.
    """

    sizes: Mapping[str, int]
    """Of the form, for the result."""

    def __init__(self, form: Any, width: int, progress: Progress) -> None: ...

    def __iter__(self) -> Iterator[Iterable[tuple[int, ...]]]:
        """Yield those sets of each size that may be the best, the best first."""

    @property
    def message(self) -> str:
        """What was done, in words."""


class Beam(Backend):
    """Keeps the best sets of each size, 16 or ``width``, and extends them by every feature.

    What a family says of a form ranks them (:class:`Levels`). Of each size the first set that may
    be chosen is reported, so that the best set met is the answer, the smallest of equally good
    ones; nothing is proved of it. The search starts from the required features, and never adds a
    forbidden one.
    """

    name: ClassVar[str] = "beam"
    requires: ClassVar[dict[str, str]] = {"numpy": "numpy>=2.0,<3"}
    supported_options: ClassVar[frozenset[str]] = frozenset({"hint", "threads"})
    needs_model: ClassVar[bool] = False
    exact: ClassVar[bool] = False
    summary: ClassVar[str] = "beam search, the 16 best sets of each size"
    width: ClassVar[int] = 16

    def options(self) -> Mapping[str, EngineOption]:
        """Return the number of sets of each size that are kept."""
        return {"width": EngineOption(int, least=1, most=10_000)}

    def accepts(self, problem: Problem) -> bool:
        """Whether a family says how sets of this form are ranked."""
        return registered("beams", problem.form()) is not None

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Search level by level; see :class:`~cpx.backends.base.Backend`."""
        with progress.phase("state"):
            form = problem.form()
            value = registered("beams", form)
            assert value is not None  # accepts() says so
            ranked: type[Levels] = named_object(value, "beam", EngineError)
        with progress.phase("compile"):
            levels = ranked(form, options.engine.get("width", self.width), progress)
        with progress.phase("solve"):
            for level in levels:
                for chosen in level:
                    if progress.found(problem.explanation(chosen)) is not None:
                        break
                # Between levels, each of which takes a fraction of a second.
                if progress.should_stop:
                    break
        ended = progress.why_stopped() if progress.should_stop else Termination.COMPLETED
        return Outcome(False, ended, levels.message, sizes=levels.sizes)


class Greedy(Beam):
    """Adds the feature of the best value again and again; returns the best set on the way."""

    name: ClassVar[str] = "greedy"
    supported_options: ClassVar[frozenset[str]] = frozenset({"hint"})
    summary: ClassVar[str] = "greedy search, the best feature again and again"
    width: ClassVar[int] = 1

    def options(self) -> Mapping[str, EngineOption]:
        """Return none."""
        return {}
