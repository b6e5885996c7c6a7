"""The linear programme over the rules found so far. Import lazily: it imports highspy.

HiGHS is called itself: rules are added to a programme that is solved already, and the simplex
method goes on from the last basis, for which a modelling layer has no words.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from cpx.errors import EngineError

__all__ = ["Master", "Relaxed"]

Floats = NDArray[np.float64]

_PRIMAL = 4  # primal simplex: rules that are added leave the last solution feasible


@dataclass(frozen=True)
class Relaxed:
    """An optimum of the linear programme.

    Attributes
    ----------
    value : float
    prices : ndarray of float64
        Dual of each sample of the class, from 0 to its weight.
    """

    value: float
    prices: Floats


class Master:
    """Which share of each rule to take, so that errors and rules cost the least.

    With xi_i for the share of sample i of the class that stays uncovered::

        minimise    sum of weights[i] * xi_i  +  sum of costs[r] * x_r
        such that   xi_i + sum of x_r over the rules r that cover i  >=  1     for each i
                    xi, x >= 0

    Parameters
    ----------
    weights : ndarray, shape (n,)
        Of the samples of the class.
    seed : int
        For HiGHS.

    References
    ----------
    S. Dash, O. Gunluk, D. Wei: Boolean Decision Rules via Column Generation, NeurIPS 2018.
    """

    def __init__(self, weights: NDArray[np.int64], seed: int) -> None:
        n = len(weights)
        self._weights = weights.astype(np.float64)
        self._highs = highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        highs.setOptionValue("presolve", "off")
        highs.setOptionValue("simplex_strategy", _PRIMAL)
        highs.setOptionValue("random_seed", seed % 2**31)
        model = highspy.HighsLp()
        model.num_col_ = model.num_row_ = n
        model.col_cost_ = self._weights
        model.col_lower_, model.col_upper_ = np.zeros(n), np.full(n, highspy.kHighsInf)
        model.row_lower_, model.row_upper_ = np.ones(n), np.full(n, highspy.kHighsInf)
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = np.arange(n + 1, dtype=np.int32)
        model.a_matrix_.index_ = np.arange(n, dtype=np.int32)
        model.a_matrix_.value_ = np.ones(n)
        highs.passModel(model)

    def add(self, cost: float, covered: NDArray[np.bool_]) -> None:
        """Add a rule.

        Parameters
        ----------
        cost : float
        covered : ndarray of bool, shape (n,)
            The samples of the class that it covers.
        """
        rows = np.flatnonzero(covered).astype(np.int32)
        self._highs.addCol(cost, 0.0, highspy.kHighsInf, len(rows), rows, np.ones(len(rows)))

    def solve(self, seconds: float) -> Relaxed | None:
        """Return an optimum; ``None`` when the time is over."""
        # HiGHS counts the time of all runs.
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(seconds, 1e-3))
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise EngineError(f"HiGHS ends with {self._highs.modelStatusToString(status)}")
        solution = self._highs.getSolution()
        prices = np.clip(np.array(solution.row_dual), 0.0, self._weights)
        return Relaxed(float(self._highs.getObjectiveValue()), prices)
