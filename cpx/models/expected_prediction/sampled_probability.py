"""The fewest attributes by which rows that are drawn keep their class, found by any engine.

Rows are drawn once, from the distribution, and a set of attributes is measured on those that have
its states of x. So the question is one of rules on samples, for each size: is there a set of so
many attributes with a share of at least the threshold, among enough rows? The sizes are tried from
the smallest on, and each that is refused is refused with proof.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from cpx.answers.claim import Claim, competing
from cpx.answers.result import Result, Status, Termination
from cpx.data.samples import Samples
from cpx.errors import EngineError, Infeasible, InvalidOption
from cpx.modelling.claims import asked
from cpx.models.expected_prediction.base import ExpectedPrediction
from cpx.models.expected_prediction.parameters import Number
from cpx.models.expected_prediction.same_decision import SameDecision
from cpx.models.expected_prediction.text import ExpectationText, enough_words
from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
from cpx.options import TIME_LIMIT
from cpx.solving.run import solve_with
from cpx.support.validation import integer_in, positive_integer

_PARTS = 1000
"""A row of which the model says a probability counts as so many rows."""


def drawn(problem: ExpectedPrediction, m: int, seed: int, soft: bool = False) -> Samples:
    """Return rows of a problem's distribution, with the required states of x, as samples.

    m: Number of rows.
    soft: Whether a row of the probability p is p parts of 1000 that agree, and others that do not.

    >>> from cpx.models.expected_prediction.cases import random_expectation
    >>> problem = random_expectation(3)
    >>> samples = drawn(problem, 100, seed=0)
    >>> samples.m, samples.d == problem.n_features
    (100, True)
    """
    # Not the stream that an answer is measured with afterwards: those must be other rows.
    rng = np.random.default_rng([seed, 1])
    codes = problem.distribution.sample_given(m, problem.codes, [*problem.required], rng)
    asked, weights = SameDecision(problem), np.ones(m, dtype=np.int64)
    agreement, same = codes == problem.codes, asked.same(codes)
    if soft:
        parts = np.rint(_PARTS * asked.probabilities(codes)).astype(np.int64)
        agreement, same = np.concatenate([agreement] * 2), np.arange(2 * m) < m
        weights = np.concatenate([parts, _PARTS - parts])
    some = weights > 0
    return Samples(
        agreement[some],
        same[some],
        weights=weights[some],
        features=problem.feature_names,
        context={
            "class": str(problem.context.get("class", problem.label)),
            "distribution": problem.distribution.structure,
            "seed": seed,
        },
    )


class SampledSets:
    """Sets of attributes, measured on rows that are drawn.

    problem: The row, the model and the distribution; what is required and forbidden, and side
        constraints.
    samples: Rows that are drawn.
    least: Sets that fewer of these rows have are not counted: their share would say little.
    seed: Of the rows, and of the engine.
    soft: Whether the probabilities of the model count, and not its decisions.
    """

    def __init__(
        self, problem: ExpectedPrediction, samples: int, least: int, seed: int, soft: bool = False
    ) -> None:
        self.problem, self.seed = problem, seed
        m = positive_integer("samples", samples)
        self.least = integer_in("least", least, 1, m, error=InvalidOption)
        # Many rows agree with x in the same attributes: engines are spared the repetition.
        self.samples = drawn(problem, m, seed, soft).merged()
        self.parts, self.soft = _PARTS if soft else 1, soft

    def _limits(self) -> dict[str, Any]:
        return {
            "samples": self.samples,
            "min_coverage": Fraction(self.least * self.parts, self.samples.total),
            "required": self.problem.required,
            "forbidden": self.problem.forbidden,
            "side_constraints": self.problem.side_constraints,
            "name": self.problem.name,
        }

    @property
    def _compete(self) -> dict[str, Any]:
        """Which sets compete, whatever is asked of them."""
        given = asked(self.problem)
        names = ("required", "forbidden", "where")
        return {"least": self.least, **{name: given[name] for name in names if name in given}}

    def _claimed(
        self, result: Result, kind: str, over: Mapping[str, Any], figures: Mapping[str, Any]
    ) -> Result:
        """Return a result with the figures of its attributes, and with what is claimed of them."""
        assert result.explanation is not None
        found = self.problem.explanation(result.explanation.features)
        found = self.problem._conclude(found, False, None, None)
        assert found.claim is not None
        covered, same = self.samples.covered(found.features), self.samples.same
        have, kept = (int(self.samples.weights[some].sum()) for some in (covered, covered & same))
        drawn = {"drawn": self.m, "have": have // self.parts, "share": kept / have}
        told = {**found.claim.figures, **drawn, "soft": self.soft, **figures}
        claim = Claim(kind, over, told, result.proved, result.objective, result.bound)
        return replace(result, explanation=replace(found, claim=claim))

    def _shared_brief(self) -> list[str]:
        return ExpectationText._brief(self.problem)  # without k

    @property
    def _mean(self) -> str:
        """Of what the mean of the rows counts; empty where the share of the class does."""
        if not self.soft:
            return ""
        return "probability" if self.problem.measured == "score" else self.problem.measured

    @property
    def m(self) -> int:
        """Number of rows that were drawn."""
        return self.samples.total // self.parts

    @property
    def _m(self) -> str:
        return f"m {self.m}"


class FewestSampled(SampledSets):
    """Asks for the fewest attributes with a sampled same-decision, or mean, probability.

    threshold: The share of the rows drawn with these values that must keep the class, above 0 and
        at most 1; exact.
    """

    def __init__(
        self,
        problem: ExpectedPrediction,
        threshold: Any,
        samples: int,
        least: int,
        seed: int,
        soft: bool = False,
    ) -> None:
        self.tau = Number().check("threshold", threshold, problem)
        if not 0 < self.tau <= 1:
            raise InvalidOption(
                f"threshold must be above 0 and at most 1 for a probability, got {threshold}"
            )
        super().__init__(problem, samples, least, seed, soft)

    def question(self, k: int) -> MaxCoverage:
        """Return the question for the likeliest set of at most k attributes, on the samples."""
        return MaxCoverage(k=k, min_precision=self.tau, **self._limits())

    def answer(self, backend: str | None, options: Mapping[str, Any]) -> Result:
        """Return the result of :meth:`solve` with what is claimed of the attributes.

        options: Options of :func:`cpx.solve`; its time limit is that of all sizes.
        """
        return self.concluded(*self.solve(backend, options))

    def concluded(self, result: Result, proved: bool) -> Result:
        """Return a result of :meth:`solve` with what is claimed of the attributes found."""
        if result.explanation is None:
            return result
        return self._claimed(result, "fewest-sampled", self._over, {"minimum": proved})

    def solve(self, backend: str | None, options: Mapping[str, Any]) -> tuple[Result, bool]:
        """Ask for one size after the other, in the time limit of all.

        Returns result: Of the last question.
        Returns proved: Whether all smaller sizes were refused with proof.
        """
        limit, started, proved = options.get("time_limit"), time.perf_counter(), True
        for size in range(len({*self.problem.required}), self.problem.n_features + 1):
            left = None if limit is None else max(0.01, limit - (time.perf_counter() - started))
            own = {**options, "time_limit": left}
            result = solve_with(self.question(size), backend, self.seed, own)
            if result.explanation is not None or result.termination is not Termination.COMPLETED:
                break
            proved &= result.status is Status.INFEASIBLE
        return result, proved

    @property
    def _over(self) -> dict[str, Any]:
        """Which sets compete."""
        return {"threshold": str(self.tau), **self._compete}

    def brief(self) -> list[str]:
        """Return sizes of the model, the distribution, the threshold and the rows."""
        what = f"sampled mean {self._mean}" if self.soft else "sampled probability"
        wanted = f"{what} at least {Number().words(self.tau)}"
        return [*self._shared_brief(), wanted, self._m]

    def nothing(self, result: Result) -> EngineError:
        """Return the error that says why there is no answer, and which share can be reached."""
        if result.status is not Status.INFEASIBLE:
            told = f"{result.engine} found nothing: {result.status}, {result.termination}"
            return EngineError(told, result)
        rival = competing(self._over, "set of attributes")
        told = (
            f"of {self.m} rows drawn, no {rival}"
            f" {enough_words(self._over, self._mean)}; {result.engine} proved it"
        )
        asked: Any = MaxPrecision(k=self.problem.n_features, **self._limits())
        best = solve_with(asked, None, self.seed, {"time_limit": TIME_LIMIT})
        if best.explanation is None or best.explanation.precision is None:
            return Infeasible(told, result)
        known = "greatest share is" if best.proved else "greatest share that was found is"
        share = best.explanation.precision
        told += f"; the {known} {float(share):.6g}"
        return Infeasible(told, result, {"expected": share}, best.explanation)
