"""Linear programs by HiGHS: as SciPy solves them, beside other uses of HiGHS in the thread."""

from __future__ import annotations

import highspy
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from cpx.backends.linear_program import minimum
from cpx.models.rule_set.methods.column_generation.master import Master
from cpx.models.sufficient_reason.search.cuts import UNIT
from cpx.models.sufficient_reason.search.relaxation import Relaxation


def run_with_two_threads() -> None:
    highspy.Highs.resetGlobalScheduler(True)
    other = highspy.Highs()
    other.setOptionValue("output_flag", False)
    other.setOptionValue("threads", 2)
    other.addVars(1, np.zeros(1), np.ones(1))
    assert other.run() == highspy.HighsStatus.kOk


def test_highs_may_run_with_more_threads_in_between() -> None:
    run_with_two_threads()
    program = Relaxation(np.ones(2, dtype=np.int64), 0)
    program.add(np.full(2, UNIT))
    assert program.solve().value == pytest.approx(1.0)
    assert program.bound(5)[0] == 1
    master = Master(np.array([1, 2, 3]), 0, 0)
    master.add(2.0, np.array([True, True, False]))
    assert master.solve(60.0).value == pytest.approx(5.0)
    run_with_two_threads()
    program.add(np.array([UNIT, 0]))
    program.add(np.array([0, UNIT]))
    assert program.solve().value == pytest.approx(2.0)
    master.limit(2.0)
    assert master.solve(60.0).value == pytest.approx(8.0)


def test_minima_and_what_rows_are_worth_are_those_of_scipy() -> None:
    rng, without = np.random.default_rng(0), 0
    for _ in range(40):
        rows, n = int(rng.integers(1, 6)), int(rng.integers(1, 7))
        costs, matrix = rng.normal(size=n), rng.integers(-2, 3, (rows, n)).astype(float)
        high = rng.integers(-1, 4, rows).astype(float) + rng.random(rows)
        equal = rng.random(rows) < 0.2
        most = np.where(rng.random(n) < 0.7, rng.random(n), np.inf)
        expected = linprog(
            costs,
            A_ub=matrix[~equal],
            b_ub=high[~equal],
            A_eq=matrix[equal],
            b_eq=high[equal],
            bounds=np.stack([np.zeros(n), most], axis=1),
        )
        found = minimum(costs, csr_array(matrix), high, most, np.where(equal, high, -np.inf))
        assert (found is None) == (expected.status != 0)
        if found is None:
            without += 1
            continue
        values, worth = found
        assert np.isclose(costs @ values, expected.fun)
        assert np.allclose(worth[~equal], expected.ineqlin.marginals)
        assert np.allclose(worth[equal], expected.eqlin.marginals)
    assert 5 < without < 35
