"""The exact search of sums of tables, against trying all sets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cpx.backends import backend
from cpx.backends.base import Outcome, Progress
from cpx.backends.search.table_sums.ascent import ascend
from cpx.backends.search.table_sums.beam import beam
from cpx.backends.search.table_sums.branch_and_bound import BranchAndBound
from cpx.backends.search.table_sums.forest import spanning_forest
from cpx.backends.search.table_sums.objective import GreatestValue, LeastPenalty
from cpx.options import SolveOptions
from tests.backends.table_sums import Tabled, random_tables


def targeted(rng: np.random.Generator, *, likeliest: bool) -> Tabled:
    """Return a problem with a target that some sets have, or none."""
    form = random_tables(rng, most=8)
    values = [form.value(S) for S in Tabled(form).allowed()]
    target = int(rng.choice(values)) + int(rng.random() < 0.1) * 3
    return Tabled(replace(form, target=target, likeliest=likeliest))


def run(problem: Tabled, **options: object) -> tuple[Progress, Outcome]:
    """Solve with the engine alone."""
    progress = Progress(problem, SolveOptions(**options))
    return progress, backend("search").solve(problem, progress.options, progress)


def check(problem: Tabled, **options: object) -> None:
    """Solve, and compare with all sets."""
    progress, outcome = run(problem, **options)
    best = problem.best()
    assert outcome.proved
    if best is None:
        assert progress.explanation is None
        return
    assert progress.explanation is not None
    found = progress.explanation.features
    assert problem.form.allows(found)
    assert problem.key(found) == best
    assert progress.objective == progress.best_bound == outcome.claimed == best[0]
    assert outcome.best_of_ties or problem.form.likeliest
    sign = 1 if problem.sense == "min" else -1
    assert all(sign * point.bound <= sign * best[0] for point in progress.trace if point.bound)


@pytest.mark.parametrize("seed", range(150))
def test_greatest_value_and_of_these_the_least_penalty(seed: int) -> None:
    check(Tabled(random_tables(np.random.default_rng(seed))))


@pytest.mark.parametrize("seed", range(60))
def test_fewest_features_and_of_these_the_least_penalty(seed: int) -> None:
    check(targeted(np.random.default_rng(seed), likeliest=False))


@pytest.mark.parametrize("seed", range(60))
def test_least_penalty(seed: int) -> None:
    check(targeted(np.random.default_rng(seed), likeliest=True))
