"""Monomials of maximum coverage among those that are precise enough."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.answers.explanation import Explanation
from cpx.answers.values import Value
from cpx.models.base import Encoding
from cpx.models.monomial.form import WeightedMonomial
from cpx.models.monomial.k_monomial import LIMITED_ENCODINGS
from cpx.models.monomial.problem import WeightedProblem
from cpx.models.registry import register
from cpx.support.validation import Share

__all__ = ["MaxCoverage"]


@register
@dataclass(frozen=True, eq=False)
class MaxCoverage(WeightedProblem):
    """Find a monomial of at most k features that covers the most and is precise enough.

    Maximise the covered weight over the rules whose agreeing covered weight is at least
    ``min_precision`` (19/20 unless given) of it. This is the question that Anchors [1]_ ask
    of the distribution and answer by a heuristic search; here it is asked of the samples
    and answered exactly.

    Notes
    -----
    Parameters are those of :class:`~cpx.models.monomial.problem.MonomialProblem`.

    References
    ----------
    .. [1] M. T. Ribeiro, S. Singh, C. Guestrin: Anchors: High-Precision Model-Agnostic
       Explanations, AAAI 2018, equation 4: coverage is maximised among the rules of at
       least a given precision.

    Examples
    --------
    >>> from cpx import MaxCoverage, Samples, solve
    >>> samples = Samples([[1, 1], [1, 1], [1, 0], [0, 1]], [1, 1, 0, 1], features=("a", "b"))
    >>> result = solve(MaxCoverage(samples, k=1, min_precision="9/10"))
    >>> result.objective, str(result.explanation)
    (3, 'b => same class as x')
    """

    min_precision: Share | None = Fraction(19, 20)

    kind: ClassVar[str] = "max-coverage"
    sense: ClassVar[Literal["min", "max"]] = "max"
    encodings: ClassVar[tuple[Encoding[WeightedMonomial], ...]] = LIMITED_ENCODINGS

    def costs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every sample costs its weight when it is not covered."""
        weights = self.samples.weights
        return np.zeros_like(weights), weights

    def greatest(self) -> int:
        """Return the weight of all samples, which the empty rule covers."""
        return self.samples.total

    def claim(self) -> str:
        """Name the coverage."""
        return "coverage"

    def _figure(self, explanation: Explanation) -> str:
        found = self.evaluate(explanation)
        return f"{found.covered}/{found.total} ({float(found.coverage):.3f})"

    def _better(self) -> str:
        return "covers more"

    def _at_best(self, bound: Value) -> str:
        return f"no {self.candidate()} covers more than {bound}"
