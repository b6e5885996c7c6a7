"""Linear inequalities that every sufficient reason meets, from one row, as a compiled kernel.

Let z be any row, and S a set of attributes. What a tree gives the rival on the row that is as x in
S and as z elsewhere is a function of S; its convex envelope is the greatest convex function on the
cube of fractional sets that is nowhere greater (``envelopes.h``). So at any fractional set, each
tree has weights of the attributes such that it gives the rival, whatever S is, no less than a
constant less the weights in S. Added up over the trees, this bounds from below what the rival has
on the row. Where S is a sufficient reason the rival stays below what it needs, so the weights in
S have a least sum. A set that has to be hit, as those of hitting sets, is the case of equal
weights; one inequality implies the sets of very many rows between x and z.

In single trees weights may be negative, where the rival gains by an attribute that is as in x. Of
all trees together none need be: with S, S and this attribute is a reason, too.

The weights are found in floats and rounded; the constant follows from them in integers, so that
the inequality holds whatever the rounding was.

The sum of the envelopes says how far a fractional set is from what z asks for. So z is moved, one
attribute at a time, to where it is greatest.
"""

from __future__ import annotations

from cpx.compiled.kernel import Bytes, Bytes2, Floats, Ints, Ints2, Words, Words2, kernel
from cpx.models.sufficient_reason.sufficiency.class_margin import Arrays

__all__ = ["NOTHING", "ascend", "weigh"]

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

    t: See :class:`cpx.models.sufficient_reason.sufficiency.class_margin.ClassMargin`.
    full: The leaves that some position reaches.
    x, z: Positions, -1 for a missing value.
    shares: Where the bound should be great: how much of each attribute is in S, from 0 to 1.
    weights: The answer: what the trees weigh each attribute, added up, and 0 where that is less.
    of_entries: What each tree weighs each attribute that it tests, which may be less than 0.
    reached: Workspace for the leaves that each entry reaches, where missing values have theirs.
    rows: Workspace for up to K rows of V words, two for each test of a tree, as all that follows.
    """


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
    along: Floats,
    fresh: Bytes,
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

    Each is moved a few times at most, and how many were in the end is returned; after 0 none alone
    makes the sum greater.

    t, full, x, shares, reached, rows, capacity, misses, leaves, table, places: See :func:`weigh`.
    whole: The box of all rows; see
        :func:`cpx.models.sufficient_reason.sufficiency.exact_search.search`.
    z: Positions, changed in place.
    order: The attributes, the first to be tried first.
    bounds: Workspace for the envelope of each tree.
    along: Workspace for the envelopes at each segment of an entry, then at missing values.
    fresh: Workspace for which entries have them, then for which trees have their bound.
    at: Workspace for the sums of one attribute.
    """
