"""The attributes that make a class most probable under naive Bayes, by branch and bound.

Under naive Bayes of classes 0 to C - 1, the class c has given the states of x in S the probability
``1 / (1 + F(S))``, with ``F(S) = sum_d exp(L_d(S))`` over the other classes d, and L_d(S) the
log-odds of d: a sum over S. Of two classes the greatest summands make F least. Of more, log F is
convex in the indicator of S, so that at every point y of the hull

    log F(S) >= log F(y) + sum_a g_a (S_a - y_a),        g the gradient at y,

and the sum over a is least for the greatest summands, again. Points are moved by the method of
Frank and Wolfe, and the bound is the best of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from math import exp, prod

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_NODES = 5000
_STEPS = 40
_NEAR = 1e-10
"""Logarithms are off by less; what differs by no more is compared in exact fractions."""


def greatest_posterior(
    weights: Sequence[int],
    shares: Sequence[Sequence[int]],
    label: int,
    k: int,
    required: Sequence[int] = (),
    forbidden: Sequence[int] = (),
) -> tuple[tuple[int, ...] | None, Fraction]:
    """Return at most k attributes of the greatest posterior, and a bound on all posteriors.

    weights: Of the classes, as integers.
    shares: Of each class and attribute, the probability of the state of x, as integers of one
        denominator.
    label: The class.
    Returns None for the attributes where the search gave up before they were proved the best.

    >>> greatest_posterior([1, 1, 1], [[4, 4, 1], [1, 4, 4], [2, 1, 4]], 0, 1)
    ((0,), Fraction(4, 7))
    """
    return _Search(weights, shares, label, k, required, forbidden).run()


class _Search:
    def __init__(
        self,
        weights: Sequence[int],
        shares: Sequence[Sequence[int]],
        label: int,
        k: int,
        required: Sequence[int],
        forbidden: Sequence[int],
    ) -> None:
        self._weights, self._shares, self._label = weights, shares, label
        self._held = sorted({*required})
        self._room = max(0, k - len(self._held))
        self._rivals = [c for c in range(len(weights)) if c != label]
        own = shares[label]
        # What makes no other class less probable is in no best set that needs it not.
        self._free = [
            a
            for a in sorted({*range(len(own))}.difference(required, forbidden))
            if any(shares[c][a] < own[a] for c in self._rivals)
        ]
        logs = np.log(np.array(shares, dtype=np.float64).reshape(len(weights), -1))
        apart = logs[self._rivals] - logs[label]
        first = np.log(np.array(weights, dtype=np.float64))
        self._start = first[self._rivals] - first[label] + apart[:, self._held].sum(axis=1)
        self._adds = apart[:, self._free]
        self._before, self._after = self._dominance()
        self._best = _summed(self._start), tuple[int, ...]()

    def _dominance(self) -> tuple[Bools, Bools]:
        """Return for each free attribute which are better, and which worse, against all classes.

        Of two that are alike the first is the better one. A best set that has the worse of two
        may have the better one as well, or in its place.
        """
        n = len(self._free)
        better = np.ones((n, n), dtype=np.bool_)
        alike = np.ones((n, n), dtype=np.bool_)
        own = np.array([self._shares[self._label][a] for a in self._free], dtype=np.int64)
        for c in self._rivals:
            one = np.array([self._shares[c][a] for a in self._free], dtype=np.int64)
            products = one[:, None] * own[None, :]  # each below 2**60
            better &= products <= products.T
            alike &= products == products.T
        better &= ~alike | (np.arange(n)[:, None] < np.arange(n)[None, :])
        return better.T, better  # of a column's attribute, the rows that are better; and worse

    def run(self) -> tuple[tuple[int, ...] | None, Fraction]:
        """Return the best set, and what no set has more than."""
        if len(self._rivals) == 1:
            order = sorted(range(len(self._free)), key=self._ratio)
            return self._proved(tuple(order[: self._room]))
        none = np.zeros(len(self._free), dtype=np.bool_)
        ties, queue = count(), list[tuple[float, int, Bools, Bools, int]]()
        self._push(queue, ties, none, ~none)
        for _ in range(_NODES):
            if not queue or queue[0][0] >= self._best[0] + _NEAR:
                return self._proved(self._best[1])
            _, _, inside, free, j = heappop(queue)
            with_j, without = inside.copy(), free.copy()
            with_j[j] = True
            with_j |= self._before[j]
            self._push(queue, ties, with_j, free & ~with_j)
            without[j] = False
            self._push(queue, ties, inside, without & ~self._after[j])
        least = min([self._best[0], *(node[0] for node in queue)]) - _NEAR
        return None, Fraction(min(1.0, (1 + 1e-9) / (1 + exp(min(least, 700.0)))))

    def _ratio(self, j: int) -> Fraction:
        """Return by what an attribute multiplies the odds of the other one of two classes."""
        a, (c,) = self._free[j], self._rivals
        return Fraction(self._shares[c][a], self._shares[self._label][a])

    def _proved(self, places: tuple[int, ...]) -> tuple[tuple[int, ...], Fraction]:
        best = tuple(sorted([*self._held, *(self._free[j] for j in places)]))
        return best, 1 / (1 + self._odds(best))

    def _odds(self, chosen: Sequence[int]) -> Fraction:
        """Return F of a set in exact numbers."""
        joint = [
            weight * prod(of[a] for a in chosen)
            for weight, of in zip(self._weights, self._shares, strict=True)
        ]
        own = joint[self._label]
        return Fraction(sum(joint) - own, own)

    def _offer(self, inside: Bools) -> None:
        """Take a set for the best one if it is."""
        places = tuple(np.flatnonzero(inside).tolist())
        value = _summed(self._start + self._adds[:, inside].sum(axis=1))
        known, best = self._best
        if value > known + _NEAR or places == best:
            return
        if value > known - _NEAR:
            sets = [[*self._held, *(self._free[j] for j in some)] for some in (places, best)]
            if self._odds(sets[0]) >= self._odds(sets[1]):
                return
        self._best = value, places

    def _push(
        self,
        queue: list[tuple[float, int, Bools, Bools, int]],
        ties: count[int],
        inside: Bools,
        free: Bools,
    ) -> None:
        """Bound a part, take the sets on the way, and put it into the queue if it is open."""
        room = self._room - int(inside.sum())
        if room < 0:
            return
        self._offer(inside)
        places = np.flatnonzero(free)
        if not room or not places.size:
            return
        least, at = self._bound(inside, places, room)
        if least < self._best[0] + _NEAR:
            j = int(places[np.abs(at - 0.5).argmin()])
            heappush(queue, (least, next(ties), inside, free, j))

    def _bound(self, inside: Bools, places: NDArray[np.intp], room: int) -> tuple[float, Floats]:
        """Return what log F of no set of a part is less than, and the point of the bound."""
        start = self._start + self._adds[:, inside].sum(axis=1)
        adds, point = self._adds[:, places], np.zeros(places.size)
        logs, least, shown = start, -np.inf, point
        for _ in range(_STEPS):
            value = _summed(logs)
            slope = np.exp(logs - value)
            gains = slope @ adds
            order = np.argpartition(gains, room - 1)[:room] if room < gains.size else slice(None)
            corner = np.zeros(places.size)
            corner[order] = gains[order] < 0
            goal = start + adds @ corner
            gap = float(slope @ (goal - logs))
            if value + gap > least:
                least, shown = value + gap, point
            chosen = inside.copy()
            chosen[places[corner > 0]] = True
            self._offer(chosen)
            if least >= self._best[0] + _NEAR or gap > -1e-12:
                break
            step = _step(logs, goal - logs)
            point = point + step * (corner - point)
            logs = logs + step * (goal - logs)
        return least, shown


def _step(logs: Floats, way: Floats) -> float:
    """Return where on a way from 0 to 1 the logarithm of the sum is least."""
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        at = logs + middle * way
        if float(np.exp(at - at.max()) @ way) > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def _summed(logs: Floats) -> float:
    """Return the logarithm of the sum."""
    return float(np.logaddexp.reduce(logs))
