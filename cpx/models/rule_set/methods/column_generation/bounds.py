"""Dual bounds: what prices of samples prove of all rule sets, and which rules better ones need."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.models.rule_set.methods.column_generation.table import Features, Table

__all__ = ["PricingBound", "hamming_bound", "within_gap"]


@dataclass(frozen=True)
class PricingBound:
    """What is known of all rules at some prices of the samples of the class.

    total: P, the sum of the prices p_i, each from 0 to the weight w_i of its sample; a demand has
        any price of at least 0.
    largest: B, at least p(r) - n_r for each rule r: the prices of what it covers, and of the
        demands that it meets, less the weight it covers of other classes.
    prices: The prices of the samples of the class.
    """

    total: Fraction
    largest: Fraction
    prices: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)


def hamming_bound(
    known: Sequence[PricingBound], price: Fraction, alone: Fraction | None, most_rules: int
) -> Fraction:
    """Return a lower bound of the Hamming objective over all sets of rules.

    A set S of s rules costs::

        cost(S) = sum of w_i over the i that S leaves uncovered  +  sum of (price + n_r) over S

    Each sample of the class is uncovered or in a rule of S, and p_i <= w_i; each demand is met
    by a rule of S. So the first sum is P - (sum of p(r) over S) or more, and as p(r) - n_r <= B::

        cost(S)  >=  P + sum of (price + n_r - p(r)) over S  >=  P + s * (price - B)

    That holds for each of the known prices, and for prices of 0, where P = B = 0; without rules
    the cost is ``alone``. The bound is the least over s of the greatest of these. Prices of a
    large sum at which some rules are worth more than they cost, B > price, bound sets of few
    rules; prices with B <= price bound sets of many. Both together prove more than either does:
    as much as the best of their means.

    price: Of a rule, in units of weight, at least 0.
    alone: The weight of all samples of the class; None where a set without rules is not allowed.
    most_rules: No set of more rules is of interest.

    >>> many = PricingBound(Fraction(30), Fraction(15))
    >>> few = PricingBound(Fraction(20), Fraction(8))
    >>> [hamming_bound([many], Fraction(10), Fraction(50), most) for most in (1, 5)]
    [Fraction(25, 1), Fraction(20, 1)]
    >>> hamming_bound([few], Fraction(10), Fraction(50), 5)
    Fraction(22, 1)
    >>> hamming_bound([many, few], Fraction(10), Fraction(50), 5)
    Fraction(24, 1)
    """
    every = [PricingBound(Fraction(0), Fraction(0)), *known]

    def least(rules: int) -> Fraction:
        return max(each.total + rules * (price - each.largest) for each in every)

    # The greatest of lines is convex.
    low, high = 1, most_rules
    while low < high:
        middle = (low + high) // 2
        if least(middle) <= least(middle + 1):
            high = middle
        else:
            low = middle + 1
    if alone is None:
        return least(low)
    return min(alone, least(low)) if most_rules else alone


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

    With the prices p_i of
    :func:`~cpx.models.rule_set.methods.column_generation.bounds.hamming_bound`, P their sum, the
    value v(r) = p(r) - n_r of a rule, and B the maximum value, a set S of at most K rules costs at
    least P + sum of (price - v(s)) over S. For each r in S that is::

        P + price - v(r) - (K - 1) * max(0, B - price)

    or more. So only rules with a v(r) for which this is below ``best`` are of use. Of rules that
    cover the same samples, which cost the same, one is listed.

    prices: Of the samples of the class, each from 0 to its weight.
    price, best: In units of weight.
    most_rules: K, the most rules of a set that is better than ``best``.
    Returns: None when there are more than 2000, or the time is over.
    """
    from cpx.models.monomial.search.max_weight import max_weight_monomials

    own = table.weights[table.own]
    # No price is 0: rules that differ on any sample are told apart.
    units = np.minimum(np.maximum(np.floor(prices * _UNIT).astype(np.int64), 1), own * _UNIT)
    weights = -_UNIT * table.weights
    weights[table.own] = units
    kept = np.flatnonzero(weights)
    if np.abs(weights).max(initial=0) >= 2**_BITS:
        return None
    end = time.monotonic() + seconds
    for most in _MOST:
        left = end - time.monotonic()
        if left <= 0:
            return None
        found = max_weight_monomials(
            table.literals[kept],
            weights[kept],
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
            return [features for features, weight in near if weight / _UNIT > least]
    return None
