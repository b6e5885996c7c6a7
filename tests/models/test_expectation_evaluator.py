"""Expected scores of many sets at once, against exact fractions set by set."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest

from cpx.models.expected_prediction import evaluator as module
from cpx.models.expected_prediction import leaf_products
from cpx.models.expected_prediction.cases import STRUCTURES, random_expectation
from cpx.models.expected_prediction.evaluator import Evaluator
from cpx.models.expected_prediction.problem import MLSE


def small(seed: int, structure: str) -> tuple[MLSE, Evaluator, np.ndarray]:
    """Return a problem, its evaluator, and all sets of attributes."""
    problem = random_expectation(seed, structure)
    assert isinstance(problem, MLSE)
    sets = np.array(list(product([False, True], repeat=problem.n_features)))
    return problem, Evaluator(problem.leaves, problem.distribution, problem.codes), sets


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", range(6))
def test_exact_fractions_agree(seed: int, structure: str) -> None:
    problem, evaluator, sets = small(seed, structure)
    expected, logs = evaluator.evaluate(sets)
    for seen, mean, log in zip(sets, expected, logs):
        S = np.flatnonzero(seen).tolist()
        exact = float(problem.scores.expected(S))
        assert mean == pytest.approx(exact, rel=1e-12, abs=1e-12 * float(problem.greatest_sum))
        assert np.exp(log) == pytest.approx(float(problem.scores.probability(S)), rel=1e-12)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", range(6))
def test_extensions_are_the_sets_with_one_attribute_more(seed: int, structure: str) -> None:
    problem, evaluator, sets = small(seed + 50, structure)
    found = evaluator.extensions(sets)
    expected, logs = evaluator.evaluate(sets)
    np.testing.assert_allclose(found.expected, expected, rtol=1e-12)
    np.testing.assert_allclose(found.log_probability, logs, rtol=1e-12, atol=1e-12)
    scale = 1e-12 * float(problem.greatest_sum)
    for j in range(problem.n_features):
        more = sets.copy()
        more[:, j] = True
        expected, logs = evaluator.evaluate(more)
        np.testing.assert_allclose(found.expected_with[:, j], expected, rtol=1e-12, atol=scale)
        np.testing.assert_allclose(found.log_probability_with[:, j], logs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_parts_at_a_time_give_the_same(structure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, evaluator, sets = small(3, structure)
    whole = evaluator.extensions(sets), evaluator.evaluate(sets)
    monkeypatch.setattr(module, "_AT_ONCE", 1)
    for one, other in zip(
        (*whole[0], *whole[1]), (*evaluator.extensions(sets), *evaluator.evaluate(sets))
    ):
        np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize("tables", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_means_that_are_looked_up_are_those_that_are_computed(
    seed: int, tables: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, evaluator, sets = small(seed + 20, "mixture")
    monkeypatch.setattr(leaf_products, "_MANY", 10**9)
    slow = evaluator.extensions(sets)
    used = len(problem.leaves.used)
    monkeypatch.setattr(leaf_products, "_MANY", 1)
    monkeypatch.setattr(leaf_products, "_TOGETHER", max(1, -(-used // tables)))
    monkeypatch.setattr(leaf_products, "_ONE_THREAD", 7)
    monkeypatch.setattr(leaf_products.LeafProducts, "_fits", used > 0)
    again = Evaluator(problem.leaves, problem.distribution, problem.codes)
    looked_up = again.extensions(sets)
    assert ("_all_means" in again._products.__dict__) == (used > 0)
    for one, other in zip(slow, looked_up, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * problem.greatest_sum)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_threads_change_no_number(structure: str) -> None:
    for seed in range(3):
        _, evaluator, sets = small(seed, structure)
        alone = evaluator.extensions(sets)
        for threads in (2, 3):
            with ThreadPoolExecutor(threads) as pool:
                shared = evaluator.extensions(sets, lambda: False, pool, threads)
            for one, other in zip(alone, shared, strict=True):
                np.testing.assert_array_equal(one, other)
