"""Enumeration of all irredundant sets of features that cost less than a limit.

A set is redundant when one of its columns excludes no row that the others cover: without that
column it is the same set of rows, and a shorter one. Redundant sets are left out, and with
them all that contain them, because a column that excludes nothing more excludes nothing more
with further columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpx.backends.search.objective import cost
from cpx.backends.search.stack import Levels, Params, Scratch, weigh_child
from cpx.backends.search.tree import DONE, FULL, STOPPED, first_child, next_child
from cpx.compiled.kernel import Ints, Ints2, Words2, kernel, subroutine

__all__ = ["TRIM", "Pool", "enumerate_sets", "new_pool"]


TRIM = -4
"""A pool with more room is needed; for the other answers see :mod:`~cpx.backends.search.tree`."""


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


@subroutine
def _redundant(bits: Words2, chosen: Ints, size: int) -> bool:
    """Whether one of the columns excludes no row that the others cover."""
    for x in range(size):
        alone = False
        for w in range(bits.shape[0]):
            left = ~bits[w, chosen[x]]
            for y in range(size):
                if y != x:
                    left &= bits[w, chosen[y]]
            if left != 0:
                alone = True
                break
        if not alone:
            return True
    return False


@subroutine
def _add(pool: Pool, chosen: Ints, size: int, covered: int, lost: int) -> None:
    at = pool.used[0]
    for y in range(pool.columns.shape[1]):
        pool.columns[at, y] = chosen[y] if y < size else -1
    pool.covered[at], pool.lost[at] = covered, lost
    pool.used[0] = at + 1


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

    Parameters
    ----------
    levels, scratch, params
        As for :func:`~cpx.backends.search.tree.branch`; the objective keeps idle candidates.
    limit : int
        Greater than the cost of any set that is wanted. It may be lowered between calls.
    signal : ndarray
        ``[stop, nodes]``.
    bits : ndarray
        The root's matrix; columns in the numbers of ``levels.ids``.
    pool : Pool
        Must have room for as many sets as a level has candidates.

    Returns
    -------
    int
        After anything but DONE the call may be repeated and goes on where it was.
    """
    t = levels.at[0]
    while t >= 0:
        levels.at[0] = t
        if signal[0] != 0:
            return STOPPED
        before = pool.used[0]
        if before + levels.width[t] > pool.lost.size:
            return TRIM
        i, n, chosen = levels.position[t], 0, scratch.chosen
        chosen[t] = levels.ids[t, i]
        if levels.bound[t, i] < limit and not _redundant(bits, chosen, t + 1):
            signal[1] += 1
            for x in range(weigh_child(levels, scratch, t, params)):
                p = scratch.kept[x]
                c, l = scratch.covered[p], scratch.lost[p]  # noqa: E741
                if c == levels.covered[t, i] and l == levels.lost[t, i]:
                    continue
                scratch.kept[n] = p
                n += 1
                chosen[t + 1] = levels.ids[t, p]
                if cost(params.objective, c, l) < limit and not _redundant(bits, chosen, t + 2):
                    _add(pool, chosen, t + 2, c, l)
            if params.k - t == 2:
                n = 0
        if n < 2:
            t = next_child(levels, t)
        else:
            t = first_child(levels, scratch, t, n, params, limit)
            if t == FULL:
                pool.used[0] = before  # what was found here will be found again
    if t == FULL:
        return FULL
    levels.at[0] = 0
    return DONE
