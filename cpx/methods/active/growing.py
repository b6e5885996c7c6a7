"""Rules to add: grown condition by condition on what the decision set leaves uncovered."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cpx.methods.active.attributes import Numbers
from cpx.methods.active.domain import Domain
from cpx.methods.active.histograms import best_interval, best_list, histogram
from cpx.methods.active.state import State

__all__ = ["best_condition", "grow"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

SHARE = 0.6
"""Share of the attributes that a step looks at, so that no two rules grow alike."""

ROWS = 5000
"""Uncovered instances that rules are grown on, at most; they are valued on all."""


def best_condition(
    domain: Domain,
    a: int,
    gains: FloatArray,
    *,
    current: BoolArray | None = None,
    wider: bool = False,
    must: int | None = None,
    price: float = 0.0,
) -> BoolArray | None:
    """Return the best condition on attribute a, over its cells; None when there is no other.

    Parameters
    ----------
    domain : Domain
    a : int
    gains : (width,) array
        Gain of each cell of the attribute.
    current, wider, must, price
        As in :func:`~cpx.methods.active.histograms.best_interval`.
    """
    # The last cell is no value that a condition could name.
    last = len(gains) - 1
    if must == last or last < 2:
        return None
    find = best_interval if isinstance(domain.attributes[a], Numbers) else best_list
    cut = None if current is None else current[:last]
    found = find(gains[:last], current=cut, wider=wider, must=must, price=price)
    return None if found is None else np.append(found, False)


def grow(
    state: State, n_rules: int, max_conditions: int, rng: np.random.Generator
) -> list[BoolArray]:
    """Grow rules on the instances that no rule covers.

    Each rule but the first has to cover a positive instance that was chosen at random. It
    begins without conditions, and gets the condition that is worth most, among those on a
    random part of the attributes, until none helps. Covered negative instances weigh as much
    as the covered positive ones, all together, and no more than they do: first the rule is to
    tell the two apart, and once most of what it covers is positive, to gain.

    Parameters
    ----------
    state : State
    n_rules : int
    max_conditions : int
    rng : numpy.random.Generator

    Returns
    -------
    list of masks
        Of each rule grown, the stage of the greatest gain; without doubles.
    """
    evidence, domain = state.evidence, state.evidence.domain
    open_rows = np.flatnonzero(state.count == 0)
    if len(open_rows) > ROWS:
        open_rows = rng.choice(open_rows, ROWS, replace=False)
    gains = evidence.gains[open_rows]
    if not (gains > 0).any():
        return []
    cells = evidence.cells[:, open_rows]
    seeds = rng.choice(np.flatnonzero(gains > 0), n_rules)
    start = _Weights(cells, gains, domain.n_cells)
    grown: dict[bytes, BoolArray] = {}
    for number, seed in enumerate(seeds.tolist()):
        must = None if number == 0 else cells[:, seed] - domain.starts[:-1]
        mask = _grow_one(domain, cells, gains, start, must, max_conditions, rng)
        if mask is not None:
            grown[mask.tobytes()] = mask
    return list(grown.values())


class _Weights:
    """What positive and negative instances weigh, in each cell."""

    def __init__(self, cells: IntArray, gains: FloatArray, n_cells: int) -> None:
        own, other = np.maximum(gains, 0.0), np.maximum(-gains, 0.0)
        self.positive, self.negative = float(own.sum()), float(other.sum())
        self.positive_per_cell = histogram(cells, own, n_cells)
        self.per_cell = histogram(cells, own + other, n_cells)

    @property
    def gain(self) -> float:
        return self.positive - self.negative

    def worth(self) -> FloatArray:
        price = min(1.0, self.positive / self.negative) if self.negative else 1.0
        return self.positive_per_cell * (1 + price) - price * self.per_cell


def _grow_one(
    domain: Domain,
    cells: IntArray,
    gains: FloatArray,
    weights: _Weights,
    must: IntArray | None,
    max_conditions: int,
    rng: np.random.Generator,
) -> BoolArray | None:
    mask = domain.everything()
    best, best_gain = None, -np.inf
    m = domain.n_attributes
    looked_at = m if must is None else max(1, round(SHARE * m))
    while len(domain.constrained(mask)) < max_conditions:
        worth = weights.worth()
        found, found_worth = None, worth[domain.span(0)].sum() + 1e-9
        for a in rng.permutation(m)[:looked_at].tolist():
            span = domain.span(a)
            wanted = None if must is None else int(must[a])
            chosen = best_condition(domain, a, worth[span], must=wanted)
            if chosen is None:
                continue
            # Cells that the rule has lost already are empty, and worth nothing either way.
            chosen &= mask[span]
            value = worth[span][chosen].sum()
            if value > found_worth:
                found, found_worth = (a, chosen), value
        if found is None:
            break
        a, chosen = found
        mask[domain.span(a)] = chosen
        kept = mask[cells[a]]
        cells, gains = cells[:, kept], gains[kept]
        weights = _Weights(cells, gains, domain.n_cells)
        if weights.gain > best_gain:
            best, best_gain = mask.copy(), weights.gain
    return best
