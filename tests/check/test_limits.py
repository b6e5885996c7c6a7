"""Limits of the checker are those of other code: tails, limits of shares, rules that compete."""

from __future__ import annotations

import math

import pytest
from scipy.stats import binom

from cpx.check.binomial import is_above, is_below, log_chance, lower_limit
from cpx.data.statistics import exact_lower, exact_upper
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.explainers.guarantees import allowed_rules
from cpx.models.monomial.judge_beyond import count_rules
from tests.seeds import each


@pytest.mark.parametrize("trials", [1, 2, 7, 300])
@pytest.mark.parametrize("share", [1e-9, 0.01, 0.5, 0.99])
def test_tails_are_those_of_scipy(trials: int, share: float) -> None:
    for hits in {0, 1, trials // 2, trials - 1, trials}:
        known = 0.0 if hits == 0 else float(binom.logsf(hits - 1, trials, share))
        if known > -math.inf:  # which SciPy says where the probability is no float
            assert log_chance(hits, trials, share) == pytest.approx(known, abs=1e-9, rel=1e-9)


def test_the_ends_of_shares() -> None:
    assert log_chance(0, 5, 0.0) == log_chance(3, 5, 1.0) == 0
    assert log_chance(1, 5, 0.0) == -math.inf
    assert log_chance(1, 2, 1.0) == 0
    # That nothing is below 0 and nothing above 1 needs no samples.
    assert is_below(0.0, 0, 5, -9.0)
    assert is_above(1.0, 5, 5, -9.0)
    assert not is_below(0.1, 0, 5, -9.0)
    assert not is_above(0.9, 5, 5, -9.0)


@pytest.mark.parametrize(("hits", "trials"), [(0, 9), (1, 9), (5, 9), (9, 9), (970, 1000)])
@pytest.mark.parametrize("tail", [0.3, 0.05, 1e-7])
def test_limits_are_the_exact_ones(hits: int, trials: int, tail: float) -> None:
    low, high = (float(f(hits, trials, tail)) for f in (exact_lower, exact_upper))
    log_tail = math.log(tail)
    assert lower_limit(hits, trials, log_tail) == pytest.approx(low, abs=1e-6)
    for share, below, above in (
        (low - 1e-5, True, False), (low + 1e-5, False, False),
        (high - 1e-5, False, False), (high + 1e-5, False, True),
    ):  # fmt: skip
        if 0 < share < 1 and low + 1e-4 < high:
            assert is_below(share, hits, trials, log_tail) == below
            assert is_above(share, hits, trials, log_tail) == above


@each(range(60), 20)
def test_as_many_rules_compete_as_the_problem_says(seed: int) -> None:
    problem = random_problem(seed)
    groups = [*problem.samples.groups] if problem.one_per_group else None
    forbidden = {*problem.forbidden} - {*problem.required}
    counted = count_rules(problem.n_features, problem.k, {*problem.required}, forbidden, groups)
    assert counted == allowed_rules(problem)
