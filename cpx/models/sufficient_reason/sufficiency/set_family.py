"""Families of sets, with queries for a member that is disjoint from a given set."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import bind

__all__ = ["Family", "in_words", "places", "shuffled"]


def in_words(elements: int, n: int) -> NDArray[np.uint64]:
    """Return a set of numbers below n, the bits of an integer, as an array of words.

    >>> in_words(5, 70).tolist()
    [5, 0]
    """
    # An array over bytes could not be written to, and kernels take no such arrays.
    data = bytearray(elements.to_bytes(8 * (n // 64 + 1), "little"))
    return np.frombuffer(data, dtype="<u8")


def places(elements: int) -> list[int]:
    """Return the elements of a set, the bits of an integer, from the lowest.

    >>> places(5)
    [0, 2]
    """
    data = np.frombuffer(elements.to_bytes(elements.bit_length() // 8 + 1, "little"), np.uint8)
    found: list[int] = np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist()
    return found


def shuffled(elements: int, random: Random) -> list[int]:
    """Return the elements of a set in random order."""
    order = places(elements)
    random.shuffle(order)
    return order


class Family:
    """Sets of numbers below n, each an integer whose bits are its elements.

    >>> family = Family(100)
    >>> family.add(1 << 70 | 1 << 3)
    >>> family.disjoint(in_words(1 << 3, 100)) is None
    True
    >>> family.disjoint(in_words(1 << 4, 100)) == 1 << 70 | 1 << 3
    True
    """

    def __init__(self, n: int) -> None:
        from cpx.models.sufficient_reason.sufficiency.exact_search import disjoint

        self._n, self._disjoint = n, disjoint
        self._rows: NDArray[np.uint64] = np.empty((64, n // 64 + 1), dtype=np.uint64)
        self._sets: list[int] = []
        self._words = self._rows[0].copy()
        self._call: Callable[[], int] | None = None

    def add(self, elements: int) -> None:
        """Add a set."""
        count = len(self._sets)
        if count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[count] = in_words(elements, self._n)
        self._sets.append(elements)
        self._call = None

    def disjoint(self, words: NDArray[np.uint64]) -> int | None:
        """Return the latest set that has no element of the given one, if there is one."""
        if self._call is None:
            self._call = bind(self._disjoint, self._rows, len(self._sets), self._words)
        self._words[:] = words
        found = self._call()
        return None if found < 0 else self._sets[found]
