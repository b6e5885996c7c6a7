"""Minimum sufficient reasons by implicit hitting sets, with bounds at any time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from numpy.typing import ArrayLike

from cpx.errors import InvalidInstance
from cpx.methods.reasons.deletion import delete_from_reason
from cpx.methods.reasons.hitting_set import HittingSets
from cpx.support.validation import index_set, seconds, valid_seed, weight_map
from cpx.trees import TreeModel
from cpx.trees.sufficiency.oracle import GaveUp, Stopped, SufficiencyOracle
from cpx.trees.sufficiency.set_family import places, shuffled

__all__ = ["Listener", "MinimumReason", "minimum_of_oracle", "minimum_reason"]

Listener = Callable[[int, int, tuple[int, ...]], None]
"""Called with lower bound, upper bound and the best reason so far."""

# Boxes after which a question is left open at first, and the factor by which they grow when
# one has to be answered.
_PATIENCE, _MORE = 300, 4


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


def minimum_reason(
    model: TreeModel,
    x: ArrayLike,
    *,
    weights: Mapping[int, int] | Iterable[int] | None = None,
    must_keep: Iterable[int] = (),
    must_avoid: Iterable[int] = (),
    time_limit: float | None = None,
    seed: int = 0,
    listen: Listener | None = None,
    oracle: SufficiencyOracle | None = None,
) -> MinimumReason:
    """Find a sufficient reason of least size, or least weight, for the class of a row.

    What a sufficient reason is, says :class:`cpx.methods.reasons.SufficiencyOracle`. A set of
    attributes is one exactly when it meets each *change* (contrastive explanation): each set of
    attributes in which some counterexample differs from x. So the minimum hitting set of the
    changes known so far weighs no more than a minimum reason; when it is a reason, it is a
    minimum one, otherwise its counterexamples tell more changes (A. Ignatiev, A. Previti, M.
    Liffiton, J. Marques-Silva, *Smallest MUS extraction with minimal hitting set dualization*,
    CP 2015).

    Parameters
    ----------
    model : TreeModel
    x : (d,) array of numbers
        The row.
    weights : mapping or sequence of d positive integers, optional
        What each attribute costs; 1 if not given, or where a mapping has none.
    must_keep, must_avoid : iterable of int
        Attributes that are in the reason, and that are not.
    time_limit : float, optional
        Seconds after which the interval so far is returned.
    seed : int
        Of the orders in which attributes are tried; without a time limit, equal arguments give
        equal answers.
    listen : callable, optional
        See ``Listener``; called at each improvement.
    oracle : SufficiencyOracle, optional
        An oracle of this model and row, which keeps what it learns and whose ``stop`` is heard.

    Returns
    -------
    MinimumReason

    Raises
    ------
    DataError
        When x does not fit the model.
    InvalidInstance
        When weights or attributes make no sense.
    InvalidOption
        When the time limit or seed is out of its range.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from cpx.trees import read_model
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    >>> found = minimum_reason(read_model(forest), X[50])
    >>> found.lower, found.upper, found.proved
    (2, 2, True)
    """
    return minimum_of_oracle(
        SufficiencyOracle.of_row(model, x) if oracle is None else oracle,
        weights=weights,
        must_keep=must_keep,
        must_avoid=must_avoid,
        time_limit=time_limit,
        seed=seed,
        listen=listen,
    )


def minimum_of_oracle(
    oracle: SufficiencyOracle,
    *,
    weights: Mapping[int, int] | Iterable[int] | None = None,
    must_keep: Iterable[int] = (),
    must_avoid: Iterable[int] = (),
    time_limit: float | None = None,
    seed: int = 0,
    listen: Listener | None = None,
) -> MinimumReason:
    """Find a minimum reason by an oracle of a row; see :func:`minimum_reason`."""
    start, limit = time.monotonic(), seconds(time_limit)
    search = _Search(oracle, weights, must_keep, must_avoid, seed, listen)
    if limit is not None:
        oracle.deadline = start + limit
    with suppress(Stopped):
        search.run()
    return search.result(time.monotonic() - start)


class _Search:
    def __init__(
        self,
        oracle: SufficiencyOracle,
        weights: Mapping[int, int] | Iterable[int] | None,
        must_keep: Iterable[int],
        must_avoid: Iterable[int],
        seed: int,
        listen: Listener | None,
    ) -> None:
        self.oracle, model = oracle, oracle.model
        weight = weight_map(weights, model.n_attributes)
        self.keep = index_set("must_keep", must_keep, model.n_attributes, "attribute")
        self.avoid = index_set("must_avoid", must_avoid, model.n_attributes, "attribute")
        if self.keep & self.avoid:
            raise InvalidInstance(
                f"must_keep and must_avoid have {sorted(self.keep & self.avoid)} in common"
            )
        self.weight, self.base = weight, sum(weight[a] for a in self.keep)
        self.kept, self.always = self.oracle.bits(self.keep), self.oracle.bits(self.avoid)
        self.free = self.oracle.everything & ~self.kept & ~self.always
        self.random, self.listen = Random(valid_seed(seed)), listen
        used = self.oracle.grid.used
        self.cost = {i: weight[used[i]] for i in places(self.free)}
        self.lower = self.base
        self.best: frozenset[int] | None = None
        self.upper: int | None = None
        self.infeasible = False
        self.changes: set[int] = set()
        self.news: list[int] = []
        self.rounds = 0

    # ------------------------------------------------------------- the search

    def run(self) -> None:
        if self.always and self.refutation(self.free) is not None:
            self.infeasible = True
            return
        self.found(self.free)
        self.oracle.patience = _PATIENCE
        self.shrink(self.free)
        if self.proved:
            return
        for change in self.oracle.changes or ():
            # What a kept attribute meets, every set that is looked for meets.
            if not change & self.kept:
                self.learn(change)
        assert self.upper is not None  # the reason just shrunk
        sets = HittingSets(self.cost, self.upper - self.base)
        try:
            self.close_in(sets)
        finally:
            sets.close()
            self.bound(sets.lower + self.base)

    def close_in(self, sets: HittingSets) -> None:
        """Raise the lower bound and look for better reasons until the bounds meet."""
        assert self.upper is not None
        while True:
            for change in self.news:
                sets.add(places(change))
            self.news.clear()
            hitting = sets.below(self.upper - self.base, self.oracle.look)
            self.bound(sets.lower + self.base)
            self.rounds += 1
            if hitting is None:
                return
            try:
                self.refute(sum(1 << place for place in hitting))
            except GaveUp:
                self.oracle.patience = _MORE * (self.oracle.patience or _PATIENCE)

    def refute(self, chosen: int) -> None:
        """Take a minimum hitting set for a reason, or learn disjoint changes it misses."""
        grown = chosen
        while (change := self.refutation(grown)) is not None:
            grown |= self.learn(change)
        if grown == chosen:
            self.found(chosen)
        else:
            self.shrink(grown)

    def shrink(self, reason: int) -> None:
        """Make a subset-minimal reason, and learn what is met on the way."""
        order = shuffled(reason & self.free, self.random)
        _, changes = delete_from_reason(self.oracle, reason | self.kept, order, self.found)
        for change in changes:
            self.learn(change)

    def refutation(self, chosen: int) -> int | None:
        """Return where a counterexample to a set differs from x, or None for a reason."""
        return self.oracle.change(self.oracle.everything & ~chosen & ~self.kept)

    def learn(self, change: int) -> int:
        """Ask for sets that meet a change, by what of it may be in a reason."""
        small = change & ~self.always
        if small not in self.changes:
            self.changes.add(small)
            self.news.append(small)
        return small

    # ---------------------------------------------------------- what is known

    @property
    def proved(self) -> bool:
        return self.infeasible or (self.upper is not None and self.lower >= self.upper)

    def found(self, reason: int) -> None:
        attributes = self.oracle.attributes(reason & self.free)
        upper = self.base + sum(self.weight[a] for a in attributes)
        if self.upper is None or upper < self.upper:
            self.best, self.upper = attributes | self.keep, upper
            self.tell()

    def bound(self, lower: int) -> None:
        if lower > self.lower:
            self.lower = lower
            self.tell()

    def tell(self) -> None:
        if self.listen is not None and self.best is not None and self.upper is not None:
            self.listen(self.lower, self.upper, tuple(sorted(self.best)))

    def result(self, elapsed: float) -> MinimumReason:
        return MinimumReason(
            lower=None if self.infeasible else self.lower,
            upper=self.upper,
            attributes=None if self.best is None else tuple(sorted(self.best)),
            proved=self.proved,
            rounds=self.rounds,
            calls=self.oracle.calls,
            changes=len(self.changes),
            seconds=elapsed,
        )
