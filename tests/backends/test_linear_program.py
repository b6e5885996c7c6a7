"""Linear programs that are solved once: as SciPy solves them."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from cpx.backends.linear_program import minimum


def test_minima_and_what_rows_are_worth_are_those_of_scipy() -> None:
    rng, without = np.random.default_rng(0), 0
    for _ in range(40):
        rows, n = int(rng.integers(1, 6)), int(rng.integers(1, 7))
        costs, matrix = rng.normal(size=n), rng.integers(-2, 3, (rows, n)).astype(float)
        high = rng.integers(-1, 4, rows).astype(float) + rng.random(rows)
        equal = rng.random(rows) < 0.2
        most = np.where(rng.random(n) < 0.7, rng.random(n), np.inf)
        expected = linprog(
            costs,
            A_ub=matrix[~equal],
            b_ub=high[~equal],
            A_eq=matrix[equal],
            b_eq=high[equal],
            bounds=np.stack([np.zeros(n), most], axis=1),
        )
        found = minimum(costs, csr_array(matrix), high, most, np.where(equal, high, -np.inf))
        assert (found is None) == (expected.status != 0)
        if found is None:
            without += 1
            continue
        values, worth = found
        assert np.isclose(costs @ values, expected.fun)
        assert np.allclose(worth[~equal], expected.ineqlin.marginals)
        assert np.allclose(worth[equal], expected.eqlin.marginals)
    assert 5 < without < 35
