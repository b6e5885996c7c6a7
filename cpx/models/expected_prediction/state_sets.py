"""Sets of states of attributes, as runs of states that follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Runs(NamedTuple):
    """Sets of states of one attribute.

    order: The states in the order that runs are of.
    first, end: The runs of all sets, one after the other: the first place in that order, and the
        place after the last one.
    starts: Where the runs of each set begin.
    """

    order: Ints
    first: Ints
    end: Ints
    starts: Ints


def runs_of_rows(rows: Bools) -> Runs:
    """Return sets that are given as rows of bools over the states, shape (M, K).

    >>> runs = runs_of_rows(np.array([[True, False, True], [False, True, True]]))
    >>> runs.first.tolist(), runs.end.tolist(), runs.starts.tolist()
    ([0, 2, 1], [1, 3, 3], [0, 2])
    """
    steps = np.diff(np.pad(rows, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    which, first = np.nonzero(steps == 1)
    end = np.nonzero(steps == -1)[1]
    starts = np.searchsorted(which, np.arange(len(rows)))
    return Runs(np.arange(rows.shape[1]), first, end, starts)


def runs_of_ranges(order: Ints, first: Ints, end: Ints, also: Bools) -> Runs:
    """Return sets of a run each, which may be empty, and the first place where ``also`` says so.

    >>> runs = runs_of_ranges(np.arange(4), np.array([1, 2]), np.array([1, 3]), np.ones(2, bool))
    >>> runs.first.tolist(), runs.end.tolist(), runs.starts.tolist()
    ([0, 0, 2], [1, 1, 3], [0, 1])
    """
    empty = end <= first
    two = also & ~empty & (first > 0)
    starts = np.arange(len(first)) + np.cumsum(two) - two
    firsts = np.repeat(np.where(empty, 0, first), 1 + two)
    ends = np.repeat(np.where(empty, 1, end), 1 + two)
    firsts[starts[two]], ends[starts[two]] = 0, 1
    return Runs(order, firsts, ends, starts)


@dataclass(frozen=True, eq=False)
class StateSets:
    """Sets of states of all attributes, numbered through.

    A table of all states of all sets would be large: a column that a forest tests at thousands of
    thresholds has as many states, and nearly each leaf leaves another interval of them.

    attributes: None of the sets is empty.

    >>> sets = StateSets([runs_of_rows(np.array([[True, False, True], [False, True, True]])),
    ...                   runs_of_rows(np.array([[False, True]]))])
    >>> sets.having([1, 1]).tolist(), sets.sums([1, 10, 100, 7, 8]).tolist()
    ([False, True, True], [101, 110, 8])
    >>> sets.states(0).tolist(), sets.states(2).tolist()
    ([True, False, True], [False, True])
    """

    attributes: Sequence[Runs]

    @cached_property
    def offsets(self) -> Ints:
        """Where the states of each attribute begin among those of all, and their number."""
        return np.cumsum([0, *(len(runs.order) for runs in self.attributes)])

    @cached_property
    def firsts(self) -> Ints:
        """Where the sets of each attribute begin among those of all, and their number."""
        return np.cumsum([0, *(len(runs.starts) for runs in self.attributes)])

    @cached_property
    def _all(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """The states in order; the first and last places of runs, where those of a set begin."""
        counts = [len(runs.first) for runs in self.attributes]
        before = np.cumsum([0, *counts[:-1]])
        places = list(zip(self.attributes, self.offsets.tolist()))
        return (
            np.concatenate([runs.order + offset for runs, offset in places]),
            np.concatenate([runs.first + offset for runs, offset in places]),
            np.concatenate([runs.end + offset for runs, offset in places]),
            np.concatenate([runs.starts + at for runs, at in zip(self.attributes, before)]),
            np.repeat(np.arange(len(counts)), counts),
        )

    def __len__(self) -> int:
        """Return the number M of sets of all attributes."""
        return int(self.firsts[-1])

    def having(self, codes: ArrayLike) -> Bools:
        """Return which sets have the state of their attribute in a row of states, shape (M,)."""
        order, first, end, starts, attribute = self._all
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        own = place[self.offsets[:-1] + np.asarray(codes)][attribute]
        inside = (first <= own) & (own < end)
        return np.logical_or.reduceat(inside, starts) if len(starts) else inside

    def sums(self, values: Any) -> Ints:
        """Return the sum over the states of each set, shape (..., M).

        values: The states of one attribute after those of another.
        """
        order, first, end, starts, _ = self._all
        given = np.asarray(values, dtype=np.int64)[..., order]
        until = np.concatenate([np.zeros_like(given[..., :1]), np.cumsum(given, axis=-1)], axis=-1)
        own = until[..., end] - until[..., first]
        return np.asarray(np.add.reduceat(own, starts, axis=-1) if len(starts) else own)

    def states(self, which: int) -> Bools:
        """Return which states of its attribute a set has, shape (K_a,)."""
        a = int(np.searchsorted(self.firsts, which, side="right")) - 1
        runs, own = self.attributes[a], which - int(self.firsts[a])
        inside = np.zeros(len(runs.order), dtype=np.bool_)
        last = runs.starts[own + 1] if own + 1 < len(runs.starts) else len(runs.first)
        for first, end in zip(runs.first[runs.starts[own] : last], runs.end[runs.starts[own] :]):
            inside[runs.order[first:end]] = True
        return inside
