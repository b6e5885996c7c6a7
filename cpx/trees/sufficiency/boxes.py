"""Boxes of positions: the leaves they reach and bounds on their sum, as compiled kernels.

The leaves of each tree are bits, the greatest value first, so that the best reachable leaf of a
tree over a box is the lowest bit of the intersection of two masks per attribute. The sum of the
best leaves bounds the total over the box; one sweep over an attribute gives the bound for each
of its positions, below each, and above each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cpx.compiled.kernel import subroutine
from cpx.compiled.vectors import popcount

__all__ = [
    "at_missing",
    "at_segment",
    "copy_down",
    "decided",
    "restrict",
    "shared",
    "sweep",
    "total_of",
]


@subroutine
def _best_leaf(words: Any, depth: int, first: int, last: int, values: Any) -> Any:
    """Return the value of the best live leaf of the tree with these words."""
    for k in range(first, last):
        word = words[depth, k]
        if word != np.uint64(0):
            low = word & (~word + np.uint64(1))
            return values[64 * k + popcount(low - np.uint64(1))]
    return 0  # a box that is not empty reaches a leaf


@subroutine
def restrict(words: Any, depth: int, a: int, low: int, high: int, missing: int, t: Any) -> None:
    """Drop the leaves that positions low to high, and a missing value if so, do not reach."""
    tree_word, entry_of, entry_tree = t.tree_word, t.entry_of, t.entry_tree
    segment_of, segment_at, mask_at = t.segment_of, t.segment_at, t.mask_at
    below, above, absent, absent_at = t.below, t.above, t.absent, t.absent_at
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


@subroutine
def sweep(
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
    tree_word, entry_of, entry_tree = t.tree_word, t.entry_of, t.entry_tree
    segment_of, segment_at, mask_at = t.segment_of, t.segment_at, t.mask_at
    starts = t.starts
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
            value = at_segment(words, depth, first, width, mask_at[e] + width * j, t)
            start = low if j == j0 else starts[here + j]
            at[start] += value - before
            before = value
            if j == j0 or value > greatest:
                left[start] += value - greatest
                greatest = value
        part += greatest
        greatest = 0
        for j in range(j1, j0 - 1, -1):
            value = at_segment(words, depth, first, width, mask_at[e] + width * j, t)
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


@subroutine
def at_segment(words: Any, depth: int, first: int, width: int, mask: int, t: Any) -> Any:
    """Return the value of the best live leaf that a segment reaches; its masks begin at mask."""
    for k in range(width):
        word = words[depth, first + k] & t.below[mask + k] & t.above[mask + k]
        if word != np.uint64(0):
            low = word & (~word + np.uint64(1))
            return t.values[64 * (first + k) + popcount(low - np.uint64(1))]
    return 0


@subroutine
def at_missing(words: Any, depth: int, first: int, width: int, mask: int, t: Any) -> Any:
    """Return the value of the best live leaf that a missing value reaches."""
    for k in range(width):
        word = words[depth, first + k] & t.absent[mask + k]
        if word != np.uint64(0):
            low = word & (~word + np.uint64(1))
            return t.values[64 * (first + k) + popcount(low - np.uint64(1))]
    return 0


@subroutine
def total_of(words: Any, depth: int, t: Any) -> Any:
    values, base, tree_word = t.values, t.base, t.tree_word
    total = base[0]
    for tree in range(len(tree_word) - 1):
        total += _best_leaf(words, depth, tree_word[tree], tree_word[tree + 1], values)
    return total


@subroutine
def decided(words: Any, depth: int, taken: Any, t: Any) -> Any:
    """Say of each tree whether its live leaves have one value; return the total of the best."""
    values, base, tree_word, last = t.values, t.base, t.tree_word, t.last
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


@subroutine
def shared(
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
        part = sweep(words, depth, a, low, high, taken, at, left, right, t)
        best = at[low]
        for c in range(low + 1, high + 1):
            best = max(best, at[c])
        if best < part:
            gap -= part - best
            if gap <= 0:
                return True
            _lend(words, depth, a, low, high, taken, t)
    return False


@subroutine
def _lend(words: Any, depth: int, a: int, low: int, high: int, taken: Any, t: Any) -> None:
    """Take the trees whose best leaf depends on the position of a."""
    tree_word, entry_of, entry_tree = t.tree_word, t.entry_of, t.entry_tree
    segment_of, segment_at, mask_at = t.segment_of, t.segment_at, t.mask_at
    for e in range(entry_of[a], entry_of[a + 1]):
        tree = entry_tree[e]
        if taken[tree]:
            continue
        first, width = tree_word[tree], tree_word[tree + 1] - tree_word[tree]
        j0, j1 = segment_of[segment_at[e] + low], segment_of[segment_at[e] + high]
        one = 0
        for j in range(j0, j1 + 1):
            value = at_segment(words, depth, first, width, mask_at[e] + width * j, t)
            if j > j0 and value != one:
                taken[tree] = 1
                break
            one = value


@subroutine
def copy_down(words: Any, box: Any, depth: int) -> None:
    for k in range(words.shape[1]):
        words[depth + 1, k] = words[depth, k]
    for a in range(box.shape[1]):
        for side in range(3):
            box[depth + 1, a, side] = box[depth, a, side]
