"""The sufficiency oracle: do these attributes force the class? Exact, with a counterexample."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.data.bits import minimal_sets
from cpx.models.sufficient_reason.ends import Ends
from cpx.models.sufficient_reason.sufficiency.counterexamples import (
    CounterexampleSearch,
    GaveUp,
    Stopped,
)
from cpx.models.sufficient_reason.sufficiency.grid import Grid
from cpx.models.sufficient_reason.sufficiency.set_family import Family, in_words
from cpx.support.validation import index_set, seconds
from cpx.trees import MISSING, TreeModel
from cpx.trees.checks import numbers
from cpx.trees.hold import hold

__all__ = ["GaveUp", "Stopped", "SufficiencyOracle", "changes_of_tree"]


class SufficiencyOracle(CounterexampleSearch):
    """Decides whether a set of attributes is a sufficient reason for the class of a row.

    A set S of attributes is a *sufficient reason* (abductive explanation) for the class of x
    when each completion gets that class by the exact decision rule of the model: the
    attributes in S are in the cells of x, each other one in any of its possible cells
    (:attr:`TreeModel.possible`), or missing where it may be. A *counterexample* is a completion
    of another class.

    What was found is remembered: reasons and changes, as sets. What they do not decide is
    searched for, see
    :class:`cpx.models.sufficient_reason.sufficiency.counterexamples.CounterexampleSearch`. Not
    safe for threads.

    Parameters
    ----------
    model : TreeModel
    cells : (d,) array of int
        The row x by its cells, as :meth:`TreeModel.cells` gives them.
    ends : Ends, optional
        Places are ends of intervals, and not attributes: with an end kept, an attribute may still
        have the cells on the other side.
    rivals : iterable of int, optional
        The only classes that count, by index: a counterexample is a completion for which one of
        them has a better score than the class of x. Of several trees and more than two classes,
        a third one may still be its class. By default all others.

    Attributes
    ----------
    own : int
        Index of the class of x.
    feature : tuple of int
        The feature that each place stands for: an attribute, or the number of an end.
    n_features : int
    tells : (n_features,) array of int
        How many tests of the model are about each feature.
    calls, boxes : int
        How many sets were asked about, and boxes looked at.
    everything : int
        The set of all places, see :meth:`change`.
    changes : list of int, or None
        For one tree, all minimal changes: what decides :meth:`change` without a search.
    searches : bool
        Whether sets are decided by the search of boxes, not by leaves or clauses.
    core : int
        After :meth:`change` found nothing, a reason: all places that are not free, or those
        that were needed to see it.
    patience : int or None
        How many boxes, about, one class margin may take before ``GaveUp`` is raised.
    restores : bool
        Whether a counterexample that clauses give is brought back to x as far as it goes: those
        that decide many other sets take as long again.
    started : float
        When it was made, on the clock of ``time.monotonic``.
    deadline : float or None
        When to raise ``Stopped``, on the same clock.
    stop : callable or None
        Asked now and then whether to raise ``Stopped``.

    Raises
    ------
    DataError
        When x has another number of values than the model has attributes, or a value that its
        attribute cannot take.

    Examples
    --------
    >>> from cpx.trees import Attribute, Tree
    >>> stump = Tree([0, -1, -1], [0, 0, 0], [0, 0, 0], [[-1.0], [0.5]], (0,))
    >>> attributes = [Attribute("size"), Attribute("age")]
    >>> model = TreeModel(attributes, ["no", "yes"], [stump], [[2.5], []], "sum", "positive", [0])
    >>> oracle = SufficiencyOracle(model, model.cells([3.0, 7.0]))
    >>> oracle.counterexample({0}), oracle.counterexample({1}).tolist()
    (None, [0, 0])
    """

    def __init__(
        self,
        model: TreeModel,
        cells: ArrayLike,
        rivals: Iterable[int] | None = None,
        ends: Ends | None = None,
    ) -> None:
        self.started = time.monotonic()
        super().__init__(model, cells, ends)
        if rivals is not None:
            self.rivals = [c for c in self.rivals if c in {*rivals}]
        self.core = 0
        self.feature: tuple[int, ...] = self.grid.used
        self.n_features, self.tells = model.n_attributes, model.tests
        if ends is not None:
            self.feature, self.n_features = tuple(range(len(ends))), len(ends)
            self.tells = ends.tests
        self._size = len(self.feature)
        self.everything = (1 << self._size) - 1
        self._reasons, self._changes = Family(self._size), Family(self._size)
        self._place = {j: at for at, j in enumerate(self.feature)}
        self.changes = changes_of_tree(model, self.grid, self.cells, {*self.rivals}, ends)
        for change in self.changes or ():
            self._changes.add(change)
        self.searches = self.changes is None and not self._by_votes

    @classmethod
    def of_row(
        cls,
        model: TreeModel,
        x: ArrayLike,
        time_limit: float | None = None,
        rivals: Iterable[int] | None = None,
    ) -> Self:
        """Return the oracle of a row of numbers, shape (d,), which stops after so many seconds.

        Raises
        ------
        DataError, InvalidOption
            When x does not fit the model, or the limit is no number of seconds.
        UnsupportedModel
            When the live model that the trees were read from says otherwise of x, or near it.
        """
        limit = seconds(time_limit)
        cells = model.cells(x)
        hold(model, numbers(x))
        oracle = cls(model, cells, rivals)
        oracle.deadline = None if limit is None else oracle.started + limit
        return oracle

    @property
    def seconds(self) -> float:
        """Seconds since it was made."""
        return time.monotonic() - self.started

    def counterexample(self, fixed: Iterable[int]) -> NDArray[np.int32] | None:
        """Return a completion of another class, or None when there is none.

        Parameters
        ----------
        fixed : iterable of int
            The set S of features.

        Returns
        -------
        (d,) array of int32 or None
            Its cells. Attributes that no tree tests are in the cells of x.

        Raises
        ------
        InvalidInstance
            When S has something that is no feature.
        Stopped
            When the deadline has passed, or ``stop`` said so.
        GaveUp
            When the search takes more boxes than ``patience``.
        """
        held = self.bits(index_set("fixed", fixed, self.n_features, "feature"))
        point = self._ask(in_words(held, self._size))
        return None if point is None else self._cells(point)

    def change(self, free: int) -> int | None:
        """Return where a counterexample that differs from x in free places only does so.

        Sets are integers here: bit i is the feature ``feature[i]``. What earlier answers
        imply is not searched for again: a set that leaves a known reason alone has no
        counterexample, and one that includes a known change has one.

        Parameters
        ----------
        free : int
            The places whose features are not fixed.

        Returns
        -------
        int or None
            Some of these places; None when the others are a sufficient reason.

        Raises
        ------
        Stopped, GaveUp
            See :meth:`counterexample`.
        """
        held = self.everything & ~free
        self.core = held
        if self._reasons.disjoint(in_words(free, self._size)) is not None:
            return None
        words = in_words(held, self._size)
        known = self._changes.disjoint(words)
        if known is not None:
            return known
        point = self._ask(words) if self.changes is None else None
        if point is None:
            if self._by_votes:
                self.core = self._used
            self._reasons.add(self.core)
            return None
        return self.learn(point)

    def learn(self, point: NDArray[np.int64]) -> int:
        """Remember a counterexample, by its positions; return where it differs from x."""
        differs = np.packbits(self.differing(point), bitorder="little").tobytes()
        change = int.from_bytes(differs, "little")
        self._changes.add(change)
        return change

    def forced(self, ranges: Mapping[int, tuple[int, int]]) -> bool:
        """Say whether all rows with some attributes in ranges of cells have the class of x.

        Parameters
        ----------
        ranges : mapping from int to (int, int)
            First and last cell of an attribute, the cell of x among them; both -1 for a missing
            value.

        Raises
        ------
        Stopped, GaveUp
            See :meth:`counterexample`.
        """
        boxes = {}
        used = [*self.grid.used]
        for a, (low, high) in ranges.items():
            if a in used:
                place = used.index(a)
                cells = self.grid.cells[place]
                first, end = np.searchsorted(cells, low), np.searchsorted(cells, high, "right")
                boxes[place] = (1, 0, 1) if low == MISSING else (first, end - 1, 0)
        free = in_words(0, self._count)
        return not any(self._strays(rival, boxes, free) for rival in self.rivals)

    def bits(self, features: Iterable[int]) -> int:
        """Return features, those that some tree tests, as an integer of places."""
        return sum(1 << self._place[j] for j in features if j in self._place)

    def features(self, bits: int) -> frozenset[int]:
        """Return the features in these places."""
        return frozenset(j for place, j in enumerate(self.feature) if bits >> place & 1)


def changes_of_tree(
    model: TreeModel,
    grid: Grid,
    cells: NDArray[np.int32],
    rivals: set[int],
    ends: Ends | None = None,
) -> list[int] | None:
    """Return all minimal changes, as integers of places, of a model of one tree.

    A set of features is a change when some leaf of a rival class is reached by a row that
    differs from x in these alone.

    grid: Of the model.
    cells: The row x.
    rivals: Indices of classes.
    ends: The ends of intervals, where they are the features.
    Returns: None for several trees, whose leaves do not tell.
    """
    if len(model.trees) != 1:
        return None
    (tree,), (boxes,) = model.trees, model.boxes
    values = model.exact.leaf_values[0]
    totals = np.tile(np.array(model.exact.base_values, dtype=object), (len(values), 1))
    totals[:, list(tree.outputs)] += values
    other = grid.trees[0].reachable & np.isin(model.decide(totals), sorted(rivals))
    if ends is None:
        differs = ~boxes.having(cells)[other][:, list(grid.used)]
    else:
        differs = ends.excludes(boxes)[other]
    sets = differs[minimal_sets(differs)]
    packed = np.packbits(sets, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]
