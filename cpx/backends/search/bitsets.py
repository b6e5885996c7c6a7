"""Bitsets: packing, weighted counting, compaction.

A matrix of bits has one row per word of 64 samples and one column per feature: the words of
many features side by side are what one popcount instruction on a vector takes. Rows of bad
samples come first; good ones begin at a word of their own. Weights are bit slices: after the
features come ``planes`` columns, and plane b has the samples whose weight has bit b. The
weight of a set of samples v is then sum over b of 2^b popcount(v & plane b). Without planes
every sample weighs 1. Rows are padded to a multiple of eight columns.
"""

from __future__ import annotations

import numpy as np

from cpx.compiled.kernel import LANES, Bools, Ints, Words, kernel


def stride_of(n: int, planes: int) -> int:
    """Return the words of a row with n features."""
    return -(-(n + planes) // LANES) * LANES


def aligned(size: int) -> Words:
    """Return zeroed words that begin where a line of the cache begins.

    Eight words at a time are read; unaligned, each time two lines would be.
    """
    words = np.zeros(size + LANES, dtype=np.uint64)
    skipped = -(words.ctypes.data // 8) % LANES
    return words[skipped : skipped + size]


def pack(agreement: Bools, bad: int, weights: Ints | None = None) -> tuple[Words, int]:
    """Return the matrix of bits, shape (words, stride), and how many of its rows are bad.

    With ``weights``, which must be positive, planes are appended unless all are 1.
    """
    columns = agreement
    planes = 0 if weights is None else planes_of(weights)
    if weights is not None and planes:
        slices = (weights[:, None] >> np.arange(planes)) & 1
        columns = np.column_stack([agreement, slices.astype(np.bool_)])
    m, n = columns.shape
    bad_words = -(-bad // 64)
    words = bad_words - (bad - m) // 64
    packed = np.zeros((stride_of(n, 0), words * 8), dtype=np.uint8)
    # Bits that lie side by side are packed several times faster.
    sides = np.ascontiguousarray(columns.T)
    for part, at in ((sides[:, :bad], 0), (sides[:, bad:], bad_words * 8)):
        filled = np.packbits(part, axis=1, bitorder="little")
        packed[:n, at : at + filled.shape[1]] = filled
    bits = np.ascontiguousarray(packed.view("<u8").T).astype(np.uint64, copy=False)
    return bits, bad_words


def planes_of(weights: Ints) -> int:
    """Return how many bit slices positive weights need, none if all are 1."""
    heaviest = int(weights.max(initial=1))
    return heaviest.bit_length() if heaviest > 1 else 0


def take(bits: Words, columns: Ints, n: int, planes: int) -> Words:
    """Return some of the n columns, in their order, and the planes behind them."""
    taken = np.zeros((bits.shape[0], stride_of(columns.size, planes)), dtype=np.uint64)
    taken[:, : columns.size + planes] = bits[:, np.append(columns, np.arange(n, n + planes))]
    return taken


@kernel
def count(
    workspace: Words,
    start: int,
    stride: int,
    bad_words: int,
    words: int,
    low: int,
    high: int,
    n: int,
    planes: int,
    cover: Words,
    bad: Ints,
    good: Ints,
) -> None:
    """Weigh ``cover`` & column p in the bad and in the good rows, for low <= p < high.

    ``n`` is where the planes begin. ``bad`` and ``good`` are overwritten up to seven places
    beyond the last column.
    """


@kernel
def compress(
    workspace: Words,
    start: int,
    stride: int,
    bad_words: int,
    words: int,
    columns: Ints,
    n: int,
    cover: Words,
    to: int,
    to_stride: int,
    buffer: Words,
    moves: Words,
) -> tuple[int, int]:
    """Write n columns, restricted to the samples of ``cover``, elsewhere in the workspace.

    Samples keep their order and fill the words without gaps, the good ones from a new word on.
    One row more than needed is written. ``cover`` is read up to seven places beyond its words.

    Returns: Words of bad samples, and of all, written for each column.
    """
