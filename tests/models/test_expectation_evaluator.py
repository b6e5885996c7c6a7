"""Expected scores of many sets at once, against exact fractions set by set."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from cpx.models.expected_prediction import evaluator as module
from cpx.models.expected_prediction.evaluator import Evaluator
from cpx.models.expected_prediction.problem import MLSE
from cpx.testing.expected_prediction import STRUCTURES, random_expectation


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
