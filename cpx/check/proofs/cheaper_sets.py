"""Sets of rules that cost less than some number, found by adding one rule after the other.

A set S costs its *paid* part, which is the price of its rules and the bad samples that they cover,
and the good samples that none of them covers. It has *candidates*, rules that may be added. For a
candidate r let p be the weight of the good samples that it covers and S does not, and n what the
bad samples cost that it adds. Candidates that no set below the limit V can have are left out.

Proof. A set that adds r and perhaps others pays for r and its n bad samples at least, and for the
good samples that no candidate covers. What of V - 1 is left beside these and the paid part is
enough for so many rules; all they save is their p, less the price, and r also costs its n.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_ENTRIES", "Rows", "TooMany", "cheaper_sets"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_ENTRIES = 2**22
"""Sets times samples and rules that are looked at for one line."""


class TooMany(Exception):
    """More sets would have to be looked at."""


class Rows(NamedTuple):
    """Samples of one class that the same rules cover: which these are, and what they cost."""

    covers: Bools  # shape (samples, rules)
    costs: Ints


def cheaper_sets(
    good: Rows,
    bad: Rows,
    price: int,
    paid: int,
    limit: int,
    *,
    hamming: bool,
    most: int,
    entries: int = MOST_ENTRIES,
) -> Iterator[Ints]:
    """Yield the sets of at most so many rules that cost less than a limit.

    Parameters
    ----------
    good, bad : Rows
    price : int
        Of a rule.
    paid : int
        What every set costs besides. All costs together with it, times the number of rules, are
        below 2**53, so that floats are exact.
    limit : int
    hamming : bool
        Whether a bad sample counts as often as it is covered.
    most : int
        The greatest number of rules.
    entries : int
        How much is looked at; then TooMany is raised.
    """
    rules, each = np.arange(good.covers.shape[1]), good.covers.shape[0] + bad.covers.shape[0]
    each += rules.size
    # Of the sets with so many rules: these, their candidates, the samples that they do not cover.
    sets, candidates = np.zeros((1, 0), dtype=np.int64), np.ones((1, rules.size), dtype=np.bool_)
    missed, clean = np.ones((1, good.costs.size)), np.ones((1, bad.costs.size))
    costs, entries = np.array([float(paid)]), entries - each
    for size in range(most + 1):
        value = costs + missed @ good.costs
        yield from sets[value < limit]
        saved = missed @ (good.covers * good.costs[:, None])
        added = clean @ (bad.covers * bad.costs[:, None])
        needless = candidates.astype(np.float64) @ good.covers.T == 0
        left = limit - 1 - costs - (missed * needless) @ good.costs
        enough = np.full(len(sets), most - size)
        if price:
            enough = np.minimum(enough, left // price).astype(np.int64)
        candidates &= (price + added <= left[:, None]) & (enough > 0)[:, None]
        gains = np.where(candidates, saved - price - hamming * added, 0).clip(0)
        sums = np.cumsum(-np.sort(-gains, axis=1), axis=1)
        sums = np.hstack([np.zeros((len(sets), 1)), sums])
        others = sums[np.arange(len(sets)), np.clip(enough - 1, 0, rules.size)]
        worth = saved - price - added
        candidates &= worth + others[:, None] >= (value - (limit - 1))[:, None]
        of, at = np.nonzero(candidates)
        if (entries := entries - of.size * each) < 0:
            raise TooMany
        if not of.size:
            return
        # The best candidate may have all others beside it, and the last one none.
        place = np.argsort(np.argsort(np.where(candidates, -worth, np.inf), kind="stable"))
        later = candidates[of] & (place[of] > place[of, at][:, None])
        sets = np.hstack([sets[of], rules[at][:, None]])
        costs = costs[of] + price + added[of, at]
        missed, clean = missed[of] * ~good.covers.T[at], clean[of]
        if not hamming:
            clean *= ~bad.covers.T[at]
        used = later.any(axis=0)
        rules, candidates = rules[used], later[:, used]
        good, bad = (Rows(covers[:, used], of_rows) for covers, of_rows in (good, bad))
