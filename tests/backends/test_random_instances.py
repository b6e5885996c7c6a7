"""All engines and encodings against brute force, and against transformed instances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cpx import Samples, solve
from cpx.testing import conformance
from cpx.testing.brute import brute_force
from cpx.testing.random_instances import random_problem
from tests.engines import ENGINES

FAITHFUL = [name for name in conformance.ENCODINGS if name != "table1-literal"]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("encoding", conformance.ENCODINGS)
@pytest.mark.parametrize("engine", ENGINES)
def test_brute_force_agrees(engine: str, encoding: str, seed: int) -> None:
    problem = random_problem(seed)
    best = brute_force(problem)
    result = solve(problem, engine, encoding=encoding)
    conformance.check_result(result, problem, best and best[0], closed=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1060))
@pytest.mark.parametrize("encoding", conformance.ENCODINGS)
@pytest.mark.parametrize("engine", ENGINES)
def test_brute_force_agrees_on_larger_instances(engine: str, encoding: str, seed: int) -> None:
    problem = random_problem(seed, max_samples=60, max_features=12)
    best = brute_force(problem)
    result = solve(problem, engine, encoding=encoding)
    conformance.check_result(result, problem, best and best[0], closed=True)


@pytest.mark.parametrize("seed", range(100, 104))
@pytest.mark.parametrize("engine", ENGINES)
def test_permuted_features(engine: str, seed: int) -> None:
    problem = random_problem(seed)
    samples = problem.samples
    order = np.random.default_rng(seed).permutation(samples.d)
    place = np.argsort(order)
    groups = samples.groups
    permuted = replace(
        problem,
        samples=Samples(
            samples.agreement[:, order],
            samples.same,
            samples.weights,
            groups=None if groups is None else tuple(groups[j] for j in order),
        ),
        required=tuple(int(place[j]) for j in problem.required),
        forbidden=tuple(int(place[j]) for j in problem.forbidden),
    )
    assert _answer(permuted, engine) == _answer(problem, engine)


@pytest.mark.parametrize("seed", range(200, 204))
@pytest.mark.parametrize("engine", ENGINES)
def test_permuted_and_duplicated_samples(engine: str, seed: int) -> None:
    problem = random_problem(seed)
    samples = problem.samples
    order = np.random.default_rng(seed).permutation(np.r_[: samples.m, : samples.m])
    doubled = replace(
        problem,
        samples=Samples(
            samples.agreement[order],
            samples.same[order],
            samples.weights[order],
            groups=samples.groups,
        ),
    )
    status, value = _answer(problem, engine)
    assert _answer(doubled, engine) == (status, None if value is None else 2 * value)
    merged = replace(doubled, samples=doubled.samples.merged())
    assert _answer(merged, engine) == (status, None if value is None else 2 * value)


@pytest.mark.parametrize("seed", range(300, 304))
@pytest.mark.parametrize("engine", ENGINES)
def test_scaled_weights(engine: str, seed: int) -> None:
    problem = random_problem(seed)
    samples = problem.samples
    scaled = replace(problem, samples=replace(samples, weights=samples.weights * 37))
    status, value = _answer(problem, engine)
    assert _answer(scaled, engine) == (status, None if value is None else 37 * value)


def _answer(problem, engine: str) -> tuple[str, int | None]:
    result = solve(problem, engine)
    assert result.proved, result.warnings
    return str(result.status), result.objective
