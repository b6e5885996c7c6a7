"""The exact search for a counterexample, as compiled kernels.

Depth-first branch and bound over boxes of positions, with the bounds of ``boxes.h``. Positions
that cannot reach the needed total are cut off at the ends, and the box is split where both halves
lose most.
"""

from __future__ import annotations

from cpx.compiled.kernel import Bytes, Ints, Ints2, Ints3, Words, Words2, kernel
from cpx.models.sufficient_reason.sufficiency.class_margin import Arrays

__all__ = [
    "BOXES",
    "BUDGET",
    "CHECK",
    "FOUND",
    "NONE",
    "PAUSED",
    "REFUTED",
    "begin",
    "disjoint",
    "search",
]

NONE, FOUND, CHECK, PAUSED = 0, 1, 2, 3
"""Answers of :func:`search`: no counterexample, one, one perhaps, not finished."""

DEPTH, REFUTED, BOXES, BUDGET = 0, 1, 2, 3
"""Places in the state: the depth of the next box, whether its point was refuted, boxes so far,
and boxes that may be looked at before the search pauses."""


@kernel
def search(
    t: Arrays,
    need: int,
    slack: int,
    x: Ints,
    words: Words2,
    box: Ints3,
    point: Ints,
    profile: Ints2,
    taken: Bytes,
    gains: Ints,
    state: Ints,
) -> int:
    """Look for a point of the box at ``box[0]`` whose total is at least ``need``.

    t: See :class:`cpx.models.sufficient_reason.sufficiency.class_margin.ClassMargin`.
    need, slack: The total to reach; totals are rounded up by less than ``slack``, 0 when they are
        exact.
    x: The positions of the explained row, taken where nothing speaks against them.
    words: Live leaves at each depth; those at depth 0 are given.
    box: First and last position, and whether a value may be missing; given at depth 0.
    point: The answer: a position, or -1 for a missing value.
    profile: Workspace for the sums of one attribute.
    taken: Workspace for which trees are left out of a sum.
    gains: Workspace for what the bound would lose by each attribute.
    state: Where to go on, see ``DEPTH`` and so on; depth 0 at first. When a point is ``CHECK`` and
        refuted, say so here.
    """


@kernel
def begin(
    t: Arrays,
    full: Words,
    whole: Ints2,
    x: Ints,
    held: Words,
    words: Words2,
    box: Ints3,
    state: Ints,
) -> None:
    """Write the box of all completions at depth 0, where the attributes held are as in x.

    whole: The box that rows are in.
    held: Bit a says whether attribute a is held.
    words, box, state: See :func:`search`.
    """


@kernel
def disjoint(sets: Words2, count: int, words: Words) -> int:
    """Return the last of the first rows of sets, bit by bit, that meets no given bit, or -1."""
