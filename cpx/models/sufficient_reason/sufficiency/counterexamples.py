"""Search for rows of another class that agree with x on given attributes, rival by rival.

Boxes are searched; for forests by vote over free conditions, SAT clauses ask Glucose.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import DataError
from cpx.models.sufficient_reason.ends import Ends
from cpx.models.sufficient_reason.sufficiency.set_family import places
from cpx.models.sufficient_reason.sufficiency.sides import Sides
from cpx.models.sufficient_reason.sufficiency.vote_clauses import VoteSearch, votes_on_conditions
from cpx.models.sufficient_reason.sufficiency.workspace import Workspace, prepared_model
from cpx.trees import MISSING, TreeModel

__all__ = ["CounterexampleSearch", "GaveUp", "Stopped"]

# Boxes before the first look at the clock, and seconds that should pass until the next.
_SLICE, _SECONDS = 16, 0.01


class Stopped(Exception):
    """The time was over before the question was decided."""


class GaveUp(Exception):
    """More boxes were looked at than ``patience`` allows, and nothing decided."""


@cache
def _kernels() -> Any:
    from cpx.models.sufficient_reason.sufficiency import exact_search as kernels

    return kernels


class CounterexampleSearch:
    """The search for a row of another class, by the margin of each rival class.

    Our own depth-first branch and bound, see
    :mod:`cpx.models.sufficient_reason.sufficiency.exact_search`, helped by local search,
    :mod:`cpx.models.sufficient_reason.sufficiency.local_search`; for votes on conditions, clauses,
    see :mod:`cpx.models.sufficient_reason.sufficiency.vote_clauses`. It remembers no answers.
    Its parameters and attributes are told at
    :class:`cpx.models.sufficient_reason.sufficiency.oracle.SufficiencyOracle`.
    """

    def __init__(self, model: TreeModel, cells: ArrayLike, ends: Ends | None = None) -> None:
        self.model = model
        self.cells = np.array(cells, dtype=np.int32)
        if self.cells.shape != (model.n_attributes,):
            raise DataError(
                f"cells must have the shape ({model.n_attributes},), got {self.cells.shape}"
            )
        self._prepared = prepared_model(model)
        self.grid = self._prepared.grid
        self.x = self.grid.positions(model, self.cells)
        self.own = self._class_of(self.cells)
        self.rivals = [c for c in range(len(model.classes)) if c != self.own]
        self.calls = self.boxes = 0
        self.patience: int | None = None
        self.deadline: float | None = None
        self.stop: Callable[[], bool] | None = None
        self.restores = True
        self._slice = _SLICE
        self._random = np.random.default_rng(0)
        self._spaces: dict[int, Workspace] = {}
        self._count = len(self.grid.used)
        self._by_votes, self._used = votes_on_conditions(model, self.grid), 0
        self._clauses: dict[int, VoteSearch] = {}
        self._sides = None if ends is None else Sides(ends, self.grid, self.x)

    def _ask(self, held: NDArray[np.uint64]) -> NDArray[np.int64] | None:
        """Return the positions of a counterexample; the array is used again.

        held: The places that are held, as bits.
        """
        self.look()
        self.calls += 1
        self._used = 0
        for rival in self.rivals:
            point = self._wins(rival, held)
            if point is not None:
                # The next set is likely to fall to the same rival. In one step: a stop between
                # two would lose it.
                self.rivals = [rival, *(other for other in self.rivals if other != rival)]
                return point
        return None

    def _wins(self, rival: int, held: NDArray[np.uint64]) -> NDArray[np.int64] | None:
        """Return a counterexample where the rival wins; no attribute alone can be as in x."""
        point = self._satisfies(rival, held) if self._by_votes else None
        if self._by_votes and (point is None or not self.restores):
            return point
        space = self.space(rival)
        with self.holding(space, held):
            if point is not None:
                space.point[:] = point
            elif not self._search(rival):
                return None
            self._random.shuffle(space.order)
            space.restore()
        return space.point

    @contextmanager
    def holding(self, space: Workspace, held: NDArray[np.uint64]) -> Iterator[None]:
        """Hold some places as in x, in the arrays of a search."""
        whole = space.whole.copy()
        space.held[:] = held if self._sides is None else self._sides.limit(space.whole, held)
        try:
            yield
        finally:
            space.whole[:] = whole

    def differing(self, point: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say at which places a row of positions is not as x."""
        return point != self.x if self._sides is None else self._sides.differing(point)

    def spread(self, weights: NDArray[np.int64], point: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what weights of attributes ask of places, where they are those of a row."""
        return weights if self._sides is None else self._sides.spread(weights, point)

    def joined(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the greatest value of the places of each attribute."""
        return values if self._sides is None else self._sides.joined(values)

    def _satisfies(self, rival: int, held: NDArray[np.uint64]) -> NDArray[np.int64] | None:
        """Ask the clauses for a counterexample, or learn which places refute it."""
        if rival not in self._clauses:
            clauses = self._prepared.clauses(self.model, self.own, rival)
            self._clauses[rival] = VoteSearch(clauses, self.x)
        kept = places(int.from_bytes(held.tobytes(), "little"))
        point, core = self._clauses[rival].counterexample(kept, self.look)
        self._used |= sum(1 << place for place in core)
        return point

    def space(self, rival: int) -> Workspace:
        """Return the arrays in which the margin of a rival is searched for this row."""
        if rival not in self._spaces:
            self.look()
            margin = self._prepared.margin(self.model, self.own, rival)
            self._spaces[rival] = Workspace(margin, self.grid, self.x)
        return self._spaces[rival]

    def _search(self, rival: int) -> bool:
        """Search boxes for a counterexample."""
        kernels, space = _kernels(), self.space(rival)
        space.begin()
        budget = 1
        while (answer := self._boxes(space, budget)) in (kernels.PAUSED, kernels.CHECK):
            if answer == kernels.CHECK:
                if self.differs(self._cells(space.point)):
                    break
                space.state[kernels.REFUTED] = 1
                continue
            # The best positions of the first box by themselves, made better together, are a
            # counterexample in most cases where there is one.
            if budget == 1 and space.climb() >= space.enough:
                break
            self.look()
            budget = self._slice
        self.boxes += int(space.state[kernels.BOXES])
        return bool(answer != kernels.NONE)

    def _boxes(self, space: Workspace, budget: int) -> int:
        """Search on, for so many boxes or less; raise GaveUp where patience allows no more."""
        kernels = _kernels()
        before, boxes = time.monotonic(), int(space.state[kernels.BOXES])
        # How far a slice goes depends on the clock; what is given up must not.
        if self.patience is not None:
            if boxes >= self.patience:
                self.boxes += boxes
                raise GaveUp
            budget = min(budget, self.patience - boxes)
        space.state[kernels.BUDGET] = budget
        answer: int = space.search()
        whole = answer == kernels.PAUSED and budget == self._slice
        if whole and time.monotonic() - before < _SECONDS:
            self._slice *= 2
        return answer

    def differs(self, cells: NDArray[np.int32]) -> bool:
        """Say whether a row of cells, shape (d,), is of another class than x."""
        return self._class_of(cells) != self.own

    def _class_of(self, cells: NDArray[np.int32]) -> int:
        # For one row this is ten times as fast as TreeModel.totals_of.
        row, exact = cells.tolist(), self.model.exact
        totals = list(exact.base_values)
        for walk, tree, values in zip(self._prepared.walks, self.model.trees, exact.leaf_values):
            for output, value in zip(tree.outputs, values[walk(row)].tolist()):
                totals[output] += value
        return int(self.model.decide(np.array([totals], dtype=object))[0])

    def _cells(self, point: NDArray[np.int64]) -> NDArray[np.int32]:
        cells = self.cells.copy()
        for at, (a, place) in enumerate(zip(self.grid.used, point.tolist())):
            cells[a] = MISSING if place < 0 else self.grid.cells[at][place]
        return cells

    def look(self) -> None:
        """Raise ``Stopped`` when the deadline has passed, or ``stop`` says so."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise Stopped
        if self.stop is not None and self.stop():
            raise Stopped

    def _strays(self, rival: int, boxes: Mapping[int, Any], free: NDArray[np.uint64]) -> bool:
        """Say whether a rival wins somewhere in a part of what rows can be."""
        self.look()
        whole = self.space(rival).whole
        before = whole.copy()
        try:
            for place, box in boxes.items():
                whole[place] = box
            self.space(rival).held[:] = free
            return self._search(rival)
        finally:
            whole[:] = before
