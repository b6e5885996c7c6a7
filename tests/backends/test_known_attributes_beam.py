"""Beam search for known attributes, against trying all sets."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from cpx import solve
from cpx.answers.result import Status
from cpx.errors import InvalidOption, UnknownName
from cpx.models.expected_prediction.cases import (
    STRUCTURES,
    best_set,
    expected_prediction_cases,
    random_expectation,
)
from cpx.models.expected_prediction.problem import MLSE
from cpx.models.expected_prediction.search.known_attributes.beam import beam_levels, frontier


def open_problem(seed: int, structure: str) -> MLSE:
    problem = random_expectation(seed, structure, required=(), forbidden=())
    assert isinstance(problem, MLSE)
    return problem


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_all_sets_meets_the_best_of_each_size(seed: int, structure: str) -> None:
    problem = open_problem(seed, structure)
    for size, found in enumerate(frontier(problem, problem.n_features, width=1000)):
        exact = problem.scores.expected(found.features)
        best = max(
            problem.scores.expected(S) for S in combinations(range(problem.n_features), size)
        )
        assert len(found.features) == size
        assert float(exact) == pytest.approx(float(best), rel=1e-11)
        assert found.expected == pytest.approx(float(exact), rel=1e-11)
        assert np.exp(found.log_probability) == pytest.approx(
            float(problem.scores.probability(found.features))
        )


@pytest.mark.parametrize("structure", STRUCTURES)
def test_levels_are_the_best_extensions(structure: str) -> None:
    problem = open_problem(7, structure)
    levels = list(beam_levels(problem.scores.evaluator, problem.n_features, 2))
    for before, level in pairwise(levels):
        extensions = {
            tuple(sorted((*known.features, j)))
            for known in before
            for j in range(problem.n_features)
            if j not in known.features
        }
        values = sorted((float(problem.scores.expected(S)) for S in extensions), reverse=True)
        assert {known.features for known in level} <= extensions
        assert [known.expected for known in level] == pytest.approx(values[: len(level)])
        assert len(level) == min(2, len(extensions))


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("engine", ["beam", "greedy"])
def test_what_is_found_is_allowed_and_claims_nothing(
    engine: str, dual: bool, structure: str
) -> None:
    for seed in range(2):
        problem = random_expectation(seed, structure, dual)
        result = solve(problem, engine)
        best = best_set(problem)
        assert result.bound is None
        if best is None:
            assert result.explanation is None
        elif result.explanation is not None:
            assert result.status is Status.FEASIBLE
            assert problem.evaluate(result.explanation).feasible
            sign = 1 if problem.sense == "min" else -1
            assert sign * result.objective >= sign * best[0]


def test_wide_beams_find_the_optimum_and_the_likeliest() -> None:
    for name, problem, optimum in expected_prediction_cases():
        result = solve(problem, "beam{width=8}")
        assert result.objective == optimum, name
        if optimum is not None:
            assert problem.tie(result.explanation.features) == best_set(problem)[1], name


def test_width() -> None:
    problem = open_problem(3, "mixture")
    with pytest.raises(InvalidOption, match="width must be an integer from 1"):
        solve(problem, "beam{width=0}")
    with pytest.raises(UnknownName, match="option of backend greedy"):
        solve(problem, "greedy{width=2}")


@pytest.mark.parametrize("structure", STRUCTURES)
def test_threads_find_the_same(structure: str) -> None:
    problem = open_problem(7, structure)
    alone = frontier(problem, problem.n_features, width=3)
    assert frontier(problem, problem.n_features, width=3, threads=3) == alone
    result = solve(problem, "beam{width=3}", threads=2)
    assert result.objective == solve(problem, "beam{width=3}").objective
    all_sets = solve(problem, "search", threads=2)
    assert (all_sets.objective, all_sets.status) == (best_set(problem)[0], Status.OPTIMAL)
    assert not [remark for remark in result.remarks if "threads" in remark]


def test_threads_stop_when_told() -> None:
    problem = next(p for seed in range(9) if (p := open_problem(seed, "mixture")).n_features > 3)
    answers = iter([False] + [True] * 9)
    evaluator = problem.scores.evaluator
    levels = beam_levels(evaluator, 3, 3, stop=lambda: next(answers), threads=2)
    assert [len(level[0].features) for level in levels] == [0, 1]
