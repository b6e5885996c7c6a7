"""Small changes that a set of places does not meet, by local search from the row itself.

The exact search goes from where a rival gains most back to x, and ends at changes of many places,
most of which any set meets. Here places are moved away from x, those that gain most by themselves
first, until a rival wins; so few of them are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.sufficiency.oracle import SufficiencyOracle
from cpx.models.sufficient_reason.sufficiency.set_family import in_words

__all__ = ["SmallChanges"]

# Orders that are tried, and how far all but the first stray from the gains, as their logarithms.
_ORDERS, _NOISE = 3, 1.0


class SmallChanges:
    """Finds changes of few places.

    oracle: Of the row.
    seed: Of the orders.
    """

    def __init__(self, oracle: SufficiencyOracle, seed: int) -> None:
        self._oracle, self.random = oracle, np.random.default_rng(seed)
        self._gains: dict[int, NDArray[np.float64]] = {}

    def avoiding(self, held: int) -> Iterator[int]:
        """Yield changes that have none of these places."""
        oracle, words = self._oracle, in_words(held, len(self._oracle.feature))
        for rival in oracle.rivals:
            oracle.look()
            space, gains = oracle.space(rival), self._gains_of(rival)
            for noise in [0.0] + [_NOISE] * (_ORDERS - 1):
                noisy = gains + noise * self.random.standard_normal(len(gains))
                space.order[:] = order = np.argsort(-noisy, kind="stable")
                space.point[:] = oracle.x
                with oracle.holding(space, words):
                    if space.climb() < space.enough:
                        continue
                    space.order[:] = order[::-1]
                    space.restore()
                yield oracle.learn(space.point)

    def _gains_of(self, rival: int) -> NDArray[np.float64]:
        """Return the logarithms of what each attribute gains a rival by itself."""
        if rival not in self._gains:
            oracle, space = self._oracle, self._oracle.space(rival)
            n = len(oracle.x)
            totals = np.empty(n + 1)
            for a in range(n + 1):
                space.point[:] = oracle.x
                space.held[:] = in_words(((1 << n) - 1) & ~(1 << a), n)
                totals[a] = space.deepen()
            self._gains[rival] = np.log(np.maximum(totals[:n] - totals[n], 1.0))
        return self._gains[rival]
