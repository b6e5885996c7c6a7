"""Rounds of column generation: solve the programme, price rules by its duals, add the worthy."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.methods.column_generation.beams import beams
from cpx.methods.column_generation.bound import hamming_bound
from cpx.methods.column_generation.table import Features, Table

if TYPE_CHECKING:
    from cpx.methods.column_generation.master import Master

__all__ = ["Generation", "Round"]

Floats = NDArray[np.float64]

_SEEDS, _WIDTH = 12, 3
_MOST_ADDED = 20
_ALIKE = 0.9  # share of common samples from which one rule is left out
_SMOOTHING = 0.5
_STALLED, _GAIN = 3, 1e-4  # rounds in which the value falls by no more than this share
_TOLERANCE = 1e-6  # of HiGHS's duals, as a share
_UNIT = 2**16  # prices are multiples of 1 / _UNIT, below the duals: exact in what they prove


@dataclass(frozen=True)
class Round:
    """One round: seconds since the start, value of the programme, the best bound, rules.

    ``bound`` is ``None`` before the first exact pricing.
    """

    seconds: float
    value: float
    bound: Fraction | None
    rules: int


@dataclass(eq=False)
class Generation:
    """The rules found so far and what is proved of all others.

    Prices are smoothed: rules are priced at a point between the last duals and the centre, which
    is the point of the best bound, or the last one priced at. The duals themselves jump from
    one end of their range to another as rules are added.

    Attributes
    ----------
    table : Table
    k : int
    price : Fraction
        Of a rule, in units of weight.
    most_rules : callable
        Returns the greatest number of rules that an optimal set may have, or ``None``.
    seed : int
    threads : int
        Of the exact pricing.
    known : iterable of Features
        Rules to begin with.
    stop : callable
        Asked between rounds and within exact pricing; True ends them.
    proved : callable
        Told each better bound.
    """

    table: Table
    k: int
    price: Fraction
    most_rules: Callable[[], int | None]
    seed: int
    threads: int = 1
    known: Iterable[Features] = ()
    stop: Callable[[], bool] = lambda: False
    proved: Callable[[Fraction], None] = lambda bound: None
    rounds: list[Round] = field(default_factory=list)
    rules: list[Features] = field(default_factory=list)
    bound: Fraction | None = None
    closed: bool = False
    """No rule is worth its cost at some optimal duals: the bound is the programme's value."""

    def __post_init__(self) -> None:
        from cpx.methods.column_generation.master import Master

        self._started = time.monotonic()
        self._rng = np.random.default_rng(self.seed)
        self._master: Master = Master(self.table.weights[self.table.own], self.seed)
        self._known: set[Features] = set()
        self._centre: Floats | None = None
        for features in dict.fromkeys([(), *self.known]):
            self._add(features)

    def _add(self, features: Features) -> None:
        covered = self.table.covered(features)
        self._known.add(features)
        self.rules.append(features)
        cost = float(self.price) + self.table.paid(covered)
        self._master.add(cost, covered[self.table.own])

    @property
    def centre(self) -> Floats:
        """The prices of the best bound, or the last priced at; at the start all are 0."""
        return np.zeros(len(self.table.own)) if self._centre is None else self._centre

    # ---------------------------------------------------------------- rounds

    def by_beams(self, seconds: float) -> None:
        """Add rules that beams find until few are found, the value stalls, or time is over."""
        end, stalled, before = time.monotonic() + seconds, 0, math.inf
        while stalled < _STALLED and (left := end - time.monotonic()) > 0 and not self.stop():
            relaxed = self._master.solve(left)
            if relaxed is None:
                return
            self._note(relaxed.value)
            stalled = stalled + 1 if before - relaxed.value <= _GAIN * abs(before) else 0
            before = min(before, relaxed.value)
            self._centre = self._smooth(relaxed.prices)
            found = self._from_beams(self._centre)
            if not self._worthy(found, relaxed.prices):
                return

    def by_search(self, seconds: float) -> None:
        """Price exactly, round by round, until nothing is left to find or the time is over."""
        end = time.monotonic() + seconds
        while not self.closed and (left := end - time.monotonic()) > 0 and not self.stop():
            relaxed = self._master.solve(left)
            left = end - time.monotonic()
            if relaxed is None or left <= 0:
                return
            prices = self._smooth(relaxed.prices)
            found = self._price(prices, left)
            self._note(relaxed.value)
            if found is None:
                return
            best, most = found
            self.closed = self._meets(relaxed.value, most)
            if self.closed:
                return
            rows = np.flatnonzero(self.table.covered(best) & self.table.same)
            some = self._rng.choice(rows, min(_SEEDS, len(rows)), replace=False)
            more = beams(self.table, self.table.worths(prices), some, self.k, _WIDTH)
            if not self._worthy([best, *more], relaxed.prices):
                # Nothing new at smoothed prices: the duals themselves decide.
                self._centre = relaxed.prices

    def _smooth(self, prices: Floats) -> Floats:
        if self._centre is None:
            return prices
        return _SMOOTHING * self._centre + (1 - _SMOOTHING) * prices

    def _note(self, value: float) -> None:
        seconds = time.monotonic() - self._started
        self.rounds.append(Round(seconds, value, self.bound, len(self.rules)))

    def _meets(self, value: float, most: Fraction) -> bool:
        """Say whether no rule is left that is worth more than it costs."""
        least = float(self.price)
        near = self.bound is not None and value - self.bound <= _TOLERANCE * max(1.0, value)
        return near or float(most) <= least + _TOLERANCE * max(1.0, least)

    # --------------------------------------------------------------- pricing

    def _from_beams(self, prices: Floats) -> list[Features]:
        own = self.table.own
        if not len(own):
            return []
        chances = prices + 1e-6 * max(1.0, float(prices.max(initial=0.0)))
        seeds = self._rng.choice(
            own, min(_SEEDS, len(own)), replace=False, p=chances / chances.sum()
        )
        return beams(self.table, self.table.worths(prices), seeds, self.k, _WIDTH)

    def _worthy(self, found: Iterable[Features], prices: Floats) -> int:
        """Add the rules that are worth more than they cost, unless like one just added."""
        worths, added = self.table.worths(prices), list[NDArray[np.bool_]]()
        least = float(self.price) + _TOLERANCE
        for features in found:
            if len(added) == _MOST_ADDED:
                break
            if features in self._known:
                continue
            covered = self.table.covered(features)
            if worths[covered].sum() <= least or any(_alike(covered, one) for one in added):
                continue
            added.append(covered)
            self._add(features)
        return len(added)

    def _price(self, prices: Floats, seconds: float) -> tuple[Features, Fraction] | None:
        """Find the worthiest of all rules, and raise the bound by what is proved of it.

        Return it and what no rule exceeds; ``None`` when the time was over before anything
        was found.
        """
        from cpx.backends.search.heaviest import heaviest

        units = np.floor(prices * _UNIT).astype(np.int64)
        worths = -_UNIT * self.table.weights
        worths[self.table.own] = units
        kept = np.flatnonzero(worths)
        found = heaviest(
            self.table.literals[kept],
            worths[kept],
            self.k,
            threads=self.threads,
            time_limit=seconds,
            stop=self.stop,
        )
        if not found.features or found.bound is None:
            return None
        most = found.bound / _UNIT
        total = Fraction(int(units.sum()), _UNIT)
        bound = hamming_bound(total, most, self.price, self.most_rules())
        if self.bound is None or bound > self.bound:
            self.bound, self._centre = bound, prices
            self.proved(bound)
        return found.features[0], most


def _alike(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
    return bool((one & other).sum() > _ALIKE * (one | other).sum())
