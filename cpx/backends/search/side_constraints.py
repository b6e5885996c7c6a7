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

from cpx.compiled.kernel import Ints, Shorts2, Words, Words2, subroutine
from cpx.compiled.vectors import popcount

__all__ = [
    "Additive",
    "Buffers",
    "Side",
    "allowed",
    "ask_first",
    "buffers",
    "can_follow",
    "is_wanted",
    "keep_possible",
    "look",
    "still_possible",
]


_NONE = np.uint64(0)
_ONE = np.uint64(1)


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


_COUNT, _BROKEN, _BLOCKED = -1, -2, -3
"""At the end of ``tight``: how many it has, whether a candidate without terms of these breaks one,
and whether an additive constraint is done with some candidate."""


@subroutine
def _add_up(rows: Additive, now: Ints, chosen: Ints, size: int) -> None:
    for c in range(now.size):
        now[c] = rows.start[c]
    for x in range(size):
        changes = rows.changes[chosen[x]]
        for c in range(now.size):
            now[c] += changes[c]


@subroutine
def _any_broken(rows: Additive, slacks: Slacks, chosen: Ints, size: int) -> bool:
    """Whether the set of the first chosen columns breaks a constraint."""
    _add_up(rows, slacks.now, chosen, size)
    least = 0
    for c in range(slacks.now.size):
        least = min(least, slacks.now[c])
    return least < 0


@subroutine
def _block(
    rows: Additive, slacks: Slacks, chosen: Ints, size: int, ids: Ints, kept: Ints, n: int, r: int
) -> int:
    """Mark the columns that no allowed completion by at most r of the n kept candidates has.

    Returns 1 where some candidate is, 0 where none is, and -1 where there is no completion.
    """
    now, members, marked = slacks.now, slacks.members, slacks.blocked
    _add_up(rows, now, chosen, size)
    c = 0
    while c < now.size and now[c] >= max(0, rows.losses[rows.places[c]]):
        c += 1
    if c == now.size:
        return 0
    for w in range(members.size):
        members[w], marked[w] = _NONE, _NONE
    for x in range(n):
        column = ids[kept[x]]
        members[column >> 6] |= _ONE << np.uint64(column & 63)
    while c < now.size:
        left, entry = now[c], rows.places[c]
        if c < rows.gains.size and left < max(0, rows.losses[entry]):
            more = 0
            for e in range(rows.rises[c], rows.rises[c + 1]):
                adding = 0
                for w in range(members.size):
                    adding += popcount(members[w] & rows.rising[e, w])
                more += adding << rows.bits[e]
            if left + min(more, r * rows.gains[c]) < 0:
                return -1
            left += min(more, (r - 1) * rows.gains[c])
        elif left < 0:
            return -1
        if rows.losses[entry] > left:
            while entry + 1 < rows.places[c + 1] and rows.losses[entry + 1] > left:
                entry += 1
            for w in range(marked.size):
                marked[w] |= rows.losing[entry, w]
        c += 1
    some = _NONE
    for w in range(marked.size):
        some |= marked[w] & members[w]
    return 1 if some != _NONE else 0


@subroutine
def _is_blocked(slacks: Slacks, column: int) -> bool:
    """Whether the column is among those that were marked."""
    return bool((slacks.blocked[column >> 6] >> np.uint64(column & 63)) & _ONE != _NONE)


@subroutine
def _sum(side: Side, truth: Words, reach: Words, c: int) -> int:
    """Return the sum of constraint c: its positive terms by ``reach``, the others by ``truth``."""
    total = 0
    for e in range(side.starts[c], side.starts[c + 1]):
        scale, held = side.scales[e], 0
        for w in range(truth.size):
            held += popcount((reach[w] if scale > 0 else truth[w]) & side.masks[e, w])
        total += scale * held
    return total


@subroutine
def _hold(side: Side, truth: Words, chosen: Ints, size: int) -> None:
    """Write the terms that hold for the first chosen columns."""
    for w in range(truth.size):
        truth[w] = side.held[w]
        for x in range(size):
            truth[w] |= side.terms[chosen[x], w]


@subroutine
def is_wanted(side: Side, column: int) -> bool:
    """Whether a set may need a column for the sake of a constraint."""
    return side.there != 0 and side.wanted[column] != 0


@subroutine
def allowed(side: Side, buffers: Buffers, chosen: Ints, size: int) -> bool:
    """Whether the set of the first chosen columns satisfies all constraints."""
    if side.there == 0:
        return True
    if _any_broken(side.additive, buffers.slacks, chosen, size):
        return False
    if side.least.size == 0:
        return True
    _hold(side, buffers.other, chosen, size)
    for c in range(side.least.size):
        if _sum(side, buffers.other, buffers.other, c) < side.least[c]:
            return False
    return True


@subroutine
def look(
    side: Side, buffers: Buffers, chosen: Ints, size: int, ids: Ints, kept: Ints, n: int, r: int
) -> int:
    """Note what one candidate may break; return 1 where it may, 0 where none can, or -1.

    That is where no set with the chosen columns, and at most r of the n kept candidates, is
    allowed.
    """
    truth, reach, tight, near = buffers.truth, buffers.reach, buffers.tight, buffers.near
    count, broken = 0, 0
    some = _block(side.additive, buffers.slacks, chosen, size, ids, kept, n, r)
    tight[_COUNT], tight[_BROKEN], tight[_BLOCKED] = 0, 0, some
    if some < 0 or side.least.size == 0:
        return some
    _hold(side, truth, chosen, size)
    for w in range(reach.size):
        reach[w], near[w] = truth[w], _NONE
    if side.asks != 0:
        for x in range(n):
            for w in range(reach.size):
                reach[w] |= side.terms[ids[kept[x]], w]
    for c in range(side.least.size):
        if side.loose[c] != 0:
            touched = _NONE
            for w in range(truth.size):
                touched |= truth[w] & side.about[c, w]
            if touched == _NONE:
                continue
        now = _sum(side, truth, truth, c)
        most = now
        if side.gains[c] != 0:
            most = min(_sum(side, truth, reach, c), now + r * side.gains[c])
        if most < side.least[c]:
            return -1
        next_most = min(most, now + (r - 1) * side.gains[c])
        if next_most - side.losses[c] < side.least[c]:
            tight[count] = c
            count += 1
            if next_most < side.least[c]:
                broken = 1
            for w in range(near.size):
                near[w] |= side.about[c, w]
    tight[_COUNT], tight[_BROKEN] = count, broken
    return 1 if count > 0 else some


@subroutine
def can_follow(side: Side, buffers: Buffers, column: int, r: int) -> bool:
    """Whether an allowed completion may have the column, by the constraints that were noted."""
    other, tight, touched = buffers.other, buffers.tight, _NONE
    if tight[_BLOCKED] != 0 and _is_blocked(buffers.slacks, column):
        return False
    if tight[_COUNT] == 0:
        return True
    for w in range(other.size):
        new = side.terms[column, w] & ~buffers.truth[w]
        touched |= new & buffers.near[w]
        other[w] = buffers.truth[w] | new
    if touched == _NONE:
        return bool(tight[_BROKEN] == 0)
    for x in range(tight[_COUNT]):
        c = tight[x]
        least = side.least[c]
        if _sum(side, other, buffers.reach, c) < least:
            return False
        if _sum(side, other, other, c) + (r - 1) * side.gains[c] < least:
            return False
    return True


@subroutine
def keep_possible(
    side: Side,
    buffers: Buffers,
    chosen: Ints,
    size: int,
    ids: Ints,
    after: Ints,
    covered: int,
    kept: Ints,
    n: int,
    r: int,
) -> int:
    """Keep the candidates that an allowed completion by at most r of them may have.

    ``after`` is the bad weight left with each, ``covered`` that before: one that removes none is
    of no use unless it may be needed for the sake of a constraint.
    """
    if side.there == 0:
        return n
    if side.drop_idle != 0:
        left = 0
        for x in range(n):
            p = kept[x]
            if after[p] != covered or side.wanted[ids[p]] != 0:
                kept[left] = p
                left += 1
        n = left
    some = look(side, buffers, chosen, size, ids, kept, n, r)
    if some <= 0:
        return n if some == 0 else 0
    left = 0
    if buffers.tight[_COUNT] == 0:
        for x in range(n):
            p = kept[x]
            kept[left] = p
            left += not _is_blocked(buffers.slacks, ids[p])
        return left
    for x in range(n):
        p = kept[x]
        if can_follow(side, buffers, ids[p], r):
            kept[left] = p
            left += 1
    return left


@subroutine
def still_possible(
    side: Side, buffers: Buffers, chosen: Ints, size: int, ids: Ints, kept: Ints, n: int, r: int
) -> bool:
    """Whether the kept candidates are enough for an allowed completion by at most r of them.

    There is one without any of them as long as no constraint asks for a column.
    """
    if side.asks == 0 and side.additive.gains.size == 0:
        return True
    return look(side, buffers, chosen, size, ids, kept, n, r) >= 0


@subroutine
def ask_first(
    side: Side,
    buffers: Buffers,
    chosen: Ints,
    size: int,
    ids: Ints,
    kept: Ints,
    n: int,
    spare: Ints,
) -> int:
    """Move candidates of which each allowed completion has one to the front; return how many.

    These are the ones that add to a constraint that the chosen columns do not keep, to the one
    with the fewest of them. Where all are kept it is n. Both parts stay in their order. What is
    left of the constraints to which columns add is noted, and ``spare`` is room for n numbers.
    """
    rows, now = side.additive, buffers.slacks.now
    if rows.gains.size == 0:
        return n
    _add_up(rows, now, chosen, size)
    asked, fewest = -1, n
    for c in range(rows.gains.size):
        if now[c] < 0:
            adding = 0
            for x in range(n):
                adding += rows.changes[ids[kept[x]], c] > 0
            if adding < fewest:
                asked, fewest = c, adding
    if asked < 0:
        return n
    front = 0
    for x in range(n):
        p = kept[x]
        if rows.changes[ids[p], asked] > 0:
            kept[front] = p
            front += 1
        else:
            spare[x - front] = p
    for x in range(n - front):
        kept[front + x] = spare[x]
    return front
