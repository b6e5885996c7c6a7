"""Linear inequalities that every sufficient reason meets, from one row, as a compiled kernel.

Let z be any row, and S a set of attributes. The row that is as x in S and as z elsewhere reaches
in each tree some leaf l; the attributes R(l) by which z misses l are in S then. So with weights
w >= 0 of the attributes and a constant c such that, with h for the greatest value of a leaf ::

    c + sum of w_a over R(l)  >=  h - v_l      for each leaf l, of value v_l

the tree gives that row h - c - sum of w_a over S, or more. Added up over the trees, this bounds
from below what the rival has on it. Where S is a sufficient reason the rival stays below what it
needs, so the weights in S have a least sum. A set that has to be hit, as those of hitting sets,
is the case of equal weights; one inequality implies the sets of very many rows between x and z.

For a tree the weights are chosen by a linear program: those whose bound is greatest where S is a
given fractional set. It is solved in floats; the constant follows from the rounded weights in
integers, so that the inequality holds whatever the rounding was.

The sum of these greatest bounds says how far a fractional set is from what z asks for. So z is
moved, one attribute at a time, to where it is greatest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cpx.compiled.kernel import Bytes, Bytes2, Floats, Ints, Ints2, Words, kernel, subroutine
from cpx.trees.sufficiency.class_margin import Arrays

__all__ = ["ascend", "weigh"]

_PIVOTS = 200
# After so many pivots the lowest places are taken, which does not go round in circles.
_BLAND = 60
_SMALL = 1e-9


@kernel
def weigh(
    t: Arrays,
    full: Words,
    x: Ints,
    z: Ints,
    shares: Floats,
    weights: Ints,
    of_entries: Ints,
    misses: Bytes2,
    tests: Ints2,
    leaves: Ints,
    table: Floats,
    places: Ints2,
) -> int:
    """Write weights of attributes, and return what the rival has at least where none is kept.

    The row that is as x in a set S and as z elsewhere gives the rival the returned number, or
    more, less the weights in S.

    Parameters
    ----------
    t : Arrays
        See :class:`cpx.trees.sufficiency.class_margin.ClassMargin`.
    full : (W,) array of uint64
        The leaves that some position reaches.
    x, z : (A,) arrays of int64
        Positions, -1 for a missing value.
    shares : (A,) array of float64
        Where the bound should be great: how much of each attribute is in S, from 0 to 1.
    weights : (A,) array of int64
        The answer: what the trees weigh each attribute, added up.
    of_entries : (E,) array of int64
        What each tree weighs each attribute that it tests.
    misses : (L, K) array of uint8
        Workspace for up to L leaves and K tests of a tree, as all that follows.
    tests : (2, K) array of int64
    leaves : (L,) array of int64
    table : ((K + 2) (L + 1),) array of float64
    places : (2, L + K + 1) array of int64
    """
    for a in range(len(weights)):
        weights[a] = 0
    for e in range(len(of_entries)):
        of_entries[e] = 0
    total: int = t.base[0]
    for tree in range(len(t.tree_word) - 1):
        k = _tests_that_tell(tree, x, z, tests, t)
        n = _leaves_between(tree, k, full, x, z, shares, -1.0, misses, tests, leaves, places, t)
        high = leaves[0]
        n = _undominated(n, k, misses, leaves)
        for i in range(n):
            leaves[i] = high - leaves[i]
        if n > 1:
            _solve(n, k, shares, misses, tests, leaves, table, places)
        else:
            for i in range(k):
                places[0, i] = 0
        constant = leaves[0]
        for i in range(n):
            short = leaves[i]
            for j in range(k):
                # The leaf of z misses nothing, so the constant is not below 0; less than that
                # is not told, as it may not fit into 64 bits.
                if misses[i, j] and short > 0:
                    short -= places[0, j]
            if i == 0 or short > constant:
                constant = short
        total += high - constant
        for j in range(k):
            weights[tests[0, j]] += places[0, j]
            of_entries[tests[1, j]] = places[0, j]
    return total


@kernel
def ascend(
    t: Arrays,
    full: Words,
    whole: Ints2,
    x: Ints,
    z: Ints,
    order: Ints,
    shares: Floats,
    bounds: Floats,
    stale: Bytes,
    at: Floats,
    misses: Bytes2,
    tests: Ints2,
    leaves: Ints,
    table: Floats,
    places: Ints2,
) -> int:
    """Move attributes of z, one by one, to where the rival has most by the bounds of the trees.

    Each is moved once at most, and how many were is returned; after 0 none alone makes the sum
    greater. The bound of a tree is the greatest one by any weights where S is the fractional set.

    Parameters
    ----------
    t, full, x, shares, misses, tests, leaves, table, places
        See :func:`weigh`.
    whole : (A, 3) array of int64
        The box of all rows; see :func:`cpx.trees.sufficiency.exact_search.search`.
    z : (A,) array of int64
        Positions, changed in place.
    order : (A,) array of int64
        The attributes, the first to be tried first.
    bounds : (T,) array of float64
        Workspace for the bound of each tree.
    stale : (T,) array of uint8
        Workspace for which of them are out of date.
    at : (P,) array of float64
        Workspace for the sums of one attribute, and of its missing value in the last place.
    """
    for tree in range(len(t.tree_word) - 1):
        stale[tree] = 1
    for a in range(len(z)):
        # Where S has an attribute wholly, no bound is greater than with the position in x.
        if shares[a] >= 1.0 - _SMALL:
            z[a] = x[a]
    moved = 0
    for i in range(len(order)):
        a = order[i]
        here = z[a]
        if shares[a] >= 1.0 - _SMALL:
            continue
        low, high = whole[a, 0], whole[a, 1]
        for c in range(low, high + 1):
            at[c] = 0.0
        at[-1] = 0.0
        now, size = 0.0, 0.0
        for e in range(t.entry_of[a], t.entry_of[a + 1]):
            tree, first = t.entry_tree[e], t.segment_at[e]
            j0, j1 = t.segment_of[first + low], t.segment_of[first + high]
            if low > high:
                j1 = j0 - 1
            # The sums are kept as differences from one position to the next.
            before = 0.0
            for j in range(j0 - whole[a, 2], j1 + 1):
                absent = j < j0
                if absent:
                    z[a] = -1
                else:
                    z[a] = low if j == j0 else t.starts[first + j]
                same = absent == (here < 0)
                if same and not absent:
                    same = t.segment_of[first + here] == j
                if same and not stale[tree]:
                    value = bounds[tree]
                else:
                    value = _bound(
                        tree, full, x, z, shares, misses, tests, leaves, table, places, t
                    )
                if same:
                    bounds[tree], stale[tree] = value, 0
                    now += value
                    size += abs(value)
                if absent:
                    at[-1] += value
                else:
                    at[z[a]] += value - before
                    before = value
        best, to = now + _SMALL * size, here
        if whole[a, 2] and at[-1] > best:
            best, to = at[-1], -1
        total = 0.0
        for c in range(low, high + 1):
            total += at[c]
            if total > best:
                best, to = total, c
        z[a] = to
        if to != here:
            moved += 1
            for e in range(t.entry_of[a], t.entry_of[a + 1]):
                stale[t.entry_tree[e]] = 1
    return moved


@subroutine
def _bound(
    tree: int, full: Any, x: Any, z: Any, shares: Any,
    misses: Any, tests: Any, leaves: Any, table: Any, places: Any, t: Any,
) -> float:  # fmt: skip
    """Return the greatest bound of a tree, by any weights, where S is the fractional set."""
    k = _tests_that_tell(tree, x, z, tests, t)
    # What is in no part of S keeps nothing from the rival, by a great weight.
    n = _leaves_between(tree, k, full, x, z, shares, _SMALL, misses, tests, leaves, places, t)
    high = leaves[0]
    told = 0
    for j in range(k):
        # What is in S wholly has no weight: it would cost as much as it gives.
        if _SMALL < shares[tests[0, j]] < 1.0 - _SMALL:
            tests[0, told] = tests[0, j]
            for i in range(n):
                misses[i, told] = misses[i, j]
            told += 1
    n = _undominated(n, told, misses, leaves)
    for i in range(n):
        leaves[i] = high - leaves[i]
    if n == 1:
        return float(high) - float(leaves[0])
    return float(high) - _solve(n, told, shares, misses, tests, leaves, table, places)


@subroutine
def _reached(e: int, position: Any, width: int, k: int, t: Any) -> Any:
    """Return word k of the leaves that an entry reaches at a position, -1 for a missing value."""
    if position < 0:
        return t.absent[t.absent_at[e] + k]
    b = t.mask_at[e] + width * t.segment_of[t.segment_at[e] + position] + k
    return t.below[b] & t.above[b]


@subroutine
def _tests_that_tell(tree: int, x: Any, z: Any, tests: Any, t: Any) -> int:
    """Write the attributes by which the tree tells x from z, and their entries; count them."""
    width = t.tree_word[tree + 1] - t.tree_word[tree]
    count = 0
    for i in range(t.tests_at[tree], t.tests_at[tree + 1]):
        e = t.tests[i]
        a = t.tested[e]
        if x[a] == z[a]:
            continue
        for k in range(width):
            if _reached(e, x[a], width, k, t) != _reached(e, z[a], width, k, t):
                tests[0, count], tests[1, count] = a, e
                count += 1
                break
    return count


@subroutine
def _leaves_between(
    tree: int, count: int, full: Any, x: Any, z: Any, shares: Any, least: float,
    misses: Any, tests: Any, leaves: Any, places: Any, t: Any,
) -> int:  # fmt: skip
    """Write the values of the leaves that rows between x and z reach, the greatest first.

    The rows are as z in attributes whose share is ``least`` or less. ``misses`` has, for each
    leaf, by which tests z misses it.
    """
    first = t.tree_word[tree]
    width = t.tree_word[tree + 1] - first
    n = 0
    for k in range(width):
        live = full[first + k]
        for i in range(t.tests_at[tree], t.tests_at[tree + 1]):
            e = t.tests[i]
            a = t.tested[e]
            mask = _reached(e, z[a], width, k, t)
            if shares[a] > least:
                mask |= _reached(e, x[a], width, k, t)
            live &= mask
        before = n
        bit = 0
        while live:
            if live & np.uint64(1):
                leaves[n], places[0, n] = t.values[64 * (first + k) + bit], bit
                n += 1
            live >>= np.uint64(1)
            bit += 1
        for j in range(count):
            mask = _reached(tests[1, j], z[tests[0, j]], width, k, t)
            for i in range(before, n):
                misses[i, j] = 1 - ((mask >> np.uint64(places[0, i])) & np.uint64(1))
    return n


@subroutine
def _undominated(n: int, k: int, misses: Any, leaves: Any) -> int:
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
def _solve(
    n: int, k: int, shares: Any, misses: Any, tests: Any, leaves: Any, table: Any, places: Any
) -> float:
    """Write weights that cost least: c + sum of shares_a w_a, with c + w(R(l)) >= leaves[l].

    The simplex method on the dual: maximise the sum of leaves[l] y_l, where all y_l add up to 1
    at most, and those whose leaf is missed by an attribute to its share. The weights are the
    reduced costs of its slacks.
    """
    columns, rows = n + 1, k + 1
    scale = 0.0
    for i in range(n):
        scale = max(scale, float(leaves[i]))
    for j in range(k):
        for i in range(n):
            table[j * columns + i] = float(misses[i, j])
        table[j * columns + n] = shares[tests[0, j]]
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
        best = -_SMALL
        for i in range(n):
            cost = table[rows * columns + i]
            if pivots < _BLAND:
                if cost < best:
                    best, into = cost, i
            elif cost < -_SMALL and (into < 0 or places[1, i] < places[1, into]):
                into = i
        if into < 0:
            break
        out = -1
        least = 0.0
        for j in range(rows):
            step = table[j * columns + into]
            if step > _SMALL:
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
