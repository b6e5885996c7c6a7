"""All engines and encodings against brute force, and against transformed instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from cpx import KMonomial, Samples, solve
from cpx.answers.values import Value
from cpx.modelling.encodings import encoding_names
from cpx.models import NegativeOnly
from cpx.models.monomial.draw import random_problem
from cpx.testing import conformance
from cpx.testing.brute import brute_force
from tests.engines import ENGINES
from tests.seeds import each, of_each

FAITHFUL = [name for name in encoding_names(KMonomial) if name != "table1-literal"]


def _agrees_with_brute_force(problem, engine: str, encoding: str) -> None:
    best = brute_force(problem)
    result = solve(problem, engine, encoding=encoding)
    conformance.check_result(result, problem, best and best[0], closed=True)


def product(encodings: Sequence[str], seeds: range, few: int) -> list:
    """Return each engine with each encoding and its seeds, what may be left out marked slow.

    In every run each engine meets the first few seeds once, and each encoding, which search
    ignores.
    """
    found = []
    for turn, engine in enumerate(ENGINES):
        for at, encoding in enumerate(encodings):
            now = [seed for seed in seeds[:few] if (seed + turn) % len(encodings) == at]
            later = [seed for seed in seeds if seed not in now]
            found.append(pytest.param(engine, encoding, now, id=f"{engine}-{encoding}"))
            name = f"{engine}-{encoding}-others"
            found.append(pytest.param(engine, encoding, later, id=name, marks=pytest.mark.slow))
    return found


@pytest.mark.parametrize(
    ("engine", "encoding", "seeds"), product(encoding_names(KMonomial), range(12), 8)
)
@of_each("seed")
def test_brute_force_agrees(engine: str, encoding: str, seed: int) -> None:
    problem = random_problem(seed, kinds=(KMonomial, NegativeOnly), limited=False)
    _agrees_with_brute_force(problem, engine, encoding)


@pytest.mark.parametrize(("engine", "encoding", "seeds"), product(FAITHFUL, range(20, 44), 12))
@of_each("seed")
def test_brute_force_agrees_on_all_kinds_and_limits(engine: str, encoding: str, seed: int) -> None:
    _agrees_with_brute_force(random_problem(seed), engine, encoding)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@each(range(1000, 1060))
@pytest.mark.parametrize("encoding", FAITHFUL)
@pytest.mark.parametrize("engine", ENGINES)
def test_brute_force_agrees_on_larger_instances(engine: str, encoding: str, seed: int) -> None:
    problem = random_problem(seed, max_samples=60, max_features=12)
    _agrees_with_brute_force(problem, engine, encoding)


@each(range(100, 108), 2)
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


@each(range(200, 208), 2)
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


@each(range(300, 308), 2)
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
