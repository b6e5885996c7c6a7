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

from cpx.backends.search.objective import cost
from cpx.backends.search.side_constraints import allowed, is_wanted
from cpx.backends.search.stack import Levels, Params, Scratch, weigh_child
from cpx.backends.search.tree import DONE, FULL, STOPPED, first_child, next_child
from cpx.compiled.kernel import Ints, Ints2, Words2, kernel, subroutine

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
def _redundant(
    bits: Words2, params: Params, scratch: Scratch, chosen: Ints, size: int, itself: bool
) -> bool:
    """Whether a set, or else all that contain it, are redundant."""
    side, others = params.side, scratch.sorted
    for x in range(size):
        if is_wanted(side, chosen[x]):
            if not itself:
                continue
            for y in range(size - 1):
                others[y] = chosen[y if y < x else y + 1]
            if not allowed(side, scratch.side, others, size - 1):
                continue
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
        As for :func:`~cpx.backends.search.tree.branches`; the objective keeps idle candidates.
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
        if levels.bound[t, i] < limit and not _redundant(
            bits, params, scratch, chosen, t + 1, False
        ):
            signal[1] += 1
            for x in range(weigh_child(levels, scratch, t, params)):
                p = scratch.kept[x]
                c, l = scratch.covered[p], scratch.lost[p]  # noqa: E741
                idle = c == levels.covered[t, i] and l == levels.lost[t, i]
                if idle and not is_wanted(params.side, levels.ids[t, p]):
                    continue
                scratch.kept[n] = p
                n += 1
                chosen[t + 1] = levels.ids[t, p]
                if (
                    cost(params.objective, c, l) < limit
                    and allowed(params.side, scratch.side, chosen, t + 2)
                    and not _redundant(bits, params, scratch, chosen, t + 2, True)
                ):
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
