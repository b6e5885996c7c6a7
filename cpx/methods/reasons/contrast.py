"""Contrastive explanations: smallest changes of a row that can change its class."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.methods.reasons.deletion import delete_from_change, delete_from_reason
from cpx.methods.reasons.hitting_set import HittingSets
from cpx.support.validation import index_set, valid_seed, weight_map
from cpx.trees import TreeModel
from cpx.trees.sufficiency.oracle import Stopped, SufficiencyOracle
from cpx.trees.sufficiency.set_family import places, shuffled

__all__ = ["SmallestChange", "contrastive"]


@dataclass(frozen=True)
class SmallestChange:
    """What is known of the least weight of a change that can change the class.

    Attributes
    ----------
    lower, upper : int or None
        No change weighs less than ``lower``; ``attributes`` weigh ``upper``. Both are None when
        it is proved that there is no change.
    attributes : tuple of int, or None
        The best change found, increasing.
    cells : tuple of d int, or None
        A counterexample that differs from x in these attributes only.
    proved : bool
        Whether the attributes are a minimum, or it is proved that there is no change.
    rounds, calls : int
        Hitting sets computed, and sets asked about.
    seconds : float
    """

    lower: int | None
    upper: int | None
    attributes: tuple[int, ...] | None
    cells: tuple[int, ...] | None
    proved: bool
    rounds: int
    calls: int
    seconds: float


def contrastive(
    model: TreeModel,
    x: ArrayLike,
    *,
    weights: Mapping[int, int] | Iterable[int] | None = None,
    must_keep: Iterable[int] = (),
    time_limit: float | None = None,
    seed: int = 0,
) -> SmallestChange:
    """Find a set of attributes of least size, or weight, whose change can change the class.

    A set of attributes is a change exactly when it meets each sufficient reason; so this is
    :func:`minimum_reason` with both exchanged (A. Ignatiev, N. Narodytska, N. Asher,
    J. Marques-Silva, *From contrastive to abductive explanations and back again*, AI*IA 2020).

    Parameters
    ----------
    model : TreeModel
    x : (d,) array of numbers
    weights : mapping or sequence of d positive integers, optional
        What the change of each attribute costs, 1 if not given.
    must_keep : iterable of int
        Attributes that may not change.
    time_limit : float, optional
        Seconds after which the interval so far is returned.
    seed : int

    Returns
    -------
    SmallestChange

    Raises
    ------
    DataError, InvalidInstance, InvalidOption
        When x, the weights or another argument makes no sense.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from cpx.trees import read_model
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    >>> found = contrastive(read_model(forest), X[0])
    >>> found.lower, found.upper, found.proved
    (1, 1, True)
    """
    start = time.monotonic()
    search = _Search(SufficiencyOracle.of_row(model, x, time_limit), weights, must_keep, seed)
    with suppress(Stopped):
        search.run()
    return search.result(time.monotonic() - start)


class _Search:
    def __init__(
        self,
        oracle: SufficiencyOracle,
        weights: Mapping[int, int] | Iterable[int] | None,
        must_keep: Iterable[int],
        seed: int,
    ) -> None:
        self.oracle, model = oracle, oracle.model
        weight = weight_map(weights, model.n_attributes)
        self.cost = [weight[a] for a in self.oracle.grid.used]
        kept = self.oracle.bits(index_set("must_keep", must_keep, model.n_attributes, "attribute"))
        self.free = self.oracle.everything & ~kept
        self.news: list[int] = []
        self.random = Random(valid_seed(seed))
        self.lower, self.rounds = 0, 0
        self.upper: int | None = None
        self.best: int | None = None
        self.cells: NDArray[np.int32] | None = None
        self.none = False

    def run(self) -> None:
        change = self.oracle.change(self.free)
        if change is None:
            self.none = True
            return
        self.found(delete_from_change(self.oracle, change, shuffled(change, self.random)))
        assert self.upper is not None  # the change just found
        sets = HittingSets({place: self.cost[place] for place in places(self.free)}, self.upper)
        try:
            self.close_in(sets)
        finally:
            self.lower = sets.lower
            sets.close()

    def close_in(self, sets: HittingSets) -> None:
        """Raise the lower bound and look for better changes until the bounds meet."""
        assert self.upper is not None
        while (hitting := sets.below(self.upper, self.oracle.look)) is not None:
            self.rounds += 1
            self.widen(sum(1 << place for place in hitting))
            for reason in self.news:
                sets.add(places(reason))
            self.news.clear()

    def widen(self, freed: int) -> None:
        """Take a minimum hitting set for a change, or learn disjoint reasons it misses."""
        while (change := self.oracle.change(freed)) is None:
            held = self.oracle.everything & ~freed
            order = shuffled(self.free & ~freed, self.random)
            reason, _ = delete_from_reason(self.oracle, held, order, lambda _: None)
            self.news.append(reason & self.free)
            freed |= reason & self.free
        self.found(delete_from_change(self.oracle, change, shuffled(change, self.random)))

    @property
    def proved(self) -> bool:
        return self.none or (self.upper is not None and self.lower >= self.upper)

    def found(self, change: int) -> None:
        upper = sum(self.cost[place] for place in places(change))
        if self.upper is None or upper < self.upper:
            others = self.oracle.attributes(self.oracle.everything & ~change)
            cells = self.oracle.counterexample(others)
            assert cells is not None  # the change is one
            self.best, self.upper, self.cells = change, upper, cells

    def result(self, elapsed: float) -> SmallestChange:
        found = None if self.best is None else tuple(sorted(self.oracle.attributes(self.best)))
        return SmallestChange(
            lower=None if self.none else self.lower,
            upper=self.upper,
            attributes=found,
            cells=None if self.cells is None else tuple(self.cells.tolist()),
            proved=self.proved,
            rounds=self.rounds,
            calls=self.oracle.calls,
            seconds=elapsed,
        )
