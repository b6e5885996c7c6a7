"""A search for the least penalty told a bound above it: one of sets better than the best alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cpx.backends import backend
from cpx.backends.base import Progress
from cpx.options import SolveOptions
from tests.backends.table_sums import Tabled, random_tables


def test_the_bound_is_the_least_penalty() -> None:
    rng = np.random.default_rng(7587)
    form = random_tables(rng, most=8)
    values = [form.value(S) for S in Tabled(form).allowed()]
    target = int(rng.choice(values)) + int(rng.random() < 0.1) * 3
    problem = Tabled(replace(form, target=target, likeliest=True))
    progress = Progress(problem, SolveOptions())
    outcome = backend("search").solve(problem, progress.options, progress)
    best = problem.best()
    assert best is not None
    assert outcome.proved
    assert progress.objective == progress.best_bound == best[0]
