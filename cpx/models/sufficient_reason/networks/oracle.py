"""The sufficiency oracle of a network: do these columns force the class? With a counterexample."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.networks.margin_search import Box, MarginSearch, Unsettled
from cpx.models.sufficient_reason.networks.network import Network
from cpx.models.sufficient_reason.sufficiency.oracle import Stopped
from cpx.models.sufficient_reason.sufficiency.set_family import places
from cpx.support.validation import index_set

__all__ = ["NetworkOracle"]

Floats = NDArray[np.float64]


class NetworkOracle:
    """Decides whether a set of columns is a sufficient reason for the class of a row.

    Columns in the set keep what they give to the network; each other one has any value that it can
    have. A counterexample is such a row of another class. What was found is remembered; that
    nothing is found is proved by :class:`MarginSearch`.

    Parameters
    ----------
    network : Network
    inputs : sequence of float
        What the row gives to the network.
    rivals : iterable of int, optional
        The only classes that count, by index: a counterexample is a row for which one of them
        leads the class of x. By default all others.

    Attributes
    ----------
    own : int
        Index of the class of x.
    feature : tuple of int
        The columns that may make a difference, each of which has a place; see :meth:`change`.
    n_features : int
    tells : (n_features,) array of int
        How much columns may change sums of the first layer: ranks, the most the last.
    calls, boxes : int
        How many sets were asked about, and nodes bounded.
    everything, core, changes, searches, patience, restores, started, deadline, stop
        As of :class:`~cpx.models.sufficient_reason.sufficiency.oracle.SufficiencyOracle`.
    """

    changes: Sequence[int] | None = None
    searches = False
    """Branch and cut, which goes on from there, is for trees."""
    restores = True

    def __init__(
        self, network: Network, inputs: Sequence[float], rivals: Iterable[int] | None = None
    ) -> None:
        self.started = time.monotonic()
        self.network, self.x = network, np.array(inputs, dtype=np.float64)
        self.own = network.class_of(inputs)
        others = {*range(len(network.classes))} - {self.own}
        wanted = sorted(others if rivals is None else others & {*rivals})
        self._searches = [MarginSearch(network, self.own, rival, self.look) for rival in wanted]
        columns = network.columns
        self.feature: tuple[int, ...] = tuple(a for a, c in enumerate(columns) if c.varies)
        self.n_features = len(columns)
        self.tells = self._ranks()
        self.everything = (1 << len(self.feature)) - 1
        self.calls, self.core = 0, 0
        self.patience: int | None = None
        self.deadline: float | None = None
        self.stop: Callable[[], bool] | None = None
        self._place = {a: at for at, a in enumerate(self.feature)}
        self._reasons, self._changes = list[int](), list[int]()
        self._points: dict[int, Floats] = {}
        self._open = set[int]()

    def _ranks(self) -> NDArray[np.int64]:
        effect = np.zeros(self.n_features)
        size = np.abs(self.network.layers[0].weights).sum(axis=0)
        for a, column in enumerate(self.network.columns):
            if column.ends is not None:
                effect[a] = size[column.inputs[0]] * (column.ends[1] - column.ends[0])
            elif column.points is not None:
                effect[a] = np.ptp(column.points, axis=0) @ size[[*column.inputs]]
        return effect.argsort(kind="stable").argsort(kind="stable").astype(np.int64)

    @property
    def seconds(self) -> float:
        """Seconds since it was made."""
        return time.monotonic() - self.started

    @property
    def boxes(self) -> int:
        """How many nodes were bounded."""
        return sum(search.boxes for search in self._searches)

    def look(self) -> None:
        """Raise Stopped when the deadline has passed, or ``stop`` says so."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise Stopped
        if self.stop is not None and self.stop():
            raise Stopped

    # ----------------------------------------------------------------- asking

    def counterexample(self, fixed: Iterable[int]) -> Floats | None:
        """Return inputs of another class, where these columns are as in x; None if there are none.

        Raises InvalidInstance, Stopped, GaveUp: See
            :meth:`~cpx.models.sufficient_reason.sufficiency.oracle.SufficiencyOracle.counterexample`.
        """
        held = self.bits(index_set("fixed", fixed, self.n_features, "column"))
        change = self.change(self.everything & ~held)
        return None if change is None else self._points[change]

    def change(self, free: int) -> int | None:
        """Return where a counterexample that differs from x in free places only does so.

        Sets are integers: bit i is the column ``feature[i]``. None: the others are a sufficient
        reason.

        Raises Stopped, GaveUp: When the time is up; when it takes too many nodes, or rounding
            leaves it open. What rounding left open once is not tried again: the search stops.
        """
        self.core = self.everything & ~free
        for reason in reversed(self._reasons):
            if not reason & free:
                return None
        for change in reversed(self._changes):
            if not change & ~free:
                return change
        self.look()
        self.calls += 1
        try:
            point = self._asked(self.box(free))
        except Unsettled:
            if self.patience is None or free in self._open:
                raise Stopped from None
            self._open.add(free)
            raise
        if point is None:
            self._reasons.append(self.core)
            return None
        point, change = self._restored(point, free)
        self._changes.append(change)
        self._points[change] = point
        return change

    def _asked(self, box: Box) -> Floats | None:
        for search in self._searches:
            if (point := search.counterexample(box, self.patience)) is not None:
                return point
        return None

    def box(self, free: int) -> Box:
        """Return the inputs of rows that differ from x in free places only."""
        low, high = self.x.copy(), self.x.copy()
        groups, allowed = [], []
        varying = {self.feature[place] for place in places(free)}
        for a, column in enumerate(self.network.columns):
            own = np.array(column.inputs, dtype=np.int64)
            if a in varying and column.ends is not None:
                low[own], high[own] = column.ends
            elif a in varying and column.points is not None:
                low[own], high[own] = column.points.min(axis=0), column.points.max(axis=0)
                groups.append((own, column.points))
                allowed.append(np.ones(len(column.points), dtype=np.bool_))
        return Box(low, high, groups, allowed)

    def _restored(self, point: Floats, free: int) -> tuple[Floats, int]:
        """Bring columns of a counterexample back to x as far as it remains one."""
        places_left = [p for p in places(free) if self._differs(point, p)]
        if self.restores:
            order = sorted(places_left, key=lambda p: int(self.tells[self.feature[p]]))
            for place in order:
                other = self._with_own(point, place)
                if any(not search.leads(other) for search in self._searches):
                    point = other
                    places_left.remove(place)
        return point, sum(1 << place for place in places_left)

    def _differs(self, point: Floats, place: int) -> bool:
        own = [*self.network.columns[self.feature[place]].inputs]
        return bool((point[own] != self.x[own]).any())

    def _with_own(self, point: Floats, place: int) -> Floats:
        own = [*self.network.columns[self.feature[place]].inputs]
        other = point.copy()
        other[own] = self.x[own]
        return other

    # ------------------------------------------------------------------- sets

    def bits(self, features: Iterable[int]) -> int:
        """Return columns, those that may make a difference, as an integer of places."""
        return sum(1 << self._place[a] for a in features if a in self._place)

    def features(self, bits: int) -> frozenset[int]:
        """Return the columns in these places."""
        return frozenset(self.feature[place] for place in places(bits))
