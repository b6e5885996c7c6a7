"""A problem of one rule: a false alarm costs as much as ten misses."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from cpx.modelling.parameters import Integer, parameter
from cpx.models.monomial.problem import MONOMIAL_ENCODINGS, WeightedProblem


@dataclass(frozen=True, eq=False)
class Careful(WeightedProblem):
    """Find a monomial of at most k features that is hardly ever wrong.

    Minimise the disagreeing weight that is covered, times ``alarm``, plus the agreeing weight
    that is not.

    Parameters
    ----------
    alarm : int
        What a false alarm costs, in misses. The other parameters are those of
        :class:`~cpx.models.monomial.problem.MonomialProblem`.
    """

    alarm: int = field(
        default=10, metadata=parameter(Integer(1), "what a false alarm costs, in misses")
    )

    kind: ClassVar[str] = "careful"
    encodings: ClassVar = MONOMIAL_ENCODINGS

    def costs(self):
        """Return the costs of covering, and of not covering, each sample."""
        weights, same = self.samples.weights, self.samples.same
        return np.where(same, 0, self.alarm * weights), np.where(same, weights, 0)
