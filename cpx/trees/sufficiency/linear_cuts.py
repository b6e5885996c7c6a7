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
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cpx.compiled.kernel import Bytes2, Floats, Ints, Ints2, Words, kernel, subroutine
from cpx.trees.sufficiency.class_margin import Arrays

__all__ = ["weigh"]

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
        n = _leaves_between(tree, k, full, x, z, misses, tests, leaves, t)
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
    tree: int, count: int, full: Any, x: Any, z: Any, misses: Any, tests: Any, leaves: Any, t: Any
) -> int:
    """Write the values of the leaves that rows between x and z reach, the greatest first.

    ``misses`` has, for each of them, by which tests z misses it.
    """
    first = t.tree_word[tree]
    width = t.tree_word[tree + 1] - first
    n = 0
    for k in range(width):
        live = full[first + k]
        for i in range(t.tests_at[tree], t.tests_at[tree + 1]):
            e = t.tests[i]
            a = t.tested[e]
            live &= _reached(e, x[a], width, k, t) | _reached(e, z[a], width, k, t)
        for bit in range(64):
            if (live >> np.uint64(bit)) & np.uint64(1):
                leaves[n] = t.values[64 * (first + k) + bit]
                for j in range(count):
                    mask = _reached(tests[1, j], z[tests[0, j]], width, k, t)
                    misses[n, j] = 1 - ((mask >> np.uint64(bit)) & np.uint64(1))
                n += 1
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
) -> None:
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
    # The rounded weights take the place of the basis.
    for j in range(k):
        places[0, j] = 0
    for i in range(n):
        j = places[1, i] - n
        if 0 <= j < k:
            weight = min(max(table[rows * columns + i], 0.0), 1.0)
            places[0, j] = np.int64(weight * scale + 0.5)


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
