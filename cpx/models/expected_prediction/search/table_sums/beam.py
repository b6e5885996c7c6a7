"""Good sets to start from, by beam search on the tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cpx.models.expected_prediction.search.table_sums.value_and_penalty import Objective

Ints = NDArray[np.int64]

_WIDTH = 8
"""Sets kept of each size."""


def beam(objective: Objective) -> Iterator[tuple[int, ...]]:
    """Yield the best set met of each size, in rising order; the first has what is required.

    Every set of a size is extended by every feature, and the sets of the greatest F are kept.
    """
    required = tuple(sorted({*objective.form.required}))
    yield required
    if not objective.features:
        return
    sums = _Sums(objective)
    free = np.setdiff1d(sums.names, [*required, *objective.form.forbidden])
    sets, states = [required], sums.states(required)[None, :]
    worth = np.zeros(1)
    for _ in range(min(objective.k - len(required), free.size)):
        extended = worth[:, None] + sums.gains(states)
        for row, chosen in enumerate(sets):
            extended[row, np.isin(sums.names, chosen)] = -np.inf
        extended[:, ~np.isin(sums.names, free)] = -np.inf
        rows, columns, found = [], [], list[tuple[int, ...]]()
        # A set is made from as many of those kept as it has features, at most.
        most = min(extended.size, _WIDTH * len(sets))
        flat = extended.ravel()
        near = np.argpartition(-flat, most - 1)[:most]
        for place in near[np.argsort(-flat[near], kind="stable")].tolist():
            row, column = divmod(place, sums.names.size)
            chosen = tuple(sorted((*sets[row], int(sums.names[column]))))
            if flat[place] == -np.inf or len(found) == _WIDTH:
                break
            if chosen not in found:
                found.append(chosen)
                rows.append(row)
                columns.append(column)
        if not found:
            return
        worth = extended[rows, columns]
        states = sums.extend(states[rows], columns)
        sets = found
        yield sets[0]


class _Sums:
    """The tables as one array, and their bits sorted by feature.

    names: The features of any table.
    """

    def __init__(self, objective: Objective) -> None:
        sizes = np.array([len(members) for members in objective.features])
        of = np.concatenate([np.array(members) for members in objective.features])
        order = np.argsort(of, kind="stable")
        self._term = np.repeat(np.arange(sizes.size), sizes)[order]
        bits = np.concatenate([1 << np.arange(size) for size in sizes])
        self._bit = bits[order]
        self.names, self._first = np.unique(of[order], return_index=True)
        self._last = np.append(self._first[1:], of.size)
        lengths = 1 << sizes
        self._start = np.cumsum(lengths) - lengths
        # Floats choose well enough, and do not overflow.
        self._table = np.concatenate(objective.tables).astype(np.float64)
        self._cost = objective.costs[self.names].astype(np.float64)

    def states(self, chosen: tuple[int, ...]) -> Ints:
        """Return the index of a set in each table."""
        state = np.zeros(self._start.size, dtype=np.int64)
        for place in np.flatnonzero(np.isin(self.names, chosen)):
            self._add(state, int(place))
        return state

    def _add(self, state: Ints, place: int) -> None:
        of = slice(self._first[place], self._last[place])
        state[self._term[of]] |= self._bit[of]

    def extend(self, states: Ints, places: list[int]) -> Ints:
        """Return the indices with one feature more in each row."""
        result = states.copy()
        for row, place in enumerate(places):
            self._add(result[row], place)
        return result

    def gains(self, states: Ints) -> NDArray[np.float64]:
        """Return what each feature adds to F, by set and feature."""
        now = self._table[self._start + states]
        at = self._start[self._term] + (states[:, self._term] | self._bit)
        added = self._table[at] - now[:, self._term]
        return np.asarray(np.add.reduceat(added, self._first, axis=1) - self._cost)
