"""Brute force on single-rule problems: the reference for tests of engines."""

from __future__ import annotations

from itertools import combinations

from cpx.answers.values import Value
from cpx.models.monomial.problem import MonomialProblem

__all__ = ["brute_force"]


def brute_force(problem: MonomialProblem) -> tuple[Value, tuple[int, ...]] | None:
    """Return the optimum and the first optimal set of features, None when infeasible.

    Sets are tried by size, then in lexicographic order, so the returned set is the
    smallest and lexicographically first among the optimal ones, whether the problem is to
    minimise or to maximise. Meant for a dozen features.

    Examples
    --------
    >>> import numpy as np
    >>> from cpx import KMonomial, Samples
    >>> samples = Samples(np.array([[1, 0], [0, 1]], dtype=bool), np.array([False, True]))
    >>> brute_force(KMonomial(samples, k=2))
    (0, (1,))
    """
    sign = 1 if problem.sense == "min" else -1
    best: tuple[Value, tuple[int, ...]] | None = None
    for size in range(problem.k + 1):
        for chosen in combinations(range(problem.n_features), size):
            found = problem.evaluate(problem.explanation(chosen))
            if found.feasible and (best is None or sign * (found.objective - best[0]) < 0):
                best = found.objective, chosen
    return best
