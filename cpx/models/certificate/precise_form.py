"""Certificates of a given error as plain arrays, and as weighted monomials of some size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.models.monomial.form import CoverageLimits, WeightedMonomial


@dataclass(frozen=True, eq=False)
class PreciseForm:
    """A problem to choose the fewest features whose rule has a small error.

    Minimise the size of a set S that contains ``required`` and avoids ``forbidden``, covers
    something, and of whose covered weight at most the share ``epsilon`` disagrees.

    agreement (m, d): a_ij, sample i agrees with x on feature j.
    same (m,): Samples of the class of x.
    weights (m,): Positive.
    epsilon: From 0 to 1.
    required, forbidden: Features that must, and must not, be chosen.
    side: Further constraints on S.
    """

    agreement: NDArray[np.bool_]
    same: NDArray[np.bool_]
    weights: NDArray[np.int64]
    epsilon: Fraction
    required: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()
    side: SideConstraints = NO_SIDE_CONSTRAINTS

    @property
    def n_features(self) -> int:
        """Number d of features."""
        return int(self.agreement.shape[1])

    def precise(self, features: Iterable[int]) -> bool:
        """Say whether a set covers something with a small error, its other constraints aside."""
        covered = self.agreement[:, list(features)].all(axis=1)
        weight = int(self.weights[covered].sum())
        wrong = int(self.weights[covered & ~self.same].sum())
        return weight > 0 and wrong <= self.epsilon * weight

    def rule(self) -> WeightedMonomial:
        """Return the rules that are precise, at no cost."""
        free = np.zeros(len(self.weights), dtype=np.int64)
        d = self.n_features
        chosen = self.required, self.forbidden, None, self._limits, self.side
        return WeightedMonomial(self.agreement, free, free, d, *chosen)

    @property
    def _limits(self) -> CoverageLimits | None:
        return CoverageLimits.of(self.weights, self.same, min_precision=1 - self.epsilon)

    def gains(self, k: int) -> tuple[WeightedMonomial, int]:
        """Return rules of at most k features, and the cost at or below which one is precise.

        With p/q the precision that is asked for, a covered sample costs p of its weight if it
        disagrees, and one that is not covered q - p if it agrees. Let g of the agreeing weight G
        be covered, and b of the other: the cost is p b + (q - p)(G - g). It is at most (q - p) G
        if and only if p b <= (q - p) g, which is g >= p/q (g + b).
        """
        # The same for every rule as 1 - epsilon, with numbers that fit 64 bits.
        limits = self._limits
        precision = (limits.precision if limits else None) or Fraction(0)
        p, q = precision.numerator, precision.denominator
        wrong = np.where(self.same, 0, p * self.weights)
        missed = np.where(self.same, (q - p) * self.weights, 0)
        something = CoverageLimits.of(self.weights, self.same, covers_something=True)
        chosen = self.required, self.forbidden, None, something, self.side
        return WeightedMonomial(self.agreement, wrong, missed, k, *chosen), int(missed.sum())
