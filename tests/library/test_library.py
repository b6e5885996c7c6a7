"""The library of instances: definitions, sizes, seeds, and what is known of them."""

from __future__ import annotations

import numpy as np
import pytest

from cpx import solve
from cpx.errors import InvalidOption, UnknownName
from cpx.library import Known, best_known, families, make, suite
from cpx.modelling.instances import fingerprint
from cpx.testing.brute import brute_force

# Those that no trained classifier makes: equal everywhere.
DEFINED = [name for name in families() if name not in ("perceptron", "forest")]


@pytest.mark.parametrize("family", families())
def test_sizes_and_seed_are_the_instance(family) -> None:
    first, again = (make(family, m=40, d=8, k=2, seed=5) for _ in range(2))
    assert first.to_dict() == again.to_dict()
    assert first.name == f"{family}-m40-d8-k2-s5"
    marks = {fingerprint(make(family, m=40, d=8, k=2, seed=seed)) for seed in range(4)}
    assert len(marks) == 4
    if hasattr(first, "samples"):
        assert first.samples.agreement.shape == (40, 8)


def test_a_planted_monomial_is_about_the_best_one() -> None:
    problem = make("planted", m=2000, d=10, k=3, seed=1)
    value, chosen = brute_force(problem)
    assert len(chosen) == 3
    assert 140 < value < 260  # a tenth of 2000


def test_fewer_features_than_the_parity_tell_nothing() -> None:
    problem = make("parity", m=4000, d=6, k=3, seed=0)
    same = problem.samples.same
    for j in range(6):
        here = same[problem.samples.agreement[:, j]]
        assert abs(here.mean() - 0.5) < 0.05
    assert set(np.unique(same)) == {False, True}


def test_needles_are_covered_by_k_features() -> None:
    problem = make("needle", m=500, d=20, k=6, seed=2)
    assert problem.samples.agreeing == 4
    assert solve(problem, "search").explanation.precision > 0.3


@pytest.mark.parametrize("family", families())
def test_what_is_known_of_an_instance_is_true(family) -> None:
    """A sample of the suites, with an engine other than the one that found the values."""
    entries = [entry for entry in suite("small") if entry.family == family]
    problem = min(entries, key=lambda entry: (entry.m, entry.d, entry.k, entry.seed)).problem()
    known = best_known(problem)
    if known is None and family not in DEFINED:
        pytest.skip("another version of scikit-learn trains another classifier")
    assert known.proved
    result = solve(problem, "maxsat", time_limit=5)
    sign = 1 if problem.sense == "min" else -1
    if result.objective is not None:
        assert sign * result.objective >= sign * known.value
    if result.bound is not None:
        assert sign * result.bound <= sign * known.value
    if result.proved:
        assert result.objective == known.value


def test_everything_in_the_suites_that_is_the_same_everywhere_is_known() -> None:
    entries = [e for name in ("try", "small") for e in suite(name) if e.family in DEFINED]
    rng = np.random.default_rng(0)
    for at in rng.choice(len(entries), 20, replace=False):
        assert isinstance(best_known(entries[at].problem()), Known), entries[at].name


def test_a_suite_has_no_instance_twice() -> None:
    names = [entry.name for entry in suite("small")]
    assert len(set(names)) == len(names) >= 200
    assert {entry.family for entry in suite("small")} == set(families())


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"family": "plantd"}, UnknownName),
        ({"family": "planted", "m": 0}, InvalidOption),
        ({"family": "planted", "seed": -1}, InvalidOption),
        ({"family": "forest", "d": 91}, InvalidOption),
    ],
)
def test_wrong_arguments_are_named(wrong, error) -> None:
    with pytest.raises(error):
        make(**wrong)


def test_unknown_suites_are_refused() -> None:
    with pytest.raises(UnknownName, match="suite"):
        suite("large")


def test_nothing_is_known_of_other_instances() -> None:
    assert best_known(make("planted", m=33, d=5, k=2, seed=99)) is None
