"""Enumeration of all irredundant sets of features that cost less than a limit.

A set is redundant when one of its columns excludes no row that the others cover, and the others
are an allowed set: without that column it is the same set of rows, and a shorter one. Redundant
sets are left out, and with them all that contain them, because a column that excludes nothing
more excludes nothing more with further columns; but not for the sake of a column that a side
constraint may ask for, without which a larger set may not be allowed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpx.compiled.kernel import Ints, Ints2, Words2, kernel
from cpx.models.monomial.search.stack import Levels, Params, Scratch

TRIM = -4
"""A pool with more room is needed; for the other answers see
:mod:`~cpx.models.monomial.search.tree`."""


class Pool(NamedTuple):
    """Sets found, in no order; row x of each array belongs to set x."""

    columns: Ints2  # shape (room, k), behind the set's own columns -1
    covered: Ints  # bad weight that the set covers
    lost: Ints  # good weight that it excludes
    used: Ints  # [0] how many sets there are


def new_pool(room: int, k: int) -> Pool:
    """Return an empty pool with room for so many sets of at most k columns."""
    return Pool(
        np.full((room, k), -1, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@kernel
def enumerate_sets(
    levels: Levels,
    scratch: Scratch,
    params: Params,
    limit: int,
    signal: Ints,
    bits: Words2,
    pool: Pool,
) -> int:
    """Put all irredundant sets below a root's child that cost less than ``limit`` into the pool.

    levels, scratch, params: As for :func:`~cpx.models.monomial.search.tree.branches`; the
        objective keeps idle candidates.
    limit: Greater than the cost of any set that is wanted. It may be lowered between calls.
    signal: ``[stop, nodes]``.
    bits: The root's matrix; columns in the numbers of ``levels.ids``.
    pool: Must have room for as many sets as a level has candidates.
    Returns: After anything but DONE the call may be repeated and goes on where it was.
    """
