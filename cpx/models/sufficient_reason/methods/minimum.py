"""Minimum sufficient reasons by implicit hitting sets, with bounds at any time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from cpx.errors import InvalidInstance
from cpx.models.sufficient_reason.methods.deletion import delete_from_reason, lightest_last
from cpx.models.sufficient_reason.methods.hitting_set import HittingSetSearch
from cpx.models.sufficient_reason.search.branch_and_cut import BranchAndCut
from cpx.models.sufficient_reason.search.record import RecordedCuts
from cpx.models.sufficient_reason.search.small_changes import SmallChanges
from cpx.models.sufficient_reason.sufficiency.oracle import GaveUp, Stopped, SufficiencyOracle
from cpx.models.sufficient_reason.sufficiency.row_oracle import RowOracle
from cpx.models.sufficient_reason.sufficiency.set_family import places, shuffled
from cpx.support.validation import index_set, seconds, weight_map

__all__ = ["Listener", "MinimumReason", "minimum_of_oracle"]

Listener = Callable[[int, int, tuple[int, ...]], None]
"""Called with lower bound, upper bound and the best reason so far."""

# Boxes after which a question is left open at first, and the factor by which they grow when
# it is asked again.
_PATIENCE, _MORE = 300, 4
# Boxes times tests, for the questions of the first deletion: a second at most.
_WORK = 30_000_000
# Sets that are asked about before branch and cut takes over: many rows need no more. With so many
# attributes, or fewer, hitting sets are fast for longer.
_CALLS, _FEW, _CALLS_OF_FEW = 100, 40, 600
# And after so many hitting sets.
_ROUNDS = 300
# Hitting sets from one deletion to the next, and by how much its order strays from them.
_EVERY, _NOISE = 100, 0.3
# Changes that branch and cut is told of: more make its linear program slow.
_TOLD = 300
# Where hitting sets prove the minimum by about so many, they go on to the end. For each place by
# which the bound rises they take so many times as many as for the one before.
_FURTHER, _GROWTH = 20_000, 2.7
# Beyond this sum of weights, floats of a linear program tell too little.
_HEAVY = 2**40


@dataclass(frozen=True)
class MinimumReason:
    """What is known of the least weight of a sufficient reason.

    Attributes
    ----------
    lower, upper : int or None
        No reason weighs less than ``lower``; ``attributes`` weigh ``upper``. Without weights
        these are sizes. None of ``upper`` when no reason is known, and of both when it is
        proved that there is none, which is so only with ``must_avoid``.
    attributes : tuple of int, or None
        The best reason found, increasing.
    proved : bool
        Whether the attributes are a minimum, or it is proved that there is no reason.
    rounds, calls, changes : int
        Hitting sets computed, sets asked about, and sets to be hit.
    seconds : float
    """

    lower: int | None
    upper: int | None
    attributes: tuple[int, ...] | None
    proved: bool
    rounds: int
    calls: int
    changes: int
    seconds: float

    @property
    def feasible(self) -> bool | None:
        """Whether there is a reason; None when that is not known."""
        return True if self.attributes is not None else (False if self.proved else None)


def minimum_of_oracle(
    oracle: RowOracle,
    *,
    weights: Mapping[int, int] | Iterable[int] | None = None,
    must_keep: Iterable[int] = (),
    must_avoid: Iterable[int] = (),
    start: Iterable[int] | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    listen: Listener | None = None,
    record: list[object] | None = None,
) -> MinimumReason:
    """Find a sufficient reason of least size, or least weight, by the oracle of a row.

    A set of attributes is a reason exactly when it meets each *change* (contrastive
    explanation): each set of attributes in which some counterexample differs from x. So the
    minimum hitting set of the changes known so far weighs no more than a minimum reason; when it
    is a reason, it is a minimum one, otherwise its counterexamples tell more changes (A.
    Ignatiev, A. Previti, M. Liffiton, J. Marques-Silva, *Smallest MUS extraction with minimal
    hitting set dualization*, CP 2015). Where that takes many of them, branch and cut goes on.

    Parameters
    ----------
    oracle : RowOracle
        Its ``stop`` is heard.
    weights : mapping or sequence of d positive integers, optional
        What each attribute costs; 1 if not given, or where a mapping has none.
    must_keep, must_avoid : iterable of int
        Attributes that are in the reason, and that are not.
    start : iterable of int, optional
        Where the search for a small reason begins, if these attributes are one: that is asked.
    time_limit : float, optional
        Seconds after which the interval so far is returned.
    seed : int
        Of the orders in which attributes are tried; without a time limit, equal arguments give
        equal answers.
    listen : callable, optional
        See ``Listener``; called at each improvement.
    record : list, optional
        To which branch and cut adds its :class:`RecordedCuts`, where it was needed.

    Raises
    ------
    InvalidInstance, InvalidOption
        When weights, attributes, time limit or seed make no sense.
    """
    began, limit = time.monotonic(), seconds(time_limit)
    search = _Search(oracle, weights, must_keep, must_avoid, seed, listen, record)
    if limit is not None:
        oracle.deadline = began + limit
    with suppress(Stopped):
        search.run(None if start is None else oracle.bits(start))
    return search.result(time.monotonic() - began)


class _Search(HittingSetSearch):
    """The search for a lightest reason; the dual family is that of the changes."""

    def __init__(
        self,
        oracle: RowOracle,
        weights: Mapping[int, int] | Iterable[int] | None,
        must_keep: Iterable[int],
        must_avoid: Iterable[int],
        seed: int,
        listen: Listener | None,
        record: list[object] | None,
    ) -> None:
        n = oracle.n_features
        weight = weight_map(weights, n)
        self.keep = index_set("must_keep", must_keep, n, "feature")
        avoid = index_set("must_avoid", must_avoid, n, "feature")
        if self.keep & avoid:
            raise InvalidInstance(
                f"must_keep and must_avoid have {sorted(self.keep & avoid)} in common"
            )
        self.kept, self.always = oracle.bits(self.keep), oracle.bits(avoid)
        free = places(oracle.everything & ~self.kept & ~self.always)
        cost = {place: weight[oracle.feature[place]] for place in free}
        base = sum(weight[a] for a in self.keep)
        super().__init__(oracle, cost, seed, base, self.tell)
        self.listen, self.seed, self.record = listen, seed, record
        # Ranks, as weights may be beyond 64 bits.
        rank = {w: i for i, w in enumerate(sorted({*weight.values()}))}
        ranks = np.array([rank[weight[j]] for j in range(n)], dtype=np.int64)
        self.small: SmallChanges | None = None
        self.raised = 0  # the bound at the last deletion
        self.often = np.zeros(len(oracle.feature))  # how often the last hitting sets had a place
        self.patience: dict[int, int] = {}  # with hitting sets that it gave up on
        self.first = lightest_last(ranks, oracle, self.free, np.random.default_rng(seed))

    def run(self, start: int | None) -> None:
        if self.always and self.refutation(self.free) is not None:
            self.none = True
            return
        self.found(first := self.free)
        # As the engine deletion does, so that no answer is larger than its, but for patience.
        self.oracle.patience = max(_WORK // (int(self.oracle.tells.sum()) + 1), _PATIENCE)
        if start is not None and self.holds(start & first):
            self.found(first := start & first)
        self.shrink(first, self.first)
        self.oracle.patience = _PATIENCE
        if self.proved:
            return
        for change in self.oracle.changes or ():
            # What a kept attribute meets, every set that is looked for meets.
            if not change & self.kept:
                self.learn(change & ~self.always)
        if not self.oracle.searches or sum(self.cost.values()) >= _HEAVY:
            self.close_in()
            return
        few = len(self.oracle.feature) <= _FEW
        if self.record is None:
            assert isinstance(self.oracle, SufficiencyOracle)  # others do not say that they search
            self.small = SmallChanges(self.oracle, self.seed)
        self.close_in(_CALLS_OF_FEW if few else _CALLS, _ROUNDS)
        # A proof by the inequalities of branch and cut is shorter.
        if not self.proved and self.record is None and self.further() <= _FURTHER:
            self._new = [*self.family]
            self.close_in()
        if not self.proved:
            self.branch()

    def further(self) -> float:
        """Return how many hitting sets it may take until the bounds meet."""
        assert self.upper is not None
        steps = (self.upper - self.lower) / min(self.cost.values())
        return float(self.rounds * _GROWTH ** min(steps, 99.0))

    def branch(self) -> None:
        """Go on by branch and cut, which asks for more than sets to be hit."""
        assert self.upper is not None
        assert isinstance(self.oracle, SufficiencyOracle)  # others do not say that they search
        n = len(self.oracle.feature)
        costs = np.array([self.cost.get(place, 0) for place in range(n)], dtype=np.int64)
        kept, avoided = (
            np.array([bits >> place & 1 for place in range(n)], dtype=np.int64)
            for bits in (self.kept, self.always)
        )

        def least() -> int:
            return (self.upper or 0) - self.base

        def found(reason: int) -> int:
            self.found(reason & self.free)
            return least()

        def shrink(order: Sequence[int]) -> int:
            self.oracle.patience = _PATIENCE
            self.shrink(self.free, order)
            return least()

        recorded = None
        if self.record is not None:
            self.record.append(recorded := RecordedCuts())
        search = BranchAndCut(
            self.oracle, costs, kept, 1 - avoided, least(), self.seed, found, shrink,
            lambda lower: self.bounded(lower + self.base), recorded,
        )  # fmt: skip
        # Small ones say most.
        for change in sorted(self.family, key=int.bit_count)[:_TOLD]:
            search.add(change)
        search.run()

    def decide(self, chosen: int) -> None:
        if self.small is not None:
            found = [*self.small.avoiding(chosen | self.kept)]
            for small in found:
                self.learn(small & ~self.always)
            self.often = 0.99 * self.often
            self.often[places(chosen)] += 1
            if found and (self.lower > self.raised or self.rounds % _EVERY == 0):
                # What most hitting sets have is left out last.
                noise = _NOISE * self.often.max() * self.small.random.random(len(self.often))
                order = np.argsort(self.often + noise, kind="stable")
                self.shrink(self.free, [j for j in order.tolist() if self.free >> j & 1])
                self.raised = self.lower
            if found:
                return
        patience = self.patience.get(chosen, _PATIENCE)
        self.oracle.patience = patience
        try:
            grown = chosen
            while (change := self.refutation(grown)) is not None:
                self.learn(change & ~self.always)
                grown |= change & ~self.always
                self.oracle.patience = _PATIENCE
            if grown == chosen:
                self.found(chosen)
            else:
                self.shrink(grown)
        except GaveUp:
            if grown == chosen:
                self.patience[chosen] = _MORE * patience
                self.undecided.append(chosen)
        finally:
            self.oracle.patience = _PATIENCE

    def shrink(self, reason: int, order: Sequence[int] | None = None) -> None:
        """Make an inclusion-minimal reason, and learn what is met on the way."""
        if order is None:
            order = shuffled(reason & self.free, self.random)
        _, changes = delete_from_reason(
            self.oracle, reason | self.kept, order, lambda less: self.found(less & self.free)
        )
        for change in changes:
            self.learn(change & ~self.always)

    def holds(self, chosen: int) -> bool:
        """Say whether it is seen soon that these are a reason, with those that are kept."""
        with suppress(GaveUp):
            return self.refutation(chosen) is None
        return False

    def refutation(self, chosen: int) -> int | None:
        """Return where a counterexample to a set differs from x, or None for a reason."""
        return self.oracle.change(self.oracle.everything & ~chosen & ~self.kept)

    def attributes(self) -> tuple[int, ...] | None:
        """Return the best reason, increasing."""
        if self.best is None:
            return None
        return tuple(sorted(self.oracle.features(self.best) | self.keep))

    def tell(self) -> None:
        if self.listen is None or self.upper is None:
            return
        reason = self.attributes()
        assert reason is not None  # it weighs upper
        self.listen(self.lower, self.upper, reason)

    def result(self, elapsed: float) -> MinimumReason:
        return MinimumReason(
            lower=None if self.none else self.lower,
            upper=self.upper,
            attributes=self.attributes(),
            proved=self.proved,
            rounds=self.rounds,
            calls=self.oracle.calls,
            changes=len(self.family),
            seconds=elapsed,
        )
