"""Side constraints where some features are decided, as arrays for the kernels of the search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.side_constraints import Additive, Side
from cpx.compiled.kernel import Ints

if TYPE_CHECKING:
    from cpx.models.side_constraints.form import LinearConstraint, SideConstraints

__all__ = ["NOWHERE", "NO_CONSTRAINTS", "Remaining"]

_MOST_GAINING = 64
"""Constraints that columns may add to: for each, all candidates of a node are summed up."""


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

    def allowed_alone(self) -> NDArray[np.bool_]:
        """Say of each column whether the set of it satisfies all of them."""
        changes, start = _changes_of(self.linear, self.columns, self.fixed)
        return np.asarray((start + changes >= 0).all(axis=1))

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

    def numbers(self, n: int, groups: Ints, drop_idle: bool) -> Side:
        """Return what the kernels take, for a root of n columns.

        Of columns of equal number in ``groups``, unless it is empty, one at most is chosen.
        """
        if not self.linear:
            return NOWHERE
        group_of = dict(zip(self.columns, groups.tolist() or range(n), strict=True))
        simple = [row for row in self.linear if _is_additive(row, group_of, self.fixed)]
        additive, too_many = _additive_constraints(simple, self.columns, self.fixed)
        others = [row for row in self.linear if row in too_many or row not in simple]
        side = self._with_terms(others, additive)
        wanted = self.with_sign(positive=True).astype(np.int64)
        return side._replace(there=1, wanted=wanted, drop_idle=int(drop_idle))

    def _with_terms(self, rows: Sequence[LinearConstraint], additive: Additive) -> Side:
        """Return the additive constraints together with others."""
        if not rows:
            return NOWHERE._replace(additive=additive)
        terms = list(dict.fromkeys(T for row in rows for _, T in row.terms))
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
        for row in rows:
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
        about = [_bits((place[T] for _, T in row.terms), words) for row in rows]
        least, gains, losses = np.array(figures, dtype=np.int64).T.copy()
        return NOWHERE._replace(
            additive=additive,
            terms=np.array(by_column, dtype=np.uint64).reshape(len(self.columns), words),
            held=held,
            starts=np.array(starts, dtype=np.int64),
            masks=np.array(masks, dtype=np.uint64).reshape(len(scales), words),
            scales=np.array(scales, dtype=np.int64),
            least=least,
            gains=gains,
            losses=losses,
            about=np.array(about, dtype=np.uint64).reshape(len(rows), words),
            loose=((gains == 0) & (-losses >= least)).astype(np.int64),
            asks=int(gains.any()),
        )


def _lowest(row: LinearConstraint, free: frozenset[int], chosen: frozenset[int]) -> int:
    """Return the least sum that a set with the chosen, and with some of the free, has."""
    return sum(
        factor
        for factor, T in row.terms
        if not chosen.isdisjoint(T) or (factor < 0 and not free.isdisjoint(T))
    )


def _is_additive(row: LinearConstraint, group_of: dict[int, int], fixed: frozenset[int]) -> bool:
    """Whether each of the free features, those of ``group_of``, adds a number of its own."""
    return all(
        not fixed.isdisjoint(T) or len({group_of[j] for j in T if j in group_of}) <= 1
        for _, T in row.terms
    )


def _changes_of(
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


def _additive_constraints(
    rows: Sequence[LinearConstraint], columns: Sequence[int], fixed: frozenset[int]
) -> tuple[Additive, tuple[LinearConstraint, ...]]:
    """Return the constraints on the features of the columns, and those that are too many."""
    changes, start = _changes_of(rows, columns, fixed)
    gains = changes.max(axis=0, initial=0).astype(np.int64)
    order = np.argsort(gains == 0, kind="stable")
    gaining = int((gains > 0).sum())
    too_many = order[_MOST_GAINING:gaining]
    order = np.concatenate([order[: min(gaining, _MOST_GAINING)], order[gaining:]])
    adds, start = np.ascontiguousarray(changes[:, order], dtype=np.int32), start[order]
    places, losses, losing = [0], list[int](), list[NDArray[np.bool_]]()
    for column in -adds.T:
        entries = sorted(set(column.tolist()), reverse=True)
        losses += entries
        losing += [column >= loss for loss in entries]
        places.append(len(losses))
    gains = gains[order][gains[order] > 0]
    rises, bits, rising = [0], list[int](), list[NDArray[np.bool_]]()
    for column, gain in zip(adds.T, gains.tolist(), strict=False):
        held = range(gain.bit_length())
        bits += held
        rising += [(np.maximum(column, 0) >> b) & 1 > 0 for b in held]
        rises.append(len(bits))
    made = Additive(
        adds,
        start,
        gains,
        np.array(rises, dtype=np.int64),
        _as_words(rising, len(columns)),
        np.array(bits, dtype=np.int64),
        np.array(places, dtype=np.int64),
        np.array(losses, dtype=np.int64),
        _as_words(losing, len(columns)),
    )
    return made, tuple(rows[c] for c in too_many)


def _as_words(marks: Sequence[NDArray[np.bool_]], n: int) -> NDArray[np.uint64]:
    """Return rows of n marks as bits of words."""
    padded = np.zeros((len(marks), -(-n // 64) * 64), dtype=np.bool_)
    padded[:, :n] = np.array(marks, dtype=np.bool_).reshape(len(marks), n)
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _bits(places: Iterable[int], words: int) -> NDArray[np.uint64]:
    found = np.zeros(words, dtype=np.uint64)
    for i in places:
        found[i >> 6] |= np.uint64(1 << (i & 63))
    return found


def _none() -> Side:
    words, numbers = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    table = np.zeros((0, 0), dtype=np.uint64)
    return Side(
        additive=_additive_constraints((), (), frozenset())[0],
        terms=table,
        held=words,
        starts=np.zeros(1, dtype=np.int64),
        masks=table,
        scales=numbers,
        least=numbers,
        gains=numbers,
        losses=numbers,
        about=table,
        loose=numbers,
        asks=0,
        there=0,
        wanted=numbers,
        drop_idle=0,
    )


NO_CONSTRAINTS = Remaining((), (), frozenset())

NOWHERE = _none()
"""No constraint on any column."""
