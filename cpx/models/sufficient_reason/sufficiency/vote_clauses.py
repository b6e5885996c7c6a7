"""Votes over attributes of two values as clauses, and the search that asks Glucose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.sufficiency.class_margin import differences
from cpx.models.sufficient_reason.sufficiency.grid import Grid
from cpx.trees import TreeModel

__all__ = ["VoteClauses", "VoteSearch", "votes_on_conditions"]

# Conflicts between two looks at the clock: some hundredths of a second.
_CONFLICTS = 500


def votes_on_conditions(model: TreeModel, grid: Grid) -> bool:
    """Say whether several trees vote, and each tested attribute is true or false."""
    two = all(len(cells) == 2 for cells in grid.cells) and not grid.missing.any()
    return bool(grid.used) and two and model.rule == "vote" and len(model.trees) > 1


class VoteClauses:
    """What says whether a rival can win, as clauses; kept with the model for all rows of it.

    Per attribute a variable says that it is at its first position. Per tree and unit of what the
    rival gains there on the class, a variable may be true only where no leaf that gives less
    is reached; enough of these are asked for.

    model: See :func:`votes_on_conditions`.
    own, rival: Indices of classes.
    never: The rival wins on no row.
    """

    def __init__(self, model: TreeModel, grid: Grid, own: int, rival: int) -> None:
        from cpx.support.totalizer import sum_encoding

        self.clauses: list[list[int]] = []
        new, used = count(len(grid.used) + 1).__next__, np.array(grid.used, dtype=np.int64)
        values, base, need = differences(model, own, rival)
        least = [int(value.min()) for value in values]
        unit = int(np.gcd.reduce(np.concatenate([v - m for v, m in zip(values, least)])) or 1)
        lost: dict[int, int] = {}
        for boxes, reach, value, low in zip(model.boxes, grid.trees, values, least):
            units = (value - low) // unit
            gains = [new() for _ in range(int(units.max()))]
            lost.update((-gain, 1) for gain in gains)
            tested = np.array([entry.attribute for entry in reach.attributes], dtype=np.int64)
            first, second = (
                np.stack([boxes.of(a, grid.cells[p][at : at + 1])[:, 0] for p, a in pairs], axis=1)
                if (pairs := [*zip(tested.tolist(), used[tested].tolist())])
                else np.zeros((len(value), 0), dtype=np.bool_)
                for at in (0, 1)
            )
            # False as soon as the first position must be left, or kept, to reach the leaf, and
            # is not.
            off = np.where(first, np.where(second, 0, -tested - 1), tested + 1)
            for leaf in np.flatnonzero(reach.reachable & (units < len(gains))).tolist():
                path = off[leaf][off[leaf] != 0].tolist()
                # What the rival gains at the leaf is all that it may gain when it is reached.
                self.clauses += [[*path, -gain] for gain in gains[units[leaf] :]]
        most = len(lost) - -(-(need - base - sum(least)) // unit)
        self.never = most < 0
        if 0 <= most < len(lost):
            total = sum_encoding(lost, most + 1, new, self.clauses.append)
            self.clauses += [[literal] for literal in total.at_most(most)]


class VoteSearch:
    """Decides by clauses whether a rival can win, with some attributes as in x.

    What has to stay as in x are assumptions, and those used in a refutation are a reason already.

    x: Positions of the row.
    """

    def __init__(self, clauses: VoteClauses, x: NDArray[np.int64]) -> None:
        from pysat.solvers import Solver

        self._never = clauses.never
        self._as_in_x = [
            place + 1 if at == 0 else -place - 1 for place, at in enumerate(x.tolist())
        ]
        self._solver: Any = Solver("glucose4", bootstrap_with=clauses.clauses)
        # One that is left at the end of the process complains that its module is gone.
        finalize(self, self._solver.delete)
        self._solver.set_phases(self._as_in_x)

    def counterexample(
        self, held: Sequence[int], look: Callable[[], None]
    ) -> tuple[NDArray[np.int64] | None, list[int]]:
        """Return the positions of a counterexample, or None and the places that refute it.

        held: Places whose attributes are as in x.
        look: Called now and then; may raise what ends the search.
        """
        if self._never:
            return None, []
        assumed = [self._as_in_x[place] for place in held]
        found: bool | None = None
        while found is None:
            self._solver.conf_budget(_CONFLICTS)
            found = self._solver.solve_limited(assumptions=assumed)
            if found is None:
                look()
        if not found:
            return None, [abs(literal) - 1 for literal in self._solver.get_core() or []]
        first = np.array(self._solver.get_model()[: len(self._as_in_x)]) > 0
        return np.where(first, 0, 1), []
