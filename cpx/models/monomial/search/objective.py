"""The objective of the search: the cost of a set from two sums of weights, and its limits.

The cost of a set is ``base + alpha * c + beta * l``, to be minimised, where the limits on its
coverage and precision hold. With B and G the weights of all bad and all good samples, a set
covers c + G - l, and its precision is (G - l) / (c + G - l).

======================  ========================  ===================================
objective               alpha, beta               base
======================  ========================  ===================================
loss                    1, 1                      0
negative-only           1, 0                      0
ratio above P/Q         P, Q - P                  0; below (Q - P) G for a better one
coverage                -1, 1                     B; the cost is B + G - coverage
======================  ========================  ===================================
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from cpx.compiled.kernel import Ints, kernel

FAR = 1 << 62
"""The cost of a set that breaks a limit: above all others."""

ALLOWED = FAR >> 1
"""What allowed sets rank below, and others at or above."""


class Numbers(NamedTuple):
    """A objective as the kernels take it: scalars, which they keep in registers."""

    alpha: int
    beta: int
    base: int
    good: int
    least: int
    most: int
    gamma: int  # a set is precise where gamma c + delta l <= epsilon
    delta: int
    epsilon: int
    keep_idle: int


@dataclass(frozen=True)
class Objective:
    """Objective and limits of a search.

    alpha, beta: Cost of one unit of covered bad, and of excluded good weight. Neither is negative,
        or they are -1 and 1.
    bad, good: Weight of all bad, and of all good samples.
    least, most: Limits of the covered weight.
    precision: Least share of good weight in the covered weight.
    keep_idle: Keep candidates that exclude no bad sample, which no best set needs; needed where
        other sets than the best count.
    """

    alpha: int = 1
    beta: int = 1
    bad: int = 0
    good: int = 0
    least: int = 0
    most: int = FAR
    precision: Fraction | None = None
    keep_idle: bool = False

    @property
    def base(self) -> int:
        """The constant that keeps the cost from being negative."""
        return max(0, -self.alpha) * self.bad

    @property
    def highest(self) -> int:
        """The greatest cost a set can have."""
        return max(0, self.alpha) * self.bad + self.base + self.beta * self.good

    @property
    def limited(self) -> bool:
        """Whether some sets are not allowed."""
        return self.least > 0 or self.most < self.bad + self.good or self.precision is not None

    @property
    def keeps_idle(self) -> bool:
        """Whether a candidate that excludes no bad sample may be needed."""
        return self.keep_idle or self.most < self.bad + self.good

    def numbers(self, excluded: int = 0, keep_idle: bool = False) -> Numbers:
        """Return what the kernels take; ``keep_idle`` is as if the objective had it.

        ``excluded`` good weight is left out of their data, as it is excluded already. Costs
        are the same: what it costs is part of the base.
        """
        share = self.precision or Fraction(0)
        good, delta = self.good - excluded, share.denominator - share.numerator
        return Numbers(
            alpha=self.alpha,
            beta=self.beta,
            base=self.base + self.beta * excluded,
            good=good,
            least=self.least,
            most=self.most,
            gamma=share.numerator,
            delta=delta,
            epsilon=delta * good,
            keep_idle=int(keep_idle or self.keeps_idle),
        )


def cost(objective: Numbers, c: int, l: int) -> int:
    """Return the cost of a set; FAR when it breaks a limit."""
    covered = c + objective.good - l
    if covered < objective.least or covered > objective.most:
        return FAR
    if objective.gamma * c + objective.delta * l > objective.epsilon:
        return FAR
    return objective.base + objective.alpha * c + objective.beta * l


@kernel
def costs(objective: Numbers, covered: Ints, lost: Ints, into: Ints) -> None:
    """Write the cost of each pair of numbers."""
