"""Rows that differ from x in given columns only and are wanted, found by listing them.

For one rival class an oracle decides whether a change gives it. A row of one class of many, or one
that is not too rare, is looked for here: the cells of the changed columns that the trees still
tell apart, once all others are as in x, are few.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.support.shares import percent
from cpx.trees import MISSING, Tree, TreeModel
from cpx.trees.hold import values

__all__ = ["Rarity", "WantedRows"]

_MOST = 40_000
"""Rows of one set of columns that are asked about; beyond that nothing is proved by them."""

_BATCH = 2_048

_DONORS = 5
"""Rows of a table that give their values to x, to begin with."""

Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Rarity:
    """How rare rows may be.

    log_likelihood: Of rows of numbers, shape (n, d) to (n,).
    states: The state of each value of a column: the same state, the same likelihood.
    known: Of the rows of a table, increasing.
    least: No row may have less.
    """

    log_likelihood: Callable[[Rows], NDArray[np.float64]]
    states: Callable[[int, NDArray[np.float64]], NDArray[Any]]
    known: NDArray[np.float64]
    least: float

    def share(self, row: Rows) -> float:
        """Return the share of the table that is as rare as a row or rarer."""
        level = self.log_likelihood(row[None, :])[0]
        return float(np.searchsorted(self.known, level, side="right")) / len(self.known)

    def told(self, row: Rows) -> str:
        """Say how rare a row of values of the table is."""
        return (
            f"values of the table; {percent(self.share(row), 0)} of its rows are as rare or "
            "rarer, by a mixture fitted to it"
        )


class WantedRows:
    """The rows that are wanted, and the search for them in some columns.

    model, x: The model and the row.
    targets: Indices of the classes that are wanted.
    rarity: How rare they may be.
    look: Called now and then; may raise what ends the search.
    """

    def __init__(
        self,
        model: TreeModel,
        x: Sequence[float],
        targets: Iterable[int],
        rarity: Rarity | None,
        look: Callable[[], None],
    ) -> None:
        self.model, self.x = model, np.array(x, dtype=np.float64)
        self.cells = model.cells(self.x)
        self.targets, self.rarity, self._look = sorted(targets), rarity, look
        self._pools = values(model)

    def accepts(self, rows: Rows) -> NDArray[np.bool_]:
        """Say of each row whether it is wanted."""
        found = self._have_class(rows)
        if self.rarity is not None and found.any():
            likely = self.rarity.log_likelihood(rows[found])
            found[found] = likely >= self.rarity.least
        return np.asarray(found)

    def _have_class(self, rows: Rows) -> NDArray[np.bool_]:
        return np.isin(self.model.predict_index(rows), self.targets)

    def point(self, row: Rows) -> NDArray[Any]:
        """Return a row as the oracle has it."""
        return self.model.cells(row)

    def within(self, columns: Sequence[int]) -> tuple[Rows | None, bool]:
        """Return a wanted row that differs from x in these columns at most, and whether all were
        asked about.
        """
        options = self._options(columns)
        count = int(np.prod([float(len(found)) for found in options]))
        every = count <= _MOST
        single = all(len(group) == 1 for found in options for group in found)
        for batch in _batches([range(len(found)) for found in options], count):
            self._look()
            rows = np.tile(self.x, (len(batch), 1))
            for place, (a, found) in enumerate(zip(columns, options)):
                rows[:, a] = np.array([group[0] for group in found])[batch[:, place]]
            given = np.flatnonzero(self._have_class(rows))
            if not given.size:
                continue
            if self.rarity is None:
                return rows[given[0]], True
            if single:
                likely = self.rarity.log_likelihood(rows[given]) >= self.rarity.least
                if likely.any():
                    return rows[given[int(np.argmax(likely))]], True
                continue
            for chosen in batch[given]:
                groups = [found[k] for found, k in zip(options, chosen.tolist())]
                row, all_of_them = self._likeliest(columns, groups)
                every &= all_of_them
                if row is not None:
                    return row, True
        return None, every

    def _likeliest(
        self, columns: Sequence[int], groups: Sequence[NDArray[np.float64]]
    ) -> tuple[Rows | None, bool]:
        """Return the likeliest row with values of these groups, None where it is too rare."""
        assert self.rarity is not None
        self._look()
        count = int(np.prod([float(len(group)) for group in groups]))
        if count > _BATCH:
            random = np.random.default_rng(0)
            values = np.stack([random.choice(group, _BATCH) for group in groups], axis=1)
        else:
            values = np.array(list(product(*groups)), dtype=np.float64)
        rows = np.tile(self.x, (len(values), 1))
        rows[:, list(columns)] = values
        likely = self.rarity.log_likelihood(rows)
        best = int(np.argmax(likely))
        found = rows[best] if likely[best] >= self.rarity.least else None
        return found, count <= _BATCH

    def near(self, free: Sequence[int], table: Rows, cost: Mapping[int, int]) -> Rows | None:
        """Return a wanted row made of x and a row of a table, with few of its values, or None.

        free: Columns that may change.
        cost: What they cost.
        """
        makes = np.tile(self.x, (len(table), 1))
        makes[:, list(free)] = table[:, list(free)]
        makes = makes[self.accepts(makes)]
        best, least = None, math.inf
        for row in makes[np.argsort((makes != self.x).sum(axis=1), kind="stable")[:_DONORS]]:
            self._look()
            row = self._restored(row, free, cost)
            weight = sum(cost[a] for a in free if not _same(row[a], self.x[a]))
            if weight < least:
                best, least = row, weight
        return best

    def _restored(self, row: Rows, free: Sequence[int], cost: Mapping[int, int]) -> Rows:
        """Give columns the value of x again while the row stays wanted, the dearest first."""
        while True:
            changed = [a for a in free if not _same(row[a], self.x[a])]
            rows = np.tile(row, (len(changed), 1))
            for i, a in enumerate(changed):
                rows[i, a] = self.x[a]
            fine = np.flatnonzero(self.accepts(rows)) if changed else np.empty(0, dtype=int)
            if not fine.size:
                return row
            row = rows[max(fine.tolist(), key=lambda i: cost[changed[i]])]

    def _tests(self, columns: Sequence[int]) -> dict[int, list[NDArray[np.bool_]]]:
        """Return the tests of columns that rows can reach which are as x in all others."""
        free, found = {*columns}, dict[tuple[int, int], NDArray[np.bool_]]()
        for tree in self.model.trees:
            for node in self._reached(tree, free):
                a, j = int(tree.attribute[node]), int(tree.split[node])
                if (a, j) not in found:
                    found[a, j] = self.model.lefts(a, j)
        tests: dict[int, list[NDArray[np.bool_]]] = {}
        for (a, _), left in found.items():
            tests.setdefault(a, []).append(left)
        return tests

    def _reached(self, tree: Tree, free: set[int]) -> Iterator[int]:
        waiting = [0]
        while waiting:
            node = waiting.pop()
            a = int(tree.attribute[node])
            if a < 0:
                continue
            ways = [node + 1, int(tree.right[node])]
            if a in free:
                yield node
                waiting += ways
                continue
            cell = int(self.cells[a])
            left = (
                tree.missing[node] == 0
                if cell == MISSING
                else self.model.lefts(a, int(tree.split[node]))[cell]
            )
            waiting.append(ways[0 if left else 1])

    def _options(self, columns: Sequence[int]) -> list[list[NDArray[np.float64]]]:
        """Return what each column may have, in groups of which one value is enough."""
        tests = self._tests(columns)
        return [self._groups(a, tests.get(a, [])) for a in columns]

    def _groups(self, a: int, tests: list[NDArray[np.bool_]]) -> list[NDArray[np.float64]]:
        """Return the values that tests do not tell apart, group by group, those near x first.

        A group has one value of each state that likelihoods tell apart.
        """
        pool = self._near_first(a)
        column = np.tile(self.x, (len(pool), 1))
        column[:, a] = pool
        cells = self.model.cells(column)[:, a]
        keys = [cells == MISSING]
        keys += [np.where(cells == MISSING, False, left[cells]) for left in tests]
        table = np.stack([np.asarray(key, dtype=np.int64) for key in keys], axis=1)
        _, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
        states = np.zeros(len(pool)) if self.rarity is None else self.rarity.states(a, pool)
        found = []
        for k in np.argsort(first).tolist():
            own = np.flatnonzero(group.reshape(-1) == k)
            own = own[np.sort(np.unique(states[own], return_index=True)[1])]
            found.append(pool[own])
        return found

    def _near_first(self, a: int) -> NDArray[np.float64]:
        pool = self._pools[a]
        return np.append(self.x[a], pool[np.argsort(_away(pool, self.x[a]), kind="stable")])


def _same(one: float, other: float) -> bool:
    return bool(one == other or (np.isnan(one) and np.isnan(other)))


def _away(pool: NDArray[np.float64], x: float) -> NDArray[np.float64]:
    """Return how far values are from that of x; a missing one is farthest."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.nan_to_num(np.abs(pool - (0.0 if np.isnan(x) else x)), nan=np.inf)


def _batches(options: Sequence[range], count: int) -> Iterator[NDArray[np.int64]]:
    """Yield combinations of options, those of the first ones first; of too many a choice."""
    if count > _MOST:
        random = np.random.default_rng(0)
        for _ in range(_MOST // _BATCH):
            yield np.stack([random.integers(0, len(o), _BATCH) for o in options], axis=1)
        return
    every = np.array(list(product(*options)), dtype=np.int64).reshape(count, len(options))
    every = every[np.argsort(every.sum(axis=1), kind="stable")]
    for start in range(0, count, _BATCH):
        yield every[start : start + _BATCH]
