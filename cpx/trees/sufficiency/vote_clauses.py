"""Counterexamples of forests by vote over free conditions, as SAT clauses for Glucose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.trees import TreeModel
from cpx.trees.sufficiency.class_margin import differences
from cpx.trees.sufficiency.grid import Grid

__all__ = ["VoteClauses", "votes_on_conditions"]

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

    Parameters
    ----------
    model : TreeModel
        See :func:`votes_on_conditions`.
    grid : Grid
    x : (A,) array of int
        Positions of the row.
    own, rival : int
        Indices of classes.
    """

    def __init__(
        self, model: TreeModel, grid: Grid, x: NDArray[np.int64], own: int, rival: int
    ) -> None:
        from pysat.solvers import Solver

        from cpx.support.totalizer import sum_encoding

        self._solver: Any = Solver("glucose4")
        self._n, self._x = len(grid.used), x
        new = count(self._n + 1).__next__
        values, base, need = differences(model, own, rival)
        least = [int(value.min()) for value in values]
        unit = int(np.gcd.reduce(np.concatenate([v - m for v, m in zip(values, least)])) or 1)
        lost: dict[int, int] = {}
        cells = np.array(grid.cells)
        here, there = cells[np.arange(self._n), x], cells[np.arange(self._n), 1 - x]
        for boxes, reach, value, low in zip(model.boxes, grid.trees, values, least):
            units = (value - low) // unit
            gains = [new() for _ in range(int(units.max()))]
            lost.update((-gain, 1) for gain in gains)
            tested = np.array([entry.attribute for entry in reach.attributes], dtype=np.int64)
            used = np.array(grid.used, dtype=np.int64)[tested]
            low_cells, high_cells = boxes.low[:, used], boxes.high[:, used]
            same = (low_cells <= here[tested]) & (here[tested] <= high_cells)
            other = (low_cells <= there[tested]) & (there[tested] <= high_cells)
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

        Parameters
        ----------
        held : sequence of int
            Places whose attributes are as in x.
        look : callable
            Called now and then; may raise what ends the search.
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
