"""Linear inequalities that every sufficient reason meets, from one row, as a compiled kernel.

Let z be any row, and S a set of attributes. What a tree gives the rival on the row that is as x in
S and as z elsewhere is a function of S; its convex envelope is the greatest convex function on the
cube of fractional sets that is nowhere greater (:mod:`cpx.trees.sufficiency.envelopes`). So at any
fractional set, each tree has weights of the attributes such that it gives the rival, whatever S
is, no less than a constant less the weights in S. Added up over the trees, this bounds from below
what the rival has on the row. Where S is a sufficient reason the rival stays below what it needs,
so the weights in S have a least sum. A set that has to be hit, as those of hitting sets, is the
case of equal weights; one inequality implies the sets of very many rows between x and z.

In single trees weights may be negative, where the rival gains by an attribute that is as in x. Of
all trees together none need be: with S, S and this attribute is a reason, too.

The weights are found in floats and rounded; the constant follows from them in integers, so that
the inequality holds whatever the rounding was.

The sum of the envelopes says how far a fractional set is from what z asks for. So z is moved, one
attribute at a time, to where it is greatest.
"""

from __future__ import annotations

from cpx.compiled.kernel import Bytes, Bytes2, Floats, Ints, Ints2, Words, Words2, kernel
from cpx.trees.sufficiency.class_margin import Arrays
from cpx.trees.sufficiency.envelopes import (
    OWN,
    SMALL,
    TESTS,
    THERE,
    envelope_at,
    leaves_between,
    look,
    program,
    reached_at,
    tells,
    tests_that_tell,
    undominated,
)

__all__ = ["NOTHING", "ascend", "weigh"]

# Sums of so much may be subtracted from what trees add up to.
_MOST = 2.0**61

NOTHING = -(2**62)
"""What the rival has at least where no bound fits into 64 bits."""


@kernel
def weigh(
    t: Arrays,
    full: Words,
    x: Ints,
    z: Ints,
    shares: Floats,
    weights: Ints,
    of_entries: Ints,
    reached: Words2,
    rows: Words2,
    capacity: Floats,
    misses: Bytes2,
    leaves: Ints,
    table: Floats,
    places: Ints2,
) -> int:
    """Write weights of attributes, and return what the rival has at least where none is kept.

    The row that is as x in a reason S and as z elsewhere gives the rival the returned number, or
    more, less the weights in S. It is ``NOTHING`` where this may not fit into 64 bits.

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
        The answer: what the trees weigh each attribute, added up, and 0 where that is less.
    of_entries : (E,) array of int64
        What each tree weighs each attribute that it tests, which may be less than 0.
    reached : (2, N) array of uint64
        Workspace for the leaves that each entry reaches, where missing values have theirs.
    rows : (2, (K + 1) V) array of uint64
        Workspace for up to K rows of V words, two for each test of a tree, as all that follows.
    capacity : (2 K,) array of float64
    misses : (L, K) array of uint8
    leaves : (L,) array of int64
    table : ((K + 2) (L + 1),) array of float64
    places : (2, L + K + 1) array of int64
    """
    for a in range(len(weights)):
        weights[a] = 0
    for e in range(len(of_entries)):
        of_entries[e] = 0
    look(x, reached[OWN], t)
    look(z, reached[THERE], t)
    total: int = t.base[0]
    size = 0.0
    for tree in range(len(t.tree_word) - 1):
        first = t.tree_word[tree]
        width = t.tree_word[tree + 1] - first
        count = tests_that_tell(tree, -1, full, shares, -1.0, 2.0, reached, rows, capacity, t)
        n = leaves_between(first, width, count, rows[TESTS], misses, leaves, t)
        high = leaves[0]
        n = undominated(n, count, misses, leaves)
        for i in range(n):
            leaves[i] = high - leaves[i]
        program(n, count, capacity, misses, leaves, table, places)
        for j in range(0, count, 2):
            # What both sides weigh, neither need.
            both = min(places[0, j], places[0, j + 1])
            places[0, j] -= both
            places[0, j + 1] -= both
        constant = leaves[0]
        for i in range(n):
            short = leaves[i]
            for j in range(count):
                # The constant is not below 0: less may not fit into 64 bits.
                if misses[i, j] and short > 0:
                    short -= places[0, j]
            if i == 0 or short > constant:
                constant = short
        total += high - constant
        told = 0
        for i in range(t.tests_at[tree], t.tests_at[tree + 1]):
            e = t.tests[i]
            if tells(e, width, reached, t):
                weight = places[0, told] - places[0, told + 1]
                weights[t.tested[e]] += weight
                of_entries[e] = weight
                total -= places[0, told + 1]
                size += float(places[0, told + 1])
                told += 2
    if size > _MOST:
        return NOTHING
    for a in range(len(weights)):
        # With a reason, the set that has this attribute, too, is one.
        if weights[a] < 0:
            total -= weights[a]
            weights[a] = 0
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
    reached: Words2,
    rows: Words2,
    capacity: Floats,
    misses: Bytes2,
    leaves: Ints,
    table: Floats,
    places: Ints2,
) -> int:
    """Move attributes of z, one by one, to where the sum of the envelopes is greatest.

    Each is moved once at most, and how many were is returned; after 0 none alone makes the sum
    greater.

    Parameters
    ----------
    t, full, x, shares, reached, rows, capacity, misses, leaves, table, places
        See :func:`weigh`.
    whole : (A, 3) array of int64
        The box of all rows; see :func:`cpx.trees.sufficiency.exact_search.search`.
    z : (A,) array of int64
        Positions, changed in place.
    order : (A,) array of int64
        The attributes, the first to be tried first.
    bounds : (T,) array of float64
        Workspace for the envelope of each tree.
    stale : (T,) array of uint8
        Workspace for which of them are out of date.
    at : (P,) array of float64
        Workspace for the sums of one attribute, and of its missing value in the last place.
    """
    for tree in range(len(t.tree_word) - 1):
        stale[tree] = 1
    for a in range(len(z)):
        # Where S has an attribute wholly, it does not matter where z is.
        if shares[a] >= 1.0 - SMALL:
            z[a] = x[a]
    look(x, reached[OWN], t)
    look(z, reached[THERE], t)
    moved = 0
    for i in range(len(order)):
        a = order[i]
        here = z[a]
        if shares[a] >= 1.0 - SMALL:
            continue
        low, high = whole[a, 0], whole[a, 1]
        for c in range(low, high + 1):
            at[c] = 0.0
        at[-1] = 0.0
        now, size = 0.0, 0.0
        for e in range(t.entry_of[a], t.entry_of[a + 1]):
            tree, start = t.entry_tree[e], t.segment_at[e]
            first = t.tree_word[tree]
            width = t.tree_word[tree + 1] - first
            count = tests_that_tell(
                tree, e, full, shares, SMALL, 1.0 - SMALL, reached, rows, capacity, t
            )
            j0, j1 = t.segment_of[start + low], t.segment_of[start + high]
            if low > high:
                j1 = j0 - 1
            # The sums are kept as differences from one position to the next.
            before = 0.0
            for j in range(j0 - whole[a, 2], j1 + 1):
                absent = j < j0
                position = -1
                if not absent:
                    position = low if j == j0 else t.starts[start + j]
                same = absent == (here < 0)
                if same and not absent:
                    same = t.segment_of[start + here] == j
                if same and not stale[tree]:
                    value = bounds[tree]
                else:
                    value = envelope_at(
                        first, width, e, position, count, shares[a], reached, rows, capacity,
                        misses, leaves, table, places, t,
                    )  # fmt: skip
                if same:
                    bounds[tree], stale[tree] = value, 0
                    now += value
                    size += abs(value)
                if absent:
                    at[-1] += value
                else:
                    at[position] += value - before
                    before = value
        best, to = now + SMALL * size, here
        if whole[a, 2] and at[-1] > best:
            best, to = at[-1], -1
        total = 0.0
        for c in range(low, high + 1):
            total += at[c]
            if total > best:
                best, to = total, c
        if to != here:
            z[a] = to
            moved += 1
            for e in range(t.entry_of[a], t.entry_of[a + 1]):
                tree = t.entry_tree[e]
                stale[tree] = 1
                width = t.tree_word[tree + 1] - t.tree_word[tree]
                for k in range(width):
                    reached[THERE, t.absent_at[e] + k] = reached_at(e, to, width, k, t)
    return moved
