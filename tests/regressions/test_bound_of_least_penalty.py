"""A search for the least penalty told a bound above it: one of sets better than the best alone."""

from __future__ import annotations

import numpy as np

from cpx.backends import backend
from cpx.backends.base import Progress
from cpx.models.expected_prediction.form import TableSumForm
from cpx.options import SolveOptions
from tests.backends.table_sums import Tabled
from tests.engines import solve_alone

TABLES = (
    ((0, 1, 2), (0, -1, 2, 2, 0, 2, 0, -1)),
    ((0, 1), (0, -1, 1, -1)),
    ((0, 2), (0, 1, 2, 1)),
    ((0, 1, 2), (0, 1, -1, 2, -1, 0, -1, 0)),
    ((0, 1, 2), (0, 0, -3, -2, -2, -1, -1, -3)),
)


def test_the_bound_is_the_least_penalty() -> None:
    form = TableSumForm(
        3,
        tuple(np.array(features, dtype=np.int32) for features, _ in TABLES),
        tuple(np.array(table, dtype=np.int64) for _, table in TABLES),
        constant=-3,
        k=2,
        penalties=np.array([59363029, 29298991, 47119653]),
        target=-2,
        likeliest=True,
    )
    problem = Tabled(form)
    progress = Progress(problem, SolveOptions())
    outcome = solve_alone(backend("search"), problem, progress)
    best = problem.best()
    assert best is not None
    assert outcome.proved
    assert progress.objective == progress.best_bound == best[0]
