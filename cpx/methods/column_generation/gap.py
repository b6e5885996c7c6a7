"""The rules that a better set may have: those whose worth is near their price."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.methods.column_generation.table import Features, Table

__all__ = ["within_gap"]

_MOST = 300, 2000
"""Rules that are listed at first, and at most: the time grows with the square."""

_UNIT, _BITS = 2**16, 52


def within_gap(
    table: Table,
    prices: NDArray[np.float64],
    k: int,
    price: Fraction,
    best: Fraction,
    most_rules: int,
    *,
    seconds: float,
    stop: Callable[[], bool],
) -> list[Features] | None:
    """List the rules that sets of less Hamming objective than ``best`` may have.

    With the prices p_i of :func:`~cpx.methods.column_generation.bound.hamming_bound`, P their
    sum, the worth v(r) = p(r) - n_r of a rule, and B the greatest worth, a set S of at most K
    rules costs at least P + sum of (price - v(s)) over S. For each r in S that is::

        P + price - v(r) - (K - 1) * max(0, B - price)

    or more. So only rules with a v(r) for which this is below ``best`` are of use. Of rules that
    cover the same samples, which cost the same, one is listed.

    Parameters
    ----------
    table : Table
    prices : ndarray of float64
        Of the samples of the class, each from 0 to its weight.
    k : int
    price, best : Fraction
        In units of weight.
    most_rules : int
        K, the most rules of a set that is better than ``best``.
    seconds : float
    stop : callable

    Returns
    -------
    list of Features, or None
        None when there are more than 2000, or the time is over.
    """
    from cpx.backends.search.max_weight import heaviest

    own = table.weights[table.own]
    # No price is 0: rules that differ on any sample are told apart.
    units = np.minimum(np.maximum(np.floor(prices * _UNIT).astype(np.int64), 1), own * _UNIT)
    worths = -_UNIT * table.weights
    worths[table.own] = units
    kept = np.flatnonzero(worths)
    if np.abs(worths).max(initial=0) >= 2**_BITS:
        return None
    end = time.monotonic() + seconds
    for most in _MOST:
        left = end - time.monotonic()
        if left <= 0:
            return None
        found = heaviest(
            table.literals[kept],
            worths[kept],
            k,
            n=most,
            bits=_BITS,
            time_limit=left,
            stop=stop,
        )
        if not found.proved or found.bound is None:
            return None
        over = max(Fraction(0), found.bound / _UNIT - price)
        total = Fraction(int(units.sum()), _UNIT)
        least = total + price - best - (most_rules - 1) * over
        if len(found.features) < most or found.weights[-1] / _UNIT <= least:
            near = zip(found.features, found.weights, strict=True)
            return [features for features, worth in near if worth / _UNIT > least]
    return None
