"""The rounds of column generation: solve the master, price rules by its duals, add columns."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.models.rule_set.methods.column_generation.bounds import PricingBound, hamming_bound
from cpx.models.rule_set.methods.column_generation.pricing import (
    CELLS,
    LEVELS,
    beam_pricing,
    exact_pricing,
)
from cpx.models.rule_set.methods.column_generation.table import Features, Table
from cpx.models.rule_set.search.record import RecordedPrices

if TYPE_CHECKING:
    from cpx.models.rule_set.methods.column_generation.master import Master, Relaxed

__all__ = ["Generation", "Round"]

Floats = NDArray[np.float64]

_SEEDS, _WIDTH = 12, 3
_MOST_ADDED = 20
_ALIKE = 0.9  # share of common samples from which one rule is left out
_SMOOTHING = 0.5
_STALLED, _GAIN = 3, 1e-3  # rounds in which the value falls by no more than this share
_LEAST = 10  # the part of all work that one exact pricing may take at any rate
_TOLERANCE = 1e-6  # of HiGHS's duals, as a share


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

    Prices are smoothed: rules are priced at a point between the last duals and a centre, the
    point of the best bound or, for beams, the last one priced at. The duals themselves jump
    from one end of their range to another as rules are added.

    price: Of a rule, in units of weight.
    most_rules: Returns the maximum number of rules that an optimal set may have.
    threads: Of the exact pricing.
    most_work: Work after which no rounds follow, however much is left to prove: that of exact
        pricing, and what takes as long in the programme.
    known: Rules to begin with.
    stop: Asked between rounds and within exact pricing; True ends them.
    proved: Told each better bound.
    side: On the literals of each rule; those with positive terms are demands of the table.
    """

    table: Table
    k: int
    price: Fraction
    most_rules: Callable[[], int]
    seed: int
    threads: int = 1
    known: Iterable[Features] = ()
    stop: Callable[[], bool] = lambda: False
    proved: Callable[[Fraction], None] = lambda bound: None
    side: SideConstraints = NO_SIDE_CONSTRAINTS
    most_work: int | None = None
    rounds: list[Round] = field(default_factory=list)
    rules: list[Features] = field(default_factory=list)
    bound: Fraction | None = None
    closed: bool = False
    """No rule is worth its cost at some optimal duals: the bound is the programme's value."""
    work: int = 0
    """Of all rounds so far."""

    def __post_init__(self) -> None:
        from cpx.models.rule_set.methods.column_generation.master import Master

        self._started = time.monotonic()
        self._rng = np.random.default_rng(self.seed)
        self._master: Master = Master(
            self.table.weights[self.table.own], self.table.demands, self.seed
        )
        self._known: set[Features] = set()
        self._centre: Floats | None = None
        self._level, self._share, self._took, self._solved = -1, 1.0, 0.0, 0.0
        self._priced: list[PricingBound] = []
        self._shares = np.zeros(0)
        for features in dict.fromkeys([(), *self.known]):
            if self.side.allow(features):
                self._add(features, self.table.covered(features))

    def _add(self, features: Features, covered: NDArray[np.bool_]) -> None:
        self._known.add(features)
        self.rules.append(features)
        cost = float(self.price) + self.table.paid(covered)
        self._master.add(cost, self.table.meets(covered))

    @property
    def centre(self) -> Floats:
        """The prices of the best bound, or better ones; at the start all are 0."""
        return np.zeros(self.table.priced) if self._centre is None else self._centre

    def recorded(self, rules: int = 1) -> RecordedPrices:
        """Return the prices that prove most; all costs are ``rules`` times as large here.

        They are some at which rules were priced, or a mean of prices at which some rule is worth
        more than it costs, and of others: at a mean no rule is worth more than the mean of what
        the best ones are.
        """
        own, none = self.table.own, np.zeros(len(self.table.own))
        known = [
            (float(one.total), float(one.largest), one.prices)
            for one in [PricingBound(Fraction(0), Fraction(0), none), *self._priced]
            if one.prices is not None
        ]
        price, most = float(self.price), self.most_rules()
        best = 0.0, price, none
        for total, largest, prices in known:
            spare = price - largest
            best = max(best, (total + min(spare, most * spare), largest, prices), key=_bound)
            if spare < 0:
                continue
            for more, beyond, others in known:
                if beyond > price and more > total:
                    part = spare / (beyond - largest)
                    mean = total + part * (more - total)
                    if mean > best[0]:
                        best = mean, price, prices + part * (others - prices)
        shares = best[2] / np.maximum(self.table.weights[own], 1)
        return RecordedPrices(self.table.literals[own], shares, best[1] / rules, rules)

    # ---------------------------------------------------------------- rounds

    def by_beams(self, seconds: float) -> None:
        """Add rules that beams find until few are found, the value stalls, or time is over."""
        centre: Floats | None = None

        def smoothed(duals: Floats) -> Floats:
            nonlocal centre
            centre = _smooth(duals, centre)
            return centre

        for relaxed in self._relaxed(time.monotonic() + seconds, smoothed):
            self._note(relaxed.value)

    def by_search(self, seconds: float) -> None:
        """Price exactly, round by round, until nothing is left to find or the time is over.

        The levels of pricing follow one another as no rule is worth its cost any more. Where the
        work is limited, the first pricing that exceeds it is the last, and adds no rule: its work
        decides what is found, never how long they took.
        """
        end = time.monotonic() + seconds
        if self._level < 0:
            self._go_on()
        # What is proved by a search that is cut short is of little use.
        while not self.closed and end - time.monotonic() > self._took and not self.stop():
            if self.ended and self._priced:
                return
            relaxed = self._settled(end)
            left = end - time.monotonic()
            if relaxed is None or left <= 0:
                return
            duals = self._share * relaxed.prices
            prices = _smooth(duals, self._centre)
            best, most = self._price(prices, left)
            self._note(relaxed.value)
            if self.bound is not None and relaxed.value - self.bound <= _share_of(relaxed.value):
                self.closed = True
                return
            if self.ended:
                return
            left_over = float(most - self.price) > _share_of(float(self.price))
            if left_over and self._add_like(best, prices, relaxed.prices, end):
                continue
            # Nothing new at smoothed prices: the duals themselves decide.
            at_duals, self._centre = np.array_equal(prices, duals), duals
            if not left_over or at_duals:
                if self._level < len(LEVELS) - 1:
                    self._go_on()
                elif at_duals:
                    self.closed = not left_over
                    return

    @property
    def rounded(self) -> tuple[Features, ...]:
        """The rules of which the last programme takes more than half."""
        return tuple(self.rules[r] for r in np.flatnonzero(self._shares > 0.5))

    @property
    def ended(self) -> bool:
        """Whether nothing is left to price, or no more work is wanted."""
        return self.closed or (self.most_work is not None and self.work > self.most_work)

    def _go_on(self) -> None:
        """Price at the next level."""
        self._level += 1
        self._share, self._parts = LEVELS[self._level]
        self._master.limit(1 / self._share)

    def _settled(self, end: float) -> Relaxed | None:
        """Solve the programme, and again while beams find rules; leave time for pricing."""

        def smoothed(duals: Floats) -> Floats:
            return _smooth(self._share * duals, self._centre) / self._share

        last: Relaxed | None = None
        for relaxed in self._relaxed(end - self._took, smoothed):
            last = relaxed
        return last

    def _relaxed(self, end: float, smoothed: Callable[[Floats], Floats]) -> Iterator[Relaxed]:
        """Yield an optimum of the programme, then those with rules that beams find.

        They are looked for at smoothed duals. It ends when few are found or the value stalls:
        how long that takes must not count, or answers would differ from machine to machine.
        """
        stalled, before = 0, math.inf
        # A programme that is not solved to the end is of no use.
        while stalled < _STALLED and (left := end - time.monotonic()) > self._solved:
            if self.stop():
                return
            started = time.monotonic()
            relaxed = self._master.solve(left)
            self.work += self._master.cells // CELLS
            self._solved = time.monotonic() - started
            if relaxed is None:
                return
            self._shares = relaxed.shares
            yield relaxed
            if self.ended:
                return
            stalled = stalled + 1 if before - relaxed.value <= _GAIN * abs(before) else 0
            before = min(before, relaxed.value)
            found = self._from_beams(smoothed(relaxed.prices), end)
            if not self._worthy(found, relaxed.prices):
                return

    def _add_like(self, best: Features, prices: Floats, duals: Floats, end: float) -> int:
        """Add a rule and others that cover some of the same samples; return how many."""
        rows = np.flatnonzero(self.table.covered(best) & self.table.same)
        some = self._rng.choice(rows, min(_SEEDS, len(rows)), replace=False)
        more = self._beams(prices, some, end)
        return self._worthy([best, *more], duals)

    def _note(self, value: float) -> None:
        seconds = time.monotonic() - self._started
        if self.rounds:
            # With higher limits the value is too high.
            value = min(value, self.rounds[-1].value)
        self.rounds.append(Round(seconds, value, self.bound, len(self.rules)))

    # --------------------------------------------------------------- pricing

    def _from_beams(self, prices: Floats, end: float) -> list[Features]:
        own = self.table.own
        if not len(own):
            return []
        prices_of_own = prices[: len(own)]
        chances = prices_of_own + 1e-6 * max(1.0, float(prices_of_own.max()))
        seeds = self._rng.choice(
            own, min(_SEEDS, len(own)), replace=False, p=chances / chances.sum()
        )
        return self._beams(prices, seeds, end)

    def _beams(self, prices: Floats, seeds: NDArray[np.intp], end: float) -> list[Features]:
        def late() -> bool:
            return time.monotonic() > end or self.stop()

        weights = self.table.signed_weights(prices)
        return beam_pricing(self.table, weights, seeds, self.k, _WIDTH, late)

    def _worthy(self, found: Iterable[Features], prices: Floats) -> int:
        """Add the rules that are worth more than they cost, unless like one just added."""
        weights, added = self.table.signed_weights(prices), list[NDArray[np.bool_]]()
        # The weights lack the prices of all demands.
        least = float(self.price) + _TOLERANCE - prices[len(self.table.own) :].sum()
        new = [rule for rule in found if rule not in self._known and self.side.allow(rule)]
        covers = self.table.beams.covered(new)
        for r in np.flatnonzero(covers @ weights > least):
            if len(added) == _MOST_ADDED:
                break
            if not any(_alike(covers[r], one) for one in added):
                added.append(covers[r])
                self._add(new[r], covers[r])
        return len(added)

    def _price(self, prices: Floats, seconds: float) -> tuple[Features, Fraction]:
        """Find the best of all rules, and raise the bound by what is proved of it.

        Return it and what no rule exceeds.
        """
        most = None
        if self.most_work is not None:
            most = max(1, self.most_work - self.work, self.most_work // _LEAST)
        started = time.monotonic()
        best, priced, work = exact_pricing(
            self.table,
            prices,
            self._parts,
            self.k,
            threads=self.threads,
            seconds=seconds,
            stop=self.stop,
            max_work=most,
            side=self.side,
        )
        self.work += work
        self._took = time.monotonic() - started
        self._priced.append(priced)
        every = Fraction(int(self.table.weights[self.table.own].sum()))
        alone = None if self.table.demands else every
        bound = hamming_bound(self._priced, self.price, alone, self.most_rules())
        if self.bound is None or bound > self.bound:
            self.bound, self._centre = bound, prices
            self.proved(bound)
        return best, priced.largest


def _smooth(prices: Floats, centre: Floats | None) -> Floats:
    return prices if centre is None else _SMOOTHING * centre + (1 - _SMOOTHING) * prices


def _bound(found: tuple[float, float, Floats]) -> float:
    return found[0]


def _share_of(value: float) -> float:
    """Return what counts as nothing compared with a value."""
    return _TOLERANCE * max(1.0, value)


def _alike(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
    return bool((one & other).sum() > _ALIKE * (one | other).sum())
