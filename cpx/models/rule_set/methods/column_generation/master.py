"""The master linear program over the rules found so far. Import lazily: it imports highspy."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from cpx.backends.linear_program import empty_program, run
from cpx.errors import EngineError

__all__ = ["Master", "Relaxed"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Relaxed:
    """An optimum of the linear programme.

    prices: Of each sample of the class, from 0 to its limit, then of each demand, at least 0.
    shares: Of each rule, what the programme with a row for each sample takes of it.
    """

    value: float
    prices: Floats
    shares: Floats


class Master:
    """Prices of the samples at which no rule found so far is worth more than it costs.

    With p_i for the price of sample i of the class::

        maximise    sum of p_i
        such that   sum of p_i over the samples i that r covers  <=  costs[r]    for each rule r
                    0 <= p_i <= weights[i]

    A demand has a price without a limit, of the rules that meet it.

    It is the dual of the programme that takes a share of each rule, so that errors and rules
    cost the least [1]_. There each sample is a row, here a column between two limits: the basis
    has the size of the rules, of which there are far fewer. Samples that the same rules cover are
    one column, until a rule parts them: of 20,000 there may be some hundred.

    weights (n,): Of the samples of the class.
    seed: For HiGHS.

    .. [1] S. Dash, O. Gunluk, D. Wei: Boolean Decision Rules via Column Generation, NeurIPS
       2018.
    """

    def __init__(self, weights: NDArray[np.int64], demands: int, seed: int) -> None:
        samples = len(weights)
        self._weights = np.append(weights, np.full(demands, np.inf))
        self._order = np.random.default_rng(seed).permutation(samples + demands)
        # All samples are alike at first, and each demand is by itself.
        self._alike = np.maximum(np.arange(samples + demands) - samples + 1, 0)
        self._times, self._rules = 1.0, [list[int]() for _ in range(demands + 1)]
        self._highs, self._cost_rows = empty_program(seed), 0
        model = highspy.HighsLp()
        model.num_col_ = n = demands + 1
        model.sense_ = highspy.ObjSense.kMaximize
        model.col_cost_ = np.ones(n)
        model.col_lower_, model.col_upper_ = np.zeros(n), self._limits
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = np.zeros(n + 1, dtype=np.int32)
        self._highs.passModel(model)

    @property
    def cells(self) -> int:
        """The size of the programme: rules times samples that are not alike."""
        return self._cost_rows * len(self._rules)

    @property
    def _limits(self) -> Floats:
        """The highest price of all samples that are alike, together."""
        together = np.bincount(self._alike, self._weights, len(self._rules))
        return np.multiply(self._times, together, dtype=np.float64)

    def add(self, cost: float, met: NDArray[np.bool_]) -> None:
        """Add a rule.

        met (n,): The samples of the class that it covers, and the demands that it meets.
        """
        many = np.bincount(self._alike, minlength=len(self._rules))
        covered = np.bincount(self._alike[met], minlength=len(self._rules))
        parted = np.flatnonzero((covered > 0) & (covered < many))
        taken = np.flatnonzero((covered > 0) & (covered == many))
        if parted.size:
            self._part(parted, met)
        at = np.append(taken, np.arange(len(self._rules) - parted.size, len(self._rules)))
        for which in at.tolist():
            self._rules[which].append(self._cost_rows)
        self._cost_rows += 1
        at = at.astype(np.int32)
        self._highs.addRow(-highspy.kHighsInf, cost, len(at), at, np.ones(len(at)))

    def _part(self, parted: NDArray[np.intp], met: NDArray[np.bool_]) -> None:
        """Part those of some alike samples that a rule covers from the others."""
        new = np.zeros(len(self._rules), dtype=np.intp)
        new[parted] = np.arange(len(self._rules), len(self._rules) + parted.size)
        moved = met & (new[self._alike] > 0)
        self._alike[moved] = new[self._alike[moved]]
        self._rules += [list(self._rules[which]) for which in parted.tolist()]
        entries, limits = self._rules[-parted.size :], self._limits
        starts = np.cumsum([0, *map(len, entries)])
        self._highs.addCols(
            parted.size,
            np.ones(parted.size),
            np.zeros(parted.size),
            limits[-parted.size :],
            int(starts[-1]),
            starts[:-1].astype(np.int32),
            np.array([rule for rules in entries for rule in rules], dtype=np.int32),
            np.ones(int(starts[-1])),
        )
        self._bound(parted, limits[parted])

    def _bound(self, which: NDArray[np.intp], limits: Floats) -> None:
        none = np.zeros(which.size)
        self._highs.changeColsBounds(which.size, which.astype(np.int32), none, limits)

    def limit(self, times: float) -> None:
        """Limit prices to so many times the weights, which are their limits at first."""
        self._times = times
        self._bound(np.arange(len(self._rules)), self._limits)

    def solve(self, seconds: float) -> Relaxed | None:
        """Return an optimum; ``None`` when the time is over."""
        if not len(self._weights):
            return Relaxed(0.0, self._weights, np.zeros(self._cost_rows))
        # HiGHS counts the time of all runs.
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(seconds, 1e-3))
        status = run(self._highs)
        if status == highspy.HighsModelStatus.kTimeLimit:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise EngineError(f"HiGHS ends with {self._highs.modelStatusToString(status)}")
        solution = self._highs.getSolution()
        prices, shares = self._each(np.array(solution.col_value)), np.array(solution.row_dual)
        return Relaxed(float(self._highs.getObjectiveValue()), prices, np.abs(shares))

    def _each(self, together: Floats) -> Floats:
        """Return prices that add up to those of the samples that are alike.

        One after the other has as much as it may, as in a vertex of the whole programme.
        """
        order = self._order[np.argsort(self._alike[self._order], kind="stable")]
        alike, most = self._alike[order], self._times * self._weights[order]
        first = np.searchsorted(alike, np.arange(len(self._rules)))
        before = np.cumsum(np.append(0.0, np.where(np.isinf(most), 0.0, most)))[:-1]
        rest = together[alike] - (before - before[first[alike]])
        prices = np.empty(len(order))
        prices[order] = np.clip(rest, 0.0, most)
        return prices
