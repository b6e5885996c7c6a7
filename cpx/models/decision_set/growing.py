"""Rules grown condition by condition, each the best on an attribute by a histogram.

Of the instances that a rule covers, or would cover without its condition on an attribute, let
each count +1 where covering it helps, -1 where it harms, and 0 where another rule covers it
anyway. Summed per cell, these numbers value every condition on the attribute: the gain of a
condition is the sum over its cells.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.models.decision_set.attributes import Numbers
from cpx.models.decision_set.input_space import Domain
from cpx.models.decision_set.state import State

__all__ = ["best_condition", "best_interval", "best_list", "grow", "histogram"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

SHARE = 0.6
"""Share of the attributes that a step looks at, so that no two rules grow alike."""

ROWS = 5000
"""Uncovered instances that rules are grown on, at most; they are valued on all."""


def grow(
    state: State, n_rules: int, max_conditions: int, rng: np.random.Generator
) -> list[BoolArray]:
    """Grow rules on the instances that no rule covers.

    Each rule but the first has to cover a positive instance that was chosen at random. It
    begins without conditions, and gets the condition that is worth most, among those on a
    random part of the attributes, until none helps. Covered negative instances weigh as much
    as the covered positive ones, all together, and no more than they do: first the rule is to
    tell the two apart, and once most of what it covers is positive, to gain.

    Returns: Of each rule grown, the stage of the greatest gain; without doubles.
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

    def cell_gains(self) -> FloatArray:
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
        cell_gains = weights.cell_gains()
        found, found_gain = None, cell_gains[domain.span(0)].sum() + 1e-9
        for a in rng.permutation(m)[:looked_at].tolist():
            span = domain.span(a)
            wanted = None if must is None else int(must[a])
            chosen = best_condition(domain, a, cell_gains[span], must=wanted)
            if chosen is None:
                continue
            # Cells that the rule has lost already are empty, and worth nothing either way.
            chosen &= mask[span]
            value = cell_gains[span][chosen].sum()
            if value > found_gain:
                found, found_gain = (a, chosen), value
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

    gains: Gain of each cell of the attribute.
    current, wider, must, price: As in :func:`best_interval`.
    """
    # The last cell is no value that a condition could name.
    last = len(gains) - 1
    if must == last or last < 2:
        return None
    find = best_interval if isinstance(domain.attributes[a], Numbers) else best_list
    cut = None if current is None else current[:last]
    found = find(gains[:last], current=cut, wider=wider, must=must, price=price)
    return None if found is None else np.append(found, False)


def histogram(cells: IntArray, weights: npt.NDArray[Any], n_cells: int) -> FloatArray:
    """Sum weights per cell.

    cells: The cells of k instances, one row per attribute.

    >>> histogram(np.array([[0, 1], [2, 2]]), np.array([1, 5]), 4)
    array([1., 5., 6., 0.])
    """
    repeated = np.broadcast_to(weights.astype(np.float64), cells.shape)
    summed: FloatArray = np.bincount(
        cells.ravel(), weights=repeated.ravel(), minlength=n_cells
    ).astype(np.float64, copy=False)
    return summed


def best_interval(
    gains: FloatArray,
    *,
    current: BoolArray | None = None,
    wider: bool = False,
    must: int | None = None,
    price: float = 0.0,
) -> BoolArray | None:
    """Return the interval of cells of the greatest gain; of equal ones, the widest.

    gains: Gain of each cell that an interval can have.
    current: An interval that is not wanted again.
    wider: Whether the interval must include the current one.
    must: A cell that the interval must include.
    price: What each bound of an interval costs.
    Returns: Never all cells: that would be no condition.

    >>> best_interval(np.array([-1.0, 2.0, -1.0, 3.0, -5.0])).astype(int)
    array([0, 1, 1, 1, 0])
    """
    k = len(gains)
    sums = np.concatenate([[0.0], np.cumsum(gains)])
    # Of the interval from row to column.
    value = sums[1:] - sums[:-1, None] + _intervals(k)
    if price:
        value[1:] -= price
        value[:, :-1] -= price
    least, most = k - 1, 0
    if current is not None:
        inside = np.flatnonzero(current)
        value[inside[0], inside[-1]] = -np.inf
        if wider:
            least, most = int(inside[0]), int(inside[-1])
    if must is not None:
        least, most = min(least, must), max(most, must)
    region = value[: least + 1, most:]
    i, j = divmod(int(np.argmax(region)), region.shape[1])
    if region[i, j] == -np.inf:
        return None
    chosen = np.zeros(k, dtype=bool)
    chosen[i : most + j + 1] = True
    return chosen


@cache
def _intervals(k: int) -> FloatArray:
    """Return what to add to the gains of intervals (first, last): -inf where there is none.

    Otherwise so little that it only decides between equal gains, which count instances, for
    the wider one.
    """
    first, last = np.ogrid[:k, :k]
    bonus = np.where(first <= last, 1e-6 * (last - first) / k, -np.inf)
    bonus[0, k - 1] = -np.inf
    return bonus


def best_list(
    gains: FloatArray,
    *,
    current: BoolArray | None = None,
    wider: bool = False,
    must: int | None = None,
    price: float = 0.0,
) -> BoolArray | None:
    """Return the list of cells of the greatest gain, with the arguments of intervals.

    A wider list has one cell more than the current one. No list has no cell, or all. The price
    is that of each cell in the list, or, where these are fewer, of each one that is not.

    >>> best_list(np.array([-1.0, 2.0, 0.0, 3.0])).astype(int)
    array([0, 1, 0, 1])
    >>> best_list(np.array([-1.0, 2.0, 0.0, 3.0]), must=2).astype(int)
    array([0, 1, 1, 1])
    >>> best_list(np.array([-1.0, 2.0, -5.0, 3.0]), price=2.0).astype(int)
    array([1, 1, 0, 1])
    """
    k = len(gains)
    if wider and current is not None:
        if current.sum() >= k - 1:
            return None
        chosen = current.copy()
        chosen[int(np.argmax(np.where(current, -np.inf, gains)))] = True
        return chosen
    # The price is that of the cells in the list, or of those that are not.
    forms = [gains - price, gains + price] if price else [gains]
    found = [_best_list(net, current, must) for net in forms]
    costs = [0.0, price * k]
    options = [
        (float(net[chosen].sum()) - cost, chosen)
        for net, cost, chosen in zip(forms, costs, found)
        if chosen is not None
    ]
    return max(options, key=lambda option: option[0])[1] if options else None


def _best_list(gains: FloatArray, current: BoolArray | None, must: int | None) -> BoolArray | None:
    chosen = gains > 0
    if must is not None:
        chosen[must] = True

    def wanted() -> bool:
        if not chosen.any() or chosen.all():
            return False
        return current is None or bool((chosen != current).any())

    if wanted():
        return chosen
    for j in np.argsort(np.abs(gains), kind="stable"):
        if j != must:
            chosen[j] ^= True
            if wanted():
                return chosen
            chosen[j] ^= True
    return None
