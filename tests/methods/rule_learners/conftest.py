"""Literals of random features, and rules over them."""

from __future__ import annotations

import numpy as np
import pytest

from cpx.models.rule_set.methods.candidates import Literals


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def literals(rng: np.random.Generator) -> Literals:
    features = rng.random((60, 5)) < 0.5
    return Literals(features, tuple(text for b in "abcde" for text in (b, f"not {b}")))


@pytest.fixture
def same(literals: Literals, rng: np.random.Generator) -> np.ndarray:
    a, b, c = literals.features[:, :3].T
    return ((a & b) | c) ^ (rng.random(60) < 0.1)


@pytest.fixture
def rules(rng: np.random.Generator) -> list[tuple[int, ...]]:
    return [tuple(sorted(rng.choice(10, 3, replace=False).tolist())) for _ in range(12)]
