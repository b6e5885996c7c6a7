"""Beam search for rules that cover great weight, from many samples side by side.

Literals are columns of bits, and weights are integers in bit slices: what a set of literals covers
with one literal more is a sum of popcounts, of eight literals at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import Ints, Ints2, Shorts2, Shorts3, Words, Words2, Words3, bind, kernel
from cpx.data.packed import pack

__all__ = ["Beams", "Search"]

SIZE, SETS, NEXT, SEEDS, FOUND, WORK, BUDGET = range(7)
"""Places of numbers in ``Search.at``."""

_BITS, _FEW_BITS = 15, 6  # of the greatest weight, where weights are not whole
_MANY = 2**14  # samples, whose weights have few bits then: each takes as long
_BUDGET = 2**22  # blocks of eight words that are looked at between two looks at the clock


class Search(NamedTuple):
    """The sets of one size, and those that are grown from them; at most S of each.

    Samples are numbered by their places in the words of ``bits``.
    """

    bits: Words2  # of samples and literals, as cpx.data.packed has them
    planes: Words3  # bit slices of the weights above 0, and of those below: (2, planes, words)
    free: Words  # the samples that count
    seeds: Ints  # a sample for each beam
    beams: Shorts2  # the places of the sets of a beam, -1 behind, shape (beams, width)
    covers: Words3  # the samples that a set covers, of even sizes and of odd ones, (2, S, words)
    sets: Shorts3  # their literals, increasing, shape (2, S, k)
    scores: Ints2  # scratch: what sets with a literal more cover, shape (S, stride)
    best: Ints  # scratch: of a beam
    grown: Shorts2  # scratch: what sets with one literal more grew from, and what was added
    rows: Ints  # scratch: words of samples that weigh something
    masks: Words  # scratch: what a set covers of them
    found: Shorts2  # all sets, -1 behind them
    values: Ints  # what they cover
    at: Ints  # literals of sets, sets, which is next; beams; sets found; work, and when to stop


class Beams:
    """Beam search over the literals of some samples, again and again with other weights.

    same: Which samples are of the class: what has weights of one sign lies together.
    work: Of all searches, in blocks of words that were looked at.
    """

    def __init__(self, literals: NDArray[np.bool_], same: NDArray[np.bool_]) -> None:
        (m, self._d), self.work = literals.shape, 0
        order, bad = np.argsort(same, kind="stable"), int(m - same.sum())
        self._bits, bad_words = pack(literals, bad, rows=order)
        self._places = np.empty(m, dtype=np.int64)
        self._places[order] = np.arange(m) + (np.arange(m) >= bad) * (64 * bad_words - bad)

    def cover(self, features: Sequence[int]) -> NDArray[np.uint64]:
        """Return words with a bit for each sample that a rule covers, and others."""
        found: NDArray[np.uint64] = np.bitwise_and.reduce(self._bits[:, list(features)], axis=1)
        return found

    def samples(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Say which samples have their bit in some words, shape (m,)."""
        bits = np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)
        return bits[self._places]

    def covered(self, rules: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
        """Say which samples some rules cover, shape (rules, m)."""
        words = np.zeros((len(rules), len(self._bits)), dtype=np.uint64)
        for r, rule in enumerate(rules):
            words[r] = self.cover(rule)
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").view(np.bool_)
        return bits[:, self._places]

    def words(self, samples: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Return words with a bit for each of some samples, shape (m,)."""
        bits = np.zeros(64 * len(self._bits), dtype=np.bool_)
        bits[self._places] = samples
        return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64, copy=False)

    def search(self, weights: NDArray[np.float64], seeds: int, k: int, width: int) -> Search:
        """Return room for a search with so many beams, in which nothing was looked for yet.

        Weights that are not whole are rounded to whole parts of the greatest.
        """
        (words, stride), k = self._bits.shape, min(k, self._d)
        most = float(np.abs(weights).max(initial=0.0))
        if (weights != np.rint(weights)).any():
            bits = _BITS if len(weights) < _MANY else _FEW_BITS
            weights = weights * 2.0 ** (bits - math.frexp(most)[1])
        whole = np.rint(weights).astype(np.int64)
        planes = int(np.abs(whole).max(initial=0)).bit_length()
        slices = np.zeros((2, planes, words), dtype=np.uint64)
        for side, sizes in enumerate((np.maximum(whole, 0), np.maximum(-whole, 0))):
            for b in range(int(sizes.max(initial=0)).bit_length()):
                slices[side, b] = self.words((sizes >> b) & 1 != 0)
        sets = seeds * width
        return Search(
            self._bits,
            slices,
            np.full(words, 2**64 - 1, dtype=np.uint64),
            np.zeros(seeds, dtype=np.int64),
            np.zeros((seeds, width), dtype=np.int32),
            np.zeros((2, sets, words), dtype=np.uint64),
            np.zeros((2, sets, k), dtype=np.int32),
            np.zeros((sets, stride), dtype=np.int64),
            np.zeros(width, dtype=np.int64),
            np.zeros((2, sets), dtype=np.int32),
            np.zeros(2 * planes * words, dtype=np.int64),
            np.zeros(2 * planes * words, dtype=np.uint64),
            np.zeros((sets * k, k), dtype=np.int32),
            np.zeros(sets * k, dtype=np.int64),
            np.zeros(7, dtype=np.int64),
        )

    def sets(
        self,
        weights: NDArray[np.float64],
        seeds: NDArray[np.intp],
        k: int,
        width: int,
        stop: Callable[[], bool],
    ) -> list[tuple[int, ...]]:
        """Return the sets of all sizes, of the beams of all seeds, by decreasing weight covered.

        ``stop`` is asked now and then.
        """
        if not len(seeds):
            return []
        search = self.search(weights, len(seeds), k, width)
        search.seeds[:] = self._places[seeds]
        search.at[SEEDS] = len(seeds)
        call = bind(_grow, search)
        until(call, search.at, stop)
        self.work += int(search.at[WORK])
        number = int(search.at[FOUND])
        values, found = -search.values[:number], search.found[:number].tolist()
        sets = [tuple(j for j in one if j >= 0) for one in found]
        return [features for _, features in sorted(zip(values.tolist(), sets, strict=True))]


def until(call: Callable[[], int], numbers: Ints, stop: Callable[[], bool]) -> int:
    """Call a search again and again until it is done or to stop; return what it says."""
    said = GOING
    while said == GOING and not stop():
        numbers[BUDGET] = numbers[WORK] + _BUDGET
        said = call()
    return said


DONE, GOING, FULL = range(3)
"""What a search says: it has ended, there is more to do, there is no room left."""


@kernel
def _grow(search: Search) -> int:
    """Grow sets from none, of which at most the best different ones of each beam are kept.

    Of what covers the same weight in one beam, the first set and literal is taken.
    """
