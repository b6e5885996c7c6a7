"""Branch and bound over the features of a sum of tables, best-first.

A node is what is decided of each feature, with the multipliers of the node above it. Features
that add nothing to any set below are left out: without them a set has no lesser value, and a
lesser penalty. Then the Lagrangian bound
(:mod:`~cpx.models.expected_prediction.search.table_sums.ascent`) is improved until the node is
done with or the bound settles, which on the way decides features that all better sets have or
lack. Where it settles, the node is split by the feature that copies and prices disagree about
most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.best_first import BestFirst
from cpx.models.expected_prediction.search.table_sums.ascent import Workspace, ascend, settle
from cpx.models.expected_prediction.search.table_sums.terms import (
    FREE,
    IN,
    OUT,
    Terms,
    largest_gains,
    restrict,
)
from cpx.models.expected_prediction.search.table_sums.value_and_penalty import Objective, Solution

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

_WORK = 2_000_000
"""Entries of tables that are looked at between two looks at the clock: some 10 ms."""

_STEPS, _LOOK = 40, 20
"""Steps between two looks at the bound, at the root and below it: at most."""

_ROUNDS, _ROUNDS_BELOW = 12, 3
"""How often the bound is looked at before a node is split."""

_SETTLED = 0.02
"""The bound has settled when a round takes less than this part of what is left of the gap."""

_MOST_OPEN = 2000
"""Nodes kept for their bounds; with more, the search goes depth first for a while."""


@dataclass(frozen=True, eq=False)
class _Node:
    """What is decided of each feature; the bound, and the multipliers of the node above."""

    decided: Bytes
    bound: int
    multipliers: Ints


class BranchAndBound:
    """Branch and bound for one objective.

    best: The best known set.
    found: Told every better set.
    proved: Told every better bound of the objective's F.
    stop: Asked now and then.
    bound: Of F, for all sets.
    """

    def __init__(
        self,
        objective: Objective,
        best: Solution | None,
        *,
        found: Callable[[Solution], None],
        proved: Callable[[int], None],
        stop: Callable[[], bool],
    ) -> None:
        self.objective, self.best, self.nodes = objective, best, 0
        self._found, self._proved, self._stop = found, proved, stop
        self.bound = sum(int(table.max()) for table in objective.tables)
        if not objective.features:
            return
        self._whole = Terms.of(objective.features, objective.tables)
        self._part = self._whole.copied()
        self._work = Workspace.of(self._whole, objective.costs)
        self._ranges = self._whole.ranges()

    def search(self) -> bool:
        """Search; return whether it was finished, so that nothing is better than ``best``."""
        form = self.objective.form
        decided = np.full(form.n_features, OUT, dtype=np.uint8)  # features of no table add nothing
        decided[[j for members in self.objective.features for j in members]] = FREE
        decided[list(form.forbidden)] = OUT
        decided[list(form.required)] = IN
        if not self.objective.features:
            self._offer(np.flatnonzero(decided == IN))
            self._prove(self._enough)
            return True
        root = _Node(decided, self.bound, np.zeros(self._whole.feature.size, dtype=np.int64))
        tree = BestFirst(
            self._expand,
            lambda node: (-node.bound,),
            lambda node: node.bound <= self._enough,
            lambda lowest: self._prove(-lowest),
            self._stop,
            _MOST_OPEN,
        )
        if not tree.search(root):
            return False
        self._prove(self._enough)
        return True

    @property
    def _enough(self) -> int:
        return self.objective.enough(self.best)

    def _prove(self, bound: int) -> None:
        """Tell a bound of all sets, given one of those that are better than the best."""
        self.bound = min(self.bound, max(bound, self._enough))
        self._proved(self.bound)

    def _offer(self, features: Ints) -> None:
        solution = self.objective.solution(features.tolist())
        if self.objective.better(solution, self.best):
            self.best = solution
            self._found(solution)

    def _expand(self, node: _Node, note: Callable[[int], None]) -> list[_Node]:
        """Return what is left to search below a node."""
        self.nodes += 1
        decided, multipliers, bound = node.decided.copy(), node.multipliers, node.bound
        work, part = self._work, self._part
        while True:
            room = self._open(decided)
            if room < 0:
                return []
            if room == 0:
                self._offer(np.flatnonzero(decided == IN))
                return []
            bits = int(part.size.sum())
            origin = part.origin[:bits]
            work.multiplier[:bits] = multipliers[origin]
            reached = self._improved(decided, room, note)
            if self._stop():
                return []
            bound = min(bound, reached)
            multipliers = multipliers.copy()
            multipliers[origin] = work.best[:bits]
            if bound <= self._enough:
                return []
            free = int((decided == FREE).sum())
            few = settle(part, work, decided, room, reached, self._enough) * 10 <= free
            done = not (decided == FREE).any() or (decided == IN).sum() >= self.objective.k
            if few and not done:
                return self._split(decided, bound, multipliers)

    def _open(self, decided: Bytes) -> int:
        """Make the terms of a node, leave out what adds nothing; return how many may be chosen."""
        gains = self._work.price
        while True:
            room = self.objective.k - int((decided == IN).sum())
            if room <= 0:
                return room
            restrict(self._whole, self._part, decided)
            largest_gains(self._part, gains)
            useless = (decided == FREE) & (gains <= -self.objective.slack)
            if not useless.any():
                return min(room, int((decided == FREE).sum()))
            decided[useless] = OUT

    def _improved(self, decided: Bytes, room: int, note: Callable[[int], None]) -> int:
        """Return the bound of the best multipliers that are met."""
        work, part, root = self._work, self._part, self.nodes == 1
        chosen = np.flatnonzero(decided == IN)
        base = -int(work.cost[chosen].sum())
        bits = int(part.size.sum())
        work.limit[:bits] = self._ranges[part.origin[:bits]]
        work.direction[:bits] = 0
        work.doubt[:] = 0
        work.pace[:] = 1.0, 0.0
        work.best[:bits] = work.multiplier[:bits]
        entries = int((1 << part.size).sum())
        steps = max(1, min(_STEPS if root else _LOOK, _WORK // entries))
        low, bound = -(1 << 62), 1 << 62
        for _ in range(_ROUNDS if root else _ROUNDS_BELOW):
            enough = self._enough
            aim = max(enough, low)
            before = bound
            bound, value = ascend(
                *(part, work, decided, room, base, enough, aim),
                *(self.objective.least, low, before, steps),
            )
            if value > low:
                low = value
                self._offer(np.flatnonzero((decided == IN) | (work.found > 0)))
            note(-bound)
            if bound <= self._enough or self._stop():
                break
            if before - bound < _SETTLED * (bound - max(self._enough, low)):
                break
        return bound

    def _split(self, decided: Bytes, bound: int, multipliers: Ints) -> list[_Node]:
        work = self._work
        free = np.flatnonzero(decided == FREE)
        doubt = work.doubt[free]
        # Where all agree, sets that are equal are told apart: by what is picked, first of all.
        rank = np.lexsort((free, -work.picked[free].astype(np.int64), -doubt))
        j = int(free[rank[0]])
        nodes = []
        for what in (IN, OUT):
            child = decided.copy()
            child[j] = what
            nodes.append(_Node(child, bound, multipliers))
        return nodes
