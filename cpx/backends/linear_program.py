"""Linear programs, by HiGHS with one thread. Import lazily: it imports highspy.

HiGHS is called itself. Rows are added to a program that is solved already, and the simplex method
goes on from the last basis, for which a modelling layer has no words; and for a small program
such a layer takes longer than HiGHS.
"""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_DUAL = 1  # dual simplex: rows that are added leave the last basis dual feasible


def empty_program(seed: int) -> Any:
    """Return a ``Highs`` without variables and rows, for :func:`run`."""
    highs = highspy.Highs()
    # A new Highs holds itself, by way of the callback of its Python interface, for ever.
    highs.setCallback(None, None)
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("presolve", "off")
    highs.setOptionValue("simplex_strategy", _DUAL)
    highs.setOptionValue("random_seed", seed % 2**31)
    return highs


def run(highs: Any) -> Any:
    """Solve a program, and return the status of the model."""
    # HiGHS keeps the worker threads of its last run in this thread, and refuses to run with
    # another number of them.
    highspy.Highs.resetGlobalScheduler(True)
    highs.run()
    return highs.getModelStatus()


def minimum(
    costs: Floats,
    matrix: Any,
    high: Floats,
    most: Floats,
    low: Floats | float = -np.inf,
    seconds: float | None = None,
) -> tuple[Floats, Floats] | None:
    """Solve a program once; return its variables, and what each row is worth.

    costs (n,): To be least: the sum of costs times variables.
    matrix: shape (rows, n)
    high, low (rows,): Limits of the rows.
    most (n,): Limits of the variables, which are not negative.
    seconds: What it may take.
    Returns x, worth: By how much the minimum grows with the limit of a row. None where HiGHS finds
        no minimum.

    >>> from scipy.sparse import csr_array
    >>> x, worth = minimum(
    ...     np.array([-2.0, -1.0]), csr_array([[1.0, 1.0]]), np.ones(1), np.array([0.5, np.inf])
    ... )
    >>> x.tolist(), worth.tolist()
    ([0.5, 0.5], [-1.0])
    """
    columns = matrix.tocsc()
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = columns.shape
    model.col_cost_, model.col_lower_, model.col_upper_ = costs, np.zeros_like(costs), most
    model.row_lower_, model.row_upper_ = np.broadcast_to(low, high.shape), high
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_ = columns.indptr, columns.indices
    model.a_matrix_.value_ = columns.data
    highs = empty_program(0)
    if seconds is not None:
        highs.setOptionValue("time_limit", float(seconds))
    highs.passModel(model)
    if run(highs) != highspy.HighsModelStatus.kOptimal:
        return None
    solution = highs.getSolution()
    return np.array(solution.col_value), np.array(solution.row_dual)
