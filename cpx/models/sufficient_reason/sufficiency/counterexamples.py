"""Search for rows of another class that agree with x on given attributes, rival by rival.

Boxes are searched; for forests by vote over free conditions, SAT clauses ask Glucose.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import DataError
from cpx.models.sufficient_reason.ends import LOWER, UPPER, WHOLE, Ends
from cpx.models.sufficient_reason.sufficiency.class_margin import differences
from cpx.models.sufficient_reason.sufficiency.grid import Grid
from cpx.models.sufficient_reason.sufficiency.set_family import in_words, places
from cpx.models.sufficient_reason.sufficiency.workspace import Workspace, prepared_model
from cpx.trees import MISSING, TreeModel

__all__ = ["CounterexampleSearch", "GaveUp", "Stopped", "VoteClauses", "votes_on_conditions"]

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
    see :mod:`cpx.models.sufficient_reason.sufficiency.counterexamples`. It remembers no answers.
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
        self._slice = _SLICE
        self._random = np.random.default_rng(0)
        self._spaces: dict[int, Workspace] = {}
        self._count = len(self.grid.used)
        self._by_votes, self._used = votes_on_conditions(model, self.grid), 0
        self._clauses: dict[int, VoteClauses] = {}
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
        space = self.space(rival)
        with self.holding(space, held):
            if not (self._satisfies(rival, held) if self._by_votes else self._search(rival)):
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

    def _satisfies(self, rival: int, held: NDArray[np.uint64]) -> bool:
        """Ask the clauses for a counterexample, or learn which places refute it."""
        if rival not in self._clauses:
            self._clauses[rival] = VoteClauses(self.model, self.grid, self.x, self.own, rival)
        kept = places(int.from_bytes(held.tobytes(), "little"))
        point, core = self._clauses[rival].counterexample(kept, self.look)
        self._used |= sum(1 << place for place in core)
        if point is not None:
            self.space(rival).point[:] = point
        return point is not None

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


class Sides:
    """The places of ends of intervals, on positions of attributes.

    x: The positions of the row.
    """

    def __init__(self, ends: Ends, grid: Grid, x: NDArray[np.int64]) -> None:
        at = {a: place for place, a in enumerate(grid.used)}
        self.position = np.array([at[a] for a, _ in ends.pairs], dtype=np.int64)
        self.side = np.array([side for _, side in ends.pairs], dtype=np.int64)
        self._x, self._own = x, x[self.position]

    def limit(self, whole: NDArray[np.int64], held: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Leave out of a box what ends that are held leave out; return what is held whole."""
        some = np.unpackbits(held.view(np.uint8), count=len(self.side), bitorder="little") > 0
        for side, column in ((LOWER, 0), (UPPER, 1)):
            here = self.position[some & (self.side == side)]
            whole[here, column] = self._x[here]
            whole[here, 2] = 0
        alone = np.zeros(len(self._x), dtype=np.bool_)
        alone[self.position[some & (self.side == WHOLE)]] = True
        bits = int.from_bytes(np.packbits(alone, bitorder="little").tobytes(), "little")
        return in_words(bits, len(alone))

    def differing(self, point: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say beyond which ends a row of positions is; a missing value is beyond both."""
        there = point[self.position]
        beyond = np.where(self.side == LOWER, there < self._own, there > self._own)
        return np.where((self.side == WHOLE) | (there < 0), there != self._own, beyond)

    def spread(self, weights: NDArray[np.int64], point: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return weights of attributes by end: of those beyond which a row is."""
        return np.where(self.differing(point), weights[self.position], 0)

    def joined(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the greatest value of the ends of each attribute."""
        found = np.zeros(len(self._x), dtype=values.dtype)
        np.maximum.at(found, self.position, values)
        return found


# Conflicts between two looks at the clock: some hundredths of a second.
_CONFLICTS = 500


def votes_on_conditions(model: TreeModel, grid: Grid) -> bool:
    """Say whether several trees vote, and each tested attribute is true or false."""
    two = all(len(cells) == 2 for cells in grid.cells) and not grid.missing.any()
    return bool(grid.used) and two and model.rule == "vote" and len(model.trees) > 1


class VoteClauses:
    """Decides whether a rival can win, with some attributes as in x.

    Per attribute a variable says that it is as in x. Per tree and unit of what the rival gains
    there on the class of x, a variable may be true only where no leaf that gives less is
    reached; enough of these are asked for. What has to stay as in x are assumptions,
    and those used in a refutation are a reason already.

    model: See :func:`votes_on_conditions`.
    x: Positions of the row.
    own, rival: Indices of classes.
    """

    def __init__(
        self, model: TreeModel, grid: Grid, x: NDArray[np.int64], own: int, rival: int
    ) -> None:
        from pysat.solvers import Solver

        from cpx.support.totalizer import sum_encoding

        self._solver: Any = Solver("glucose4")
        # One that is left at the end of the process complains that its module is gone.
        finalize(self, self._solver.delete)
        self._n, self._x = len(grid.used), x
        new = count(self._n + 1).__next__
        values, base, need = differences(model, own, rival)
        least = [int(value.min()) for value in values]
        unit = int(np.gcd.reduce(np.concatenate([v - m for v, m in zip(values, least)])) or 1)
        lost: dict[int, int] = {}
        here, there = np.zeros((2, model.n_attributes), dtype=np.int32)
        for a, cells, place in zip(grid.used, grid.cells, x.tolist()):
            here[a], there[a] = cells[place], cells[1 - place]
        for boxes, reach, value, low in zip(model.boxes, grid.trees, values, least):
            units = (value - low) // unit
            gains = [new() for _ in range(int(units.max()))]
            lost.update((-gain, 1) for gain in gains)
            tested = np.array([entry.attribute for entry in reach.attributes], dtype=np.int64)
            used = np.array(grid.used, dtype=np.int64)[tested]
            same, other = boxes.having(here)[:, used], boxes.having(there)[:, used]
            # False as soon as x must be left, or kept, to reach the leaf, and is not.
            off = np.where(same, np.where(other, 0, -tested - 1), tested + 1)
            for leaf in np.flatnonzero(reach.reachable & (units < len(gains))).tolist():
                path = off[leaf][off[leaf] != 0].tolist()
                # What the rival gains at the leaf is all that it may gain when it is reached.
                for gain in gains[units[leaf] :]:
                    self._solver.add_clause([*path, -gain])
        most = len(lost) - -(-(need - base - sum(least)) // unit)
        self._never = most < 0
        if 0 <= most < len(lost):
            total = sum_encoding(lost, most + 1, new, self._solver.add_clause)
            for literal in total.at_most(most):
                self._solver.add_clause([literal])
        self._solver.set_phases(list(range(1, self._n + 1)))

    def counterexample(
        self, held: Sequence[int], look: Callable[[], None]
    ) -> tuple[NDArray[np.int64] | None, list[int]]:
        """Return the positions of a counterexample, or None and the places that refute it.

        held: Places whose attributes are as in x.
        look: Called now and then; may raise what ends the search.
        """
        if self._never:
            return None, []
        found: bool | None = None
        while found is None:
            self._solver.conf_budget(_CONFLICTS)
            found = self._solver.solve_limited(assumptions=[place + 1 for place in held])
            if found is None:
                look()
        if not found:
            return None, [literal - 1 for literal in self._solver.get_core() or []]
        same = np.array(self._solver.get_model()[: self._n]) > 0
        return np.where(same, self._x, 1 - self._x), []
