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
    """

    value: float
    prices: Floats


class Master:
    """Prices of the samples at which no rule found so far is worth more than it costs.

    With p_i for the price of sample i of the class::

        maximise    sum of p_i
        such that   sum of p_i over the samples i that r covers  <=  costs[r]    for each rule r
                    0 <= p_i <= weights[i]

    A demand has a price without a limit, of the rules that meet it.

    It is the dual of the programme that takes a share of each rule, so that errors and rules
    cost the least [1]_. There each sample is a row, here a column between two limits: the basis
    has the size of the rules, of which there are far fewer.

    weights (n,): Of the samples of the class.
    seed: For HiGHS.

    .. [1] S. Dash, O. Gunluk, D. Wei: Boolean Decision Rules via Column Generation, NeurIPS
       2018.
    """

    def __init__(self, weights: NDArray[np.int64], demands: int, seed: int) -> None:
        n = len(weights) + demands
        self._weights = self._limits = np.append(weights, np.full(demands, np.inf))
        self._highs = highs = empty_program(seed)
        model = highspy.HighsLp()
        model.num_col_ = n
        model.sense_ = highspy.ObjSense.kMaximize
        model.col_cost_ = np.ones(n)
        model.col_lower_, model.col_upper_ = np.zeros(n), self._weights
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = np.zeros(n + 1, dtype=np.int32)
        highs.passModel(model)

    def add(self, cost: float, met: NDArray[np.bool_]) -> None:
        """Add a rule.

        met (n,): The samples of the class that it covers, and the demands that it meets.
        """
        at = np.flatnonzero(met).astype(np.int32)
        self._highs.addRow(-highspy.kHighsInf, cost, len(at), at, np.ones(len(at)))

    def limit(self, times: float) -> None:
        """Limit prices to so many times the weights, which are their limits at first."""
        n = len(self._weights)
        self._limits = times * self._weights
        self._highs.changeColsBounds(n, np.arange(n, dtype=np.int32), np.zeros(n), self._limits)

    def solve(self, seconds: float) -> Relaxed | None:
        """Return an optimum; ``None`` when the time is over."""
        if not len(self._weights):
            return Relaxed(0.0, self._weights)
        # HiGHS counts the time of all runs.
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(seconds, 1e-3))
        status = run(self._highs)
        if status == highspy.HighsModelStatus.kTimeLimit:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise EngineError(f"HiGHS ends with {self._highs.modelStatusToString(status)}")
        solution = self._highs.getSolution()
        prices = np.clip(np.array(solution.col_value), 0.0, self._limits)
        return Relaxed(float(self._highs.getObjectiveValue()), prices)
