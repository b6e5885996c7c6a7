"""Column generation where a side constraint demands rules that cover no sample of the class."""

from __future__ import annotations

import itertools

import pytest

import cpx
from cpx.models.rule_set.learning import RuleSetLearning

SAMPLES = cpx.Samples(
    [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0]],
    [0, 0, 0, 1, 0, 1],
    weights=[1000000, 1, 1000000000, 1000001, 1000000000, 1000000],
    features=("a", "b", "c"),
)
NONE = cpx.Samples([[1, 1], [1, 0], [0, 0], [0, 1]], [0] * 4, features=("a", "b"))


def best(problem: RuleSetLearning) -> int | None:
    """Return the least objective of all sets of rules, by trying them all; None without one."""
    d = problem.samples.d
    rules = [
        r for n in range(problem.max_literals + 1) for r in itertools.combinations(range(d), n)
    ]
    found = []
    for n in range(len(rules) + 1):
        for rows in itertools.combinations(rules, n):
            evaluation = problem.evaluate(problem.explanation_of(rows))
            if evaluation.feasible:
                found.append(int(evaluation.objective))
    return min(found, default=None)


@pytest.mark.parametrize(
    ("samples", "penalty", "loss", "where"),
    [
        (SAMPLES, "1/3", "zero-one", ["a", "c - 2 * b - a == -2"]),
        (NONE, "0.01", "hamming", ["a + 3 * b >= 3"]),
        (NONE, "0.01", "zero-one", ["a or b"]),
        (NONE, "1/2", "hamming", ["a", "not a"]),
    ],
)
def test_the_value_is_that_of_all_sets_of_rules(samples, penalty, loss, where) -> None:
    problem = RuleSetLearning(samples, 2, penalty, loss=loss).where(*where)
    result = cpx.solve(problem, "column-generation")
    assert (result.status, result.objective) == (
        "INFEASIBLE" if best(problem) is None else "OPTIMAL",
        best(problem),
    )
