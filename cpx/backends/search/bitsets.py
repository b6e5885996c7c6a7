"""Bitsets: weighted counting and compaction of samples as :mod:`cpx.data.packed` packs them."""

from __future__ import annotations

import numpy as np

from cpx.compiled.kernel import LANES, Ints, Words, kernel


def aligned(size: int) -> Words:
    """Return zeroed words that begin where a line of the cache begins.

    Eight words at a time are read; unaligned, each time two lines would be.
    """
    words = np.zeros(size + LANES, dtype=np.uint64)
    skipped = -(words.ctypes.data // 8) % LANES
    return words[skipped : skipped + size]


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
