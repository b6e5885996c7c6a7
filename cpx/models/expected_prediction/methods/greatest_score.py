"""The greatest score of the rows that have some states of x, exactly: a constraint model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.processes.interrupts import interruptible

if TYPE_CHECKING:
    from cpx.models.expected_prediction.base import ExpectedPrediction

_BITS = 50
"""Scores are counted in so many bits, rounded up: the bound stays valid."""


@dataclass(frozen=True)
class GreatestScore:
    """A bound on the score of every row that has some states of x.

    reached: The score of such a row, the greatest where it is the bound; None where none was
        found.
    """

    bound: Fraction
    reached: Fraction | None


def greatest_score(
    problem: ExpectedPrediction,
    chosen: Iterable[int],
    time_limit: float | None = None,
    seed: int = 0,
) -> GreatestScore:
    """Return a bound on all scores given some states of x, the greatest score unless time is up.

    Variables: Z_as, the other attribute a has state s; L_l, leaf l is reached::

        maximise    sum_l v_l L_l
        subject to  sum_s Z_as  =  1                        for each a
                    sum_{l of t} L_l  =  1                  for each tree t
                    L_l  ->  OR_{s leads to l} Z_as         for each test of a at l

    It is at most the sum of the greatest leaves of the trees, which
    :meth:`ExactScores.greatest` returns, and makes theorem 1's bound no worse.

    Parameters
    ----------
    problem : MLSE or FewestExpected
    chosen : iterable of int
        Attributes whose states are known.
    time_limit : float, optional
        Seconds.
    seed : int

    Examples
    --------
    >>> from cpx.models.expected_prediction.cases import random_expectation
    >>> problem = random_expectation(3)
    >>> found = greatest_score(problem, [])
    >>> found.reached == found.bound <= problem.scores.greatest([])
    True
    """
    import cpmpy as cp
    from cpmpy.expressions.core import Operator
    from cpmpy.solvers import CPM_ortools

    scores, leaves, S = problem.scores, problem.leaves, {*chosen}
    loose = scores.greatest(S)
    whole = max(int(abs(v)) for v in [*leaves.values, 1])
    unit = max(1, (whole * max(1, int(leaves.tree[-1]) + 1)) >> _BITS)
    states: dict[int, Any] = {
        a: cp.boolvar(shape=(size,), name=f"Z{a}")
        for a, size in enumerate(problem.distribution.cardinalities)
        if a in leaves.used and a not in S
    }
    model = cp.Model([cp.sum(list(Z)) == 1 for Z in states.values()])
    by_tree: dict[int, list[tuple[int, Any]]] = {}
    left, unknown = scores.reached(S)
    for leaf in np.flatnonzero(left).tolist():
        reached = cp.boolvar(name=f"L{leaf}")
        by_tree.setdefault(int(leaves.tree[leaf]), []).append((leaf, reached))
        tests = np.arange(leaves.starts[leaf], leaves.starts[leaf + 1])
        for test in tests[unknown[tests]].tolist():
            leading = np.flatnonzero(leaves.masks.states(leaves.mask[test])).tolist()
            own = states[leaves.attribute[test]]
            model += reached.implies(Operator("or", [own[s] for s in leading]))
    for pairs in by_tree.values():
        model += cp.sum([v for _, v in pairs]) == 1
    terms = [pair for pairs in by_tree.values() for pair in pairs]
    weights = [ceil(Fraction(leaves.values[leaf], unit)) for leaf, _ in terms]
    model.maximize(Operator("wsum", [weights, [v for _, v in terms]]))
    solver = CPM_ortools(model)
    with interruptible():  # CP-SAT stops at Ctrl-C, but would leave no handler for the next one
        found = solver.solve(time_limit=time_limit, num_workers=1, random_seed=seed)
    # A float, of an integer below 2**53.
    most = ceil(solver.ort_solver.best_objective_bound)
    bound = min(loose, Fraction(leaves.base + most * unit, leaves.scale))
    if not found:
        return GreatestScore(bound, None)
    inside = sum(leaves.values[leaf] for leaf, v in terms if v.value())
    score = Fraction(leaves.base + inside, leaves.scale)
    # The row is of the greatest score but for the rounding of each tree.
    return GreatestScore(bound, score)
