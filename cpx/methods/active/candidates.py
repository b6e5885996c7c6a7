"""Candidate rules for the selection of an optimal decision set."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from cpx.methods.active.actions import Actions
from cpx.methods.active.attributes import Numbers
from cpx.methods.active.growing import grow
from cpx.methods.active.state import Evidence, State

__all__ = ["Candidates"]

BoolArray = npt.NDArray[np.bool_]

GROWN = 20
"""Rules grown per round, on all instances and on what is left uncovered."""

SHIFTS = (-8, -4, -2, -1, 1, 2, 4, 8)
"""Cells by which the ends of intervals are moved."""


class Candidates:
    """Rules to select from, the best by their own gain, and those that must stay.

    Parameters
    ----------
    evidence : Evidence
    most : int
        How many are kept.
    max_conditions : int

    Attributes
    ----------
    masks : list of masks
    """

    def __init__(self, evidence: Evidence, most: int, max_conditions: int) -> None:
        self._evidence, self._most, self._max_conditions = evidence, most, max_conditions
        self.masks: list[BoolArray] = []

    def extend(self, chosen: list[BoolArray], rng: np.random.Generator) -> None:
        """Add rules that fit the instances so far, around a decision set.

        These are rules grown on all instances and on those that the set leaves uncovered, all
        that one local action makes of its rules, and its rules with intervals that begin or
        end a little elsewhere.
        """
        evidence, state = self._evidence, State(self._evidence, chosen)
        new = grow(State(evidence), GROWN, self._max_conditions, rng)
        new += grow(state, GROWN, self._max_conditions, rng)
        near = Actions(state, [], 0.0, 0.0, self._max_conditions)
        shifted = [one for mask in chosen for one in self._shifted(mask)]
        self._take(chosen, [*shifted, *near.masks, *new])

    def covers(self) -> BoolArray:
        """Return what each candidate covers, shape (candidates, instances)."""
        return np.array([self._evidence.covered(mask) for mask in self.masks])

    def _shifted(self, mask: BoolArray) -> list[BoolArray]:
        """Return a rule with one end of an interval moved by 1, 2, 4, ... cells."""
        domain, found = self._evidence.domain, []
        for a in domain.constrained(mask).tolist():
            if not isinstance(domain.attributes[a], Numbers):
                continue
            span = domain.span(a)
            inside = np.flatnonzero(mask[span])
            first, last, k = int(inside[0]), int(inside[-1]), domain.attributes[a].width - 1
            for step in SHIFTS:
                for i, j in ((first + step, last), (first, last + step)):
                    if 0 <= i <= j < k and (i, j) != (0, k - 1):
                        moved = mask.copy()
                        moved[span] = False
                        moved[span.start + i : span.start + j + 1] = True
                        found.append(moved)
        return found

    def _take(self, chosen: list[BoolArray], new: Iterable[BoolArray]) -> None:
        kept = {mask.tobytes(): mask for mask in chosen}
        rest = {mask.tobytes(): mask for mask in [*self.masks, *new]}
        sign = np.where(self._evidence.labels, 1, -1)
        others = [mask for name, mask in rest.items() if name not in kept]
        gains = [-int(sign[self._evidence.covered(mask)].sum()) for mask in others]
        best = np.argsort(gains, kind="stable")[: max(0, self._most - len(kept))]
        self.masks = [*kept.values(), *(others[i] for i in best.tolist())]
