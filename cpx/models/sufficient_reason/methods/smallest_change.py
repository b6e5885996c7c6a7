"""Contrastive explanations: the fewest attributes whose change can change the class of a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.models.sufficient_reason.methods.deletion import delete_from_change, delete_from_reason
from cpx.models.sufficient_reason.methods.hitting_set import HittingSetSearch
from cpx.models.sufficient_reason.sufficiency.oracle import Stopped, SufficiencyOracle
from cpx.models.sufficient_reason.sufficiency.set_family import shuffled
from cpx.support.validation import index_set, weight_map
from cpx.trees import TreeModel
from cpx.trees.hold import hold_change

__all__ = ["SmallestChange", "contrastive"]


@dataclass(frozen=True)
class SmallestChange:
    """What is known of the least weight of a change that can change the class.

    lower, upper: No change weighs less than ``lower``; ``attributes`` weigh ``upper``. Both are
        None when it is proved that there is no change.
    attributes: The best change found, increasing.
    cells: A counterexample that differs from x in these attributes only.
    proved: Whether the attributes are a minimum, or it is proved that there is no change.
    rounds, calls: Hitting sets computed, and sets asked about.
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
    the search for a minimum reason with both exchanged (A. Ignatiev, N. Narodytska, N. Asher,
    J. Marques-Silva, *From contrastive to abductive explanations and back again*, AI*IA 2020).

    Parameters
    ----------
    model : TreeModel
        Its attributes say what a value may change to, and whether it may go missing; see
        :meth:`cpx.trees.TreeModel.with_missing`.
    x : array-like
        A value for each attribute.
    weights : mapping or iterable of int, optional
        What the change of each attribute costs, 1 if not given.
    must_keep : iterable of int
        Attributes that may not change.
    time_limit : float, optional
        Seconds after which the interval so far is returned.
    seed : int
        Of the rows that local search begins with.

    Raises
    ------
    DataError, InvalidInstance, InvalidOption
        When x, the weights or another argument makes no sense.
    UnsupportedModel
        When the live model that the trees were read from gives x or the changed row another
        class than they do.

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
    oracle = SufficiencyOracle.of_row(model, x, time_limit)
    weight = weight_map(weights, model.n_attributes)
    kept = index_set("must_keep", must_keep, model.n_attributes, "attribute")
    used = enumerate(oracle.grid.used)
    cost = {place: weight[a] for place, a in used if a not in kept}
    search = _Search(oracle, cost, seed)
    with suppress(Stopped):
        search.run()
    found = search.result()
    if found.cells is not None:
        hold_change(model, x, found.cells)
    return found


class _Search(HittingSetSearch):
    """The search for a lightest change; the dual family is that of the reasons."""

    cells: NDArray[np.int32] | None = None

    def run(self) -> None:
        change = self.oracle.change(self.free)
        if change is None:
            self.none = True
            return
        self.found(delete_from_change(self.oracle, change, shuffled(change, self.random)))
        self.close_in()

    def decide(self, chosen: int) -> None:
        freed = chosen
        while (change := self.oracle.change(freed)) is None:
            held = self.oracle.everything & ~freed
            order = shuffled(self.free & ~freed, self.random)
            reason, _ = delete_from_reason(self.oracle, held, order, lambda _: None)
            self.learn(reason & self.free)
            freed |= reason & self.free
        self.found(delete_from_change(self.oracle, change, shuffled(change, self.random)))

    def found(self, chosen: int) -> None:
        if self.upper is None or self.weight(chosen) < self.upper:
            others = self.oracle.everything & ~chosen
            # May be stopped: what has no counterexample to show is not noted.
            self.cells = self.oracle.counterexample(self.oracle.attributes(others))
            super().found(chosen)

    def result(self) -> SmallestChange:
        found = None if self.best is None else tuple(sorted(self.oracle.attributes(self.best)))
        return SmallestChange(
            lower=None if self.none else self.lower,
            upper=self.upper,
            attributes=found,
            cells=None if self.cells is None else tuple(self.cells.tolist()),
            proved=self.proved,
            rounds=self.rounds,
            calls=self.oracle.calls,
            seconds=self.oracle.seconds,
        )
