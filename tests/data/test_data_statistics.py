import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from cpx.data import Samples, Uniform, clopper_pearson, estimate_precision, sample_size
from cpx.errors import ClassifierError, InvalidOption
from cpx.explanation import PrecisionEstimate


@given(st.integers(0, 50), st.integers(1, 300), st.floats(0.01, 0.9), st.floats(0.001, 0.9))
def test_sample_size_is_the_least(k, d, epsilon, delta):
    k = min(k, d)
    m = sample_size(k, d, epsilon, delta)
    enough = (2 / epsilon**2) * (k * math.log(d) + math.log(2 / delta))
    assert m - 1 < enough <= m


def test_sample_size_by_hand():
    # 2/0.01 * (2 ln 10 + ln 40) = 200 * (4.60517 + 3.68888) = 1658.81
    assert sample_size(2, 10, 0.1, 0.05) == 1659


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
    with pytest.raises(InvalidOption, match="features must be"):
        estimate_precision(lambda z: z[:, 0], [0, 1], D, [2])
    with pytest.raises(ClassifierError):
        estimate_precision(lambda z: z, [0, 1], D, [0])
