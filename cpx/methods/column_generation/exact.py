"""Exact pricing: the worthiest of all rules, at prices that are quick to add."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.methods.column_generation.bound import Priced
from cpx.methods.column_generation.table import Features, Table

__all__ = ["LEVELS", "worthiest"]

LEVELS = (0.9, 2), (0.95, 4), (0.98, 8), (1.0, 16), (1.0, 2**8), (1.0, 2**16)
"""The share of a rule's costs that its samples' prices may reach, and the parts of a weight that
prices are multiples of, one after the other."""

_MOST = 2**60
"""What weights in parts may add up to."""

_NEAR = 1e-6  # of a part: HiGHS has 0.4999999 where one half is meant


def worthiest(
    table: Table,
    prices: NDArray[np.float64],
    parts: int,
    k: int,
    *,
    threads: int,
    seconds: float,
    stop: Callable[[], bool],
) -> tuple[Features, Priced]:
    """Find the worthiest of all rules at prices that are rounded down.

    A price becomes a multiple of its sample's weight / ``parts``: any prices from 0 to the weights
    prove a bound, so that rounding changes what is proved, but not that it is. The
    search counts weights bit by bit, so that halves are several times faster than fine parts.
    Lower prices also leave room for rules that the programme does not have yet: while it has
    few, halves prove more than what they are rounded from.

    Parameters
    ----------
    table : Table
    prices : ndarray of float64
        Of the samples of the class, each from 0 to its weight.
    parts, k : int
        Parts of a weight, as long as they add up in 64 bits; greatest number of literals.
    threads : int
    seconds : float
        When they are over, the rule is the worthiest met, and what is known of all rules less.
    stop : callable
        True ends the search, too.

    Returns
    -------
    (Features, Priced)

    Examples
    --------
    >>> table = Table(np.array([[1, 0], [1, 1], [0, 1]], dtype=bool), np.array([1, 1, 0]) == 1,
    ...               np.array([2, 1, 1]))
    >>> worthiest(table, np.array([1.9, 0.5]), 2, 1, threads=1, seconds=9, stop=lambda: False)
    ((0,), Priced(total=Fraction(3, 2), worthiest=Fraction(3, 2)))
    """
    from cpx.backends.search.max_weight import heaviest

    own = table.weights[table.own]
    parts = max(1, min(parts, _MOST // max(1, int(table.weights.sum()))))
    shares = np.floor(parts * prices / np.maximum(own, 1) + _NEAR).astype(np.int64)
    units = np.clip(shares, 0, parts) * own
    worths = -parts * table.weights
    worths[table.own] = units
    kept = np.flatnonzero(worths)
    found = heaviest(
        table.literals[kept], worths[kept], k, threads=threads, time_limit=seconds, stop=stop
    )
    assert found.bound is not None
    total = Fraction(int(units.sum()), parts)
    return found.features[0], Priced(total, found.bound / parts)
