"""Greedy and beam search over monomials and known attributes, baselines for exact engines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from heapq import nsmallest
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.answers.result import Termination
from cpx.answers.values import Value
from cpx.backends.base import Backend, Outcome, Progress
from cpx.modelling.base import Problem
from cpx.models.expected_prediction.form import ExpectationForm
from cpx.models.expected_prediction.search.known_attributes.beam import beam_levels
from cpx.models.monomial.form import MonomialForm, WeightedMonomial, allowed, monomial_form
from cpx.options import EngineOption, SolveOptions

__all__ = ["Beam", "Greedy"]

Floats = NDArray[np.float64]
Features = tuple[int, ...]


class Beam(Backend):
    """Keeps the best sets of each size, 16 or ``width``, and extends them by every feature.

    Sets are ranked by the problem's own objective, equal ones by feature number; those
    outside the limits on coverage and precision come last, those that cover too little are
    dropped. The best set met is the answer, the smallest of equally good ones; nothing is
    proved of it. The search starts from the required features, and never adds a forbidden one
    or a second one of a group.

    Sets of known attributes (kinds mlse and fewest-expected) are ranked by the expected
    prediction, equal ones by their probability
    (:mod:`cpx.models.expected_prediction.search.known_attributes.beam`); for fewest-expected the
    first that reaches the threshold is the answer. Threads share the sets of each size of these
    kinds alone.
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
        """Whether the answer of the problem is one monomial, or a set of known attributes."""
        return isinstance(problem.form(), ExpectationForm | MonomialForm)

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Search level by level; see :class:`~cpx.backends.base.Backend`."""
        width = options.engine.get("width", self.width)
        if isinstance(expectation := problem.form(), ExpectationForm):
            return _known_attributes(problem, expectation, width, options.threads, progress)
        with progress.phase("state"):
            form = monomial_form(problem)
            assert form is not None  # accepts() says so
        with progress.phase("compile"):
            levels = _Levels(form)
        with progress.phase("solve"):
            beam: list[Features] = [form.required]
            _report(problem, progress, beam)
            for _ in range(len(form.required), form.k):
                # Between levels, each of which takes a fraction of a second.
                if progress.should_stop:
                    return Outcome(False, progress.why_stopped(), levels.message)
                beam = levels.best_extensions(beam, width)
                if not beam:
                    break
                _report(problem, progress, beam)
        return Outcome(
            False,
            Termination.COMPLETED,
            levels.message,
            sizes={"samples": form.shape[0], "features": form.shape[1]},
        )


class Greedy(Beam):
    """Adds the feature of the best value again and again; returns the best set on the way."""

    name: ClassVar[str] = "greedy"
    supported_options: ClassVar[frozenset[str]] = frozenset({"hint"})
    summary: ClassVar[str] = "greedy search, the best feature again and again"
    width: ClassVar[int] = 1

    def options(self) -> Mapping[str, EngineOption]:
        """Return none."""
        return {}


class _Levels:
    """The sets of one size after another, the most promising ones of each."""

    def __init__(self, form: MonomialForm) -> None:
        self.form = form
        self.ranking = _Ranking(form)
        # Only floats have fast products. Sums of weights are exact in them below 2**53; beyond,
        # the ranking is approximate, while every value that is reported is recomputed.
        self.agreement: Floats = form.agreement.astype(np.float64)
        self.scored = 0

    @property
    def message(self) -> str:
        return f"{self.scored} sets scored"

    def best_extensions(self, beam: list[Features], width: int) -> list[Features]:
        """Return the best sets with one feature more, the best first."""
        covers = np.array([self.form.covered(chosen) for chosen in beam], dtype=np.float64)
        columns = self.ranking.columns
        # sums[c, s, j]: over the samples covered by set s and feature j, of column c.
        sums = np.array([(covers * column) @ self.agreement for column in columns])
        extensions = {
            tuple(sorted((*chosen, j))): (s, j)
            for s, chosen in enumerate(beam)
            for j in allowed(self.form, chosen)
        }
        self.scored += len(extensions)
        ranked = (
            (key, features)
            for features, (s, j) in extensions.items()
            if (key := self.ranking.key([int(total) for total in sums[:, s, j]])) is not None
        )
        return [features for _, features in nsmallest(width, ranked)]


class _Ranking:
    """What a set of features is worth, from sums over the samples that it covers.

    Attributes
    ----------
    columns : ndarray of float, shape (c, m)
        What is summed: the weight of the agreeing samples and of all, where they matter, and
        by how much covering a sample changes the cost.
    """

    def __init__(self, form: MonomialForm) -> None:
        self.limits = form.limits
        columns = []
        if self.limits is not None:
            weights = self.limits.weights
            columns += [np.where(self.limits.same, weights, 0), weights]
        if isinstance(form, WeightedMonomial):
            columns.append(form.cost_covered - form.cost_uncovered)
        self.columns: Floats = np.array(columns, dtype=np.float64)

    def key(self, sums: list[int]) -> tuple[Value, ...] | None:
        """Return what sorts sets, the best first; None where no superset can be allowed.

        Sets within the limits come first, by the objective. The others follow, because more
        features may bring them within: what covers too much by the excess, what is not
        precise enough by its precision.
        """
        limits = self.limits
        if limits is None:
            return (sums[0],)
        agreeing, covered, *change = sums
        if covered < limits.least:
            # A superset covers no more.
            return None
        precision = Fraction(agreeing, covered) if covered else Fraction(0)
        value = change[0] if change else -precision
        if limits.allow(covered, agreeing):
            return (0, value)
        excess = 0 if limits.most is None else max(0, covered - limits.most)
        return (1, excess, -precision, value)


def _report(problem: Problem, progress: Progress, beam: list[Features]) -> None:
    """Report the best set of a level that satisfies the constraints."""
    for chosen in beam:
        if progress.found(problem.explanation(chosen)) is not None:
            return


def _known_attributes(
    problem: Problem, form: ExpectationForm, width: int, threads: int, progress: Progress
) -> Outcome:
    """Search for attributes that make the model expect its class."""
    sizes = form.sizes()
    if form.contradicts:
        return Outcome(
            False, Termination.COMPLETED, "the required features contradict", sizes=sizes
        )
    with progress.phase("compile"):
        levels = beam_levels(
            form.scores.evaluator,
            form.most,
            width,
            form.required,
            form.forbidden,
            lambda: progress.should_stop,
            threads,
        )
    best, count = -math.inf, 0
    with progress.phase("solve"):
        for level in levels:
            count += 1
            if form.least is None:
                # Ties, and floats that are almost equal, are for the exact evaluation.
                if level[0].expected > best - abs(best) * 1e-9:
                    progress.found(problem.explanation(level[0].features))
                    best = max(best, level[0].expected)
            elif any(
                progress.found(problem.explanation(known.features)) is not None for known in level
            ):
                break
            if progress.should_stop:
                break
    ended = progress.why_stopped() if progress.should_stop else Termination.COMPLETED
    return Outcome(False, ended, f"{count} sizes", sizes=sizes)
