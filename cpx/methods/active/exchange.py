"""Local search over decision sets that puts whole rules for one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpx.methods.active.domain import Domain
from cpx.methods.active.growing import best_condition, grow
from cpx.methods.active.state import Evidence, State

__all__ = ["Exchange", "climb"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


def climb(
    domain: Domain,
    cells: IntArray,
    gains: FloatArray,
    mask: BoolArray,
    max_conditions: int,
    rng: np.random.Generator,
) -> tuple[BoolArray, float]:
    """Return a rule that no change of one condition improves, and its gain.

    One attribute after the other gets the best of all its conditions, given the others, or
    none: one histogram over the cells values them all.

    Parameters
    ----------
    domain : Domain
    cells : (m, n) array of int
    gains : (n,) array
        What covering each instance is worth.
    mask : (cells,) array of bool
        Where to begin.
    max_conditions : int
    rng : numpy.random.Generator
        Decides on the order of the attributes.
    """
    mask = mask.copy()
    violated = np.zeros(cells.shape, dtype=bool)
    for a in domain.constrained(mask).tolist():
        violated[a] = ~mask[cells[a]]
    misses = violated.sum(axis=0)
    value, improved = float(gains[misses == 0].sum()), True
    while improved:
        improved = False
        for a in rng.permutation(domain.n_attributes).tolist():
            span = domain.span(a)
            rows = np.flatnonzero(misses == violated[a])
            own = cells[a] - domain.starts[a]
            worth = np.bincount(own[rows], weights=gains[rows], minlength=span.stop - span.start)
            options = [np.ones(len(worth), dtype=bool)]
            others = np.setdiff1d(domain.constrained(mask), [a])
            condition = best_condition(domain, a, worth)
            if len(others) < max_conditions and condition is not None:
                options.append(condition)
            for option in options:
                met = float(worth[option].sum())
                # Sums of counts: what is less than a half is rounding.
                if met > value + 0.5:
                    value, improved = met, True
                    now = ~option[own]
                    misses = misses - violated[a] + now
                    violated[a], mask[span] = now, option
    return mask, value


@dataclass(frozen=True, eq=False)
class Exchange:
    """Puts rules of a decision set for others, as long as Q rises.

    Attributes
    ----------
    evidence : Evidence
    penalty : float
        lambda.
    max_rules : int or None
    max_conditions : int
        Of a rule.
    starts : int
        Grown rules that each new rule is looked for from.
    restarts : int
        Times that the search goes on from the best set without two of its rules.
    rng : numpy.random.Generator
    """

    evidence: Evidence
    penalty: float
    max_rules: int | None
    max_conditions: int
    starts: int
    restarts: int
    rng: np.random.Generator

    def run(self, masks: Sequence[BoolArray]) -> list[BoolArray]:
        """Return the best set met, from a known one."""
        best = self._descend(self._fewer(masks))
        value = self.objective(best)
        for _ in range(self.restarts if len(best) > 1 else 0):
            dropped = self.rng.choice(len(best), 2, replace=False)
            again = self._descend([one for i, one in enumerate(best) if i not in dropped])
            if (met := self.objective(again)) > value:
                best, value = again, met
        return best

    def objective(self, masks: Sequence[BoolArray]) -> float:
        """Return Q of a decision set, on all instances."""
        state = State(self.evidence, masks)
        return float(state.right.mean()) - self.penalty * len(masks)

    def _fewer(self, masks: Sequence[BoolArray]) -> list[BoolArray]:
        """Leave out the rule whose loss costs least, until there are not too many."""
        state = State(self.evidence, masks)
        sign = self._sign
        while self.max_rules is not None and len(state.masks) > self.max_rules:
            alone = state.count == 1
            own = [int(sign[(misses == 0) & alone].sum()) for misses in state.misses]
            state.remove(int(np.argmin(own)))
        return list(state.masks)

    @property
    def _sign(self) -> FloatArray:
        return np.where(self.evidence.labels, 1.0, -1.0)

    def _descend(self, masks: Sequence[BoolArray]) -> list[BoolArray]:
        state, price = State(self.evidence, masks), self.penalty * self.evidence.size
        improved = True
        while improved:
            improved = False
            for _ in range(len(state.masks)):
                # The first leaves, and what replaces it becomes the last.
                mask = state.masks[0]
                state.remove(0)
                found, gain, before = self._best(state, [mask])
                kept = gain > price
                improved |= not kept or gain > before
                if kept:
                    state.append(found)
            while self.max_rules is None or len(state.masks) < self.max_rules:
                found, gain, _ = self._best(state, [])
                if gain <= price:
                    break
                state.append(found)
                improved = True
        return list(state.masks)

    def _best(self, state: State, known: list[BoolArray]) -> tuple[BoolArray, float, float]:
        """Return the best rule found to add, its gain, and that of the first known one."""
        evidence = self.evidence
        free = np.flatnonzero(state.count == 0)
        cells, sign = evidence.cells[:, free], self._sign[free]
        best, gain = evidence.domain.everything(), -np.inf
        if known:
            best = known[0]
            gain = float(sign[best[cells].all(axis=0)].sum())
        before = gain
        for start in [*known, *grow(state, self.starts, self.max_conditions, self.rng)]:
            mask, met = climb(evidence.domain, cells, sign, start, self.max_conditions, self.rng)
            if met > gain:
                best, gain = mask, met
        return best, gain, before
