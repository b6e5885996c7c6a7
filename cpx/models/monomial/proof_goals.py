"""What a set of features costs, and what limits of its two sums say about its cost.

A set covers the samples that agree on all its features. Let c be the disagreeing (bad) weight
that it covers and l the agreeing (good) weight that it does not cover. With G the weight of all
good samples it covers c + G - l, of which G - l agrees. All objectives here are sums

    alpha c + beta l,    to be at least the target:

========================  =============  ==========================================
claim                     alpha, beta    target
========================  =============  ==========================================
loss at least v           1, 1           v
negative-only at least v  1, 0           v
precision at most p/q     p, q - p       (q - p) G:  q (G - l) <= p (c + G - l)
coverage at most v        -1, 1          G - v
nothing is allowed        1, 1           above every cost
========================  =============  ==========================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FAR", "Goal"]

Ints = NDArray[np.int64]

FAR = 2**62
"""The cost of a set that is not allowed: above all others."""


@dataclass(frozen=True)
class Goal:
    """Every allowed set costs at least ``target``: alpha, beta and the limits.

    alpha, beta: Not negative, or -1 and 1.
    good: Weight of all good samples.
    least, most: Limits of what a set covers; ``most`` is None where there is none.
    gamma, delta: An allowed set has ``gamma c + delta l <= delta good``: its precision is at least
        gamma / (gamma + delta). Both are 0 where none is asked for.
    """

    alpha: int
    beta: int
    good: int
    target: int
    least: int = 0
    most: int | None = None
    gamma: int = 0
    delta: int = 0

    @property
    def limited(self) -> bool:
        """Whether some sets are not allowed for what they cover, or covering is what counts."""
        limits = self.least > 0 or self.most is not None or self.gamma + self.delta > 0
        return limits or self.alpha < 0

    def cost(self, c: Any, l: Any) -> Ints:
        """Return what sets with these sums cost; FAR where they are not allowed."""
        c, l = np.asarray(c, dtype=np.int64), np.asarray(l, dtype=np.int64)
        total = np.asarray(self.alpha * c + self.beta * l)
        if not self.limited:
            return total
        covered = c + self.good - l
        wrong = covered < self.least
        if self.most is not None:
            wrong |= covered > self.most
        wrong |= self.gamma * c + self.delta * l > self.delta * self.good
        return np.where(wrong, FAR, total)

    def low(self, c_low: Any, c_high: Any, l: Any) -> Ints:
        """Return a lower bound on the cost of all sets with c_low <= c' <= c_high and l' >= l.

        Proof. An allowed one of them covers at least ``least``: c' >= least - G + l' >=
        least - G + l, so c' >= c, the larger of this and c_low. It covers at most ``most``:
        l' >= c' + G - most >= c + G - most. It is precise, so gamma c + delta l <= delta G: none
        is left where c exceeds c_high or this fails. With alpha >= 0 it costs at least
        alpha c + beta (the larger of l and c + G - most). With alpha = -1, beta = 1 it costs
        l' - c' >= l - c_high, at least G - most, and by its precision c' <= (delta G - delta l)
        / gamma.
        """
        if not self.limited:
            return np.asarray(self.alpha * c_low + self.beta * l, dtype=np.int64)
        c = np.maximum(c_low, self.least - self.good + l)
        none = (c > c_high) | (self.gamma * c + self.delta * l > self.delta * self.good)
        if self.alpha >= 0:
            lost = l if self.most is None else np.maximum(l, c + self.good - self.most)
            total = self.alpha * c + self.beta * lost
        else:
            if self.gamma:
                c_high = np.minimum(c_high, self.delta * (self.good - l) // self.gamma)
            total = l - c_high
            if self.most is not None:
                total = np.maximum(total, self.good - self.most)
        return np.where(none, FAR, total)
