"""Good and bad samples: signed weights and the objective they make up, for each form.

Without limits a form's value is

    sum of cost_uncovered + sum of w_i over the covered i,   w_i = cost_covered - cost_uncovered,

so a sample with w_i > 0 ("bad") should be excluded, one with w_i < 0 ("good") covered, and the
value is a constant + covered bad weight + excluded good weight.

Limits count samples by their own weights: disagreeing ones are bad, agreeing ones good. Then
the costs must be in proportion to these weights within each class, w_i = scale * alpha * weight
for the bad and -scale * beta * weight for the good, as they are in all problems of the package;
the value is a constant + scale * (alpha * covered bad weight + beta * excluded good weight).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.objective import FAR, Objective
from cpx.errors import InvalidInstance

if TYPE_CHECKING:
    from cpx.models.monomial.form import CoverageLimits, RatioMonomial, WeightedMonomial

__all__ = ["SampleWeights", "sample_weights_of"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SampleWeights:
    """Objective and limits of a form, by signed weights of its samples.

    Attributes
    ----------
    signed : ndarray of int64, shape (m,)
        Weights, those of good samples negative.
    uncovered : int
        The value of the form if nothing is covered.
    limits : CoverageLimits or None
    alpha, beta, scale : int
        See above.
    """

    signed: Ints
    uncovered: int
    limits: CoverageLimits | None = None
    alpha: int = 1
    beta: int = 1
    scale: int = 1

    @property
    def limited(self) -> bool:
        """Whether covered weight counts by itself."""
        return self.limits is not None

    def objective(self, bad: int, good: int) -> Objective:
        """Return the objective, given the weight of all bad and of all good samples."""
        objective = Objective(self.alpha, self.beta, bad, good)
        if self.limits is None:
            return objective
        most = FAR if self.limits.most is None else self.limits.most
        return replace(
            objective, least=self.limits.least, most=most, precision=self.limits.precision
        )


def sample_weights_of(form: WeightedMonomial | RatioMonomial) -> SampleWeights:
    """Return what a form optimises; a ratio has limits only, and no value.

    Raises
    ------
    InvalidInstance
        When costs and limits count the samples differently.
    """
    from cpx.models.monomial.form import RatioMonomial

    limits = form.limits
    if limits is None:
        # A ratio is always limited: something must be covered.
        assert not isinstance(form, RatioMonomial)
        return SampleWeights(
            form.cost_covered - form.cost_uncovered, int(form.cost_uncovered.sum())
        )
    signed = np.where(limits.same, -limits.weights, limits.weights)
    if isinstance(form, RatioMonomial):
        return SampleWeights(signed, 0, limits)
    net = form.cost_covered - form.cost_uncovered
    alpha = _rate(net, limits.weights, ~limits.same)
    beta = _rate(-net, limits.weights, limits.same)
    scale = max(1, gcd(alpha or 0, beta or 0))
    rates = tuple(None if rate is None else rate // scale for rate in (alpha, beta))
    if rates[0] == -1 or rates == (None, 1):
        # Coverage is maximised; where one class is absent its rate is free.
        rates = -1, rates[1] or 1
    alpha, beta = (1 if rate is None else rate for rate in rates)
    if min(alpha, beta) < 0 and (alpha, beta) != (-1, 1):
        raise InvalidInstance(
            "with limits on coverage or precision, the search minimises loss or maximises"
            " coverage: covering an agreeing sample must not cost"
        )
    return SampleWeights(signed, int(form.cost_uncovered.sum()), limits, alpha, beta, scale)


def _rate(net: Ints, weights: Ints, those: NDArray[np.bool_]) -> int | None:
    """Return what one unit of weight costs in a class; None when the class is empty."""
    if not those.any():
        return None
    net, weights = net[those], weights[those]
    rate = int(net[0]) // int(weights[0])
    if (net != rate * weights).any():
        raise InvalidInstance(
            "with limits on coverage or precision, the search needs costs in proportion to the"
            " weights that the limits count"
        )
    return rate
