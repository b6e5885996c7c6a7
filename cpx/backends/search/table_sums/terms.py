"""Sums of tables, laid out along a spanning forest: the kernels that fix features.

A term is a table over a few features. Terms that share features are joined to a forest
(:mod:`~cpx.backends.search.table_sums.forest`); the first bits of a term's index are the features
that it shares with its parent, the *separator*, and the others are its *own* bits. A feature has
one own bit in each connected part of the forest whose terms have it: a *copy* of the feature.

Of a node of the search, where some features are chosen and some left out, the terms have the
features that are left. The forest is that of the whole problem.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpx.compiled.kernel import Bytes, Ints, kernel

__all__ = ["FREE", "IN", "OUT", "Terms", "largest_gains", "restrict"]

FREE, IN, OUT = np.uint8(0), np.uint8(1), np.uint8(2)
"""What is decided of a feature."""


class Terms(NamedTuple):
    """Tables over features, and the forest that they are joined to.

    Children come before their parents. Arrays have room for the terms of the whole problem.

    Attributes
    ----------
    parent, child, sibling : ndarray of int64
        Of each term: its parent, its first child, the next child of its parent; -1 for none.
    first, size, shared : ndarray of int64
        Where the bits of a term begin, how many it has, and how many of them are of the
        separator: these are the first.
    feature, origin : ndarray of int64
        Of each bit: the feature, and the bit of the whole problem.
    start, table : ndarray of int64
        Where the values of a term begin, and the values of all.
    place, map : ndarray of int64
        ``map[place[t] + y]`` is what index y of the parent's table says of the separator of t.
    """

    parent: Ints
    child: Ints
    sibling: Ints
    first: Ints
    size: Ints
    shared: Ints
    feature: Ints
    origin: Ints
    start: Ints
    table: Ints
    place: Ints
    map: Ints


@kernel
def restrict(whole: Terms, part: Terms, decided: Bytes) -> None:
    """Write the terms of a node: those of the whole where some features are decided."""
    at = entries = 0
    for t in range(whole.parent.size):
        begin, given, mask, size, shared = whole.first[t], 0, 0, 0, 0
        for i in range(whole.size[t]):
            what = decided[whole.feature[begin + i]]
            if what == FREE:
                part.feature[at + size] = whole.feature[begin + i]
                part.origin[at + size] = begin + i
                mask |= 1 << i
                size += 1
                if i < whole.shared[t]:
                    shared += 1
            elif what == IN:
                given |= 1 << i
        part.first[t], part.size[t], part.shared[t], part.start[t] = at, size, shared, entries
        start, index = whole.start[t], 0
        for x in range(1 << size):
            part.table[entries + x] = whole.table[start + given + index]
            index = (index - mask) & mask
        at += size
        entries += 1 << size
    entries = 0
    for t in range(whole.parent.size):
        parent = part.parent[t]
        part.place[t] = entries
        if parent >= 0:
            begin, above = part.first[t], part.first[parent]
            for y in range(1 << part.size[parent]):
                part.map[entries + y] = 0
            for i in range(part.shared[t]):
                j, bit = part.feature[begin + i], 0
                while part.feature[above + bit] != j:
                    bit += 1
                for y in range(1 << part.size[parent]):
                    part.map[entries + y] |= ((y >> bit) & 1) << i
            entries += 1 << part.size[parent]


@kernel
def largest_gains(part: Terms, gains: Ints) -> None:
    """Add up, over the terms, the most that each feature can add to their values.

    A feature j for which the sum is at most 0 need not be chosen: f(A + j) <= f(A) holds for
    each term f and every set A that the node allows.
    """
    gains[:] = 0
    for t in range(part.parent.size):
        start, size = part.start[t], part.size[t]
        for i in range(size):
            step = 1 << i
            largest = part.table[start + step] - part.table[start]
            block = start
            while block < start + (1 << size):
                for x in range(block, block + step):
                    largest = max(largest, part.table[x + step] - part.table[x])
                block += 2 * step
            gains[part.feature[part.first[t] + i]] += largest
