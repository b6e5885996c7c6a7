"""The exact search for a counterexample, as compiled kernels.

Depth-first branch and bound over boxes of positions, with the bounds of
:mod:`cpx.trees.sufficiency.boxes`. Positions that cannot reach the needed total are cut off at
the ends, and the box is split where both halves lose most.
"""

from __future__ import annotations

import numpy as np

from cpx.compiled.kernel import Bytes, Ints, Ints2, Ints3, Words, Words2, kernel
from cpx.trees.sufficiency.boxes import copy_down, decided, restrict, shared, sweep, total_of
from cpx.trees.sufficiency.class_margin import Arrays

__all__ = [
    "BOXES",
    "BUDGET",
    "CHECK",
    "FOUND",
    "NONE",
    "PAUSED",
    "REFUTED",
    "begin",
    "disjoint",
    "search",
]

NONE, FOUND, CHECK, PAUSED = 0, 1, 2, 3
"""Answers of :func:`search`: no counterexample, one, one perhaps, not finished."""

DEPTH, REFUTED, BOXES, BUDGET = 0, 1, 2, 3
"""Places in the state: the depth of the next box, whether its point was refuted, boxes so far,
and boxes that may be looked at before the search pauses."""


@kernel
def search(
    t: Arrays,
    need: int,
    slack: int,
    x: Ints,
    words: Words2,
    box: Ints3,
    point: Ints,
    profile: Ints2,
    taken: Bytes,
    gains: Ints,
    state: Ints,
) -> int:
    """Look for a point of the box at ``box[0]`` whose total is at least ``need``.

    Parameters
    ----------
    t : Arrays
        See :class:`cpx.trees.sufficiency.class_margin.ClassMargin`.
    need, slack : int
        The total to reach; totals are rounded up by less than ``slack``, 0 when they are exact.
    x : (A,) array of int64
        The positions of the explained row, taken where nothing speaks against them.
    words : (D, W) array of uint64
        Live leaves at each depth; those at depth 0 are given.
    box : (D, A, 3) array of int64
        First and last position, and whether a value may be missing; given at depth 0.
    point : (A,) array of int64
        The answer: a position, or -1 for a missing value.
    profile : (3, P) array of int64
        Workspace for the sums of one attribute.
    taken : (T,) array of uint8
        Workspace for which trees are left out of a sum.
    gains : (A,) array of int64
        Workspace for what the bound would lose by each attribute.
    state : (4,) array of int64
        Where to go on, see ``DEPTH`` and so on; depth 0 at first. When a
        point is ``CHECK`` and refuted, say so here.
    """
    attributes = box.shape[1]
    at, left, right = profile[0], profile[1], profile[2]
    while state[DEPTH] >= 0:
        if state[BUDGET] <= 0:
            return PAUSED
        state[BUDGET] -= 1
        state[BOXES] += 1
        depth = state[DEPTH]
        total = decided(words, depth, taken, t)
        dead = total < need
        split_a, split_at, score, leftmost = -1, -1, -1.0, True
        for a in range(attributes):
            if dead:
                break
            low, high = box[depth, a, 0], box[depth, a, 1]
            gains[a] = 0
            if low > high:
                point[a] = -1
                continue
            if low == high and not box[depth, a, 2]:
                point[a] = low
                continue
            part = sweep(words, depth, a, low, high, taken, at, left, right, t)
            rest = total - part
            if box[depth, a, 2]:
                # A missing value comes first: it is split off before anything else.
                point[a] = -1
                if score < 2.0:
                    split_a, split_at, score, leftmost = a, -1, 2.0, False
                continue
            # Not after a refuted point: the box must be the one it was taken from.
            if not state[REFUTED]:
                while low <= high and rest + at[low] < need:
                    low += 1
                if low > high:
                    dead = True
                    break
                while rest + at[high] < need:
                    high -= 1
            # A prefix that cannot reach the needed total is cut off whole; so the sums to the left
            # of what remains stay bounds, if not the best ones.
            if low > box[depth, a, 0] or high < box[depth, a, 1]:
                box[depth, a, 0], box[depth, a, 1] = low, high
                restrict(words, depth, a, low, high, 0, t)
                total = decided(words, depth, taken, t)
                if total < need:
                    dead = True
                    break
            best = at[low]
            point[a] = low
            for c in range(low, high + 1):
                if at[c] > best or (at[c] == best and c == x[a]):
                    best, point[a] = at[c], c
            gains[a] = total - rest - best
            gap = float(total - need + 1)
            for c in range(low, high):
                below = min(max(float(total - rest - left[c]) / gap, 0.0), 1.0)
                above = min(max(float(total - rest - right[c + 1]) / gap, 0.0), 1.0)
                value = below * above + 1e-3 * (below + above)
                if value > score:
                    split_a, split_at, score = a, c, value
                    leftmost = left[c] >= right[c + 1]
        if not dead:
            dead = shared(words, box, depth, total - need + 1, taken, gains, profile, t)
        if dead:
            state[DEPTH] -= 1
            continue
        # The next level is free: the point is tried there.
        if not state[REFUTED]:
            copy_down(words, box, depth)
            for a in range(attributes):
                if box[depth, a, 0] < box[depth, a, 1] or box[depth, a, 2]:
                    if point[a] < 0:
                        restrict(words, depth + 1, a, 1, 0, 1, t)
                    else:
                        restrict(words, depth + 1, a, point[a], point[a], 0, t)
            reached = total_of(words, depth + 1, t)
            if reached >= need:
                return FOUND if slack == 0 or reached - slack >= 0 else CHECK
        state[REFUTED] = 0
        if split_a < 0:
            state[DEPTH] -= 1
            continue
        copy_down(words, box, depth)
        low, high = box[depth, split_a, 0], box[depth, split_a, 1]
        if split_at < 0:
            box[depth, split_a, 0], box[depth, split_a, 1] = 1, 0
            box[depth + 1, split_a, 2] = 0
            restrict(words, depth, split_a, 1, 0, 1, t)
            restrict(words, depth + 1, split_a, low, high, 0, t)
        else:
            one, other = (depth + 1, depth) if leftmost else (depth, depth + 1)
            box[one, split_a, 1] = split_at
            box[other, split_a, 0] = split_at + 1
            restrict(words, one, split_a, low, split_at, 0, t)
            restrict(words, other, split_a, split_at + 1, high, 0, t)
        state[DEPTH] += 1
    return NONE


@kernel
def begin(
    t: Arrays,
    full: Words,
    whole: Ints2,
    x: Ints,
    held: Words,
    words: Words2,
    box: Ints3,
    state: Ints,
) -> None:
    """Write the box of all completions at depth 0, where the attributes held are as in x.

    Parameters
    ----------
    t : Arrays
    full : (W,) array of uint64
    whole : (A, 3) array of int64
        The box that rows are in.
    x : (A,) array of int64
    held : array of uint64
        Bit a says whether attribute a is held.
    words, box, state : arrays
        See :func:`search`.
    """
    state[DEPTH] = state[REFUTED] = state[BOXES] = 0
    for k in range(len(full)):
        words[0, k] = full[k]
    for a in range(len(x)):
        for side in range(3):
            box[0, a, side] = whole[a, side]
        if (held[a // 64] >> np.uint64(a % 64)) & np.uint64(1):
            absent = x[a] < 0
            box[0, a, 0], box[0, a, 1] = (1, 0) if absent else (x[a], x[a])
            box[0, a, 2] = 1 if absent else 0
        restrict(words, 0, a, box[0, a, 0], box[0, a, 1], box[0, a, 2], t)


@kernel
def disjoint(sets: Words2, count: int, words: Words) -> int:
    """Return the last of the first rows of sets, bit by bit, that meets no given bit, or -1."""
    for i in range(count - 1, -1, -1):
        common = np.uint64(0)
        for k in range(len(words)):
            common |= sets[i, k] & words[k]
        if common == np.uint64(0):
            return i
    return -1
