"""Sums of leaves times the probability that they are reached, in exact integers, many at once.

A probability is an integer over 2**30 for each attribute that a leaf tests. Integers of any length
are rows of digits to the base 2**30 here: what is multiplied, a digit and a probability, is below
2**60, so that 64 bits hold it with what is carried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cpx.models.expected_prediction.judge_states import Leaf, Probabilities

_BITS = 30
_MASK = (1 << _BITS) - 1

_AT_ONCE = 2**16
"""Leaves times components that are worked on at once."""

Ints = NDArray[np.int64]


class LeafSums:
    """What leaves add under each component of a distribution whose attributes are independent.

    values: What each leaf says for the class of x.
    own: The states of x.
    look: Called now and then; it may raise.
    """

    def __init__(
        self,
        leaves: Sequence[Leaf],
        values: Sequence[int],
        own: Sequence[int],
        chances: Probabilities,
        look: Callable[[], None],
    ) -> None:
        self._look, self._n = look, len(chances.sizes)
        self.deepest = max(len(leaf.tests) for leaf in leaves)
        # Of each leaf its tests, of which there may be fewer than of others: then attribute n,
        # which is never known, and an event that is certain.
        shape = len(leaves), self.deepest
        self._attribute, self._event = np.full(shape, self._n), np.zeros(shape, dtype=np.int64)
        places: dict[tuple[int, int], int] = {}
        masses = [[1 << _BITS] * len(chances.weights)]
        wrong = [False]
        for i, leaf in enumerate(leaves):
            look()
            for slot, (a, some) in enumerate(leaf.tests.items()):
                # By identity: events are long integers, and each is kept once.
                if (a, id(some)) not in places:
                    places[a, id(some)] = len(masses)
                    masses.append(chances.masses(a, some))
                    wrong.append(not some >> own[a] & 1)
                self._attribute[i, slot], self._event[i, slot] = a, places[a, id(some)]
        self._wrong = np.array(wrong)[self._event]
        self._masses = np.array(masses, dtype=np.int64)
        self._digits = _digits(values)

    def of(self, held: frozenset[int]) -> list[int]:
        """Return the sums, over 2**30 to the power of ``deepest``, given the states of x."""
        known = np.zeros(self._n + 1, dtype=np.bool_)
        known[[*held]] = True
        given = known[self._attribute]
        reached = np.flatnonzero(~(given & self._wrong).any(axis=1))
        events = np.where(given, 0, self._event)[reached]
        size = max(1, _AT_ONCE // self._masses.shape[1])
        sums = [0] * self._masses.shape[1]
        for first in range(0, len(reached), size):
            part = slice(first, first + size)
            digits = self._times(self._digits[:, reached[part]], events[part]).sum(axis=1)
            for power, row in enumerate(digits.tolist()):
                sums = [s + (digit << _BITS * power) for s, digit in zip(sums, row, strict=True)]
        return sums

    def _times(self, values: Ints, events: Ints) -> Ints:
        """Return the digits of values times probabilities: (V, n) to (V + deepest, n, C)."""
        count, n = values.shape
        digits = np.zeros((count + self.deepest, n, self._masses.shape[1]), dtype=np.int64)
        digits[:count] = values[:, :, None]
        for slot in range(self.deepest):
            self._look()
            factor = self._masses[events[:, slot]]
            carried = np.zeros_like(factor)
            for place in range(count + slot):
                carried += digits[place] * factor
                np.bitwise_and(carried, _MASK, out=digits[place])
                carried >>= _BITS
            digits[count + slot] = carried
        return digits


def _digits(values: Sequence[int]) -> Ints:
    """Return integers as digits, the lowest first; the highest has the sign."""
    count = max(max(abs(value).bit_length() for value in values), 1) // _BITS + 1
    digits = np.empty((count, len(values)), dtype=np.int64)
    rest = [*values]
    for place in range(count - 1):
        digits[place] = [value & _MASK for value in rest]
        rest = [value >> _BITS for value in rest]
    digits[-1] = rest
    return digits
