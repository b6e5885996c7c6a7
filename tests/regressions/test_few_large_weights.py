"""A sum of few different, large weights became a decision diagram that filled the memory."""

from __future__ import annotations

import numpy as np
import pytest
from pysat.formula import IDPool

from cpx import MaxCoverage, Samples, solve
from cpx.answers import Status
from cpx.backends.maxsat.linear import linear_clauses

WEIGHTS = [int(2**x) for x in np.linspace(5, 29.3, 8)] * 5


def test_the_sum_has_few_clauses() -> None:
    terms = [(weight, i + 1) for i, weight in enumerate(WEIGHTS)]
    clauses = linear_clauses(terms, "<=", sum(WEIGHTS) // 2, IDPool(start_from=41))
    assert len(clauses) < 20_000


@pytest.mark.parametrize("engine", ["maxsat:rc2", "maxsat:lsu"])
def test_a_limited_precision_is_solved(engine: str) -> None:
    rng = np.random.default_rng(3)
    agreement = rng.random((40, 9)) < 0.6
    samples = Samples(agreement, agreement[:, 2] ^ (rng.random(40) < 0.3), WEIGHTS)
    problem = MaxCoverage(samples, k=3, min_precision="58/81")
    best, result = solve(problem, "search"), solve(problem, engine, time_limit=60)
    assert best.status is Status.OPTIMAL
    assert (result.status, result.objective) == (best.status, best.objective)
