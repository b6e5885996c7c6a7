"""Side constraints to which each column adds a number of its own, whatever else is chosen.

They are those whose terms have one column each, or columns of which one at most is chosen. What
is left of such a constraint, its slack, is a sum over the chosen columns; for all constraints at
once that is an addition of vectors. Which columns have no allowed completion any more follows
from the slack alone: their sets are looked up.

With s the slack of a set, D_p what column p adds to it, and g the largest D_p, a completion by p
and at most r - 1 other candidates has at most

    s + D_p + min(sum of the positive D_q over all candidates, (r - 1) g),

where the sum leaves p out, but is not less for that unless D_p is positive; then the first of the
two says no more of p than that some completion exists. So p is done with where -D_p is greater
than s + min(...).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import Ints, Shorts2, Words, Words2, subroutine

if TYPE_CHECKING:
    from cpx.models.side_constraints.form import LinearConstraint

__all__ = [
    "Additive",
    "Slacks",
    "additive_constraints",
    "any_broken",
    "block",
    "changes_of",
    "is_additive",
    "is_blocked",
    "new_slacks",
]

_NONE = np.uint64(0)
_ONE = np.uint64(1)


class Additive(NamedTuple):
    """The constraints, as the kernels take them; first those to which some column adds."""

    changes: Shorts2  # shape (n, constraints): what each column adds
    start: Ints  # slack of the empty set
    gains: Ints  # the most that one column adds, of the first constraints
    places: Ints  # entries of constraint c: places[c] .. places[c + 1]
    losses: Ints  # of each entry, decreasing
    losing: Words2  # shape (entries, words): columns that take so much or more


class Slacks(NamedTuple):
    """Numbers of one thread."""

    now: Ints  # slack of each constraint
    more: Ints  # what all candidates together could add to the first ones
    blocked: Words  # columns without an allowed completion


def new_slacks(rows: Additive) -> Slacks:
    """Return the buffers of a thread."""
    now, more = np.zeros_like(rows.start), np.zeros_like(rows.gains)
    return Slacks(now, more, np.zeros(rows.losing.shape[1], dtype=np.uint64))


@subroutine
def _add_up(rows: Additive, now: Ints, chosen: Ints, size: int) -> None:
    for c in range(now.size):
        now[c] = rows.start[c]
    for x in range(size):
        changes = rows.changes[chosen[x]]
        for c in range(now.size):
            now[c] += changes[c]


@subroutine
def any_broken(rows: Additive, slacks: Slacks, chosen: Ints, size: int) -> bool:
    """Whether the set of the first chosen columns breaks a constraint."""
    _add_up(rows, slacks.now, chosen, size)
    least = 0
    for c in range(slacks.now.size):
        least = min(least, slacks.now[c])
    return least < 0


@subroutine
def block(
    rows: Additive, slacks: Slacks, chosen: Ints, size: int, ids: Ints, kept: Ints, n: int, r: int
) -> int:
    """Mark the columns that no allowed completion by at most r of the n kept candidates has.

    Returns 1 where there are some, 0 where there are none, and -1 where there is no completion.
    """
    now, more, marked = slacks.now, slacks.more, slacks.blocked
    _add_up(rows, now, chosen, size)
    if more.size != 0:
        for c in range(more.size):
            more[c] = 0
        for x in range(n):
            changes = rows.changes[ids[kept[x]]]
            for c in range(more.size):
                more[c] += max(changes[c], 0)
        for c in range(more.size):
            if now[c] + min(more[c], r * rows.gains[c]) < 0:
                return -1
            now[c] += min(more[c], (r - 1) * rows.gains[c])
    found = 0
    for c in range(now.size):
        entry, end = rows.places[c], rows.places[c + 1]
        if entry == end or rows.losses[entry] <= now[c]:
            continue
        if now[c] < 0 and c >= more.size:
            return -1
        while entry + 1 < end and rows.losses[entry + 1] > now[c]:
            entry += 1
        if found == 0:
            found = 1
            for w in range(marked.size):
                marked[w] = _NONE
        for w in range(marked.size):
            marked[w] |= rows.losing[entry, w]
    return found


@subroutine
def is_blocked(slacks: Slacks, column: int) -> bool:
    """Whether the column is among those that were marked."""
    return bool((slacks.blocked[column >> 6] >> np.uint64(column & 63)) & _ONE != _NONE)


# ------------------------------------------------------------------ the constraints of a root


_MOST_GAINING = 64
"""Constraints that columns may add to: for each, all candidates of a node are summed up."""


def is_additive(row: LinearConstraint, group_of: dict[int, int], fixed: frozenset[int]) -> bool:
    """Whether each of the free features, those of ``group_of``, adds a number of its own."""
    return all(
        not fixed.isdisjoint(T) or len({group_of[j] for j in T if j in group_of}) <= 1
        for _, T in row.terms
    )


def changes_of(
    rows: Sequence[LinearConstraint], columns: Sequence[int], fixed: frozenset[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what each column alone adds to each constraint, and the slack of the empty set."""
    place = {j: x for x, j in enumerate(columns)}
    filled = [[0] * len(columns) for _ in rows]
    start = [-row.at_least for row in rows]
    for c, row in enumerate(rows):
        for factor, T in row.terms:
            if not fixed.isdisjoint(T):
                start[c] += factor
                continue
            for j in T:
                if j in place:
                    filled[c][place[j]] += factor
    changes = np.array(filled, dtype=np.int64).reshape(len(rows), len(columns)).T
    return changes, np.array(start, dtype=np.int64)


def additive_constraints(
    rows: Sequence[LinearConstraint], columns: Sequence[int], fixed: frozenset[int]
) -> tuple[Additive, tuple[LinearConstraint, ...]]:
    """Return the constraints on the features of the columns, and those that are too many."""
    changes, start = changes_of(rows, columns, fixed)
    gains = changes.max(axis=0, initial=0).astype(np.int64)
    order = np.argsort(gains == 0, kind="stable")
    gaining = int((gains > 0).sum())
    too_many = order[_MOST_GAINING:gaining]
    order = np.concatenate([order[: min(gaining, _MOST_GAINING)], order[gaining:]])
    shorts, start = np.ascontiguousarray(changes[:, order].astype(np.int32)), start[order]
    places, losses, losing = [0], list[int](), list[NDArray[np.bool_]]()
    for column in -shorts.T:
        entries = sorted(set(column.tolist()), reverse=True)
        losses += entries
        losing += [column >= loss for loss in entries]
        places.append(len(losses))
    made = Additive(
        shorts,
        start,
        gains[order][gains[order] > 0],
        np.array(places, dtype=np.int64),
        np.array(losses, dtype=np.int64),
        _as_words(np.array(losing, dtype=np.bool_).reshape(len(losses), len(columns))),
    )
    return made, tuple(rows[c] for c in too_many)


def _as_words(marks: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return rows of marks as bits of words."""
    words = -(-marks.shape[1] // 64)
    padded = np.zeros((marks.shape[0], 64 * words), dtype=np.bool_)
    padded[:, : marks.shape[1]] = marks
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)
