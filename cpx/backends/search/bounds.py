"""Bounds of the search, each with its proof; all by weights, as plain numbers.

At a node some features are chosen; ``covered`` bad weight is left and ``lost`` good weight is
excluded. For a candidate p, ``c_p`` and ``l_p`` are the same after adding p, and the removal is
d_p = covered - c_p. A completion is a non-empty set T of at most r candidates, with

    value(T) = good weight lost with T + bad weight covered with T.

(1) What is lost stays lost: the good weight lost with T is at least max of l_p over p in T,
    because excluded sets only grow.
(2) Removals overlap: the bad weight covered with T is at least covered - sum of d_p over T,
    because a union weighs at most the sum of its parts; and it is at least 0.

Together value(T) >= max l_p + max(0, covered - sum d_p).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.jit import kernel

__all__ = ["order_by", "select", "subtree_bounds", "survey", "tighten"]

Ints = NDArray[np.int64]


@kernel
def _insert(top: Ints, r: int, value: int) -> None:
    """Keep the r largest values seen, decreasing."""
    if value <= top[r - 1]:
        return
    at = r - 1
    while at > 0 and top[at - 1] < value:
        top[at] = top[at - 1]
        at -= 1
    top[at] = value


@kernel
def survey(
    covered: int, after: Ints, lost: Ints, kept: Ints, n: int, r: int, top: Ints
) -> tuple[int, int, int, int]:
    """Return figures of the kept candidates, in one pass.

    The sums of the r - 1 and of the r largest removals, the least removal, the largest loss.
    """
    least, worst = covered, 0
    if r == 2:
        first = second = 0
        for x in range(n):
            p = kept[x]
            removed = covered - after[p]
            second = max(second, min(first, removed))
            first = max(first, removed)
            least = min(least, removed)
            worst = max(worst, lost[p])
        return first, first + second, least, worst
    for x in range(r):
        top[x] = 0
    for x in range(n):
        p = kept[x]
        removed = covered - after[p]
        _insert(top, r, removed)
        least = min(least, removed)
        worst = max(worst, lost[p])
    total = 0
    for x in range(r - 1):
        total += top[x]
    return total, total + top[r - 1], least, worst


@kernel
def select(
    covered: int, after: Ints, lost: Ints, kept: Ints, n: int, r: int, limit: int, top: Ints
) -> int:
    """Keep the candidates that can be part of a completion of value below ``limit``.

    For T with p in T, sum of d over T is at most d_p + the r - 1 largest removals, and at most
    the r largest. By (1) and (2) every such T has a value of at least

        l_p + max(0, covered - min(d_p + D_(r-1), D_r)),   D_s the sum of the s largest.

    A candidate whose bound reaches the limit is in no better completion, so the sums are taken
    anew without it. A candidate with d_p = 0 removes nothing under any completion: T without
    it is as good and smaller (the node's own value counts already).

    Returns
    -------
    int
        How many are left, at the front of ``kept`` in their old order.
    """
    while True:
        less, full, least, worst = survey(covered, after, lost, kept, n, r, top)
        if least > 0 and worst + max(0, covered - min(least + less, full)) < limit:
            return n
        left = 0
        for x in range(n):
            p = kept[x]
            removed = covered - after[p]
            if removed == 0:
                continue
            rest = covered - min(removed + less, full)
            if lost[p] + max(0, rest) < limit:
                kept[left] = p
                left += 1
        # With two features to go the pairs are cheap, and a second round has little to gain.
        if left == n or left == 0 or r == 2:
            return left
        n = left


@kernel
def tighten(
    covered: int,
    after: Ints,
    lost: Ints,
    kept: Ints,
    n: int,
    r: int,
    limit: int,
    top: Ints,
    low: Ints,
    low_less: Ints,
) -> tuple[int, int]:
    """Drop more candidates by bound (1) and (2) at all thresholds of the good weight lost.

    Sort the candidates by l. If l_x is the largest loss in T, then T is within the prefix up
    to x, and with D_s(x) the sum of the s largest removals of that prefix

        value(T) >= l_x + max(0, covered - D_r(x)),
        value(T) >= l_x + max(0, c_p - D_(r-1)(x))      if p in T.

    A completion with p has its largest loss at some x at or after p. So the minimum of either
    right-hand side over these x bounds all completions that contain p.

    Returns
    -------
    (int, int)
        How many candidates are left in ``kept`` (sorted by l), and a lower bound on all
        completions.
    """
    order_by(lost, kept, n)
    for x in range(r):
        top[x] = 0
    less = full = 0
    for x in range(n):
        removed = covered - after[kept[x]]
        if removed > top[r - 1]:
            _insert(top, r, removed)
            less = 0
            for y in range(r - 1):
                less += top[y]
            full = less + top[r - 1]
        loss = lost[kept[x]]
        low[x] = loss + max(0, covered - full)
        low_less[x] = loss - less
    for x in range(n - 2, -1, -1):
        low[x] = min(low[x], low[x + 1])
        low_less[x] = min(low_less[x], low_less[x + 1])
    left = 0
    bound = limit
    for x in range(n):
        p = kept[x]
        mine = max(low[x], low_less[x] + after[p], lost[p])
        if mine < limit:
            bound = min(bound, mine)
            kept[left] = p
            left += 1
    return left, bound


@kernel
def subtree_bounds(
    covered: int, after: Ints, lost: Ints, kept: Ints, n: int, r: int, bounds: Ints
) -> None:
    """Bound the completions that begin with each candidate and go on with later ones.

    The candidates must be sorted by removal, the largest first. A completion of p and at most
    r - 1 later candidates costs by (1) and (2) at least l_p + max(0, c_p - the sum of the r - 1
    removals next after p): these are the largest among the later ones.
    """
    total = 0
    for x in range(n - 1, -1, -1):
        # total: removals of the places x + 1 .. x + r - 1.
        p = kept[x]
        bounds[x] = lost[p] + max(0, after[p] - total)
        total += covered - after[p]
        if x + r - 1 < n:
            total -= covered - after[kept[x + r - 1]]


@kernel
def order_by(keys: Ints, items: Ints, n: int) -> None:
    """Sort items by their key, increasing and stable."""
    for x in range(1, n):
        item = items[x]
        key = keys[item]
        y = x
        while y > 0 and keys[items[y - 1]] > key:
            items[y] = items[y - 1]
            y -= 1
        items[y] = item
