"""A growing family of sets that can be asked for one disjoint from a given set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Family"]


class Family:
    """Sets of numbers below n, each an integer whose bits are its elements.

    Parameters
    ----------
    n : int

    Examples
    --------
    >>> family = Family(100)
    >>> family.add(1 << 70 | 1 << 3)
    >>> family.disjoint(1 << 3), family.disjoint(1 << 4) == 1 << 70 | 1 << 3
    (None, True)
    """

    def __init__(self, n: int) -> None:
        self._words = max(-(-n // 64), 1)
        self._rows: NDArray[np.uint64] = np.empty((self._words, 64), dtype=np.uint64)
        self._sets: list[int] = []

    def add(self, elements: int) -> None:
        """Add a set."""
        n = len(self._sets)
        if n == self._rows.shape[1]:
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)], axis=1)
        self._rows[:, n] = self._split(elements)
        self._sets.append(elements)

    def disjoint(self, elements: int) -> int | None:
        """Return a set of the family that has no element of the given one, if there is one."""
        n = len(self._sets)
        if not n:
            return None
        common = self._rows[0, :n] & np.uint64(elements & 0xFFFFFFFFFFFFFFFF)
        for row, word in zip(self._rows[1:, :n], self._split(elements)[1:]):
            common |= row & word
        return None if common.all() else self._sets[int(common.argmin())]

    def _split(self, elements: int) -> NDArray[np.uint64]:
        return np.frombuffer(elements.to_bytes(8 * self._words, "little"), dtype="<u8")
