"""Sums of tables as arrays: the terms of a problem, and the kernels that fix features.

A term is a table over a few features. The *bits* of its index say which of them are chosen, and
each bit is a *copy* of its feature. Of a node of the search, where some features are chosen and
some left out, the terms have the features that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cpx.compiled.kernel import Bytes, Ints, kernel

FREE, IN, OUT = 0, 1, 2
"""What is decided of a feature."""


class Terms(NamedTuple):
    """Tables over features. Arrays have room for the terms of the whole problem.

    first, size: Where the bits of a term begin, and how many it has.
    feature, origin: Of each bit: the feature, and the bit of the whole problem.
    start, table: Where the values of a term begin, and the values of all.
    """

    first: Ints
    size: Ints
    feature: Ints
    origin: Ints
    start: Ints
    table: Ints

    @classmethod
    def of(cls, features: Sequence[Sequence[int]], tables: Sequence[Ints]) -> Terms:
        """Return the terms of a problem: bit i of an index says whether its i-th is chosen."""
        size = np.array([len(members) for members in features], dtype=np.int64)
        feature = np.concatenate([np.asarray(members, dtype=np.int64) for members in features])
        return cls(
            first=np.cumsum(size) - size,
            size=size,
            feature=feature,
            origin=np.arange(feature.size),
            start=np.cumsum(1 << size) - (1 << size),
            table=np.ascontiguousarray(np.concatenate(tables), dtype=np.int64),
        )

    def copied(self) -> Terms:
        """Return the same terms in arrays of their own, for a node."""
        return Terms(*(part.copy() for part in self))

    def ranges(self) -> Ints:
        """Return, for each bit, by how much the values of its term differ at most.

        No multiplier need be greater: it would decide the copy whatever the term says.
        """
        most = np.maximum.reduceat(self.table, self.start)
        return np.repeat(most - np.minimum.reduceat(self.table, self.start), self.size)


@kernel
def restrict(whole: Terms, part: Terms, decided: Bytes) -> None:
    """Write the terms of a node: those of the whole where some features are decided."""


@kernel
def largest_gains(part: Terms, gains: Ints) -> None:
    """Add up, over the terms, the most that each feature can add to their values.

    A feature j for which the sum is at most 0 need not be chosen: f(A + j) <= f(A) holds for
    each term f and every set A that the node allows.
    """
