"""The root of a search: packed rows and columns, weighed once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.bits import count, pack, stride_of
from cpx.backends.search.jit import LANES

__all__ = ["Root"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(eq=False)
class Root:
    """A problem of merged rows: find the columns of least cost.

    Attributes
    ----------
    bits : ndarray of uint64, shape (words, stride)
    bad_words : int
        Words of bad samples; those of good samples follow.
    n, planes, k : int
        Columns, bit slices of the weights, most columns to choose.
    groups : ndarray
        At most one column of equal number; empty when all numbers differ.
    covered_bad, good : int
        Weight of all bad samples, and of all good ones.
    """

    bits: Words
    bad_words: int
    n: int
    planes: int
    k: int
    groups: Ints
    covered_bad: int
    good: int
    covered: Ints = field(init=False)
    lost: Ints = field(init=False)

    def __post_init__(self) -> None:
        words, stride = self.bits.shape
        arena = np.append(self.bits.ravel(), np.zeros(LANES, dtype=np.uint64))
        cover = np.full(words, 2**64 - 1, dtype=np.uint64)
        self.covered, self.lost = (np.zeros(self.n + LANES, dtype=np.int64) for _ in range(2))
        count(
            arena,
            0,
            stride,
            self.bad_words,
            words,
            0,
            self.n,
            self.n,
            self.planes,
            cover,
            self.covered,
            self.lost,
        )
        self.covered, self.lost = self.covered[: self.n], self.good - self.lost[: self.n]

    @classmethod
    def of(cls, agreement: Bools, weights: Ints, bad: int, groups: Ints, k: int) -> Root:
        """Pack a matrix whose first ``bad`` rows are bad."""
        bits, bad_words = pack(agreement, bad, weights)
        heaviest = int(weights.max(initial=1))
        planes = heaviest.bit_length() if heaviest > 1 else 0
        good, all_bad = int(weights[bad:].sum()), int(weights[:bad].sum())
        if np.unique(groups).size == groups.size:
            groups = groups[:0]
        return cls(
            bits, bad_words, agreement.shape[1], planes, k, groups.astype(np.int64), all_bad, good
        )

    def take(self, columns: Ints) -> Words:
        """Return the matrix of these columns, in this order, the planes behind them."""
        planes = np.arange(self.n, self.n + self.planes)
        taken = np.zeros(
            (self.bits.shape[0], stride_of(columns.size, self.planes)), dtype=np.uint64
        )
        taken[:, : columns.size + self.planes] = self.bits[:, np.append(columns, planes)]
        return taken
