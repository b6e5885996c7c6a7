"""Linear programs by HiGHS, beside other uses of HiGHS in the same thread."""

from __future__ import annotations

import highspy
import numpy as np
import pytest

from cpx.backends.search.reasons.cuts import UNIT
from cpx.backends.search.reasons.relaxation import Relaxation
from cpx.methods.column_generation.master import Master


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
    master = Master(np.array([1, 2, 3]), 0)
    master.add(2.0, np.array([True, True, False]))
    assert master.solve(60.0).value == pytest.approx(5.0)
    run_with_two_threads()
    program.add(np.array([UNIT, 0]))
    program.add(np.array([0, UNIT]))
    assert program.solve().value == pytest.approx(2.0)
    master.limit(2.0)
    assert master.solve(60.0).value == pytest.approx(8.0)
