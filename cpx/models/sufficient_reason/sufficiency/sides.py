"""Ends of intervals as places of a search, on the positions of attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.ends import LOWER, UPPER, WHOLE, Ends
from cpx.models.sufficient_reason.sufficiency.grid import Grid
from cpx.models.sufficient_reason.sufficiency.set_family import in_words

__all__ = ["Sides"]


class Sides:
    """The places of ends of intervals, on positions of attributes.

    x: The positions of the row.
    """

    def __init__(self, ends: Ends, grid: Grid, x: NDArray[np.int64]) -> None:
        at = {a: place for place, a in enumerate(grid.used)}
        self.position = np.array([at[a] for a, _ in ends.pairs], dtype=np.int64)
        self.side = np.array([side for _, side in ends.pairs], dtype=np.int64)
        self._x, self._own = x, x[self.position]

    def limit(self, whole: NDArray[np.int64], held: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Leave out of a box what ends that are held leave out; return what is held whole."""
        some = np.unpackbits(held.view(np.uint8), count=len(self.side), bitorder="little") > 0
        for side, column in ((LOWER, 0), (UPPER, 1)):
            here = self.position[some & (self.side == side)]
            whole[here, column] = self._x[here]
            whole[here, 2] = 0
        alone = np.zeros(len(self._x), dtype=np.bool_)
        alone[self.position[some & (self.side == WHOLE)]] = True
        bits = int.from_bytes(np.packbits(alone, bitorder="little").tobytes(), "little")
        return in_words(bits, len(alone))

    def differing(self, point: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say beyond which ends a row of positions is; a missing value is beyond both."""
        there = point[self.position]
        beyond = np.where(self.side == LOWER, there < self._own, there > self._own)
        return np.where((self.side == WHOLE) | (there < 0), there != self._own, beyond)

    def spread(self, weights: NDArray[np.int64], point: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return weights of attributes by end: of those beyond which a row is."""
        return np.where(self.differing(point), weights[self.position], 0)

    def joined(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the greatest value of the ends of each attribute."""
        found = np.zeros(len(self._x), dtype=values.dtype)
        np.maximum.at(found, self.position, values)
        return found
