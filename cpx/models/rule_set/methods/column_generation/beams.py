"""Beams: rules that cover samples of great weight, grown literal by literal for many seeds.

What a set of literals covers with one literal more is weighed for all literals at once. Literals
of a table are much alike: limits of one column, the values of a category, each with its opposite.
So a sample has a note only where a literal is not what the one before it leads to expect, which is
about once for each column. Notes are added up, and then the sums of literals follow from those of
the ones before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import (
    Bytes2,
    Floats,
    Ints,
    Shorts,
    Shorts2,
    Shorts3,
    Singles,
    Singles2,
    Words2,
    Words3,
    bind,
    kernel,
)
from cpx.data.bits import packed_columns

__all__ = ["Beams"]

_ROWS = 2**16  # that are looked at between two looks at the clock, a multiple of 64
_BLOCK = 2**22  # literals that are compared at a time

NOTHING, EVERYTHING = -2, -1
"""Literals that are compared with none, and with one that is true of all samples."""


class Notes(NamedTuple):
    """Which literals are true of m samples."""

    starts: Ints  # the notes of sample i: codes[starts[i] : starts[i + 1]]
    codes: Shorts  # j where it has literal j and not what that is compared with, d + j conversely
    bases: Ints  # what a literal is compared with: 2 * j for literal j, 2 * j + 1 for its opposite
    columns: Words2  # shape (d, words)


class Search(NamedTuple):
    """The sets of one size, and those that are grown from them; at most S of each."""

    weights: Floats  # of the samples
    allowed: Bytes2  # literals that are true of the seed of a beam, shape (beams, d)
    beams: Shorts2  # the places of the sets of a beam, -1 behind, shape (beams, width)
    covers: Words3  # the samples that a set covers, of even sizes and of odd ones, (2, S, words)
    sets: Shorts3  # their literals, increasing, shape (2, S, k)
    sums: Floats  # scratch: S times the sums of the codes, and one of all samples
    scores: Singles2  # scratch, shape (S, d)
    best: Ints  # scratch: of a beam
    grown: Shorts2  # of the sets with one literal more: what they grew from, what was added
    values: Singles  # what they cover
    at: Ints  # size and number of the sets; words from, and up to which, samples are looked at


def noted(literals: NDArray[np.bool_]) -> Notes:
    """Return the notes of samples.

    >>> notes = noted(np.array([[1, 0, 1], [1, 0, 0], [1, 0, 1]], dtype=bool))
    >>> notes.bases.tolist(), notes.starts.tolist(), notes.codes.tolist()
    ([-1, -2, -1], [0, 0, 1, 1], [5])
    """
    m, d = literals.shape
    columns = np.zeros((d, max(1, -(-m // 64))), dtype=np.uint64)
    packed_columns(literals, into=columns.view(np.uint8))
    costs = np.full((6, d), m + 1)
    costs[0] = np.bitwise_count(columns).sum(axis=1, dtype=np.int64)
    costs[1] = m - costs[0]
    for back in (1, 2):
        apart = np.bitwise_count(columns[back:] ^ columns[:-back]).sum(axis=1, dtype=np.int64)
        costs[2 * back, back:], costs[2 * back + 1, back:] = apart, m - apart
    kind = costs.argmin(axis=0)
    before = np.maximum(np.arange(d) - kind // 2, 0)
    bases = np.where(kind < 2, kind + NOTHING, 2 * before + kind % 2)
    counts, codes = np.zeros(m + 1, dtype=np.int64), list[NDArray[np.int32]]()
    step = max(1, _BLOCK // max(1, d))
    for at in range(0, m, step):
        block = literals[at : at + step]
        expected = block[:, before] & (kind > 1) ^ (kind % 2 == 1)
        row, j = np.nonzero(block ^ expected)
        counts[at + 1 : at + 1 + len(block)] = np.bincount(row, minlength=len(block))
        codes.append(np.where(block[row, j], j, d + j).astype(np.int32))
    return Notes(
        np.cumsum(counts), np.concatenate([*codes, np.zeros(0, np.int32)]), bases, columns
    )


class Beams:
    """Beam search over the literals of some samples, again and again with other weights.

    Not for several threads at once.
    """

    def __init__(self, literals: NDArray[np.bool_]) -> None:
        self._literals, self._notes = literals, noted(literals)
        self._made: dict[tuple[int, int], _Bound] = {}

    def sizes(
        self,
        weights: NDArray[np.float64],
        seeds: NDArray[np.intp],
        k: int,
        width: int,
        stop: Callable[[], bool],
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float32]]]:
        """Yield the sets of each size, shape (sets, size), with the weight that they cover.

        They are those of the beams of all seeds. ``stop`` is asked before samples are looked at.
        """
        if not len(seeds):
            return
        k = min(k, self._literals.shape[1])
        made = self._made.get((k, width))
        if made is None or len(made.search.beams) < len(seeds):
            made = self._made[k, width] = _Bound(self._notes, len(seeds), k, width)
        search = made.search
        search.weights[:] = weights
        search.allowed[: len(seeds)] = self._literals[seeds]
        search.beams[:] = -1
        search.beams[: len(seeds), 0] = 0
        first = search.covers.view(np.uint8)[0, 0]
        first[:] = 0
        there = np.packbits(weights != 0, bitorder="little")
        first[: len(there)] = there
        number = 1
        for size in range(k):
            search.at[:2] = size, number
            for _ in made.parts():
                if stop():
                    return
                made.weigh()
            number = made.choose()
            if not number:
                return
            yield search.sets[1 - size % 2, :number, : size + 1], search.values[:number]
            if size + 1 < k:
                search.at[1] = number
                for _ in made.parts():
                    if stop():
                        return
                    made.cover()


class _Bound:
    """The room for beams, and the kernels that work in it."""

    def __init__(self, notes: Notes, seeds: int, k: int, width: int) -> None:
        m, (d, words) = len(notes.starts) - 1, notes.columns.shape
        sets = seeds * width
        self.search = Search(
            np.zeros(m),
            np.zeros((seeds, d), dtype=np.uint8),
            np.zeros((seeds, width), dtype=np.int32),
            np.zeros((2, sets, words), dtype=np.uint64),
            np.zeros((2, sets, k), dtype=np.int32),
            np.zeros(sets * (2 * d + 1)),
            np.zeros((sets, d), dtype=np.float32),
            np.zeros(2 * width, dtype=np.int64),
            np.zeros((2, sets), dtype=np.int32),
            np.zeros(sets, dtype=np.float32),
            np.zeros(4, dtype=np.int64),
        )
        self.weigh, self.choose = (
            bind(_weigh, notes, self.search),
            bind(_choose, notes, self.search),
        )
        self.cover = bind(_cover, notes, self.search)

    def parts(self) -> Iterator[None]:
        """Go through the words of the samples."""
        words, step = self.search.covers.shape[2], max(1, _ROWS // 64)
        for at in range(0, words, step):
            self.search.at[2:] = at, min(words, at + step)
            yield


@kernel
def _weigh(notes: Notes, search: Search) -> None:
    """Add up the notes of the samples that sets cover, in some words; in the first, from 0."""


@kernel
def _choose(notes: Notes, search: Search) -> int:
    """Grow sets by the best literals of each beam; return how many different ones there are.

    Of what covers the same weight in one beam, the first set and literal is taken.
    """


@kernel
def _cover(notes: Notes, search: Search) -> None:
    """Note what the grown sets cover, in some words."""
