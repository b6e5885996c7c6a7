"""Labelled samples as columns of bits, as the exact search takes them.

A matrix of bits has one row per word of 64 samples and one column per feature: the words of
many features side by side are what one popcount instruction on a vector takes. Rows of bad
samples come first; good ones begin at a word of their own. Weights are bit slices: after the
features come ``planes`` columns, and plane b has the samples whose weight has bit b. The
weight of a set of samples v is then sum over b of 2^b popcount(v & plane b). Without planes
every sample weighs 1. Rows are padded to a multiple of eight columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cpx.compiled.kernel import LANES, Bools, Ints, Words
from cpx.data.bits import packed_columns

__all__ = ["Packed", "pack", "planes_of", "stride_of", "take", "unpacked"]


def stride_of(n: int, planes: int) -> int:
    """Return the words of a row with n features."""
    return -(-(n + planes) // LANES) * LANES


def pack(
    agreement: Bools,
    bad: int,
    weights: Ints | None = None,
    rows: Ints | None = None,
    places: Ints | None = None,
) -> tuple[Words, int]:
    """Return the matrix of bits, shape (words, stride), and how many of its rows are bad.

    weights: By row of what is packed, positive; planes are appended unless all are 1.
    rows, places: Which rows and columns, in their order; all when not given.
    """
    rows = np.arange(len(agreement)) if rows is None else rows
    n = agreement.shape[1] if places is None else places.size
    planes = 0 if weights is None else planes_of(weights)
    bad_words = -(-bad // 64)
    words = bad_words - (bad - rows.size) // 64
    packed = np.zeros((n + planes, words * 8), dtype=np.uint8)
    for part, at in ((slice(bad), 0), (slice(bad, None), bad_words * 8)):
        packed_columns(agreement, rows[part], places, packed[:n, at:])
        for b in range(planes):
            assert weights is not None
            plane = np.packbits((weights[part] >> b) & 1 != 0, bitorder="little")
            packed[n + b, at : at + plane.size] = plane
    bits = np.zeros((words, stride_of(n, planes)), dtype=np.uint64)
    bits[:, : n + planes] = packed.view("<u8").T
    return bits, bad_words


def unpacked(bits: Words, bad_words: int, bad: int, m: int, n: int) -> Bools:
    """Return the n features of m samples, shape (m, n), of which ``bad`` are bad.

    >>> table = np.array([[True, False], [False, True], [True, True]])
    >>> bits, bad_words = pack(table, 1)
    >>> bool((unpacked(bits, bad_words, 1, 3, 2) == table).all())
    True
    """
    columns = np.ascontiguousarray(bits[:, :n].T).astype("<u8", copy=False).view(np.uint8)
    each = np.unpackbits(columns, axis=1, bitorder="little")
    good = 64 * bad_words
    return np.concatenate([each[:, :bad], each[:, good : good + m - bad]], axis=1).T.astype(bool)


def planes_of(weights: Ints) -> int:
    """Return how many bit slices positive weights need, none if all are 1."""
    heaviest = int(weights.max(initial=1))
    return heaviest.bit_length() if heaviest > 1 else 0


def take(bits: Words, columns: Ints, n: int, planes: int) -> Words:
    """Return some of the n columns, in their order, and the planes behind them."""
    taken = np.zeros((bits.shape[0], stride_of(columns.size, planes)), dtype=np.uint64)
    taken[:, : columns.size + planes] = bits[:, np.append(columns, np.arange(n, n + planes))]
    return taken


@dataclass(frozen=True, eq=False)
class Packed:
    """Samples as a matrix of bits: those of another class first, in each part the heaviest.

    bits: Shape (words, stride).
    bad_words: How many rows of ``bits`` are of samples of another class.
    d: Number of features.
    bad: Number of samples of another class.
    weights (m,): In the order of the bits.
    """

    bits: Words
    bad_words: int
    d: int
    bad: int
    weights: Ints

    @classmethod
    def of(cls, agreement: Bools, same: Bools, weights: Ints) -> Packed:
        """Pack a table, shape (m, d)."""
        order = np.lexsort((-weights, same))
        bad = int(same.size - same.sum())
        bits, bad_words = pack(agreement, bad, weights[order], order)
        return cls(bits, bad_words, agreement.shape[1], bad, weights[order])

    @property
    def planes(self) -> int:
        """Bit slices of the weights."""
        return planes_of(self.weights)

    def counts(self) -> Ints:
        """Return how many samples have each feature, shape (d,)."""
        each = np.bitwise_count(self.bits[:, : self.d])
        return np.asarray(each.sum(axis=0, dtype=np.int64))

    def flipped(self, features: Bools) -> Packed:
        """Return the same samples with some features, shape (d,), negated.

        >>> table, same = np.array([[1, 0], [1, 1]], dtype=bool), np.array([True, False])
        >>> one = Packed.of(table, same, np.array([1, 5]))
        >>> other = Packed.of(table ^ [False, True], same, np.array([1, 5]))
        >>> bool((one.flipped(np.array([False, True])).bits == other.bits).all())
        True
        """
        m, bits = self.weights.size, self.bits.copy()
        there, _ = pack(np.ones((m, 1), dtype=bool), self.bad)
        bits[:, : self.d] ^= np.where(features, there[:, :1], np.uint64(0))
        return replace(self, bits=bits)
