"""Kernels for side constraints: which sets satisfy them, and which features can still be added.

Each constraint is a sum of terms, one of which holds when a set has one of its columns.

Most are additive: their terms have one column each, or columns of which one at most is chosen.
What is left of such a constraint, its slack, is a sum over the chosen columns; for all constraints
at once that is an addition of vectors. Which columns have no allowed completion any more follows
from the slack alone: their sets are looked up. With s the slack of a set, D_p what column p adds
to it, and g the largest D_p, a completion by p and at most r - 1 other candidates has at most

    s + D_p + min(sum of the positive D_q over all candidates, (r - 1) g),

where the sum leaves p out, but is not less for that unless D_p is positive; then the first of the
two says no more of p than that some completion exists. So p is done with where -D_p is greater
than s + min(...).

Of the others, terms are bits of words, so that the terms that hold for a set are the union of
those of its columns, and a sum is a popcount for each bit of its coefficients. At a node, let V be
the terms that hold, and W those that hold for V and all remaining candidates together. A
completion by at most r of these has at most the sum of the positive coefficients of W and the
negative ones of V; it also has at most the sum of V and r times the most that one column adds. If
a constraint asks for more, there is no completion, and the same is told of one candidate by what
holds with it. Most constraints cannot fail by one candidate more, whichever it is: they are not
looked at again for each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpx.compiled.kernel import Ints, Shorts2, Words, Words2

__all__ = ["Additive", "Buffers", "Side", "Slacks", "buffers"]


class Additive(NamedTuple):
    """The additive constraints, as kernels take them; first those to which some column adds."""

    changes: Shorts2  # shape (n, constraints): what each column adds
    start: Ints  # slack of the empty set
    gains: Ints  # the most that one column adds, of the first constraints
    rises: Ints  # entries of the first constraints: rises[c] .. rises[c + 1]
    rising: Words2  # shape (entries, words): columns whose addition has some bit
    bits: Ints  # of each entry: which bit
    places: Ints  # entries of constraint c: places[c] .. places[c + 1]
    losses: Ints  # of each entry, decreasing
    losing: Words2  # shape (entries, words): columns that take so much or more


class Slacks(NamedTuple):
    """Numbers of one thread for the additive constraints."""

    now: Ints  # slack of each constraint
    members: Words  # the candidates, as columns
    blocked: Words  # columns without an allowed completion


class Side(NamedTuple):
    """The constraints on the columns of a root, as the kernels take them."""

    additive: Additive
    # The others.
    terms: Words2  # shape (n, words): the terms of each column
    held: Words  # terms that hold for every set
    starts: Ints  # entries of constraint c: starts[c] .. starts[c + 1]
    masks: Words2  # shape (entries, words): terms of one sign whose coefficient has some bit
    scales: Ints  # of each entry: the bit, with the sign
    least: Ints  # what the sum of each constraint must be
    gains: Ints  # the most that one more column adds to it
    losses: Ints  # the most that one more column takes from it
    about: Words2  # shape (constraints, words): the terms of each
    loose: Ints  # 1 where a constraint cannot fail by one column while none of its terms holds
    asks: int  # whether a column can add to some constraint
    # All of them.
    there: int  # whether there is any constraint
    wanted: Ints  # by column: 1 where it may be needed for the sake of a constraint
    drop_idle: int  # whether other columns are of no use where they exclude nothing


class Buffers(NamedTuple):
    """Words and numbers of one thread."""

    slacks: Slacks
    truth: Words  # terms that hold for what is chosen
    other: Words
    reach: Words  # terms that can hold
    tight: Ints  # constraints that one candidate more may break; then the three that follow
    near: Words  # the terms of these


def buffers(side: Side) -> Buffers:
    """Return the buffers of a thread."""
    truth, other, reach, near = (np.zeros(side.held.size, dtype=np.uint64) for _ in range(4))
    tight = np.zeros(side.least.size + 3, dtype=np.int64)
    rows = side.additive
    members, blocked = (np.zeros(rows.losing.shape[1], dtype=np.uint64) for _ in range(2))
    slacks = Slacks(np.zeros_like(rows.start), members, blocked)
    return Buffers(slacks, truth, other, reach, tight, near)
