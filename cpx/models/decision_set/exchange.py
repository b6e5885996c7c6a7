"""Local search over decision sets: one rule at a time is replaced by a better one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpx.models.decision_set.growing import best_condition, grow
from cpx.models.decision_set.input_space import Domain
from cpx.models.decision_set.state import Evidence, State

BoolArray = npt.NDArray[np.bool_]

_LEAST = 1e-6
"""A gain of instances that is no rounding."""


def climb(
    domain: Domain,
    cells: npt.NDArray[np.intp],
    gains: npt.NDArray[np.float64],
    mask: BoolArray,
    max_conditions: int,
    price: float,
    rng: np.random.Generator,
) -> tuple[BoolArray, float]:
    """Return a rule that no change of one condition improves, and its gain less its price.

    One attribute after the other gets the best of all its conditions, given the others, or
    none: one histogram over the cells values them all.

    gains: What covering each instance is worth.
    mask: Where to begin.
    price: Gain that is worth a condition.
    rng: Decides on the order of the attributes.
    """
    mask = mask.copy()
    violated = np.zeros(cells.shape, dtype=bool)
    limited = np.zeros(domain.n_attributes, dtype=bool)
    for a in domain.constrained(mask).tolist():
        violated[a], limited[a] = ~mask[cells[a]], True
    misses = violated.sum(axis=0)
    places = [cells[a] - domain.starts[a] for a in range(domain.n_attributes)]
    value = float(gains[misses == 0].sum()) - price * domain.length(mask)
    lengths = [one.length(mask[domain.span(a)]) for a, one in enumerate(domain.attributes)]
    improved = True
    while improved:
        improved = False
        for a in rng.permutation(domain.n_attributes).tolist():
            span = domain.span(a)
            # Those that violate no other condition.
            rows = np.flatnonzero(misses == violated[a])
            cell_gains = np.bincount(
                places[a][rows], weights=gains[rows], minlength=span.stop - span.start
            ).astype(np.float64, copy=False)
            others = int(limited.sum()) - int(limited[a])
            options = [np.ones(len(cell_gains), dtype=bool)]
            condition = best_condition(domain, a, cell_gains, price=price)
            if others < max_conditions and condition is not None:
                options.append(condition)
            elsewhere = sum(lengths) - lengths[a]
            for option in options:
                length = 0 if option.all() else domain.attributes[a].length(option)
                met = float(cell_gains[option].sum()) - price * (elsewhere + length)
                if met > value + _LEAST:
                    value, improved = met, True
                    now = ~option[places[a]]
                    misses = misses - violated[a] + now
                    violated[a], mask[span] = now, option
                    limited[a], lengths[a] = not option.all(), length
    return mask, value


@dataclass(frozen=True, eq=False)
class Exchange:
    """Puts rules of a decision set for others, as long as Q rises.

    penalty, condition_penalty: Gain of fidelity that is worth a rule, and a condition.
    max_conditions: Of a rule.
    starts: Grown rules that each new rule is looked for from.
    restarts: Times that the search goes on from the best set without two of its rules.
    """

    evidence: Evidence
    penalty: float
    condition_penalty: float
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
        price = sum(map(self._price, masks)) / self.evidence.total
        return state.right_weight / self.evidence.total - price

    def _price(self, mask: BoolArray) -> float:
        """Return the weight that a rule has to gain."""
        length = self.evidence.domain.length(mask)
        return self.evidence.total * (self.penalty + self.condition_penalty * length)

    def _fewer(self, masks: Sequence[BoolArray]) -> list[BoolArray]:
        """Leave out the rule whose loss costs least, until there are not too many."""
        state = State(self.evidence, masks)
        gains = self.evidence.gains
        while self.max_rules is not None and len(state.masks) > self.max_rules:
            alone = state.count == 1
            own = [
                float(gains[(misses == 0) & alone].sum()) - self._price(mask)
                for mask, misses in zip(state.masks, state.misses, strict=True)
            ]
            state.remove(int(np.argmin(own)))
        return list(state.masks)

    def _descend(self, masks: Sequence[BoolArray]) -> list[BoolArray]:
        state = State(self.evidence, masks)
        improved = True
        while improved:
            improved = False
            for _ in range(len(state.masks)):
                # The first leaves, and what replaces it becomes the last.
                mask = state.masks[0]
                state.remove(0)
                found, gain, before = self._best(state, [mask])
                kept = gain > _LEAST
                improved |= not kept or gain > before + _LEAST
                if kept:
                    state.append(found)
            while self.max_rules is None or len(state.masks) < self.max_rules:
                found, gain, _ = self._best(state, [])
                if gain <= _LEAST:
                    break
                state.append(found)
                improved = True
        return list(state.masks)

    def _best(self, state: State, known: list[BoolArray]) -> tuple[BoolArray, float, float]:
        """Return the best rule found to add, what it gains, and what the first known one does."""
        evidence = self.evidence
        free = np.flatnonzero(state.count == 0)
        cells, gains = evidence.cells[:, free], evidence.gains[free]
        best, gain = evidence.domain.everything(), -np.inf
        if known:
            best = known[0]
            gain = float(gains[best[cells].all(axis=0)].sum()) - self._price(best)
        before = gain
        for start in [*known, *grow(state, self.starts, self.max_conditions, self.rng)]:
            mask, met = climb(
                evidence.domain,
                cells,
                gains,
                start,
                self.max_conditions,
                self.condition_penalty * evidence.total,
                self.rng,
            )
            met -= self.penalty * evidence.total
            if met > gain:
                best, gain = mask, met
        return best, gain, before
