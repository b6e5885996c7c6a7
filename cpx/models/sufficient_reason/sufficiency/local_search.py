"""Local search for a counterexample from a point of the exact search, as compiled kernels.

One attribute is moved at a time while the others stay: to where the total is greatest, until
the point is a counterexample; and of a counterexample, which mostly differs from x in most of
its free attributes, back to x where the total allows it. Per tree, the leaves that the point
reaches are kept, and those that it misses by one attribute; so comparing all positions of an
attribute costs a small part of a box of the exact search.
"""

from __future__ import annotations

from cpx.compiled.kernel import Bytes, Ints, Ints2, Words, Words2, kernel
from cpx.models.sufficient_reason.sufficiency.class_margin import Arrays

__all__ = ["ROWS", "climb"]

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

    t: See :class:`cpx.models.sufficient_reason.sufficiency.class_margin.ClassMargin`.
    need: A total by which the rival wins for sure.
    full: The leaves that some position reaches.
    whole: The box of all rows; see
        :func:`cpx.models.sufficient_reason.sufficiency.exact_search.search`.
    order: The attributes, the first to be tried first.
    held: Bit a says whether attribute a stays; with ``back``, those that are as in x stay.
    point: Positions, changed in place.
    movable: Workspace for which attributes may be moved.
    words: Workspace for leaves.
    at: Workspace for the sums of one attribute, and of its missing value in the last place.
    Returns: The total; less than ``need`` when no attribute alone raises it further.
    """
