"""Sets of rules that cost less than some number, found by adding one rule after the other.

A set S costs its *paid* part, which is the price of its rules and the bad samples that they cover,
and the good samples that none of them covers: its *excess* is what it costs beyond V - 1, if sets
below V are looked for. For a rule r that may be added let c be its price, p the weight of the good
samples that it covers and S does not, and n what the bad samples cost that it adds. Of the sets
below V one of the fewest rules is looked for. The good samples that one of its rules alone covers
weigh more than c, or the rule is *wanted*: without it some constraint may be broken. So a rule
with p <= c that is not wanted may be left out.

S + r is below V where p - c - n is the excess or more. Let T be t > 0 rules whose n is less (or
equal, and their index less) than that of r. S + r + T is not below V unless the excess is at most

- p - c - n of r and the t greatest p - c that are positive, and
- the good samples that r and all rules before it cover, less n and t + 1 times the least c.

Proof. What r and T save is no more than what each saves alone, and no more than all good samples
that they cover. The bad samples that they add cost n at least, and any set with S has one of its
other rules last. The second number falls as t grows, so it says how large t can be; the first one
then says how large p - c of each rule of T is at least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_ENTRIES", "Rows", "TooMany", "cheaper_sets", "exact"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_ENTRIES = 2**29
"""Sets times samples and rules that are looked at for one line."""

_AT_ONCE = 2**18
"""Of these so many together."""


class TooMany(Exception):
    """More sets would have to be looked at."""


class Rows(NamedTuple):
    """Samples of one class that the same rules cover: which these are, and what they cost."""

    covers: Bools  # shape (samples, rules)
    costs: Ints


class _Sets(NamedTuple):
    """Sets of as many rules each."""

    rules: Ints
    others: Bools  # that may be added, shape (sets, rules)
    most: Ints  # how many of these
    paid: Floats
    times: NDArray[np.uint8]  # how many of the rules cover a good sample, of more 2
    clean: Bools  # bad samples that no rule covers


def exact(most: int, limit: int, rules: int) -> bool:
    """Whether floats add up exactly what sets of so many rules cost, and a limit.

    What all samples cost, with a rule, is ``most``.
    """
    return (most + abs(limit)) * (rules + 1) < 2**53


def cheaper_sets(
    good: Rows,
    bad: Rows,
    prices: Ints,
    paid: int,
    limit: int,
    *,
    most: int,
    wanted: Bools,
    possible: Callable[[Ints, Bools], Bools],
    entries: int = MOST_ENTRIES,
    fewer: Callable[[Ints, Bools], Bools] | None = None,
) -> Iterator[Ints]:
    """Yield sets that cost less than a limit: an allowed one, if there is any.

    prices: Of each rule.
    paid: What every set costs besides. All that is added up must be :func:`exact`.
    most: The greatest number of rules of an allowed set.
    wanted: The other rules may be left out of any allowed set.
    possible: Whether there may be an allowed set, of some rules with any of others. It is asked
        about many, with as many rules each.
    entries: How much is looked at; then TooMany is raised.
    fewer: Returns which of the other rules there may be in an allowed set with some rules. Where
        it is given, sets count that are not ``possible``, too.
    """
    rules = _Rules(good, bad, prices, wanted)
    first = _Sets(
        np.zeros((1, 0), dtype=np.int64),
        np.ones((1, prices.size), dtype=np.bool_),
        np.array([most]),
        np.array([float(paid)]),
        np.zeros((1, good.costs.size), dtype=np.uint8),
        np.ones((1, bad.costs.size), dtype=np.bool_),
    )
    if paid + int(good.costs.sum()) < limit:
        yield first.rules
    waiting = [iter([first])]
    while waiting:
        sets = next(waiting[-1], None)
        if sets is None:
            waiting.pop()
            continue
        kept = possible(sets.rules, sets.others) & rules.needed(sets)
        looked_at = int(kept.sum()) if fewer is None else len(kept)
        sets = _Sets._make(table[kept] for table in sets)
        if fewer is not None:
            sets = sets._replace(others=fewer(sets.rules, sets.others))
        if (entries := entries - looked_at * rules.entries) < 0:
            raise TooMany
        cheaper, larger = rules.added(sets, limit)
        if len(cheaper):
            yield cheaper
        waiting.append(larger)


class _Rules:
    """All rules, and how sets of them grow."""

    def __init__(self, good: Rows, bad: Rows, prices: Ints, wanted: Bools) -> None:
        self._good, self._prices, self._wanted = good.costs.astype(float), prices, wanted
        self._of_good, self._of_bad = good.covers.T.copy(), bad.covers.T.copy()
        self._saving, self._adding = (
            some.covers * some.costs[:, None].astype(float) for some in (good, bad)
        )
        self.entries = good.costs.size + bad.costs.size + prices.size

    def needed(self, sets: _Sets) -> Bools:
        """Whether each rule of a set is wanted, or worth its price beside the others."""
        out = np.ones(len(sets.rules), dtype=np.bool_)
        for rule in sets.rules.T:
            alone = ((sets.times == 1) & self._of_good[rule]) @ self._good
            out &= (alone > self._prices[rule]) | self._wanted[rule]
        return out

    def added(self, sets: _Sets, limit: int) -> tuple[Ints, Iterator[_Sets]]:
        """Return the sets with one rule more that cost less, and those to look at further."""
        missed = sets.times == 0
        excess = (sets.paid + missed @ self._good - (limit - 1))[:, None]
        saved, added = missed @ self._saving - self._prices, sets.clean @ self._adding
        others = sets.others & ((saved > 0) | self._wanted) & (sets.most > 0)[:, None]
        of, rule = np.nonzero(others & (saved - added >= excess))
        cheaper = np.hstack([sets.rules[of], rule[:, None]])
        place = self._places(np.where(others, added, np.inf), others)
        room = self._reach(missed, place) - added - excess
        cheapest = np.where(others, self._prices, np.inf).min(axis=1, initial=np.inf)[:, None]
        paying = np.where(cheapest > 0, room // np.maximum(cheapest, 1) - 1, np.inf)
        more = np.minimum(np.minimum(place, sets.most[:, None] - 1), paying)
        more = np.where(others & (room >= 0), more, 0).clip(0).astype(np.int64)
        best = -np.sort(-np.where(others, saved, 0).clip(0))
        sums = np.cumsum(np.pad(best, ((0, 0), (1, 0))), axis=1)
        lack = excess - (saved - added) - np.take_along_axis(sums, more, axis=1)
        # What each of them saves at least.
        least = lack + np.take_along_axis(best, np.maximum(more - 1, 0), axis=1)
        places = np.nonzero((more > 0) & (lack <= 0))
        paid = sets.paid[:, None] + self._prices + added

        def larger() -> Iterator[_Sets]:
            step = 1 + _AT_ONCE // (1 + self.entries)
            for begin in range(0, places[0].size, step):
                of, rule = at = places[0][begin : begin + step], places[1][begin : begin + step]
                before = (place[of] < place[at][:, None]) & (saved[of] >= least[at][:, None])
                yield _Sets(
                    np.hstack([sets.rules[of], rule[:, None]]),
                    others[of] & before,
                    more[at],
                    paid[at],
                    np.minimum(sets.times[of] + self._of_good[rule], 2),
                    sets.clean[of] & ~self._of_bad[rule],
                )

        return cheaper, larger()

    def _places(self, added: Floats, others: Bools) -> Ints:
        """Return at which place each rule is, by n and then by index; those left out are last."""
        n = self._prices.size
        place = np.empty(added.shape, dtype=np.int64)
        order = np.argsort(added, kind="stable")
        np.put_along_axis(place, order, np.arange(n)[None], axis=1)
        place[~others] = n
        return place

    def _reach(self, missed: Bools, place: Ints) -> Floats:
        """Return, for each rule, the good samples that it and those at places before it cover."""
        sets, rules = place.shape
        first = np.full(missed.T.shape, rules)
        for covers, places in zip(self._of_good, place.T, strict=True):
            first[covers] = np.minimum(first[covers], places)
        at = first.T + (rules + 1) * np.arange(sets)[:, None]
        weights = np.bincount(at.ravel(), (missed * self._good).ravel(), sets * (rules + 1))
        reached = np.cumsum(weights.reshape(sets, rules + 1), axis=1, dtype=np.float64)
        return np.take_along_axis(reached, place, axis=1)
