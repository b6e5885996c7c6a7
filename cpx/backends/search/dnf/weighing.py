"""What clauses are worth under multipliers, and how these are improved: the kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.jit import kernel, square_root

__all__ = ["Cover", "descend", "spread", "weigh"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Cover(NamedTuple):
    """The rows that clauses are true of: those of clause c are ``rows[ends[c]:ends[c + 1]]``."""

    inside_ends: Ints
    inside: Ints
    outside_ends: Ints
    outside: Ints

    @classmethod
    def of(cls, inside: Bools, outside: Bools) -> Cover:
        """Take the places of what is True, line by line."""
        lines = []
        for table in (inside, outside):
            ends = np.zeros(len(table) + 1, dtype=np.int64)
            np.cumsum(np.count_nonzero(table, axis=1), out=ends[1:])
            lines += [ends, np.ascontiguousarray(np.nonzero(table)[1])]
        return cls(*lines)


@kernel
def weigh(cover: Cover, among: Ints, rest: Ints, shares: Ints, values: Ints) -> None:
    """Fill in what each of some clauses is worth.

    The value of a clause is the sum over its positive rows i of ``rest[i]`` less ``shares[i, n]``
    of its negative rows n, where that is positive.
    """
    for e in range(among.size):
        c = among[e]
        total = 0
        for a in range(cover.inside_ends[c], cover.inside_ends[c + 1]):
            i = cover.inside[a]
            left = rest[i]
            for b in range(cover.outside_ends[c], cover.outside_ends[c + 1]):
                left -= shares[i, cover.outside[b]]
                if left <= 0:
                    break
            if left > 0:
                total += left
        values[c] = total


@kernel
def spread(
    cover: Cover,
    rest: Ints,
    shares: Ints,
    chosen: Ints,
    parts: Floats,
    used: Floats,
    paid: Floats,
) -> None:
    """Add up which rows some clauses, chosen in part, gain, and at whose expense.

    ``used[i]`` grows by the part of each clause that gains row i, and so does ``paid[i, n]`` for
    each negative row n of it.
    """
    for e in range(chosen.size):
        c = chosen[e]
        for a in range(cover.inside_ends[c], cover.inside_ends[c + 1]):
            i = cover.inside[a]
            left = rest[i]
            for b in range(cover.outside_ends[c], cover.outside_ends[c + 1]):
                left -= shares[i, cover.outside[b]]
                if left <= 0:
                    break
            if left > 0:
                used[i] += parts[e]
                for b in range(cover.outside_ends[c], cover.outside_ends[c + 1]):
                    paid[i, cover.outside[b]] += parts[e]


@kernel
def descend(at: Floats, slope: Floats, first: Floats, second: Floats, factors: Floats) -> None:
    """Make a step of Adam; the moments are those of Kingma and Ba, not corrected.

    ``factors`` are the rate and what the root of the second moment is multiplied by.
    """
    for k in range(at.size):
        first[k] = 0.9 * first[k] + 0.1 * slope[k]
        second[k] = 0.99 * second[k] + 0.01 * slope[k] * slope[k]
        at[k] -= factors[0] * first[k] / (square_root(second[k]) * factors[1] + 1e-7)
