from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from cpx import KMonomial, Samples, solve
from cpx.reproduce.koriche.solving import _of_exact_size, exactly


def _random(seed: int) -> Samples:
    rng = np.random.default_rng(seed)
    agreement = rng.random((60, 7)) < 0.5
    same = agreement[:, :2].all(axis=1) ^ (rng.random(60) < 0.2)
    return Samples(agreement, same, rng.integers(1, 4, 60))


def _loss(samples: Samples, features: tuple[int, ...]) -> int:
    covered = samples.agreement[:, list(features)].all(axis=1)
    return int(samples.weights[covered != samples.same].sum())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [0, 2, 4, 7])
@pytest.mark.parametrize("engine", ["cpsat", "search"])
def test_rules_of_exactly_k_features(engine: str, k: int, seed: int) -> None:
    samples = _random(seed)
    asked = KMonomial(samples, k)
    result = _of_exact_size(solve(KMonomial(exactly(samples), k), engine), asked)
    best = min(_loss(samples, s) for s in itertools.combinations(range(7), k))
    assert result.explanation is not None
    assert len(result.explanation.features) == k
    assert (result.objective, result.bound) == (best, best)
    assert _loss(samples, result.explanation.features) == best
    covered = samples.agreement[:, list(result.explanation.features)].all(axis=1)
    assert result.explanation.coverage == Fraction(
        int(samples.weights[covered].sum()), samples.total
    )


def test_a_shorter_rule_is_no_answer() -> None:
    samples = _random(0)
    asked, longer = KMonomial(samples, 3), KMonomial(exactly(samples), 3)
    # As after a time limit: a solution of two features only.
    stopped = solve(longer, "milp", time_limit=1e-6, hint=[0, 1])
    assert stopped.explanation is not None
    result = _of_exact_size(stopped, asked)
    assert (str(result.status), result.explanation, result.objective) == ("UNKNOWN", None, None)
    assert result.bound is None or result.bound >= 0
