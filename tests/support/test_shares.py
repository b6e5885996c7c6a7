"""A share that is less than 1 never reads 1, and one above 0 never 0."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

import cpx
from cpx.check import claims, violations
from cpx.support.shares import ExactFloat, at_most, percent, share_text, significant


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


@given(st.fractions(0, 3, max_denominator=10**12), st.integers(1, 7))
def test_limits_from_above_are_no_less_and_integers_only_where_they_are(
    value: Fraction, count: int
) -> None:
    limit = at_most(value, count)
    assert value <= Fraction(limit) <= value * (1 + Fraction(10) ** (1 - count))
    text = significant(float(value), count)
    assert (Fraction(text).denominator == 1) == float(value).is_integer()
    # The checker has its own.
    assert claims.significant(float(value), count) == text


def test_a_share_is_a_float_everywhere_and_knows_its_fraction() -> None:
    share = ExactFloat(Fraction(298, 302))
    assert (str(share), f"{share:.1%}", json.dumps(share)) == ("0.987", "98.7%", repr(298 / 302))
    assert share == 298 / 302
    assert np.array([share]).dtype == float
    again = pickle.loads(pickle.dumps(share))
    assert again.exact == share.exact == Fraction(149, 151)
    assert ExactFloat.of(1, 0) is None


def test_explanations_and_evaluations_have_such_shares() -> None:
    samples = cpx.Samples([[1, 1], [1, 0], [0, 1]], [1, 1, 0])
    problem = cpx.MaxPrecision(samples, k=1)
    found = cpx.explain(lambda rows: rows[:, 0] > 0, np.array([[0], [1], [2]]), 1)
    told = [found, problem.evaluate(problem.explanation([0])), problem.explanation([1])]
    assert [one.coverage.exact for one in told] == [Fraction(2, 3)] * 3
    assert [one.precision.exact for one in told] == [1, 1, Fraction(1, 2)]
    assert found.fresh.value.exact == 1
    assert cpx.Explanation(found.rule, Fraction(1, 3)).precision.exact == Fraction(1, 3)
    assert type(found).from_dict(found.to_dict()).coverage.exact == Fraction(2, 3)
