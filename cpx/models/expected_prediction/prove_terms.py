"""Prices of attributes for proofs about expected predictions, by the ascent of the search.

The multipliers of the search are prices of a proof: one for each attribute of each term. They
come close to those of the linear relaxation in a small part of the time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part
from cpx.models.expected_prediction.proof_terms import LARGEST, Terms
from cpx.models.expected_prediction.search.table_sums.ascent import Workspace, ascend
from cpx.models.expected_prediction.search.table_sums.terms import (
    FREE,
    IN,
    OUT,
    largest_gains,
    restrict,
)
from cpx.models.expected_prediction.search.table_sums.terms import Terms as SearchTerms

__all__ = ["TermPrices"]

Ints = NDArray[np.int64]

# The steps of a round, the rounds, and the share of what is left of a gap that a round must take.
_STEPS, _ROUNDS, _SETTLED = 40, 12, 0.02
_FAR = 2**62


class TermPrices:
    """The terms of a component as the kernels of the search read them.

    terms: With one attribute or more.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._whole = SearchTerms(
            first=terms.first,
            size=np.bincount(terms.owner, minlength=terms.start.size),
            feature=terms.of,
            origin=np.arange(terms.of.size),
            start=terms.start,
            table=terms.values,
        )
        self._part = self._whole.copied()
        self._work = Workspace.of(self._whole, np.zeros(terms.n, dtype=np.int64))
        self._ranges = self._whole.ranges()
        # What prices may add up to, so that they can be written, and no sum of them is too large.
        self.small = float(self._ranges.sum(dtype=np.float64)) < LARGEST

    def idle(self, part: Part) -> Part:
        """Leave out what :meth:`~cpx.models.expected_prediction.proof_check.Question.without_idle`
        does.
        """
        gains = self._work.price
        self._restrict(part)
        largest_gains(self._part, gains)
        return Part(part.kept, part.out | (part.free & (gains <= 0)))

    def improved(self, part: Part, room: int, most: int, prices: Ints) -> Ints:
        """Return prices by which a part is worth less than by others, ``most`` if they can."""
        decided, work = self._restrict(part), self._work
        bits = int(self._part.size.sum())
        origin = self._part.origin[:bits]
        work.multiplier[:bits] = work.best[:bits] = prices[origin]
        work.limit[:bits] = self._ranges[origin]
        work.direction[:bits] = 0
        work.doubt[:] = 0
        work.pace[:] = 1.0, 0.0
        bound, low = _FAR, most
        for _ in range(_ROUNDS):
            before = bound
            bound, low = ascend(
                *(self._part, work, decided, room, self._terms.constant, most, most),
                *(-_FAR, low, before, _STEPS),
            )
            if before - bound < _SETTLED * (bound - low):
                break
        found = np.zeros_like(prices)
        found[origin] = work.best[:bits]
        return found

    def _restrict(self, part: Part) -> NDArray[np.uint8]:
        decided = np.where(part.kept, IN, np.where(part.out, OUT, FREE)).astype(np.uint8)
        restrict(self._whole, self._part, decided)
        return decided
