"""A share that is less than 1 never reads 1, and one above 0 never 0."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import cpx
from cpx.check import violations
from cpx.support.shares import percent, share_text


def test_only_one_reads_one_and_only_zero_reads_zero() -> None:
    for power in range(1, 20):
        small = Fraction(1, 10**power + 1)
        for share in (small, 1 - small):
            assert 0 < Fraction(share_text(share)) < 1
            assert abs(Fraction(share_text(share)) - share) < Fraction(1, 1000)
    assert share_text(0.95) == "0.950"


def test_a_rule_that_is_nearly_always_right_says_so_and_passes_the_check() -> None:
    same = np.ones(4000, dtype=bool)
    same[0] = False
    samples = cpx.Samples(np.ones((4000, 1), dtype=bool), same, features=("a",))
    problem = cpx.MaxPrecision(samples, k=1)
    result = cpx.solve(problem, "search")
    assert result.explanation is not None
    assert "3999/4000 (0.9998)" in result.explanation.proved
    assert "1.000 " not in str(result.explanation.summary()).split("coverage")[0]
    assert not violations(problem.to_dict(), result.to_dict())


def test_only_one_reads_a_hundred_per_cent() -> None:
    assert (percent(Fraction(3999, 4000)), percent(0.0001)) == ("99.98 %", "0.01 %")
    assert (percent(0), percent(1), percent(Fraction(1, 4), 0)) == ("0.0 %", "100.0 %", "25 %")
