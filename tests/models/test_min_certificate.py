"""Minimum certificates on samples against brute force, their files and their checker."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cpx import MinCertificate, Samples, solve
from cpx.answers.result import Status
from cpx.check import violations
from cpx.errors import InvalidInstance, InvalidOption
from cpx.modelling import instances
from cpx.models.sufficient_reason.cases import least_weight
from tests.seeds import each


def _random(seed: int) -> MinCertificate:
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(1, 20)), int(rng.integers(1, 7))
    samples = Samples(rng.random((m, d)) < 0.5, rng.random(m) < 0.4, weights=rng.integers(1, 5, m))
    order = rng.permutation(d).tolist()
    return MinCertificate(
        samples,
        str(Fraction(int(rng.integers(0, 4)), 10)),
        weights=tuple(rng.integers(1, 4, d).tolist()) if rng.random() < 0.5 else None,
        required=tuple(order[: int(rng.integers(0, 2))]),
        forbidden=tuple(order[1:][: int(rng.integers(0, 2))]),
    )


def _brute(problem: MinCertificate) -> int | None:
    """Count by hand, without the problem's own measuring."""
    samples, d = problem.samples, problem.n_features
    weights = problem.weights or (1,) * d
    best = None
    for mask in range(2**d):
        S = [j for j in range(d) if mask >> j & 1]
        if not {*problem.required} <= {*S} or {*problem.forbidden} & {*S}:
            continue
        wrong = sum(
            int(w)
            for row, same, w in zip(samples.agreement, samples.same, samples.weights, strict=True)
            if not same and all(row[j] for j in S)
        )
        if wrong <= Fraction(problem.epsilon) * int(samples.weights.sum()):
            cost = sum(weights[j] for j in S)
            best = cost if best is None else min(best, cost)
    return best


@each(range(30), 8)
def test_engines_find_the_minimum(seed: int) -> None:
    problem = _random(seed)
    best = _brute(problem)
    assert least_weight(problem) == best
    for engine in ("cpsat", "maxsat", "milp"):
        for encoding in ("order", "direct"):
            result = solve(problem, engine, encoding=encoding)
            assert result.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL)
            assert result.objective == best
            assert result.verified


def test_saved_and_loaded() -> None:
    for seed in range(30):
        problem = _random(seed)
        again = instances.loads(instances.dumps(problem))
        assert isinstance(again, MinCertificate)
        assert again.to_dict() == problem.to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": "1"}, "samples must be Samples, got str"),
        ({"epsilon": 1.5}, "epsilon must be a share from 0 to 1"),
        ({"required": (2,)}, "required has the feature 2, indices go from 0 to 1"),
        ({"weights": (1, -1)}, r"weights\[1\] must be an integer of at least 1, got -1"),
        ({"name": 1}, "name must be a string, got 1"),
    ],
)
def test_wrong_arguments(change: dict[str, Any], message: str) -> None:
    samples = Samples([[1, 0], [0, 1]], [1, 0])
    with pytest.raises(InvalidInstance, match=message):
        MinCertificate(**{"samples": samples, **change})


def test_wrong_files() -> None:
    data = MinCertificate(Samples([[1, 0], [0, 1]], [1, 0])).to_dict()
    for key, message in (("k", "unknown parameter 'k'"), ("epsilon", "'epsilon' is missing")):
        wrong = json.loads(json.dumps(data))
        if wrong["parameters"].pop(key, None) is None:
            wrong["parameters"][key] = 1
        with pytest.raises(InvalidInstance, match=message):
            instances.from_dict(wrong)


def test_the_checker_recounts() -> None:
    samples = Samples([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 0, 0], features=("a", "b", "c"))
    problem = MinCertificate(samples)
    result = solve(problem).to_dict()
    assert violations(problem.to_dict(), result) == []
    wrong = result | {"explanation": result["explanation"] | {"coverage": "1"}}
    assert violations(problem.to_dict(), wrong) == [
        "coverage: the result says 1, the data give 1/3"
    ]
    wrong = result | {"explanation": result["explanation"] | {"features": [2]}, "objective": 1}
    assert "sufficiency: the features are not enough" in violations(problem.to_dict(), wrong)


def test_what_is_degenerate_is_said() -> None:
    twins = MinCertificate(Samples([[1, 1]], [0]))
    assert twins._notes() == ("samples of another class agree with x on all features",)
    assert solve(twins).status is Status.INFEASIBLE
    easy = MinCertificate(Samples([[1, 0]], [1]))
    assert solve(easy).warnings == ("so few samples have another class that nothing need be kept",)
    with pytest.raises(InvalidOption, match="cannot solve problems of kind 'min-certificate'"):
        solve(easy, "search")
