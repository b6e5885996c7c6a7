"""Enumeration of all sets of features that cost less than a limit, depth-first.

A set is redundant when one of its columns excludes no row that the others cover: without that
column it is the same set of rows, and a shorter one. Redundant sets are left out, and with
them all that contain them, because a column that excludes nothing more excludes nothing more
beside further columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpx.backends.search.bounds import select, tighten
from cpx.backends.search.objective import Numbers, cost
from cpx.backends.search.stack import Levels, Scratch, weigh_child
from cpx.backends.search.tree import descend
from cpx.compiled.kernel import Ints, Ints2, Words, kernel, subroutine

__all__ = ["DONE", "GROW", "STOPPED", "TRIM", "Pool", "enumerate_sets", "new_pool"]


DONE, STOPPED, GROW, TRIM = 0, 1, 2, 3
"""A branch is exhausted, was told to stop, needs a larger workspace, or a pool with more room."""


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
def _redundant(bits: Words, stride: int, words: int, chosen: Ints, size: int) -> bool:
    """Whether one of the columns excludes no row that the others cover."""
    for x in range(size):
        alone = False
        for w in range(words):
            row = w * stride
            left = ~bits[row + chosen[x]]
            for y in range(size):
                if y != x:
                    left &= bits[row + chosen[y]]
            if left != 0:
                alone = True
                break
        if not alone:
            return True
    return False


@kernel
def enumerate_sets(
    levels: Levels,
    scratch: Scratch,
    k: int,
    planes: int,
    good: int,
    groups: Ints,
    objective: Numbers,
    limit: int,
    signal: Ints,
    bits: Words,
    stride: int,
    words: int,
    pool: Pool,
) -> int:
    """Put all irredundant sets below a root's child that cost less than ``limit`` into the pool.

    Parameters
    ----------
    levels, scratch, k, planes, good, groups, objective
        As for :func:`~cpx.backends.search.tree.branch`; the objective keeps idle candidates.
    limit : int
        Greater than the cost of any set that is wanted. It may be lowered between calls.
    signal : ndarray
        ``[stop, nodes]``.
    bits, stride, words
        The root's matrix, flat; columns in the numbers of ``levels.ids``.
    pool : Pool
        Must have room for as many sets as a level has candidates.

    Returns
    -------
    int
        After anything but DONE the call may be repeated and goes on where it was.
    """
    t = levels.at[0]
    while True:
        if signal[0] != 0 or pool.used[0] + levels.width[t] > pool.lost.size:
            levels.at[0] = t
            return STOPPED if signal[0] != 0 else TRIM
        i, r = levels.position[t], k - t - 1
        chosen, covered, lost = scratch.chosen, levels.covered[t, i], levels.lost[t, i]
        chosen[t] = levels.ids[t, i]
        if levels.bound[t, i] < limit and not _redundant(bits, stride, words, chosen, t + 1):
            signal[1] += 1
            n, before = 0, pool.used[0]
            for x in range(weigh_child(levels, scratch, t, planes, good, groups)):
                p = scratch.kept[x]
                if scratch.covered[p] == covered and scratch.lost[p] == lost:
                    continue
                scratch.kept[n] = p
                n += 1
                chosen[t + 1] = levels.ids[t, p]
                value = cost(objective, scratch.covered[p], scratch.lost[p])
                if value < limit and not _redundant(bits, stride, words, chosen, t + 2):
                    at = pool.used[0]
                    for y in range(t + 2):
                        pool.columns[at, y] = chosen[y]
                    for y in range(t + 2, pool.columns.shape[1]):
                        pool.columns[at, y] = -1
                    pool.covered[at], pool.lost[at] = scratch.covered[p], scratch.lost[p]
                    pool.used[0] = at + 1
            if r >= 2 and n >= 2:
                n = select(
                    objective,
                    covered,
                    scratch.covered,
                    scratch.lost,
                    scratch.kept,
                    n,
                    r,
                    limit,
                    scratch.top,
                )
            if r >= 2 and n >= 2:
                n, _ = tighten(
                    objective,
                    covered,
                    scratch.covered,
                    scratch.lost,
                    scratch.kept,
                    n,
                    r,
                    limit,
                    scratch.top,
                    scratch.low,
                    scratch.low_less,
                )
                if n >= 2:
                    if not descend(levels, scratch, t, n, r, planes, objective):
                        # What was found here will be found again.
                        pool.used[0], levels.at[0] = before, t
                        return GROW
                    t += 1
                    continue
        while t > 0:
            levels.position[t] += 1
            # The last candidate has none after it; its value is known.
            if levels.position[t] < levels.width[t] - 1:
                break
            t -= 1
        if t == 0:
            levels.at[0] = 0
            return DONE
