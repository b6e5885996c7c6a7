"""Pricing: rules of best reduced cost, by beam search for many seeds at once, or exactly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.models.rule_set.methods.column_generation.bounds import PricingBound
from cpx.models.rule_set.methods.column_generation.table import Features, Table

__all__ = ["CELLS", "LEVELS", "beam_pricing", "exact_pricing"]

Floats = NDArray[np.float64]


def beam_pricing(
    table: Table,
    weights: Floats,
    seeds: NDArray[np.intp],
    k: int,
    width: int,
    stop: Callable[[], bool] = lambda: False,
) -> list[Features]:
    """Return rules that cover samples of great weight, by decreasing value.

    Each seed is a sample and has a beam of its own, of the ``width`` best sets of each size, of
    literals that are true of the seed: so the rules differ as the samples do, where one beam
    over all literals is full of near copies of one rule. Sets that cover the same weight are
    taken for one.

    weights (m,): Of either sign.
    seeds: Samples.
    k: Maximum number of literals, at least 1.
    stop: Asked now and then; True ends the search with the rules met so far.
    """
    return table.beams.sets(weights, seeds, k, width, stop)


LEVELS = (0.9, 2), (0.95, 4), (0.98, 8), (1.0, 16), (1.0, 2**8), (1.0, 2**16)
"""The share of a rule's costs that its samples' prices may reach, and the parts of a weight that
prices are multiples of, one after the other."""

_MOST = 2**60
"""What weights in parts may add up to."""

CELLS, _BLOCKS = 50, 128
"""A unit of work: so many cells of a table, or blocks of eight words that a search looks at."""

_NEAR = 1e-6  # of a part: HiGHS has 0.4999999 where one half is meant


def exact_pricing(
    table: Table,
    prices: NDArray[np.float64],
    parts: int,
    k: int,
    *,
    threads: int,
    seconds: float,
    stop: Callable[[], bool],
    max_work: int | None = None,
    side: SideConstraints = NO_SIDE_CONSTRAINTS,
) -> tuple[Features, PricingBound, int]:
    """Find the best of all rules at prices that are rounded down.

    A price becomes a multiple of its sample's weight / ``parts``: any prices from 0 to the weights
    prove a bound, so that rounding changes what is proved, but not that it is. The
    search counts weights bit by bit, so that halves are several times faster than fine parts.
    Lower prices also leave room for rules that the programme does not have yet: while it has
    few, halves prove more than what they are rounded from.

    Returns the rule, what is known of all rules, and the work, about a microsecond a unit.

    prices: Of the samples of the class, each from 0 to its weight; then of the demands.
    parts, k: Parts of a weight, as long as they add up in 64 bits; maximum number of literals.
    seconds: When they are over, the rule is the best met, and what is known of all rules less.
    stop: True ends the search, too.
    max_work: About how much work, at most.
    side: On the literals of a rule, which the one without literals keeps.

    >>> table = Table(np.array([[1, 0], [1, 1], [0, 1]], dtype=bool), np.array([1, 1, 0]) == 1,
    ...               np.array([2, 1, 1]))
    >>> exact_pricing(table, np.array([1.9, 0.5]), 2, 1, threads=1, seconds=9, stop=lambda: False)
    ((0,), PricingBound(total=Fraction(3, 2), largest=Fraction(3, 2)), 0)
    """
    from cpx.models.monomial.search.max_weight import max_weight_monomials

    own = table.weights[table.own]
    prices, asked = prices[: len(own)], prices[len(own) :]
    parts = max(1, min(parts, _MOST // max(1, int(table.weights.sum() + asked.sum()))))
    shares = np.floor(parts * prices / np.maximum(own, 1) + _NEAR).astype(np.int64)
    units = np.clip(shares, 0, parts) * own
    weights = -parts * table.weights
    weights[table.own] = units
    weights[len(weights) - len(asked) :] = -np.floor(parts * asked + _NEAR).astype(np.int64)
    kept = np.flatnonzero(weights)
    found = max_weight_monomials(
        table.literals[kept],
        weights[kept],
        k,
        threads=threads,
        time_limit=seconds,
        stop=stop,
        max_work=None if max_work is None else _BLOCKS * max_work,
        side=side,
    )
    assert found.bound is not None
    met = -int(weights[len(weights) - len(asked) :].sum())
    total = Fraction(int(units.sum()) + met, parts)
    known = PricingBound(total, (found.bound + met) / parts, units / parts)
    work = found.work // _BLOCKS + kept.size * table.literals.shape[1] // CELLS
    return found.features[0], known, work
