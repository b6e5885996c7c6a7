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
from cpx.models.expected_prediction.parameters import Number
from cpx.models.expected_prediction.problem import ExpectedPrediction
from cpx.models.expected_prediction.same_decision import SameDecision
from cpx.models.expected_prediction.text import ExpectationText, enough_words
from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
from cpx.options import TIME_LIMIT
from cpx.solving.run import solve_with
from cpx.support.validation import integer_in, positive_integer


def drawn(problem: ExpectedPrediction, m: int, seed: int) -> Samples:
    """Return rows of a problem's distribution, with the required states of x, as samples.

    m: Number of rows.

    >>> from cpx.models.expected_prediction.cases import random_expectation
    >>> problem = random_expectation(3)
    >>> samples = drawn(problem, 100, seed=0)
    >>> samples.m, samples.d == problem.n_features
    (100, True)
    """
    # Not the stream that an answer is measured with afterwards: those must be other rows.
    rng = np.random.default_rng([seed, 1])
    codes = problem.distribution.sample_given(m, problem.codes, [*problem.required], rng)
    return Samples(
        codes == problem.codes,
        SameDecision(problem).same(codes),
        features=problem.feature_names,
        context={
            "class": str(problem.context.get("class", problem.label)),
            "distribution": problem.distribution.structure,
            "seed": seed,
        },
    )


class FewestSampled:
    """Asks for the fewest attributes with a sampled same-decision probability.

    problem: The row, the model and the distribution; what is required and forbidden, and side
        constraints.
    threshold: The share of the rows drawn with these values that must keep the class, above 0 and
        at most 1; exact.
    samples: Rows that are drawn.
    least: Sets that fewer of these rows have are not counted: their share would say little.
    seed: Of the rows, and of the engine.
    """

    def __init__(
        self, problem: ExpectedPrediction, threshold: Any, samples: int, least: int, seed: int
    ) -> None:
        self.problem, self.seed = problem, seed
        self.tau = Number().check("threshold", threshold, problem)
        if not 0 < self.tau <= 1:
            raise InvalidOption(
                f"threshold must be above 0 and at most 1 for a probability, got {threshold}"
            )
        m = positive_integer("samples", samples)
        self.least = integer_in("least", least, 1, m, error=InvalidOption)
        # Many rows agree with x in the same attributes: engines are spared the repetition.
        self.samples = drawn(problem, m, seed).merged()

    def question(self, k: int) -> MaxCoverage:
        """Return the question for the likeliest set of at most k attributes, on the samples."""
        return MaxCoverage(k=k, min_precision=self.tau, **self._limits())

    def _limits(self) -> dict[str, Any]:
        return {
            "samples": self.samples,
            "min_coverage": Fraction(self.least, self.samples.total),
            "required": self.problem.required,
            "forbidden": self.problem.forbidden,
            "side_constraints": self.problem.side_constraints,
            "name": self.problem.name,
        }

    def answer(self, backend: str | None, options: Mapping[str, Any]) -> Result:
        """Return the result of :meth:`solve` with what is claimed of the attributes.

        options: Options of :func:`cpx.solve`; its time limit is that of all sizes.
        """
        return self.concluded(*self.solve(backend, options))

    def concluded(self, result: Result, proved: bool) -> Result:
        """Return a result of :meth:`solve` with what is claimed of the attributes found."""
        if result.explanation is None:
            return result
        S = result.explanation.features
        samples, covered = self.samples, self.samples.covered(S)
        found = self.problem._conclude(self.problem.explanation(S), False, None, None)
        assert found.claim is not None
        figures = {
            **found.claim.figures,
            "drawn": samples.total,
            "have": int(samples.weights[covered].sum()),
            "kept": int(samples.weights[covered & samples.same].sum()),
            "minimum": proved,
        }
        claim = Claim(
            "fewest-sampled", self._over, figures, result.proved, result.objective, result.bound
        )
        return replace(result, explanation=replace(found, claim=claim))

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
        given = asked(self.problem)
        also: dict[str, Any] = {"threshold": str(self.tau), "least": self.least}
        return also | {
            name: given[name] for name in ("required", "forbidden", "where") if name in given
        }

    def brief(self) -> list[str]:
        """Return sizes of the model, the distribution, the threshold and the rows."""
        shared = ExpectationText._brief(self.problem)  # without k
        wanted = f"sampled probability at least {Number().words(self.tau)}"
        return [*shared, wanted, f"m {self.samples.total}"]

    def nothing(self, result: Result) -> EngineError:
        """Return the error that says why there is no answer, and which share can be reached."""
        if result.status is not Status.INFEASIBLE:
            told = f"{result.engine} found nothing: {result.status}, {result.termination}"
            return EngineError(told, result)
        rival = competing(self._over, "set of attributes")
        told = (
            f"of {self.samples.total} rows drawn, no {rival}"
            f" {enough_words(self._over)}; {result.engine} proved it"
        )
        asked: Any = MaxPrecision(k=self.problem.n_features, **self._limits())
        best = solve_with(asked, None, self.seed, {"time_limit": TIME_LIMIT})
        if best.explanation is None or best.explanation.precision is None:
            return Infeasible(told, result)
        known = "greatest share is" if best.proved else "greatest share that was found is"
        share = best.explanation.precision
        told += f"; the {known} {float(share):.6g}"
        return Infeasible(told, result, {"expected": share}, best.explanation)
