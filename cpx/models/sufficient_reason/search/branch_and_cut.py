"""Branch and cut for a minimum sufficient reason.

Where many attributes force a class together, each by adding a little to a score, hitting sets are
slow: that any 20 of 30 attributes are needed takes millions of sets to say. One linear inequality
says it (:mod:`cpx.models.sufficient_reason.sufficiency.linear_cuts`). The linear program of these
inequalities bounds the weight of a reason from below; where its optimum takes shares of
attributes, and no inequality is missed, an attribute is taken in and left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.best_first import BestFirst
from cpx.models.sufficient_reason.search.cuts import Cuts, Inequality, bits_of
from cpx.models.sufficient_reason.search.record import Record, RecordedCuts
from cpx.models.sufficient_reason.search.relaxation import Relaxation, Relaxed
from cpx.models.sufficient_reason.sufficiency.oracle import SufficiencyOracle

__all__ = ["BranchAndCut"]

Integers = NDArray[np.int64]

# By how much a round of inequalities must raise the bound.
_RISE = 1e-2
_STARTS = 12  # orders of deletion at the root, then one at every so many nodes
_EVERY = 10
_NOISE = (0.0, 0.1, 0.3, 0.05)
# Attributes that are compared to branch on, how many in a row may be worse than the best one, and
# how often each is tried out until its gains are estimated.
_COMPARED, _WORSE, _TRIALS = 8, 4, 2
_SMALL = 1e-6


class _Effort(NamedTuple):
    """How inequalities are looked for.

    levels: Least shares of the attributes that are kept to look for rows.
    starts: Other rows to begin with.
    missed: By how much an inequality must be missed.
    rounds, slow: The most rounds, and how many in a row may raise the bound by too little.
    """

    levels: tuple[float, ...]
    starts: int
    missed: float
    rounds: int
    slow: int


_AT_ROOT = _Effort((0.8, 0.4), 6, 1e-3, 100, 3)
_BELOW = _Effort((0.5,), 3, 1e-2, 1, 0)


class _Node(NamedTuple):
    """The sets between two limits, and what none of them costs less than."""

    bound: int
    depth: int
    low: Integers
    high: Integers
    record: Record | None


class BranchAndCut:
    """The search; it begins with a known reason.

    costs: What each place costs.
    low, high: Whether a place must be, and may be, in the reason.
    upper: What the best known reason costs.
    found: Called with each set that the oracle says yes to; returns the least cost so far.
    shrink: Called with an order of places; makes an inclusion-minimal reason by deletion, and
        returns the least cost so far.
    bounded: Called with each better lower bound.
    record: To be filled with what is asked for, and with the nodes.
    """

    def __init__(
        self,
        oracle: SufficiencyOracle,
        costs: Integers,
        low: Integers,
        high: Integers,
        upper: int,
        seed: int,
        found: Callable[[int], int],
        shrink: Callable[[Sequence[int]], int],
        bounded: Callable[[int], None],
        record: RecordedCuts | None = None,
    ) -> None:
        self._oracle, self._costs, self.upper = oracle, costs, upper
        self._found, self._shrink, self._bounded = found, shrink, bounded
        self._limits, self._record = (low, high), record
        self._program, self._cuts = Relaxation(costs, seed), Cuts(oracle)
        self._random = np.random.default_rng(seed)
        n = len(costs)
        # By place: gains per unit of share, left out and taken in, and how often they were seen.
        self._gains, self._seen = np.zeros((2, n)), np.zeros((2, n))
        self.nodes = self._starts = 0

    def add(self, change: int) -> None:
        """Ask for a place of a set of places."""
        self.ask(self._cuts.of_set(change))

    def ask(self, inequality: Inequality) -> None:
        """Ask for a least sum of weights."""
        self._program.add(inequality.weights)
        if self._record is not None:
            self._record.add(inequality)

    def run(self) -> None:
        """Search until the best reason is proved a minimum."""
        tree = BestFirst(
            self._explore,
            lambda node: (node.bound, -node.depth),
            lambda node: node.bound >= self.upper,
            self._bounded,
        )
        root = None if self._record is None else self._record.root
        tree.search(_Node(0, 0, *self._limits, root))
        self._bounded(self.upper)

    def _explore(self, node: _Node, note: Callable[[int], None]) -> list[_Node]:
        """Return the children of a node, with a bound that is proved."""
        self.nodes += 1
        at_least, depth, low, high, record = node
        self._program.fix(low, high)
        relaxed = self._tightened(high)
        if self._record is not None and record is not None:
            self._record.bounded(record, self._program.multipliers(), self._program.missed())
        if relaxed is None:
            return []
        bound, low, high = self._program.bound(self.upper)
        if bound >= self.upper:
            return []
        bound = max(bound, at_least)
        if not (low < high).any():
            self._decide(high > 0)  # the one set that may be lighter
            return []
        if self.nodes % _EVERY == 0:
            self._start(relaxed.shares)
        self._program.tidy(relaxed.shares)
        j = self._place(relaxed, low, high)
        one = np.arange(len(low)) == j
        taken, left = (None, None) if record is None else record.split(j)
        children = [
            _Node(bound, depth + 1, low, high & ~one, left),
            _Node(bound, depth + 1, low | one, high, taken),
        ]
        return children if relaxed.shares[j] < 0.5 else children[::-1]

    def _tightened(self, high: Integers) -> Relaxed | None:
        """Return an optimum with no missed inequality in sight; None where no set is lighter."""
        root = self.nodes == 1
        effort = _AT_ROOT if root else _BELOW
        best, mean, rounds, slow = -math.inf, None, 0, 0
        while True:
            self._oracle.look()
            relaxed = self._program.solve()
            hopeless = relaxed is None or relaxed.value > self.upper - 1 + _SMALL
            if hopeless and self._program.bound(self.upper)[0] >= self.upper:
                return None
            if relaxed is None:  # by the tolerances of the program, not in exact numbers
                return Relaxed(float(self.upper), high.astype(np.float64))
            if self._program.recall(relaxed.shares):
                continue
            if not _between(relaxed.shares).any():
                if self._decide(relaxed.shares > 0.5):
                    return relaxed
                continue
            slow = slow + 1 if relaxed.value < best + _RISE else 0
            if rounds == effort.rounds or slow > effort.slow:
                break
            # One of many optima: that of before, too, should miss the next inequalities.
            mean = relaxed.shares if mean is None else (mean + relaxed.shares) / 2
            found = self._missed_at((mean + relaxed.shares) / 2, effort)
            if not found and rounds:
                found = self._missed_at(relaxed.shares, effort)
            if not found:
                break
            for inequality in found:
                self.ask(inequality)
            best, rounds = relaxed.value, rounds + 1
            if root:
                self._program.tidy(relaxed.shares)
        if root:
            for _ in range(_STARTS):
                self._start(relaxed.shares)
        return relaxed

    def _missed_at(self, shares: NDArray[np.float64], effort: _Effort) -> list[Inequality]:
        """Look for inequalities that shares miss."""
        return list(self._cuts.violated(shares, effort.levels, effort.starts, effort.missed))

    def _decide(self, kept: NDArray[np.bool_]) -> bool:
        """Say whether a set is a reason; where it is not, ask for what it misses."""
        self._oracle.patience = None  # this has to be answered
        change = self._oracle.change(bits_of(~kept))
        if change is None:
            self.upper = self._found(bits_of(kept))
            return True
        self.add(change)
        for inequality in self._cuts.of_counterexample(kept):
            self.ask(inequality)
        return False

    def _start(self, shares: NDArray[np.float64]) -> None:
        """Look for a lighter reason by deletion, small shares first."""
        self._starts += 1
        noise = _NOISE[self._starts % len(_NOISE)]
        order = np.argsort(shares + noise * self._random.random(len(shares)), kind="stable")
        self.upper = self._shrink(order.tolist())

    def _place(self, relaxed: Relaxed, low: Integers, high: Integers) -> int:
        """Return the place to branch on: the one by which both bounds rise most.

        How much they rise is tried out for places that were seldom branched on, and estimated
        by the gains so far for the others.
        """
        shares = relaxed.shares
        places = np.flatnonzero(_between(shares) & (low < high))
        if not len(places):
            return int(np.flatnonzero(low < high)[0])
        mean = self._gains.sum(axis=1) / np.maximum(self._seen.sum(axis=1), 1)
        gains = np.where(self._seen > 0, self._gains / np.maximum(self._seen, 1), mean[:, None])
        moves = np.stack([shares, 1 - shares])
        scores = np.maximum(gains * moves, _SMALL).prod(axis=0)
        best, top, worse = -1, -1.0, 0
        for j in places[np.argsort(-scores[places], kind="stable")][:_COMPARED].tolist():
            score = scores[j]
            if self._seen[:, j].min() < _TRIALS:
                score = 1.0
                for value in (0, 1):
                    gain = min(self._program.try_out(j, value), self.upper) - relaxed.value
                    self._gains[value, j] += max(gain, 0.0) / max(moves[value, j], 1e-3)
                    self._seen[value, j] += 1
                    score *= max(gain, _SMALL)
            if score > top:
                best, top, worse = j, score, 0
            elif (worse := worse + 1) > _WORSE:
                break
        return best


def _between(shares: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.minimum(shares, 1 - shares) > _SMALL
