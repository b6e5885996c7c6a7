"""Base class of the methods that query the classifier."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.answers.explanation import Explanation
from cpx.backends.base import Backend, Outcome, Progress
from cpx.data.oracle import Oracle
from cpx.modelling.base import Problem
from cpx.models.monomial.form import monomial_form
from cpx.options import SolveOptions
from cpx.support.shares import share_text


class QueryMethod(Backend):
    """A heuristic that draws samples of its own and has the classifier label them."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"seed", "hint"})
    needs_model: ClassVar[bool] = False
    exact: ClassVar[bool] = False
    _asks_classifier: ClassVar[bool] = True

    def accepts(self, problem: Problem) -> bool:
        """Whether the answer of the problem is one monomial."""
        return monomial_form(problem) is not None

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Ask until the method is done or stopped; see :class:`~cpx.backends.Backend`."""
        assert problem.oracle is not None, "cpx.solving refuses problems without an oracle"
        counted = CountedOracle(problem.oracle, progress)
        with progress.phase("compile"):
            self._preload()
        try:
            with progress.phase("solve"):
                outcome = self.ask(problem, options, progress, counted)
        except _Stopped:
            outcome = Outcome(False, progress.why_stopped(), "stopped")
        outcome.sizes = {"queries": counted.queries}
        return outcome

    @abstractmethod
    def ask(
        self, problem: Problem, options: SolveOptions, progress: Progress, counted: CountedOracle
    ) -> Outcome:
        """Look for a rule and report it to ``progress``."""


class CountedOracle:
    """An oracle that counts its queries and refuses when the time is over.

    queries: Rows the classifier has labelled so far.
    """

    def __init__(self, oracle: Oracle, progress: Progress) -> None:
        self.oracle = oracle
        self.queries = 0
        self._progress = progress

    def same(self, rows: Any) -> NDArray[np.bool_]:
        """Return which rows have the class of x, shape (m,)."""
        # The published algorithms have no stop signal; every query passes here.
        if self._progress.should_stop:
            raise _Stopped
        self.queries += len(rows)
        return self.oracle.same(rows)


class _Stopped(Exception):
    """The time is over, or Ctrl-C was pressed."""


def refusal(name: str, found: Explanation) -> str:
    """Say that a rule is none of the problem's, with the figures that its limits are about."""
    assert found.coverage is not None, "rules of problems are measured on their samples"
    text = f"{name} breaks a constraint of the problem; of its samples it covers "
    text += share_text(found.coverage)
    if found.precision is None:
        return text
    return f"{text} with a precision of {share_text(found.precision)}"


def fresh_generator(seed: int) -> np.random.Generator:
    """Return a stream apart from those of the samples and of the fresh precision."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
