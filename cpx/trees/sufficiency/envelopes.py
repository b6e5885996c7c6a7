"""Convex envelopes of trees, for kernels.

With x, a row z and a set S of attributes, each tree gives the rival the value of some leaf on the
row that is as x in S and as z elsewhere. A leaf is reached when S has the attributes by which z
misses it, and has none of those by which x does. Where S is a fractional set, with shares s of its
attributes, the convex envelope of this function of S is the least mean value of leaves, with
weights y that add up to 1 ::

    minimise  sum of v_l y_l
    where     sum of y_l over the leaves that z misses by a  <=  s_a
              sum of y_l over the leaves that x misses by a  <=  1 - s_a      for each attribute a

Where a tree tests no attribute twice, any two of these sets of leaves are disjoint or one is in
the other. Then the least leaves may take as much as they can, one after the other, and that is an
optimum; most trees are of that kind between x and z. The others are left to the simplex method, as
are the weights of attributes, which are its dual.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cpx.compiled.kernel import subroutine
from cpx.compiled.vectors import popcount

__all__ = [
    "OWN",
    "SMALL",
    "TESTS",
    "THERE",
    "envelope_at",
    "leaves_between",
    "look",
    "program",
    "reached_at",
    "tells",
    "tests_that_tell",
    "undominated",
]

OWN, THERE = 0, 1
"""Rows of words: the leaves that each entry reaches at x, and at z."""
TESTS, _LIVE = 0, 1
"""Rows of words: the leaves that the tests of a tree miss, and those of them that are reached."""
SMALL = 1e-9
"""Shares are 0 and 1 to so much."""

_PIVOTS = 200
# After so many pivots the lowest places are taken, which does not go round in circles.
_BLAND = 60


@subroutine
def look(point: Any, reached: Any, t: Any) -> None:
    """Write the leaves that each entry reaches."""
    for e in range(len(t.entry_tree)):
        tree = t.entry_tree[e]
        width = t.tree_word[tree + 1] - t.tree_word[tree]
        for k in range(width):
            reached[t.absent_at[e] + k] = reached_at(e, point[t.tested[e]], width, k, t)


@subroutine
def reached_at(e: int, position: Any, width: int, k: int, t: Any) -> Any:
    """Return word k of the leaves that an entry reaches at a position, -1 for a missing value."""
    if position < 0:
        return t.absent[t.absent_at[e] + k]
    b = t.mask_at[e] + width * t.segment_of[t.segment_at[e] + position] + k
    return t.below[b] & t.above[b]


@subroutine
def tells(e: int, width: int, reached: Any, t: Any) -> bool:
    """Say whether an entry tells x from z."""
    for k in range(t.absent_at[e], t.absent_at[e] + width):
        if reached[OWN, k] != reached[THERE, k]:
            return True
    return False


@subroutine
def tests_that_tell(
    tree: int, but: int, full: Any, shares: Any, least: float, most: float,
    reached: Any, rows: Any, capacity: Any, t: Any,
) -> int:  # fmt: skip
    """Write the leaves between x and z, and by which tests they are missed; count these rows.

    Row 0 has the leaves. Each test that tells x from z has two more: the leaves that z misses by
    it, which are reached to its share, and those that x misses. Attributes whose share is
    ``least`` or less are as in z, and from ``most`` on as in x. The entry ``but`` is left out.
    """
    first = t.tree_word[tree]
    width = t.tree_word[tree + 1] - first
    for k in range(width):
        rows[TESTS, k] = full[first + k]
    count = 0
    for i in range(t.tests_at[tree], t.tests_at[tree + 1]):
        e = t.tests[i]
        if e == but:
            continue
        at = t.absent_at[e]
        share = shares[t.tested[e]]
        if share <= least:
            for k in range(width):
                rows[TESTS, k] &= reached[THERE, at + k]
        elif share >= most:
            for k in range(width):
                rows[TESTS, k] &= reached[OWN, at + k]
        else:
            told = False
            for k in range(width):
                own, there = reached[OWN, at + k], reached[THERE, at + k]
                rows[TESTS, k] &= own | there
                told = told or own != there
            if told:
                for k in range(width):
                    rows[TESTS, (count + 1) * width + k] = ~reached[THERE, at + k]
                    rows[TESTS, (count + 2) * width + k] = ~reached[OWN, at + k]
                capacity[count], capacity[count + 1] = share, 1.0 - share
                count += 2
    return count


@subroutine
def leaves_between(
    first: int, width: int, count: int, rows: Any, misses: Any, leaves: Any, t: Any
) -> int:
    """Write the values of the leaves in row 0, the greatest first, and in which rows they are."""
    n = 0
    for k in range(width):
        live = rows[k]
        while live:
            low = live & (~live + np.uint64(1))
            leaves[n] = t.values[64 * (first + k) + popcount(low - np.uint64(1))]
            for j in range(count):
                misses[n, j] = 1 if rows[(j + 1) * width + k] & low else 0
            live ^= low
            n += 1
    return n


@subroutine
def envelope_at(
    first: int, width: int, e: int, position: Any, count: int, share: float,
    reached: Any, rows: Any, capacity: Any,
    misses: Any, leaves: Any, table: Any, places: Any, t: Any,
) -> float:  # fmt: skip
    """Return the envelope of a tree with one entry at a position, by the rows of its others."""
    told, n = False, 0
    for k in range(width):
        own, there = reached[OWN, t.absent_at[e] + k], reached_at(e, position, width, k, t)
        live = rows[TESTS, k] & (there if share <= SMALL else own | there)
        rows[_LIVE, k] = live
        n += popcount(live)
        told = told or own != there
        rows[TESTS, (count + 1) * width + k] = ~there
        rows[TESTS, (count + 2) * width + k] = ~own
    most = count
    if told and share > SMALL:
        capacity[count], capacity[count + 1] = share, 1.0 - share
        most += 2
    # The greatest leaf has the lowest bit.
    high = 0
    for k in range(width):
        live = rows[_LIVE, k]
        if live:
            high = t.values[
                64 * (first + k) + popcount((live & (~live + np.uint64(1))) - np.uint64(1))
            ]
            break
    if n == 1:
        return float(high)
    kept, nested = 0, True
    room = capacity[len(capacity) // 2 :]
    for j in range(most):
        some = np.uint64(0)
        for k in range(width):
            row = rows[TESTS, (j + 1) * width + k] & rows[_LIVE, k]
            rows[_LIVE, (kept + 1) * width + k] = row
            some |= row
        if some == np.uint64(0):
            continue
        room[kept] = capacity[j]
        kept += 1
        for i in range(1, kept):
            common = one = other = np.uint64(0)
            for k in range(width):
                here, row = rows[_LIVE, i * width + k], rows[_LIVE, kept * width + k]
                common |= here & row
                one |= here & ~row
                other |= row & ~here
            if common != np.uint64(0) and one != np.uint64(0) and other != np.uint64(0):
                nested = False
    if not nested:
        n = leaves_between(first, width, kept, rows[_LIVE], misses, leaves, t)
        for i in range(n):
            leaves[i] = high - leaves[i]
        return float(high) - program(n, kept, room, misses, leaves, table, places)
    total, rest = 0.0, 1.0
    for k in range(width - 1, -1, -1):
        live = rows[_LIVE, k]
        while live and rest > 0.0:
            top = live
            for shift in (1, 2, 4, 8, 16, 32):
                top |= top >> np.uint64(shift)
            leaf = popcount(top) - 1
            top ^= top >> np.uint64(1)
            live ^= top
            take = rest
            for j in range(kept):
                if rows[_LIVE, (j + 1) * width + k] & top:
                    take = min(take, room[j])
            if take > 0.0:
                for j in range(kept):
                    if rows[_LIVE, (j + 1) * width + k] & top:
                        room[j] -= take
                rest -= take
                total += take * float(t.values[64 * (first + k) + leaf])
    return total + rest * float(high)


@subroutine
def undominated(n: int, k: int, misses: Any, leaves: Any) -> int:
    """Keep the leaves of which no other one asks for more by fewer attributes; count them."""
    kept = 0
    # The last ones ask for most, and are compared with first; they are gathered at the end.
    for i in range(n - 1, -1, -1):
        implied = False
        for other in range(n - kept, n):
            implied = True
            for j in range(k):
                if misses[other, j] and not misses[i, j]:
                    implied = False
                    break
            if implied:
                break
        if not implied:
            kept += 1
            leaves[n - kept] = leaves[i]
            for j in range(k):
                misses[n - kept, j] = misses[i, j]
    for i in range(kept):
        leaves[i] = leaves[n - kept + i]
        for j in range(k):
            misses[i, j] = misses[n - kept + i, j]
    return kept


@subroutine
def program(
    n: int, k: int, capacity: Any, misses: Any, leaves: Any, table: Any, places: Any
) -> float:
    """Write weights that cost least: c + sum of capacity_j w_j, with c + w(R(l)) >= leaves[l].

    The simplex method on the dual: maximise the sum of leaves[l] y_l, where all y_l add up to 1
    at most, and those of the leaves in a row to its capacity. The weights are the reduced costs
    of its slacks.
    """
    columns, rows = n + 1, k + 1
    scale = 0.0
    for i in range(n):
        scale = max(scale, float(leaves[i]))
    for j in range(k):
        places[0, j] = 0
    if scale == 0.0:
        return 0.0
    for j in range(k):
        for i in range(n):
            table[j * columns + i] = float(misses[i, j])
        table[j * columns + n] = capacity[j]
    for i in range(n):
        table[k * columns + i] = 1.0
        table[rows * columns + i] = -float(leaves[i]) / scale
        places[1, i] = i
    table[k * columns + n] = 1.0
    table[rows * columns + n] = 0.0
    for j in range(rows):
        places[0, j] = n + j
    for pivots in range(_PIVOTS):
        into = -1
        best = -SMALL
        for i in range(n):
            cost = table[rows * columns + i]
            if pivots < _BLAND:
                if cost < best:
                    best, into = cost, i
            elif cost < -SMALL and (into < 0 or places[1, i] < places[1, into]):
                into = i
        if into < 0:
            break
        out = -1
        least = 0.0
        for j in range(rows):
            step = table[j * columns + into]
            if step > SMALL:
                ratio = table[j * columns + n] / step
                lower = places[0, j] < places[0, out] if out >= 0 else True
                if out < 0 or ratio < least - 1e-12 or (ratio < least + 1e-12 and lower):
                    out, least = j, ratio
        if out < 0:
            break
        _pivot(rows, columns, out, into, table)
        places[0, out], places[1, into] = places[1, into], places[0, out]
    least_cost: float = table[rows * columns + n]
    # The rounded weights take the place of the basis.
    for j in range(k):
        places[0, j] = 0
    for i in range(n):
        j = places[1, i] - n
        if 0 <= j < k:
            weight = min(max(table[rows * columns + i], 0.0), 1.0)
            places[0, j] = np.int64(weight * scale + 0.5)
    return least_cost * scale


@subroutine
def _pivot(rows: int, columns: int, out: int, into: int, table: Any) -> None:
    """Exchange a basic variable, by its row, for another one, by its column."""
    pivot = table[out * columns + into]
    for i in range(columns):
        if i != into:
            table[out * columns + i] /= pivot
    table[out * columns + into] = 1.0 / pivot
    for j in range(rows + 1):
        factor = table[j * columns + into]
        if j == out or factor == 0.0:
            continue
        for i in range(columns):
            if i != into:
                table[j * columns + i] -= factor * table[out * columns + i]
        table[j * columns + into] = -factor / pivot
