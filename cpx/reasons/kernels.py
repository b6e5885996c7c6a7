"""The exact search for a counterexample, compiled by Numba.

Depth-first branch and bound over boxes of positions. The leaves of each tree are bits, the
greatest value first, so that the best reachable leaf of a tree over a box is the lowest bit of
the intersection of two masks per attribute. The bound of a box is the sum of the best leaves;
one sweep over an attribute gives the bound for each of its positions, below each, and above
each. Positions that cannot reach the goal are cut off at the ends, and the box is split where
both halves lose most.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cpx.backends.search.jit import kernel, popcount

__all__ = ["BOXES", "CHECK", "FOUND", "NONE", "PAUSED", "REFUTED", "begin", "disjoint", "search"]

NONE, FOUND, CHECK, PAUSED = 0, 1, 2, 3
"""Answers of :func:`search`: no counterexample, one, one perhaps, not finished."""

DEPTH, REFUTED, BOXES = 0, 1, 2
"""Places in the state: the depth of the next box, whether its point was refuted, boxes so far."""


@kernel
def _best(words: Any, depth: int, first: int, last: int, values: Any) -> Any:
    """Return the value of the best live leaf of the tree with these words."""
    for k in range(first, last):
        word = words[depth, k]
        if word != np.uint64(0):
            low = word & (~word + np.uint64(1))
            return values[64 * k + popcount(low - np.uint64(1))]
    return 0  # a box that is not empty reaches a leaf


@kernel
def _restrict(words: Any, depth: int, a: int, low: int, high: int, missing: int, t: Any) -> None:
    """Drop the leaves that positions low to high, and a missing value if so, do not reach."""
    (_, _, tree_word, entry_of, entry_tree, segment_of, segment_at, mask_at, _, below, above,
     absent, absent_at, _) = t  # fmt: skip
    for e in range(entry_of[a], entry_of[a + 1]):
        tree = entry_tree[e]
        first, last = tree_word[tree], tree_word[tree + 1]
        width = last - first
        b = c = mask_at[e]
        if low <= high:
            b += width * segment_of[segment_at[e] + high]
            c += width * segment_of[segment_at[e] + low]
        for k in range(width):
            mask = np.uint64(0)
            if low <= high:
                mask = below[b + k] & above[c + k]
            if missing:
                mask |= absent[absent_at[e] + k]
            words[depth, first + k] &= mask


@kernel
def _sweep(
    words: Any,
    depth: int,
    a: int,
    low: int,
    high: int,
    taken: Any,
    at: Any,
    left: Any,
    right: Any,
    t: Any,
) -> int:
    """Add up, over the trees that test a, the best leaves at, up to and from each position.

    Trees that are taken are left out. Returns the sum of their best leaves anywhere.
    """
    part = 0
    (values, _, tree_word, entry_of, entry_tree, segment_of, segment_at, mask_at, starts, _,
     _, _, _, _) = t  # fmt: skip
    for c in range(low, high + 1):
        at[c] = left[c] = right[c] = 0
    for e in range(entry_of[a], entry_of[a + 1]):
        tree = entry_tree[e]
        here = segment_at[e]
        j0, j1 = segment_of[here + low], segment_of[here + high]
        if j0 == j1 or taken[tree]:
            continue
        first, width = tree_word[tree], tree_word[tree + 1] - tree_word[tree]
        before = greatest = 0
        # The sums are kept as differences from one position to the next.
        for j in range(j0, j1 + 1):
            value = _at_segment(words, depth, first, width, mask_at[e] + width * j, values, t)
            start = low if j == j0 else starts[here + j]
            at[start] += value - before
            before = value
            if j == j0 or value > greatest:
                left[start] += value - greatest
                greatest = value
        part += greatest
        greatest = 0
        for j in range(j1, j0 - 1, -1):
            value = _at_segment(words, depth, first, width, mask_at[e] + width * j, values, t)
            end = high if j == j1 else starts[here + j + 1] - 1
            if j == j1 or value > greatest:
                right[end] += value - greatest
                greatest = value
    for c in range(low + 1, high + 1):
        at[c] += at[c - 1]
        left[c] += left[c - 1]
    for c in range(high - 1, low - 1, -1):
        right[c] += right[c + 1]
    return part


@kernel
def _at_segment(
    words: Any, depth: int, first: int, width: int, mask: int, values: Any, t: Any
) -> Any:
    below, above = t[9], t[10]
    for k in range(width):
        word = words[depth, first + k] & below[mask + k] & above[mask + k]
        if word != np.uint64(0):
            low = word & (~word + np.uint64(1))
            return values[64 * (first + k) + popcount(low - np.uint64(1))]
    return 0


@kernel
def _total(words: Any, depth: int, t: Any) -> Any:
    values, base, tree_word = t[0], t[1], t[2]
    total = base[0]
    for tree in range(len(tree_word) - 1):
        total += _best(words, depth, tree_word[tree], tree_word[tree + 1], values)
    return total


@kernel
def _decided(words: Any, depth: int, taken: Any, t: Any) -> Any:
    """Say of each tree whether its live leaves have one value; return the total of the best."""
    values, base, tree_word, last = t[0], t[1], t[2], t[13]
    total = base[0]
    for tree in range(len(tree_word) - 1):
        first, end = tree_word[tree], tree_word[tree + 1]
        taken[tree] = 1
        for k in range(first, end):
            word = words[depth, k]
            if word != np.uint64(0):
                low = word & (~word + np.uint64(1))
                bit = 64 * k + popcount(low - np.uint64(1))
                total += values[bit]
                # The leaves of that value are the bits up to last[bit], maybe words further on.
                equal = last[bit]
                for m in range(k, end):
                    rest = words[depth, m]
                    if 64 * m + 63 <= equal:
                        continue
                    if 64 * m <= equal:
                        rest = (rest >> np.uint64(equal - 64 * m)) >> np.uint64(1)
                    if rest != np.uint64(0):
                        taken[tree] = 0
                        break
                break
    return total


@kernel
def _shared(
    words: Any, box: Any, depth: int, gap: int, taken: Any, gains: Any, profile: Any, t: Any
) -> bool:
    """Say whether the bound falls by the gap when each tree is lent to one attribute.

    The trees lent to an attribute must agree on its position. Attributes are served in the
    order of what they would gain with all trees that test them.
    """
    at, left, right = profile[0], profile[1], profile[2]
    # A float: many gains may add up beyond 64 bits, and this only tells what is hopeless.
    hoped = 0.0
    for a in range(len(gains)):
        hoped += float(gains[a])
    while hoped >= float(gap):
        a = 0
        for b in range(1, len(gains)):
            if gains[b] > gains[a]:
                a = b
        if gains[a] <= 0:
            return False
        hoped -= float(gains[a])
        gains[a] = 0
        low, high = box[depth, a, 0], box[depth, a, 1]
        part = _sweep(words, depth, a, low, high, taken, at, left, right, t)
        best = at[low]
        for c in range(low + 1, high + 1):
            best = max(best, at[c])
        if best < part:
            gap -= part - best
            if gap <= 0:
                return True
            _lend(words, depth, a, low, high, taken, t)
    return False


@kernel
def _lend(words: Any, depth: int, a: int, low: int, high: int, taken: Any, t: Any) -> None:
    """Take the trees whose best leaf depends on the position of a."""
    values, tree_word, entry_of, entry_tree = t[0], t[2], t[3], t[4]
    segment_of, segment_at, mask_at = t[5], t[6], t[7]
    for e in range(entry_of[a], entry_of[a + 1]):
        tree = entry_tree[e]
        if taken[tree]:
            continue
        first, width = tree_word[tree], tree_word[tree + 1] - tree_word[tree]
        j0, j1 = segment_of[segment_at[e] + low], segment_of[segment_at[e] + high]
        one = 0
        for j in range(j0, j1 + 1):
            value = _at_segment(words, depth, first, width, mask_at[e] + width * j, values, t)
            if j > j0 and value != one:
                taken[tree] = 1
                break
            one = value


@kernel
def _copy(words: Any, box: Any, depth: int) -> None:
    for k in range(words.shape[1]):
        words[depth + 1, k] = words[depth, k]
    for a in range(box.shape[1]):
        for side in range(3):
            box[depth + 1, a, side] = box[depth, a, side]


@kernel
def search(
    t: Any,
    need: int,
    slack: int,
    x: Any,
    words: Any,
    box: Any,
    point: Any,
    profile: Any,
    taken: Any,
    gains: Any,
    state: Any,
    budget: int,
) -> int:
    """Look for a point of the box at ``box[0]`` whose total is at least ``need``.

    Parameters
    ----------
    t : Arrays
        See :class:`cpx.reasons.duel.Duel`.
    need, slack : int
        The goal; totals are rounded up by less than ``slack`` in all, 0 when they are exact.
    x : (A,) array of int64
        The positions of the explained row, taken where nothing speaks against them.
    words : (D, W) array of uint64
        Live leaves at each depth; those at depth 0 are given.
    box : (D, A, 3) array of int64
        First and last position, and whether a value may be missing; given at depth 0.
    point : (A,) array of int64
        The answer: a position, or -1 for a missing value.
    profile : (3, P) array of int64
        Space for the sums of one attribute.
    taken : (T,) array of uint8
        Space for which trees are left out of a sum.
    gains : (A,) array of int64
        Space for what the bound would lose by each attribute.
    state : (3,) array of int64
        Where to go on, see ``DEPTH`` and so on; depth 0 at first. When a
        point is ``CHECK`` and refuted, say so here.
    budget : int
        How many boxes may be looked at.
    """
    attributes = box.shape[1]
    at, left, right = profile[0], profile[1], profile[2]
    while state[DEPTH] >= 0:
        if budget <= 0:
            return PAUSED
        budget -= 1
        state[BOXES] += 1
        depth = state[DEPTH]
        total = _decided(words, depth, taken, t)
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
            part = _sweep(words, depth, a, low, high, taken, at, left, right, t)
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
            # A prefix that cannot reach the goal is cut off whole; so the sums to the left
            # of what remains stay bounds, if not the best ones.
            if low > box[depth, a, 0] or high < box[depth, a, 1]:
                box[depth, a, 0], box[depth, a, 1] = low, high
                _restrict(words, depth, a, low, high, 0, t)
                total = _decided(words, depth, taken, t)
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
            dead = _shared(words, box, depth, total - need + 1, taken, gains, profile, t)
        if dead:
            state[DEPTH] -= 1
            continue
        # The next level is free: the point is tried there.
        if not state[REFUTED]:
            _copy(words, box, depth)
            for a in range(attributes):
                if box[depth, a, 0] < box[depth, a, 1] or box[depth, a, 2]:
                    if point[a] < 0:
                        _restrict(words, depth + 1, a, 1, 0, 1, t)
                    else:
                        _restrict(words, depth + 1, a, point[a], point[a], 0, t)
            reached = _total(words, depth + 1, t)
            if reached >= need:
                return FOUND if slack == 0 or reached - slack >= 0 else CHECK
        state[REFUTED] = 0
        if split_a < 0:
            state[DEPTH] -= 1
            continue
        _copy(words, box, depth)
        low, high = box[depth, split_a, 0], box[depth, split_a, 1]
        if split_at < 0:
            box[depth, split_a, 0], box[depth, split_a, 1] = 1, 0
            box[depth + 1, split_a, 2] = 0
            _restrict(words, depth, split_a, 1, 0, 1, t)
            _restrict(words, depth + 1, split_a, low, high, 0, t)
        else:
            one, other = (depth + 1, depth) if leftmost else (depth, depth + 1)
            box[one, split_a, 1] = split_at
            box[other, split_a, 0] = split_at + 1
            _restrict(words, one, split_a, low, split_at, 0, t)
            _restrict(words, other, split_a, split_at + 1, high, 0, t)
        state[DEPTH] += 1
    return NONE


@kernel
def begin(
    t: Any, full: Any, whole: Any, x: Any, held: Any, words: Any, box: Any, state: Any
) -> None:
    """Write the box of all completions at depth 0, where the attributes held are as in x.

    Parameters
    ----------
    t : Arrays
    full : (W,) array of uint64
    whole : (A, 3) array of int64
        The box of all rows.
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
            _restrict(words, 0, a, box[0, a, 0], box[0, a, 1], box[0, a, 2], t)


@kernel
def disjoint(sets: Any, count: int, words: Any) -> int:
    """Return the last of the first rows of sets, bit by bit, that meets no given bit, or -1."""
    for i in range(count - 1, -1, -1):
        common = np.uint64(0)
        for k in range(len(words)):
            common |= sets[i, k] & words[k]
        if common == np.uint64(0):
            return i
    return -1
