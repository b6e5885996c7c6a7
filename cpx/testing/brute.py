"""Brute force: the reference for tests of engines."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from cpx.answers.values import Value


def brute_force(problem: Any) -> tuple[Value, tuple[int, ...]] | None:
    """Return the optimum and the first best set of features, None when infeasible.

    Sets are tried by size, then in lexicographic order, so the returned set is the
    smallest and lexicographically first among the optimal ones of least tie, whether the problem
    is to minimise or to maximise. Meant for a dozen features.

    problem: With ``n_features``.

    >>> import numpy as np
    >>> from cpx import KMonomial, Samples
    >>> samples = Samples(np.array([[1, 0], [0, 1]], dtype=bool), np.array([False, True]))
    >>> brute_force(KMonomial(samples, k=2))
    (0, (1,))
    """
    sign, n = 1 if problem.sense == "min" else -1, problem.n_features
    best: tuple[Value, int] | None = None
    first: tuple[int, ...] = ()
    for size in range(getattr(problem, "k", n) + 1):
        for chosen in combinations(range(n), size):
            found = problem.evaluate(problem.explanation(chosen))
            value = sign * found.objective, found.tie
            if found.feasible and (best is None or value < best):
                best, first = value, chosen
    return None if best is None else (sign * best[0], first)


def optimum(problem: Any) -> Value | None:
    """Return the optimum of a problem as :func:`brute_force` finds it, None when infeasible."""
    found = brute_force(problem)
    return None if found is None else found[0]
