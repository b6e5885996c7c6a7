"""Side constraints in the search: which sets are allowed, and which completions can be.

Each constraint is a sum of terms, one of which holds when a set has one of its columns. Terms are
bits of words, so that the terms that hold for a set are the union of those of its columns, and a
sum is a popcount for each bit of its coefficients.

At a node, let V be the terms that hold, and W those that hold for V and all remaining candidates
together. A completion by at most r of these has at most the sum of the positive coefficients of W
and the negative ones of V; it also has at most the sum of V and r times the most that one column
adds. If a constraint asks for more, there is no completion, and the same is told of one candidate
by what holds with it. Most constraints cannot fail by one candidate more, whichever it is: they
are not looked at again for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import Ints, Words, Words2, subroutine
from cpx.compiled.vectors import popcount

if TYPE_CHECKING:
    from cpx.models.side_constraints.form import LinearConstraint, SideConstraints

__all__ = [
    "NOWHERE",
    "NO_CONSTRAINTS",
    "Buffers",
    "Remaining",
    "Side",
    "allowed",
    "buffers",
    "can_follow",
    "is_wanted",
    "keep_possible",
    "look",
    "still_possible",
]


_NONE = np.uint64(0)


class Side(NamedTuple):
    """The constraints on the columns of a root, as the kernels take them."""

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
    wanted: Ints  # by column: 1 where it may be needed for the sake of a constraint
    drop_idle: int  # whether other columns are of no use where they exclude nothing


class Buffers(NamedTuple):
    """Words and numbers of one thread."""

    truth: Words  # terms that hold for what is chosen
    other: Words
    reach: Words  # terms that can hold
    tight: Ints  # constraints that one candidate more may break
    near: Words  # the terms of these


def buffers(side: Side) -> Buffers:
    """Return the buffers of a thread."""
    truth, other, reach, near = (np.zeros(side.held.size, dtype=np.uint64) for _ in range(4))
    return Buffers(truth, other, reach, np.zeros(side.least.size + 1, dtype=np.int64), near)


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
    return side.least.size != 0 and side.wanted[column] != 0


@subroutine
def allowed(side: Side, buffers: Buffers, chosen: Ints, size: int) -> bool:
    """Whether the set of the first chosen columns satisfies all constraints."""
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
    """Note the constraints that one candidate may break; return how many, or -1.

    That is where no set with the chosen columns, and at most r of the n kept candidates, is
    allowed. The last of ``tight`` says whether a candidate without terms of these breaks one.
    """
    truth, reach, tight, near = buffers.truth, buffers.reach, buffers.tight, buffers.near
    count, broken = 0, 0
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
    tight[tight.size - 1] = broken
    return count


@subroutine
def can_follow(side: Side, buffers: Buffers, column: int, tight: int, r: int) -> bool:
    """Whether an allowed completion may have the column, by the constraints that were noted."""
    other, touched = buffers.other, _NONE
    for w in range(other.size):
        new = side.terms[column, w] & ~buffers.truth[w]
        touched |= new & buffers.near[w]
        other[w] = buffers.truth[w] | new
    if touched == _NONE:
        return bool(buffers.tight[buffers.tight.size - 1] == 0)
    for x in range(tight):
        c = buffers.tight[x]
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
    if side.least.size == 0:
        return n
    if side.drop_idle != 0:
        left = 0
        for x in range(n):
            p = kept[x]
            if after[p] != covered or side.wanted[ids[p]] != 0:
                kept[left] = p
                left += 1
        n = left
    tight = look(side, buffers, chosen, size, ids, kept, n, r)
    if tight <= 0:
        return n if tight == 0 else 0
    left = 0
    for x in range(n):
        p = kept[x]
        if can_follow(side, buffers, ids[p], tight, r):
            kept[left] = p
            left += 1
    return left


@subroutine
def still_possible(
    side: Side, buffers: Buffers, chosen: Ints, size: int, ids: Ints, kept: Ints, n: int, r: int
) -> bool:
    """Whether the kept candidates are enough for an allowed completion by at most r of them."""
    if side.least.size == 0:
        return True
    return look(side, buffers, chosen, size, ids, kept, n, r) >= 0


# ------------------------------------------------------------------ the constraints of a root


@dataclass(frozen=True, eq=False)
class Remaining:
    """The constraints that are left to decide when some features are chosen and some cannot be.

    Attributes
    ----------
    linear : tuple of LinearConstraint
        Those that some set of the columns breaks.
    columns : tuple of int
        The feature of each column.
    fixed : frozenset of int
        Features of every set.
    """

    linear: tuple[LinearConstraint, ...]
    columns: tuple[int, ...]
    fixed: frozenset[int]

    @classmethod
    def of(
        cls, side: SideConstraints, columns: NDArray[np.int64], fixed: tuple[int, ...]
    ) -> Remaining:
        """Return what is left of the constraints of a problem."""
        chosen = frozenset(fixed)
        free = frozenset(columns.tolist())
        open_ = tuple(row for row in side.linear if _lowest(row, free, chosen) < row.at_least)
        return cls(open_, tuple(columns.tolist()), chosen)

    def allow(self, columns: list[int]) -> bool:
        """Whether a set of columns satisfies all of them."""
        features = {self.columns[j] for j in columns} | self.fixed if self.linear else set()
        return all(row.holds(features) for row in self.linear)

    def within(self, columns: NDArray[np.int64], chosen: list[int]) -> Remaining:
        """Return the constraints on some of the columns where others are chosen."""
        if not self.linear:
            return self
        fixed = self.fixed | {self.columns[j] for j in chosen}
        return Remaining(self.linear, tuple(self.columns[j] for j in columns.tolist()), fixed)

    def with_sign(self, positive: bool) -> NDArray[np.bool_]:
        """Say of each column whether it counts for a constraint, or against one."""
        found = {j for row in self.linear for a, T in row.terms if (a > 0) == positive for j in T}
        return np.array([j in found for j in self.columns], dtype=np.bool_)

    def numbers(self, n: int, drop_idle: bool) -> Side:
        """Return what the kernels take, for a root of n columns."""
        if not self.linear:
            return NOWHERE
        terms = list(dict.fromkeys(T for row in self.linear for _, T in row.terms))
        place = {T: i for i, T in enumerate(terms)}
        words = -(-len(terms) // 64)
        having: dict[int, list[int]] = {}
        for T, i in place.items():
            for j in T:
                having.setdefault(j, []).append(i)
        by_column = [_bits(having.get(j, ()), words) for j in self.columns]
        held = _bits((i for j in self.fixed for i in having.get(j, ())), words)
        starts, masks, scales = [0], list[NDArray[np.uint64]](), list[int]()
        figures: list[tuple[int, int, int]] = []
        for row in self.linear:
            for sign in (1, -1):
                signed = [(abs(a), place[T]) for a, T in row.terms if a * sign > 0]
                for b in range(max((a.bit_length() for a, _ in signed), default=0)):
                    masks.append(_bits((i for a, i in signed if a >> b & 1), words))
                    scales.append(sign << b)
            starts.append(len(scales))
            adds, takes = dict.fromkeys(self.columns, 0), dict.fromkeys(self.columns, 0)
            for factor, T in row.terms:
                for j in T:
                    if j in adds:
                        adds[j] += max(factor, 0)
                        takes[j] += max(-factor, 0)
            most = max(adds.values(), default=0), max(takes.values(), default=0)
            figures.append((row.at_least, *most))
        about = [_bits((place[T] for _, T in row.terms), words) for row in self.linear]
        least, gains, losses = np.array(figures, dtype=np.int64).T.copy()
        return Side(
            np.array(by_column, dtype=np.uint64).reshape(n, words),
            held,
            np.array(starts, dtype=np.int64),
            np.array(masks, dtype=np.uint64).reshape(len(scales), words),
            np.array(scales, dtype=np.int64),
            least,
            gains,
            losses,
            np.array(about, dtype=np.uint64).reshape(len(self.linear), words),
            ((gains == 0) & (-losses >= least)).astype(np.int64),
            int(gains.any()),
            self.with_sign(positive=True).astype(np.int64),
            int(drop_idle),
        )


def _lowest(row: LinearConstraint, free: frozenset[int], chosen: frozenset[int]) -> int:
    """Return the least sum that a set with the chosen, and with some of the free, has."""
    return sum(
        factor
        for factor, T in row.terms
        if not chosen.isdisjoint(T) or (factor < 0 and not free.isdisjoint(T))
    )


def _bits(places: Iterable[int], words: int) -> NDArray[np.uint64]:
    found = np.zeros(words, dtype=np.uint64)
    for i in places:
        found[i >> 6] |= np.uint64(1 << (i & 63))
    return found


def _none() -> Side:
    words, numbers = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    table = np.zeros((0, 0), dtype=np.uint64)
    starts = np.zeros(1, dtype=np.int64)
    return Side(
        table,
        words,
        starts,
        table,
        scales=numbers,
        least=numbers,
        gains=numbers,
        losses=numbers,
        about=table,
        loose=numbers,
        asks=0,
        wanted=numbers,
        drop_idle=0,
    )


NO_CONSTRAINTS = Remaining((), (), frozenset())

NOWHERE = _none()
"""No constraint on any column."""
