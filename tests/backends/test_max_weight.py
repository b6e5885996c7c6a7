"""Maximum-weight monomials, for weights of either sign, against enumeration in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from cpx.errors import InvalidInstance, InvalidOption
from cpx.models.monomial.search.max_weight import max_weight_monomials
from tests.seeds import each


def weigh(table, weights, features):
    covered = table[:, list(features)].all(axis=1)
    return sum((Fraction(weight.item()) for weight in weights[covered]), Fraction(0))


def enumerated(table, weights, k, required, groups):
    """Return the greatest weight, None when nothing satisfies the constraints."""
    found = []
    for size in range(k + 1):
        for chosen in combinations(range(table.shape[1]), size):
            clash = groups is not None and len({groups[j] for j in chosen}) < size
            if set(required) <= set(chosen) and not clash:
                found.append(weigh(table, weights, chosen))
    return max(found, default=None)


@pytest.mark.parametrize("bits", [3, 10, 24, 52, 54])
@each(range(40), 10)
def test_bound_and_weights(seed, bits):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(1, 30)), int(rng.integers(1, 8))
    table, k = rng.random((m, d)) < rng.uniform(0.3, 0.9), int(rng.integers(0, d + 1))
    weights = rng.normal(size=m) * 10.0 ** rng.integers(-9, 9)
    required = tuple(rng.permutation(d)[: int(rng.integers(0, 2))].tolist())
    groups = rng.integers(0, d, d).tolist() if seed % 2 else None
    best = enumerated(table, weights, k, required, groups)
    found = max_weight_monomials(
        table, weights, k, n=3, required=required, groups=groups, bits=bits
    )
    assert found.proved
    if best is None:
        assert (found.features, found.bound) == ((), None)
        return
    rounding = m * Fraction(float(np.abs(weights).max())) / 2 ** (bits - 1)
    assert found.weights[0] <= best <= found.bound <= best + rounding
    assert found.weights[0] >= best - rounding
    for features, weight in zip(found.features, found.weights, strict=True):
        assert weigh(table, weights, features) == weight


@each(range(20))
def test_integers_and_dyadic_floats_are_exact(seed):
    rng = np.random.default_rng(seed)
    table, numbers = rng.random((25, 7)) < 0.6, rng.integers(-40, 41, 25)
    for weights in (numbers, numbers / 64):
        best = enumerated(table, weights, 3, (), None)
        found = max_weight_monomials(table, weights, 3, bits=13)
        assert found.weights[0] == found.bound == best


@each(range(20))
def test_integers_of_many_bits_are_exact(seed):
    """The sums of kernel rules, and of these with one more row, are below 2**54."""
    rng = np.random.default_rng(seed)
    table, weights = rng.random((12, 5)) < 0.6, rng.integers(-(2**49), 2**49, 12)
    weights[0] = 2**53 - 1
    found = max_weight_monomials(table, weights, 3, bits=54)
    assert found.weights[0] == found.bound == enumerated(table, weights, 3, (), None)


def test_sums_that_do_not_fit_are_rounded():
    """Not one of these weights needs more than 54 bits, but together they need 65."""
    weights = np.full(2**12, 2**53 - 1) * np.where(np.arange(2**12) % 3, 1, -1)
    table = np.array([np.arange(2**12) % 3 > 0, np.arange(2**12) % 5 > 0]).T
    found = max_weight_monomials(table, weights, 2, bits=54)
    exact = weigh(table, weights, (0,))
    assert found.features == ((0,),)
    assert found.weights == (exact,)
    assert exact <= found.bound < exact + 2**13


def test_several_are_in_order_and_different():
    rng = np.random.default_rng(3)
    table, weights = rng.random((200, 20)) < 0.6, rng.normal(size=200)
    found = max_weight_monomials(table, weights, 3, n=15)
    assert len(set(found.features)) == 15
    assert list(found.weights) == sorted(found.weights, reverse=True)
    assert found.bound >= found.weights[0]


def test_no_samples_no_weight():
    empty = np.zeros((0, 2), dtype=bool)
    assert max_weight_monomials(empty, np.zeros(0), 2).weights == (0,)
    assert max_weight_monomials([[1, 0]], [0.0], 1).bound == 0


def test_stopped_early_has_a_bound():
    rng = np.random.default_rng(0)
    table, weights = rng.random((2000, 200)) < 0.7, rng.normal(size=2000)
    for limit in ({"time_limit": 0.2}, {"max_work": 10**5}):
        found = max_weight_monomials(table, weights, 6, **limit)
        assert not found.proved
        assert found.weights[0] < found.bound


@pytest.mark.parametrize(
    ("changed", "error", "told"),
    [
        ({"agreement": [[0, 2]]}, InvalidInstance, "agreement"),
        ({"agreement": [0, 1]}, InvalidInstance, "agreement"),
        ({"weights": [1.0, 2.0]}, InvalidInstance, "weights"),
        ({"weights": [float("nan")]}, InvalidInstance, "weights"),
        ({"weights": ["1"]}, InvalidInstance, "weights"),
        ({"k": -1}, InvalidInstance, "k must"),
        ({"k": 1.5}, InvalidInstance, "k must"),
        ({"required": [2]}, InvalidInstance, "required"),
        ({"forbidden": [-1]}, InvalidInstance, "forbidden"),
        ({"groups": [0]}, InvalidInstance, "groups"),
        ({"bits": 0}, InvalidOption, "bits"),
        ({"bits": 55}, InvalidOption, "bits"),
        ({"n": 0}, InvalidOption, "n must"),
        ({"threads": 0}, InvalidOption, "threads"),
        ({"time_limit": 0}, InvalidOption, "time_limit"),
        ({"max_work": 0}, InvalidOption, "max_work"),
    ],
)
def test_wrong_arguments(changed, error, told):
    arguments = {"agreement": [[0, 1]], "weights": [1.0], "k": 1, **changed}
    with pytest.raises(error, match=told):
        max_weight_monomials(arguments.pop("agreement"), arguments.pop("weights"), **arguments)
