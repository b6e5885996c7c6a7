"""Side constraints where some features are decided, as arrays for the kernels of the search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.side_constraints import Additive, Side
from cpx.compiled.kernel import Ints
from cpx.modelling.side_constraints.form import LinearConstraint, SideConstraints

_MOST_GAINING = 64
"""Constraints that columns may add to: for each, all candidates of a node are summed up."""


@dataclass(frozen=True, eq=False)
class Remaining:
    """The constraints that are left to decide when some features are chosen and some cannot be.

    linear: Those that some set of the columns breaks.
    columns: The feature of each column.
    fixed: Features of every set.
    """

    linear: tuple[LinearConstraint, ...]
    columns: tuple[int, ...]
    fixed: frozenset[int]

    @classmethod
    def of(
        cls, side: SideConstraints, columns: NDArray[np.int64], fixed: tuple[int, ...]
    ) -> Remaining:
        """Return what is left of the constraints of a problem."""
        return cls(side.linear, (), frozenset(fixed)).on(columns)

    def on(self, columns: NDArray[np.int64]) -> Remaining:
        """Return what is left of them when no other features can be chosen."""
        free, fixed = frozenset(columns.tolist()), self.fixed
        open_ = tuple(row for row in self.linear if _lowest(row, free, fixed) < row.at_least)
        return Remaining(open_, tuple(columns.tolist()), fixed)

    def allow(self, columns: list[int]) -> bool:
        """Whether a set of columns satisfies all of them."""
        if not columns:
            return bool((self.changes[1] >= 0).all())
        features = {self.columns[j] for j in columns} | self.fixed if self.linear else set()
        return all(row.holds(features) for row in self.linear)

    def allowed_alone(self) -> NDArray[np.bool_]:
        """Say of each column whether the set of it satisfies all of them."""
        changes, start = self.changes
        return np.asarray((start + changes >= 0).all(axis=1))

    def within(self, columns: NDArray[np.int64], chosen: list[int]) -> Remaining:
        """Return the constraints on some of the columns where others are chosen."""
        if not self.linear:
            return self
        fixed = self.fixed | {self.columns[j] for j in chosen}
        return Remaining(self.linear, tuple(self.columns[j] for j in columns.tolist()), fixed)

    def with_sign(self, positive: bool) -> NDArray[np.bool_]:
        """Say of each column whether it counts for a constraint, or against one."""
        columns, _, factors = self._entries
        found = np.zeros(len(self.columns), dtype=np.bool_)
        found[columns[(factors > 0) == positive]] = True
        return found

    def asked(self) -> NDArray[np.bool_] | None:
        """Say of which columns each allowed set has one: the fewest that a constraint tells.

        None where no constraint asks for any.
        """
        columns, rows, factors = self._entries
        fewest = None
        for c in np.flatnonzero(self.changes[1] < 0).tolist():
            adding = np.zeros(len(self.columns), dtype=np.bool_)
            adding[columns[(rows == c) & (factors > 0)]] = True
            if fewest is None or adding.sum() < fewest.sum():
                fewest = adding
        return fewest

    @cached_property
    def _place(self) -> dict[int, int]:
        return {j: x for x, j in enumerate(self.columns)}

    @cached_property
    def _entries(self) -> tuple[Ints, Ints, Ints]:
        """Column, constraint and factor for each column in each of the terms."""
        if not self.linear:
            none = np.zeros(0, dtype=np.int64)
            return none, none, none
        of = [row.entries for row in self.linear]
        features, factors = (np.concatenate(parts) for parts in zip(*of, strict=True))
        rows = np.repeat(np.arange(len(of)), [part[0].size for part in of])
        place = np.full(max([*self.columns, int(features.max(initial=0))]) + 1, -1)
        place[list(self.columns)] = np.arange(len(self.columns))
        columns = place[features]
        here = columns >= 0
        return columns[here], rows[here], factors[here]

    @cached_property
    def changes(self) -> tuple[Ints, Ints]:
        """What each column alone adds to each constraint, and the slack of the empty set."""
        changes = np.zeros((len(self.columns), len(self.linear)), dtype=np.int64)
        start = np.array([-row.at_least for row in self.linear], dtype=np.int64)
        columns, rows, factors = self._entries
        np.add.at(changes, (columns, rows), factors)
        for c, row in enumerate(self.linear):
            if self.fixed.isdisjoint(row.about):
                continue
            for factor, T in row.terms:
                if not self.fixed.isdisjoint(T):
                    start[c] += factor
                    here = [self._place[j] for j in T if j in self._place]
                    np.subtract.at(changes, (here, c), factor)
        return changes, start

    def numbers(self, n: int, groups: Ints, drop_idle: bool) -> Side:
        """Return what the kernels take, for a root of n columns.

        Of columns of equal number in ``groups``, unless it is empty, one at most is chosen.
        """
        if not self.linear:
            return NOWHERE
        group_of = dict(zip(self.columns, groups.tolist() or range(n), strict=True))
        changes, start = self.changes
        gains = changes.max(axis=0, initial=0).tolist()
        rows = enumerate(self.linear)
        additive = [c for c, row in rows if _is_additive(row, group_of, self.fixed)]
        # First those to which some column adds.
        at = [c for c in additive if gains[c] > 0][:_MOST_GAINING]
        at += [c for c in additive if gains[c] == 0]
        others = [row for c, row in enumerate(self.linear) if c not in at]
        side = self._with_terms(others, _additive(changes[:, at], start[at]))
        wanted = self.with_sign(positive=True).astype(np.int64)
        return side._replace(there=1, wanted=wanted, drop_idle=int(drop_idle))

    def _with_terms(self, rows: Sequence[LinearConstraint], additive: Additive) -> Side:
        """Return the additive constraints together with others."""
        if not rows:
            return NOWHERE._replace(additive=additive)
        terms = list(dict.fromkeys(T for row in rows for _, T in row.terms))
        place = {T: i for i, T in enumerate(terms)}
        words = -(-len(terms) // 64)
        of_column = np.zeros((len(self.columns), len(terms)), dtype=np.bool_)
        for T, i in place.items():
            of_column[[self._place[j] for j in T if j in self._place], i] = True
        held = _bits((i for T, i in place.items() if not self.fixed.isdisjoint(T)), words)
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
            terms=_as_words(of_column),
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
    if row.about <= free and row.about.isdisjoint(chosen):
        return row.lowest
    return sum(
        factor
        for factor, T in row.terms
        if not chosen.isdisjoint(T) or (factor < 0 and not free.isdisjoint(T))
    )


def _is_additive(row: LinearConstraint, group_of: dict[int, int], fixed: frozenset[int]) -> bool:
    """Whether each of the free features, those of ``group_of``, adds a number of its own."""
    return row.is_simple or all(
        len(T) == 1
        or not fixed.isdisjoint(T)
        or len({group_of[j] for j in T if j in group_of}) <= 1
        for _, T in row.terms
    )


def _additive(changes: Ints, start: Ints) -> Additive:
    """Return constraints by what each column adds to each, and the slack of the empty set."""
    adds = np.ascontiguousarray(changes.T)
    gains = adds.max(axis=1, initial=0)
    gains = gains[gains > 0]
    # Of each constraint all that columns take from it, the most first, and which take so much.
    taken = np.sort(-adds, axis=1)[:, ::-1]
    new = np.ones(taken.shape, dtype=np.bool_)
    new[:, 1:] = taken[:, 1:] != taken[:, :-1]
    losses = taken[new]
    losing = -adds[np.nonzero(new)[0]] >= losses[:, None]
    # Of each that they add to the bits of what they add.
    held = [(c, b) for c, gain in enumerate(gains.tolist()) for b in range(gain.bit_length())]
    of, bits = np.array(held, dtype=np.int64).reshape(-1, 2).T.copy()
    rising = (np.maximum(adds[of], 0) >> bits[:, None]) & 1 > 0
    return Additive(
        np.ascontiguousarray(changes, dtype=np.int32),
        start,
        gains,
        np.searchsorted(of, np.arange(gains.size + 1)),
        _as_words(rising),
        bits,
        np.append(0, np.cumsum(new.sum(axis=1))),
        losses,
        _as_words(losing),
    )


def _as_words(marks: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return rows of marks as bits of words."""
    rows, n = marks.shape
    padded = np.zeros((rows, -(-n // 64) * 64), dtype=np.bool_)
    padded[:, :n] = marks
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
        additive=_additive(np.zeros((0, 0), dtype=np.int64), numbers),
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
