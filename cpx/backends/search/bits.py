"""Bitsets: packing, weighted counting, compaction.

A matrix of bits has one row per word of 64 samples and one column per feature: the words of
many features side by side are what one popcount instruction on a vector takes. Rows of bad
samples come first; good ones begin at a word of their own. Weights are bit slices: after the
features come ``planes`` columns, and plane b has the samples whose weight has bit b. The
weight of a set of samples v is then sum over b of 2^b popcount(v & plane b). Without planes
every sample weighs 1. Rows are padded to a multiple of eight columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.jit import LANES, add_counts, add_seven, kernel, popcount, squeeze

__all__ = ["compress", "count", "dominance", "first_words", "pack", "stride_of", "weigh_with"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_ONE = np.uint64(1)
_ALL = np.uint64(2**64 - 1)


@kernel
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
    if weights is not None and (weights != 1).any():
        planes = int(weights.max()).bit_length()
        slices = (weights[:, None] >> np.arange(planes)) & 1
        columns = np.column_stack([agreement, slices.astype(np.bool_)])
    parts = [_pack_rows(columns[:bad]), _pack_rows(columns[bad:])]
    return np.concatenate(parts), parts[0].shape[0]


def _pack_rows(rows: Bools) -> Words:
    m, n = rows.shape
    words, stride = -(-m // 64), stride_of(n, 0)
    packed = np.zeros((words * 8, stride), dtype=np.uint8)
    packed[: -(-m // 8), :n] = np.packbits(rows, axis=0, bitorder="little")
    by_word = packed.reshape(words, 8, stride).transpose(0, 2, 1)
    return np.ascontiguousarray(by_word).view("<u8")[:, :, 0].astype(np.uint64)


@kernel
def dominance(bits: Words, n: int, bad_words: int, above: Bools) -> None:
    """Set ``above[a, b]`` to whether b excludes all bad rows of a, and only good ones of a."""
    for a in range(n):
        for b in range(n):
            holds = a != b
            w = 0
            while holds and w < bits.shape[0]:
                if w < bad_words:
                    holds = bits[w, b] & ~bits[w, a] == 0
                else:
                    holds = bits[w, a] & ~bits[w, b] == 0
                w += 1
            above[a, b] = holds


@kernel
def count(
    arena: Words,
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
    for p in range(low, high + LANES):
        bad[p] = 0
        good[p] = 0
    w = 0
    while w < words:
        sums, end = (bad, bad_words) if w < bad_words else (good, words)
        row = start + w * stride
        if planes == 0 and w + 7 <= end:
            for p in range(low, high, LANES):
                add_seven(sums, p, arena, row + p, stride, cover, w)
            w += 7
            continue
        word = cover[w]
        w += 1
        if word == 0:
            continue
        if planes == 0:
            for p in range(low, high, LANES):
                add_counts(sums, p, arena, row + p, word, 0)
        for b in range(planes):
            part = word & arena[row + n + b]
            if part != 0:
                for p in range(low, high, LANES):
                    add_counts(sums, p, arena, row + p, part, b)


@kernel
def weigh_with(
    arena: Words,
    start: int,
    stride: int,
    bad_words: int,
    words: int,
    n: int,
    planes: int,
    cover: Words,
    p: int,
    most: int,
) -> tuple[int, int]:
    """Weigh ``cover`` & column p in the bad and in the good rows; -1 for the second, and any
    number above ``most`` for the first, when the first is above ``most``.
    """
    bad = good = 0
    for w in range(words):
        if w == bad_words and bad > most:
            return bad, -1
        row = start + w * stride
        word = cover[w] & arena[row + p]
        weight = 0
        if planes == 0:
            weight = popcount(word)
        elif word != 0:
            for b in range(planes):
                weight += popcount(word & arena[row + n + b]) << b
        if w < bad_words:
            bad += weight
        else:
            good += weight
    return bad, good


@kernel
def _moves(masks: Words, moves: Words) -> None:
    """Prepare the compression of words by up to sixteen masks (Hacker's Delight, 7-4).

    Bit i of a compressed word comes from the i-th set bit of the mask. A bit moves right by
    the number of zeros of the mask below it; ``moves[16 * s + w]`` are the bits that, at step s,
    move by 2^s under mask w. The steps are the same for all words under one mask, and the
    preparation is vectorised over the masks.
    """
    for w in range(masks.size):
        mask = masks[w]
        left = ~mask << _ONE
        for s in range(6):
            parity = left ^ (left << _ONE)
            parity ^= parity << np.uint64(2)
            parity ^= parity << np.uint64(4)
            parity ^= parity << np.uint64(8)
            parity ^= parity << np.uint64(16)
            parity ^= parity << np.uint64(32)
            move = parity & mask
            mask = (mask ^ move) | (move >> np.uint64(1 << s))
            left &= ~parity
            moves[np.uint64(16 * s + w)] = move


# Slices, and unsigned numbers as indices: these spare the check for negative indices, which
# would keep the loops below from being vectorised.


@kernel
def _gather(arena: Words, row: int, columns: Ints, n: int, buffer: Words) -> None:
    for p in range(n):
        buffer[p] = arena[np.uint64(row + columns[p])]


@kernel
def _append(words: Words, buffer: Words, n: int, shift: Any) -> None:
    for p in range(n):
        words[p] |= buffer[p] << shift


@kernel
def _carry(words: Words, buffer: Words, n: int, shift: Any) -> None:
    """Write what was shifted out of the words before; ``shift`` is not 0."""
    back = np.uint64(64) - shift
    for p in range(n):
        words[p] = buffer[p] >> back


@kernel
def compress(
    arena: Words,
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
    """Write n columns, restricted to the samples of ``cover``, to zeroed words elsewhere.

    Samples keep their order and fill the words without gaps, the good ones from a new word on.

    Returns
    -------
    (int, int)
        Words of bad samples, and of all, written for each column.
    """
    filled = 0
    bad_filled = 0
    for w in range(words):
        if w & 15 == 0:
            _moves(cover[w : min(w + 16, words)], moves)
        if w == bad_words:
            filled = (filled + 63) & -64
            bad_filled = filled
        mask = cover[w]
        if mask == 0:
            continue
        row = start + w * stride
        _gather(arena, row, columns, n, buffer)
        if mask != _ALL:
            for p in range(0, n, LANES):
                squeeze(buffer, p, mask, moves, w & 15)
        shift = np.uint64(filled & 63)
        out = filled >> 6
        target = to + out * to_stride
        filled += popcount(mask)
        _append(arena[target : target + n], buffer, n, shift)
        if filled > 64 * (out + 1):
            target += to_stride
            _carry(arena[target : target + n], buffer, n, shift)
    if bad_words == words:
        bad_filled = (filled + 63) & -64
    return bad_filled >> 6, (filled + 63) >> 6


@kernel
def first_words(
    arena: Words,
    start: int,
    stride: int,
    bad_words: int,
    columns: Ints,
    n: int,
    cover: Words,
    into: Words,
    to_stride: int,
    most: int,
    buffer: Words,
    moves: Words,
) -> int:
    """Write n columns, on the first bad samples of ``cover``, to at most ``most`` words each.

    Returns
    -------
    int
        Number of samples; 64 for each word, but for the last.
    """
    for at in range(most * to_stride):
        into[at] = 0
    filled = 0
    for w in range(bad_words):
        if w & 15 == 0:
            _moves(cover[w : min(w + 16, bad_words)], moves)
        mask = cover[w]
        if mask == 0:
            continue
        row = start + w * stride
        _gather(arena, row, columns, n, buffer)
        if mask != _ALL:
            for p in range(0, n, LANES):
                squeeze(buffer, p, mask, moves, w & 15)
        shift = np.uint64(filled & 63)
        out = filled >> 6
        target = out * to_stride
        filled += popcount(mask)
        _append(into[target : target + n], buffer, n, shift)
        if filled >= 64 * most:
            return 64 * most
        if filled > 64 * (out + 1):
            target += to_stride
            _carry(into[target : target + n], buffer, n, shift)
    return filled
