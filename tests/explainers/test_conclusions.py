"""Of the most precise rules the one that covers most; how often the classifier is asked."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

import cpx
from cpx import check
from cpx.answers.result import Status
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.explainers.conclusions import break_tie
from cpx.models.monomial.precision_coverage import MaxPrecision
from cpx.models.monomial.weighted import KMonomial
from cpx.solving import solve
from tests.seeds import each


def most_covered(problem, precision):
    """Return the greatest coverage of the rules of that precision, by enumeration."""
    covered = []
    for size in range(problem.k + 1):
        for chosen in combinations(range(problem.n_features), size):
            found = problem.evaluate(problem.explanation(chosen))
            if found.feasible and found.objective == precision:
                covered.append(found.coverage)
    return max(covered)


@each(range(80), 20)
def test_random_problems(seed):
    problem = random_problem(seed, kinds=(MaxPrecision,))
    first = solve(problem, "search")
    found = break_tie(problem, first)
    if first.status is not Status.OPTIMAL:
        assert found is first
        return
    assert (found.objective, found.bound) == (first.objective, first.bound)
    assert found.explanation.coverage == most_covered(problem, first.objective)
    assert found.explanation.precision.exact == first.objective
    assert found.explanation.proved.endswith("no rule that is as precise covers more")
    assert check.violations(problem.to_dict(), found.to_dict()) == []
    assert found.times.total >= first.times.total


def test_what_is_no_proved_precision_of_the_search_is_left_alone():
    problem = random_problem(1, kinds=(MaxPrecision,), limited=False)
    first = solve(problem, "search")
    assert first.status is Status.OPTIMAL
    for other in (
        replace(first, status=Status.FEASIBLE),
        replace(first, backend="cpsat"),
        replace(first, explanation=None),
        replace(first, options={**first.options, "time_limit": first.times.total / 2}),
    ):
        assert break_tie(problem, other) is other
    loss = random_problem(1, kinds=(KMonomial,))
    answer = solve(loss, "search")
    assert break_tie(loss, answer) is answer


def test_the_classifier_is_asked_about_x_once():
    table = np.random.default_rng(0).integers(0, 2, (60, 4))
    asked = []

    def first(rows):
        asked.append(len(rows))
        return rows[:, 0]

    found = cpx.explain(first, table, table[0], k=2, fresh=50, m=100)
    assert found.features
    assert asked == [1, 100, 50]
