"""Contrastive explanations: the fewest attributes whose change can change the class of a row."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.answers.result import Result, Status, Termination, Times
from cpx.models.sufficient_reason.methods.deletion import delete_from_change, delete_from_reason
from cpx.models.sufficient_reason.methods.hitting_set import HittingSetSearch
from cpx.models.sufficient_reason.methods.separable import lightest_gain
from cpx.models.sufficient_reason.methods.wanted_rows import Rarity, WantedRows
from cpx.models.sufficient_reason.sufficiency.oracle import Stopped, SufficiencyOracle
from cpx.models.sufficient_reason.sufficiency.row_oracle import RowOracle
from cpx.models.sufficient_reason.sufficiency.set_family import shuffled
from cpx.support.validation import index_set, integer_in, seconds, weight_map
from cpx.trees import TreeModel
from cpx.trees.hold import hold_change

__all__ = ["SmallestChange", "contrastive", "contrastive_several"]

_MANY_LEAVES, _FIRST_ROWS, _LEAST = 100_000, 2_000, 1e-3
"""Of trees with more leaves a change is taken from so many rows of the table first: to prepare the
search may take all the time there is. It then has the rest of the limit, and these seconds."""

_CALLS = 300
"""Sets that are asked about, before it counts that columns add up."""


@dataclass(frozen=True)
class SmallestChange:
    """What is known of the least weight of a change that can change the class.

    lower, upper: No change weighs less than ``lower``; ``attributes`` weigh ``upper``. Both are
        None when it is proved that there is no change.
    attributes: The best change found, increasing.
    cells: A counterexample that differs from x in these attributes only.
    proved: Whether the attributes are a minimum, or it is proved that there is no change.
    rounds, calls: Hitting sets computed, and sets asked about.
    row: The changed row itself, where more than its cells counts.
    reasons: Sets of attributes that each change must meet: with what may not change they force
        that the class is none that is wanted.
    """

    lower: int | None
    upper: int | None
    attributes: tuple[int, ...] | None
    cells: tuple[int, ...] | None
    proved: bool
    rounds: int
    calls: int
    seconds: float
    reasons: tuple[tuple[int, ...], ...] = ()
    row: tuple[float, ...] | None = None

    def of_some_rows(self, least: int) -> SmallestChange:
        """Return what is known where only some rows were searched; no column weighs less."""
        proved = self.upper is not None and self.upper == least
        return replace(self, lower=least, proved=proved, reasons=())

    def as_result(self, limit: float | None) -> Result:
        """Return what is known as a result; there is no saved instance, and no proof, of it."""
        none = self.attributes is None
        if self.proved:
            status = Status.INFEASIBLE if none else Status.OPTIMAL
        else:
            status = Status.UNKNOWN if none else Status.FEASIBLE
        return Result(
            status,
            Termination.COMPLETED if self.proved else Termination.TIME_LIMIT,
            objective=self.upper,
            bound=self.lower,
            times=Times(solve=self.seconds, total=self.seconds),
            backend="hitting-sets",
            options={"time_limit": limit},
        )


def contrastive(
    model: TreeModel,
    x: ArrayLike,
    *,
    weights: Mapping[int, int] | Iterable[int] | None = None,
    must_keep: Iterable[int] = (),
    targets: Iterable[int] | None = None,
    rarity: Rarity | None = None,
    table: NDArray[np.float64] | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    stop: Callable[[], bool] | None = None,
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
    targets : iterable of int, optional
        Indices of the classes that are wanted; by default all but that of x.
    rarity : Rarity, optional
        How rare the changed row may be.
    table : (n, d) array, optional
        Rows whose values a search may begin with.
    time_limit : float, optional
        Seconds after which the interval so far is returned.
    seed : int
        Of the rows that local search begins with.
    stop : callable, optional
        Asked now and then whether to return the interval so far.

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
    (found,) = contrastive_several(
        model,
        x,
        1,
        weights=weights,
        must_keep=must_keep,
        targets=targets,
        rarity=rarity,
        table=table,
        time_limit=time_limit,
        seed=seed,
        stop=stop,
    )
    if found.cells is not None:
        hold_change(model, x, found.cells, found.row)
    return found


def contrastive_several(
    model: TreeModel,
    x: ArrayLike,
    n: int,
    *,
    weights: Mapping[int, int] | Iterable[int] | None = None,
    must_keep: Iterable[int] = (),
    targets: Iterable[int] | None = None,
    rarity: Rarity | None = None,
    table: NDArray[np.float64] | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    stop: Callable[[], bool] | None = None,
) -> list[SmallestChange]:
    """Find several changes, the lightest first, none of which has all attributes of another.

    Each is the lightest of those that are left. Where there are fewer than n, the last one has no
    attributes. Arguments are as for :func:`contrastive`; the live model is asked by who calls.
    """
    row = np.asarray(x, dtype=np.float64)
    own = int(model.predict_index(row)[0])
    wanted = {*range(len(model.classes))} - {own} if targets is None else {*targets} - {own}
    weight = weight_map(weights, model.n_attributes)
    kept = index_set("must_keep", must_keep, model.n_attributes, "attribute")
    begun, near = time.monotonic(), None
    if table is not None and sum(tree.n_leaves for tree in model.trees) > _MANY_LEAVES:
        may = {a: weight[a] for a in model.used if a not in kept}
        rows = WantedRows(model, row.reshape(-1).tolist(), wanted, rarity, lambda: None)
        near = rows.near([*may], table[:_FIRST_ROWS], may)
    left = None
    if (limit := seconds(time_limit)) is not None:
        left = max(limit + begun - time.monotonic(), _LEAST)
    oracle = SufficiencyOracle.of_row(model, x, left, wanted)
    oracle.stop = stop
    cost = {place: weight[a] for place, a in enumerate(oracle.grid.used) if a not in kept}
    listed = None
    if rarity is not None or len(wanted) < len(model.classes) - 1:
        listed = WantedRows(model, row.reshape(-1).tolist(), wanted, rarity, oracle.look)
    free = {oracle.grid.used[place]: price for place, price in cost.items()}
    gains = lightest_gain(model, oracle.cells, own, wanted, free)
    answers = changes_of_oracle(oracle, cost, n, seed, listed=listed, table=table, gains=gains)
    if near is not None and answers[0].cells is None and not answers[0].proved:
        changed = ~((near == row) | (np.isnan(near) & np.isnan(row))).reshape(-1)
        S = tuple(np.flatnonzero(changed).tolist())
        cells, total = tuple(model.cells(near).tolist()), sum(weight[a] for a in S)
        # x itself is of no wanted class.
        least = max(answers[0].lower or 0, min(may.values()))
        found = replace(answers[0], lower=least, upper=total, attributes=S, cells=cells)
        answers = [replace(found, row=tuple(near.tolist()), seconds=time.monotonic() - begun)]
    return answers


def changes_of_oracle(
    oracle: RowOracle,
    cost: Mapping[int, int],
    n: int,
    seed: int,
    *,
    listed: WantedRows | None = None,
    table: NDArray[np.float64] | None = None,
    gains: tuple[int, tuple[int, ...]] | None = None,
) -> list[SmallestChange]:
    """Find several changes by the oracle of a row; see :func:`contrastive_several`.

    cost: The places that may change, and what that costs.
    listed, table, gains: Of tree models: which rows are wanted, rows to begin with, what a change
        weighs at least.
    """
    answers: list[SmallestChange] = []
    search: _Search | None = None
    for _ in range(integer_in("n", n, 1)):
        search = _Search(oracle, cost, seed, listed, table, search, gains)
        with suppress(Stopped):
            search.run()
        answers.append(found := search.result())
        if found.cells is None:
            break
    return answers


class _Search(HittingSetSearch):
    """The search for a lightest change; the dual family is that of the reasons.

    listed: Says which rows are wanted, where the oracle only says which are of a rival class.
    table: Rows to begin with.
    before: The search for the change before, of which this one has no superset.
    gains: What a change weighs at least, and columns that may be one of that weight.
    """

    cells: NDArray[np.int32] | None = None
    row: NDArray[np.float64] | None = None

    def __init__(
        self,
        oracle: RowOracle,
        cost: Mapping[int, int],
        seed: int,
        listed: WantedRows | None,
        table: NDArray[np.float64] | None,
        before: _Search | None,
        gains: tuple[int, tuple[int, ...]] | None = None,
    ) -> None:
        super().__init__(oracle, cost, seed)
        self.listed, self.table, self.reasons = listed, table, list[int]()
        self.gains = gains
        self._all_asked = True
        if before is not None and before.best is not None:
            self.excluded = (*before.excluded, before.best)
            for dual in before.family:
                self.learn(dual)
            self.reasons, self._all_asked = before.reasons, before._all_asked
            self.lower = before.lower if before.proved else self.lower

    def run(self) -> None:
        change = self.oracle.change(self.free)
        if change is None:
            self.reasons.append(self.oracle.core & self.free)
            self.none = True
            return
        if self.listed is None and not self.excluded:
            self.found(delete_from_change(self.oracle, change, shuffled(change, self.random)))
            self.close_in(_CALLS if self.gains is not None else math.inf)
            self._gain()
            return
        # No change is known: one more than all changes together weigh.
        self.upper = most = 1 + sum(self.cost.values())
        try:
            self._begin()
            self.close_in()
        finally:
            if self.upper == most:
                self.upper = None
        self.none = self.best is None and self._all_asked

    def _gain(self) -> None:
        """Where too few sets were found that prove it, take the columns of greatest gain."""
        if self.gains is None or self.proved:
            return
        weight, chosen = self.gains
        columns = self.oracle.bits(chosen)
        if self.oracle.change(columns) is not None:
            self.found(columns)
        self.bounded(weight)
        if not self.proved:
            self._new = [*self.family]
            self.close_in()

    def _begin(self) -> None:
        """Take a wanted row that is near one of the table."""
        if self.listed is None or self.table is None or self.excluded:
            return
        used = self.oracle.feature
        cost = {used[place]: weight for place, weight in self.cost.items()}
        row = self.listed.near([*cost], self.table, cost)
        if row is not None:
            self._note(row)

    def decide(self, chosen: int) -> None:
        freed = chosen
        while (change := self.oracle.change(freed)) is None:
            held = self.oracle.everything & ~freed
            order = shuffled(self.free & ~freed, self.random)
            reason, _ = delete_from_reason(self.oracle, held, order, lambda _: None)
            self.reasons.append(reason & self.free)
            self.learn(reason & self.free)
            freed |= reason & self.free
        if self.listed is not None:
            self._list(chosen, freed)
            return
        new = delete_from_change(self.oracle, change, shuffled(change, self.random))
        if not any(known & new == known for known in self.excluded):
            self.found(new)

    def _list(self, chosen: int, freed: int) -> None:
        """Look for a wanted row that changes what is chosen; where none is, more must change."""
        assert self.listed is not None
        if freed != chosen:
            return  # what was learned tells more of what is chosen
        row, every = self.listed.within(sorted(self.oracle.features(chosen)))
        if row is not None:
            self._note(row)
            return
        self._all_asked &= every
        if rest := self.free & ~chosen:
            self.learn(rest)
            return
        self.none = self.best is None and self._all_asked
        raise Stopped

    def _note(self, row: NDArray[np.float64]) -> None:
        assert self.listed is not None
        x = self.listed.x
        changed = ~((row == x) | (np.isnan(row) & np.isnan(x)))
        places = self.oracle.bits(np.flatnonzero(changed).tolist())
        if self.upper is None or self.weight(places) < self.upper:
            self.row, self.cells = row, self.listed.point(row)
            super().found(places)

    def bounded(self, lower: int) -> None:
        if self._all_asked:
            super().bounded(lower)

    def found(self, chosen: int) -> None:
        if self.upper is None or self.weight(chosen) < self.upper:
            others = self.oracle.everything & ~chosen
            # May be stopped: what has no counterexample to show is not noted.
            self.cells = self.oracle.counterexample(self.oracle.features(others))
            super().found(chosen)

    def result(self) -> SmallestChange:
        found = None if self.best is None else tuple(sorted(self.oracle.features(self.best)))
        return SmallestChange(
            lower=None if self.none else self.lower,
            upper=self.upper,
            attributes=found,
            cells=None if self.cells is None else tuple(self.cells.tolist()),
            proved=self.proved,
            rounds=self.rounds,
            calls=self.oracle.calls,
            seconds=self.oracle.seconds,
            row=None if self.row is None else tuple(self.row.tolist()),
            reasons=tuple(tuple(sorted(self.oracle.features(r))) for r in self.reasons),
        )
