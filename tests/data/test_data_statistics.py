import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from cpx.answers.explanation import PrecisionEstimate
from cpx.data import (
    Samples,
    Uniform,
    clopper_pearson,
    estimate_precision,
    rule_count,
    sample_size,
    uniform_deviation,
)
from cpx.errors import ClassifierError, InvalidOption


@given(st.integers(0, 50), st.integers(1, 300), st.floats(0.01, 0.9), st.floats(0.001, 0.9))
def test_sample_size_is_the_least(k, d, epsilon, delta):
    k = min(k, d)
    m = sample_size(k, d, epsilon, delta)
    # The paper's d**k, and one more where that leaves out the empty rule.
    rules = d + 1 if k == 1 else d**k
    enough = (2 / epsilon**2) * math.log(2 * rules / delta)
    assert m - 1 < enough * (1 + 1e-12)
    assert enough <= m * (1 + 1e-12)


def test_sample_size_by_hand():
    # 2/0.01 * (2 ln 10 + ln 40) = 200 * (4.60517 + 3.68888) = 1658.81
    assert sample_size(2, 10, 0.1, 0.05) == 1659


@pytest.mark.parametrize(("k", "d"), [(0, 3), (1, 1), (2, 5), (5, 5)])
def test_rule_count_counts_the_subsets(k, d):
    subsets = [s for size in range(k + 1) for s in itertools.combinations(range(d), size)]
    assert rule_count(k, d) == len(subsets)


def test_uniform_deviation_by_hand():
    # 7 rules (2 of 3 features), 2 figures each: sqrt(ln(2 * 14 / 0.1) / 200)
    expected = math.sqrt(math.log(280) / 200)
    assert uniform_deviation(100, 2, 3, 0.1, shares=2) == pytest.approx(expected)


@given(st.integers(0, 9), st.integers(1, 60), st.floats(0.01, 0.9), st.floats(0.001, 0.9))
def test_the_sample_size_makes_the_deviation_half_of_epsilon(k, d, epsilon, delta):
    k = min(k, d)
    m = sample_size(k, d, epsilon, delta / 2)
    assert uniform_deviation(m, k, d, delta, shares=2) <= epsilon / 2 * (1 + 1e-12)


@pytest.mark.parametrize("arguments", [(0, 1, 2, 0.1), (9, 3, 2, 0.1), (9, 1, 2, 0), (9, 1, 2, 1)])
def test_uniform_deviation_refuses(arguments):
    with pytest.raises(InvalidOption):
        uniform_deviation(*arguments)
    with pytest.raises(InvalidOption, match="shares"):
        uniform_deviation(9, 1, 2, 0.1, shares=0)


def test_shares_of_samples_deviate_as_seldom_as_is_said():
    """Draw many sample sets, and compare all rules with the truth, which is enumerated."""
    d, k, m, delta, rounds = 3, 2, 60, 0.3, 1500
    rng = np.random.default_rng(5)
    cube = np.array(list(itertools.product([0, 1], repeat=d)), dtype=bool)
    same = np.array([0, 1, 1, 0, 1, 0, 1, 1], dtype=bool)
    rules = [list(s) for size in range(k + 1) for s in itertools.combinations(range(d), size)]
    covers = np.array([cube[:, rule].all(axis=1) for rule in rules])
    coverage, precision = covers.mean(axis=1), (covers & same).sum(axis=1) / covers.sum(axis=1)
    counts = rng.multinomial(m, [1 / len(cube)] * len(cube), size=rounds)
    covered, agreeing = counts @ covers.T, counts @ (covers & same).T

    def failures(h: float) -> float:
        with np.errstate(invalid="ignore"):
            wrong = np.abs(covered / m - coverage) > h
            # A rule that covers no sample has no precision there, and claims none.
            wrong |= np.abs(agreeing / covered - precision) > h / np.sqrt(covered / m)
        return wrong.any(axis=1).mean()

    h = uniform_deviation(m, k, d, delta, shares=2)
    assert failures(h) <= delta
    assert failures(0.6 * h) > delta  # what is said is not empty


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 5, 0.1, 0.1), "k must"),
        ((6, 5, 0.1, 0.1), "k must"),
        ((1.0, 5, 0.1, 0.1), "k must"),
        ((True, 5, 0.1, 0.1), "k must"),
        ((1, 0, 0.1, 0.1), "d must"),
        ((1, 5, 0, 0.1), "epsilon must"),
        ((1, 5, 1, 0.1), "epsilon must"),
        ((1, 5, math.nan, 0.1), "epsilon must"),
        ((1, 5, 0.1, 1.5), "delta must"),
        ((1, 5, 0.1, "a"), "delta must"),
    ],
)
def test_sample_size_refuses(arguments, message):
    with pytest.raises(InvalidOption, match=message):
        sample_size(*arguments)


@given(st.integers(1, 200), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_clopper_pearson_agrees_with_scipy(trials, share, confidence):
    successes = round(share * trials)
    low, high = clopper_pearson(successes, trials, confidence)
    reference = binomtest(successes, trials).proportion_ci(confidence, method="exact")
    assert low == pytest.approx(reference.low, abs=1e-9)
    assert high == pytest.approx(reference.high, abs=1e-9)


@pytest.mark.parametrize("p", [0.02, 0.5, 0.97])
def test_clopper_pearson_covers(p):
    n = 40
    limits = [clopper_pearson(k, n, 0.9) for k in range(n + 1)]
    covered = sum(binom.pmf(k, n, p) for k in range(n + 1) if limits[k][0] <= p <= limits[k][1])
    assert covered >= 0.9


@pytest.mark.parametrize(
    "arguments", [(-1, 5), (6, 5), (1.5, 5), (0, 0), (True, 2), (1, 2, 0), (1, 2, 1), (1, 2, 95)]
)
def test_clopper_pearson_refuses(arguments):
    with pytest.raises(InvalidOption):
        clopper_pearson(*arguments)


def test_estimate_precision_finds_the_true_value():
    def majority(z):
        return z.sum(axis=1) >= 2

    D, x = Uniform(3), [1, 1, 0]
    for features, true in (([], 1 / 2), ([0], 3 / 4), ([0, 1], 1.0)):
        estimate = estimate_precision(majority, x, D, features, n=4000, seed=1, confidence=0.999)
        assert estimate.low <= true <= estimate.high
        assert estimate.drawn == 4000
        assert (estimate.low, estimate.high) == clopper_pearson(estimate.agreeing, 4000, 0.999)
        assert estimate.high - estimate.low < 0.06
    assert estimate_precision(majority, x, D, [0]) == estimate_precision(
        majority, x, D, [0], seed=0
    )
    assert isinstance(estimate, PrecisionEstimate)


def test_fresh_samples_are_not_those_of_draw():
    seen = []

    def f(rows):
        seen.append(rows.copy())
        return np.zeros(len(rows))

    D = Uniform(20)
    Samples.draw(f, [0] * 20, D, m=50, seed=3)
    estimate_precision(f, [0] * 20, D, [], n=50, seed=3)
    drawn, fresh = (rows for rows in seen if len(rows) == 50)
    assert not np.array_equal(drawn, fresh)


def test_estimate_precision_refuses():
    D = Uniform(2)
    for options in ({"n": 0}, {"confidence": 1.0}, {"seed": -1}):
        with pytest.raises(InvalidOption):
            estimate_precision(len, [0, 1], D, [0], **options)
    with pytest.raises(InvalidOption, match=r"features (has|must be)"):
        estimate_precision(lambda z: z[:, 0], [0, 1], D, [2])
    with pytest.raises(ClassifierError):
        estimate_precision(lambda z: z, [0, 1], D, [0])
