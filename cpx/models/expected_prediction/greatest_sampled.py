"""The attributes by which rows that are drawn keep their class most often, found by any engine.

Of rows drawn from the distribution, those with the states of x in a set of attributes are looked
at: how many of them get the class of x, or what the model says for it at the mean. That is the
precision of a rule on samples, a row of the probability p being p agreeing rows and 1 - p others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cpx.answers.claim import competing
from cpx.answers.result import Result, Status
from cpx.answers.values import plural
from cpx.errors import EngineError, Infeasible
from cpx.models.expected_prediction.base import ExpectedPrediction
from cpx.models.expected_prediction.sampled_probability import SampledSets
from cpx.models.monomial.precision_coverage import MaxPrecision
from cpx.solving.run import solve_with


class GreatestSampled(SampledSets):
    """Asks for at most k attributes of the greatest sampled same-decision probability.

    k: Attributes at most.
    """

    def __init__(
        self,
        problem: ExpectedPrediction,
        k: int,
        samples: int,
        least: int,
        seed: int,
        soft: bool = False,
    ) -> None:
        super().__init__(problem, samples, least, seed, soft)
        self.k = k

    def question(self, k: int) -> MaxPrecision:
        """Return the question for the best set of at most k attributes, on the samples."""
        return MaxPrecision(k=k, **self._limits())

    def answer(self, backend: str | None, options: Mapping[str, Any]) -> Result:
        """Return the result of any engine with what is claimed of the attributes.

        options: Options of :func:`cpx.solve`.
        """
        result = solve_with(self.question(self.k), backend, self.seed, dict(options))
        if result.explanation is None:
            return result
        return self._claimed(result, "greatest-sampled", self._over, {})

    @property
    def _over(self) -> dict[str, Any]:
        """Which sets compete."""
        return {"k": self.k, **self._compete}

    def brief(self) -> list[str]:
        """Return sizes of the model, the distribution, k and the rows."""
        what = self._mean or "same-decision probability"
        return [*self._shared_brief(), f"k {self.k}", f"greatest sampled {what}", self._m]

    def nothing(self, result: Result) -> EngineError:
        """Return the error that says why there is no answer."""
        if result.status is not Status.INFEASIBLE:
            told = f"{result.engine} found nothing: {result.status}, {result.termination}"
            return EngineError(told, result)
        rival = competing(self._over, f"set of at most {plural(self.k, 'attribute')}")
        told = f"of {self.m} rows drawn, no {rival} covers at least "
        return Infeasible(f"{told}{self.least}; {result.engine} proved it", result)
