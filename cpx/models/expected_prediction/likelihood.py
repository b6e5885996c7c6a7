"""How likely known values must be: a floor on Pr(S), exact or in steps under independence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, log, log2

import numpy as np
from numpy.typing import NDArray

from cpx.data.fitted.distribution import as_mixture
from cpx.data.fitted.tree_mixture import ONE
from cpx.modelling.side_constraints.form import LinearConstraint, SideConstraint
from cpx.models.expected_prediction.exact_scores import ExactScores

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

STEPS = 2**20
"""Under independence the logarithm of each probability is counted in steps of 2**-20 bit."""


def bits_of(probability: Fraction) -> float:
    """Return how many bits a probability stands for."""
    return log2(probability.denominator) - log2(probability.numerator)


@dataclass(frozen=True, eq=False)
class LikelihoodFloor:
    """Sets of attributes whose states of x are likely enough.

    Under a factorised distribution each attribute costs its bits, in steps rounded down, and the
    bits of the least probability, in steps rounded up, are there to be spent: that is a linear
    constraint, which no set that is likely enough breaks. Others are compared as fractions.

    least: The least probability, above 0.

    >>> from cpx.models.expected_prediction.cases import random_expectation
    >>> problem = random_expectation(5, "mixture")
    >>> every = LikelihoodFloor(problem.scores, problem.scores.probability((0, 1)))
    >>> every.allows((0, 1)), every.allows((0, 1, 2))
    (True, False)
    """

    scores: ExactScores
    least: Fraction

    @cached_property
    def costs(self) -> list[int]:
        """The steps of each attribute, under a factorised distribution."""
        rows = zip(as_mixture(self.scores.distribution).tables[0], self.scores.codes.tolist())
        shares = [Fraction(int(table[0, state]), ONE) for table, state in rows]
        return [floor(STEPS * bits_of(share)) for share in shares]

    @cached_property
    def budget(self) -> int:
        """The steps that a set may cost."""
        return ceil(STEPS * bits_of(self.least))

    def allows(self, chosen: Iterable[int]) -> bool:
        """Whether a set is likely enough."""
        S = {*chosen}
        if self.scores.distribution.factorised:
            return sum(self.costs[a] for a in S) <= self.budget
        return self.scores.probability(S) >= self.least

    def side(self) -> SideConstraint:
        """Return the linear constraint, under a factorised distribution."""
        terms = tuple((-cost, (a,)) for a, cost in enumerate(self.costs) if cost)
        row = (LinearConstraint(terms, -self.budget),) if terms else ()
        return SideConstraint(f"probability at least {self.least}", row)

    def among(self, logs: Floats, sets: Bools) -> Bools:
        """Return which of N sets are likely enough: by floats where they are not near.

        logs: The logarithms of their probabilities, in floats.
        """
        enough, near = self._compared(logs)
        for i in np.flatnonzero(near).tolist():
            enough[i] = self.allows(np.flatnonzero(sets[i]).tolist())
        return enough

    def extended(self, logs: Floats, sets: Bools) -> Bools:
        """Return the same of N sets with each attribute more, (N, A)."""
        enough, near = self._compared(logs)
        for i, j in zip(*(axis.tolist() for axis in np.nonzero(near)), strict=True):
            enough[i, j] = self.allows([*np.flatnonzero(sets[i]).tolist(), j])
        return enough

    def _compared(self, logs: Floats) -> tuple[Bools, Bools]:
        """Return what is more likely than the least, and what is so near that floats may err."""
        limit = log(self.least.numerator) - log(self.least.denominator)
        # More than the steps of all attributes, and what floats are off.
        doubt = (len(self.scores.codes) + 1) * (1 / STEPS + 1e-12 * (1 + abs(limit)))
        return np.asarray(logs >= limit + doubt), np.asarray(np.abs(logs - limit) < doubt)
