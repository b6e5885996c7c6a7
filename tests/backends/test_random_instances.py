"""All engines and encodings against brute force, and against transformed instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from cpx import KMonomial, NegativeOnly, Samples, solve
from cpx.answers.values import Value
from cpx.testing import conformance
from cpx.testing.brute import brute_force
from cpx.testing.random_instances import random_problem
from tests.engines import ENGINES

FAITHFUL = [name for name in conformance.ENCODINGS if name != "table1-literal"]


def _agrees_with_brute_force(problem, engine: str, encoding: str) -> None:
    best = brute_force(problem)
    result = solve(problem, engine, encoding=encoding)
    conformance.check_result(result, problem, best and best[0], closed=True)


def product(encodings: Sequence[str], seeds: range, few: range) -> list:
    """Return each engine with each encoding and seed, what may be left out marked slow.

    Each engine meets each of the few seeds once, and each encoding, which search ignores.
    """
    return [
        pytest.param(
            engine,
            encoding,
            seed,
            marks=()
            if seed in few and (seed + turn) % len(encodings) == at
            else (pytest.mark.slow,),
        )
        for turn, engine in enumerate(ENGINES)
        for at, encoding in enumerate(encodings)
        for seed in seeds
    ]


def some_of(seeds: range) -> list:
    """Return all seeds, those after the second marked slow."""
    return [*seeds[:2], *(pytest.param(seed, marks=pytest.mark.slow) for seed in seeds[2:])]


@pytest.mark.parametrize(
    ("engine", "encoding", "seed"), product(conformance.ENCODINGS, range(12), range(8))
)
def test_brute_force_agrees(engine: str, encoding: str, seed: int) -> None:
    problem = random_problem(seed, kinds=(KMonomial, NegativeOnly), limited=False)
    _agrees_with_brute_force(problem, engine, encoding)


@pytest.mark.parametrize(
    ("engine", "encoding", "seed"), product(FAITHFUL, range(20, 44), range(20, 32))
)
def test_brute_force_agrees_on_all_kinds_and_limits(engine: str, encoding: str, seed: int) -> None:
    _agrees_with_brute_force(random_problem(seed), engine, encoding)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1060))
@pytest.mark.parametrize("encoding", FAITHFUL)
@pytest.mark.parametrize("engine", ENGINES)
def test_brute_force_agrees_on_larger_instances(engine: str, encoding: str, seed: int) -> None:
    problem = random_problem(seed, max_samples=60, max_features=12)
    _agrees_with_brute_force(problem, engine, encoding)


@pytest.mark.parametrize("seed", some_of(range(100, 108)))
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


@pytest.mark.parametrize("seed", some_of(range(200, 208)))
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
    wanted = _scaled(_answer(problem, engine), 2)
    assert _answer(doubled, engine) == wanted
    merged = replace(doubled, samples=doubled.samples.merged())
    assert _answer(merged, engine) == wanted


@pytest.mark.parametrize("seed", some_of(range(300, 308)))
@pytest.mark.parametrize("engine", ENGINES)
def test_scaled_weights(engine: str, seed: int) -> None:
    problem = random_problem(seed)
    samples = problem.samples
    scaled = replace(problem, samples=replace(samples, weights=samples.weights * 37))
    assert _answer(scaled, engine) == _scaled(_answer(problem, engine), 37)


def _answer(problem, engine: str) -> tuple[str, Value | None]:
    result = solve(problem, engine)
    assert result.proved, result.warnings
    return str(result.status), result.objective


def _scaled(answer: tuple[str, Value | None], factor: int) -> tuple[str, Value | None]:
    """Return the answer for weights that are multiplied: ratios stay what they are."""
    status, value = answer
    return status, factor * value if isinstance(value, int) else value
