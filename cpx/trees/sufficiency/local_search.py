"""Local search for a counterexample from a point of the exact search, as compiled kernels.

One attribute is moved at a time while the others stay: to where the total is greatest, until
the point is a counterexample; and of a counterexample, which mostly differs from x in most of
its free attributes, back to x where the total allows it. Per tree, the leaves that the point
reaches are kept, and those that it misses by one attribute; so comparing all positions of an
attribute costs a small part of a box of the exact search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cpx.compiled.kernel import Bytes, Ints, Ints2, Words, Words2, kernel, subroutine
from cpx.trees.sufficiency.boxes import at_missing, at_segment, total_of
from cpx.trees.sufficiency.class_margin import Arrays

__all__ = ["ROWS", "climb"]

_LIVE, _REACHED, _MISSED = 0, 1, 2
ROWS = 3
"""Rows of words needed for the leaves of a point."""


@kernel
def climb(
    t: Arrays,
    need: int,
    full: Words,
    whole: Ints2,
    x: Ints,
    order: Ints,
    held: Words,
    point: Ints,
    movable: Bytes,
    words: Words2,
    at: Ints,
    back: bool,
) -> int:
    """Move attributes of a point, one by one, until its total is ``need``; or back to x.

    With ``back``, attributes of a counterexample are restored to x while its total stays at
    least ``need``. What is left is a counterexample, and no single attribute can be restored
    while the others stay; the exact search may still find one that differs from x in fewer.

    Parameters
    ----------
    t : Arrays
        See :class:`cpx.trees.sufficiency.class_margin.ClassMargin`.
    need : int
        A total by which the rival wins for sure.
    full : (W,) array of uint64
        The leaves that some position reaches.
    whole : (A, 3) array of int64
        The box of all rows; see :func:`cpx.trees.sufficiency.exact_search.search`.
    x : (A,) array of int64
    order : (A,) array of int64
        The attributes, the first to be tried first.
    held : array of uint64
        Bit a says whether attribute a stays; with ``back``, those that are as in x stay.
    point : (A,) array of int64
        Positions, changed in place.
    movable : (A,) array of uint8
        Workspace for which attributes may be moved.
    words : (ROWS, W) array of uint64
        Workspace for leaves.
    at : (P,) array of int64
        Workspace for the sums of one attribute, and of its missing value in the last place.
    back : bool

    Returns
    -------
    int
        The total; less than ``need`` when no attribute alone raises it further.
    """
    for a in range(len(point)):
        if back:
            movable[a] = point[a] != x[a]
        else:
            movable[a] = not (held[a // 64] >> np.uint64(a % 64)) & np.uint64(1)
    total: int = _start(words, full, point, t)
    moved = back or total < need
    while moved:
        moved = False
        for i in range(len(order)):
            a = order[i]
            if not movable[a]:
                continue
            _sum_along(words, a, whole, point, at, full, t)
            # The place -1 is that of a missing value, as are negative positions.
            here, to = at[point[a]], point[a]
            if back and total - here + at[x[a]] >= need:
                to = x[a]
                movable[a] = 0
            else:
                for c in range(whole[a, 0], whole[a, 1] + 1):
                    if at[c] > at[to]:
                        to = c
                if whole[a, 2] and at[-1] > at[to]:
                    to = -1
            if to == point[a]:
                continue
            total += at[to] - here
            _move(words, a, to, full, point, t)
            moved = True
            if not back and total >= need:
                return total
    return total


@subroutine
def _start(words: Any, full: Any, point: Any, t: Any) -> Any:
    for tree in range(len(t.tree_word) - 1):
        _reach(words, tree, full, point, t)
    return total_of(words, _REACHED, t)


@subroutine
def _move(words: Any, a: int, to: Any, full: Any, point: Any, t: Any) -> None:
    point[a] = to
    for e in range(t.entry_of[a], t.entry_of[a + 1]):
        _reach(words, t.entry_tree[e], full, point, t)


@subroutine
def _reach(words: Any, tree: int, full: Any, point: Any, t: Any) -> None:
    """Write the leaves of a tree that a point reaches, or misses by one attribute."""
    first = t.tree_word[tree]
    width = t.tree_word[tree + 1] - first
    for k in range(width):
        words[_REACHED, first + k], words[_MISSED, first + k] = full[first + k], np.uint64(0)
    for i in range(t.tests_at[tree], t.tests_at[tree + 1]):
        e = t.tests[i]
        for k in range(width):
            mask = _mask(e, point[t.tested[e]], width, k, t)
            reached, missed = words[_REACHED, first + k], words[_MISSED, first + k]
            words[_MISSED, first + k] = (missed & mask) | (reached & ~mask)
            words[_REACHED, first + k] = reached & mask


@subroutine
def _mask(e: int, position: Any, width: int, k: int, t: Any) -> Any:
    """Return word k of the leaves that an entry reaches at a position, -1 for a missing value."""
    if position < 0:
        return t.absent[t.absent_at[e] + k]
    b = t.mask_at[e] + width * t.segment_of[t.segment_at[e] + position] + k
    return t.below[b] & t.above[b]


@subroutine
def _sum_along(words: Any, a: int, whole: Any, point: Any, at: Any, full: Any, t: Any) -> None:
    """Add up, over the trees that test a, the values at each position of a.

    The last place is for a missing value, which has one where a may be missing.
    """
    low, high = whole[a, 0], whole[a, 1]
    for c in range(low, high + 1):
        at[c] = 0
    at[-1] = 0
    for e in range(t.entry_of[a], t.entry_of[a + 1]):
        tree = t.entry_tree[e]
        first, width = t.tree_word[tree], t.tree_word[tree + 1] - t.tree_word[tree]
        for k in range(width):
            mask = _mask(e, point[a], width, k, t)
            missed = words[_MISSED, first + k] & ~mask
            words[_LIVE, first + k] = words[_REACHED, first + k] | missed
        if whole[a, 2]:
            at[-1] += at_missing(words, _LIVE, first, width, t.absent_at[e], t)
        if low > high:
            continue
        here = t.segment_at[e]
        j0, j1 = t.segment_of[here + low], t.segment_of[here + high]
        # The sums are kept as differences from one position to the next.
        before = 0
        for j in range(j0, j1 + 1):
            value = at_segment(words, _LIVE, first, width, t.mask_at[e] + width * j, t)
            at[low if j == j0 else t.starts[here + j]] += value - before
            before = value
    for c in range(low + 1, high + 1):
        at[c] += at[c - 1]
