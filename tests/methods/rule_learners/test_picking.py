"""Picks of rules against all picks there are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from cpx import solve
from cpx.check import violations
from cpx.errors import DataError, InvalidOption
from cpx.models.rule_set.methods.candidates import Literals
from cpx.models.rule_set.methods.rule_learners import (
    maximum_coverage,
    optimal_pick,
    submodular_pick,
)

Rules = list[tuple[int, ...]]


def covered(literals: Literals, rules: Rules) -> int:
    some = [literals.matrix[:, list(rule)].all(axis=1) for rule in rules]
    return int(np.logical_or.reduce(some).sum())


@pytest.mark.parametrize("budget", [1, 2, 3, 12, 20])
def test_optimal_and_greedy_picks(
    literals: Literals, same: np.ndarray, rules: Rules, budget: int
) -> None:
    size = min(budget, len(rules))
    best = max(covered(literals, list(pick)) for pick in combinations(rules, size))
    optimal = optimal_pick(literals, same, rules, budget)
    assert optimal.proved
    assert optimal.measured.covered == best
    greedy = submodular_pick(literals, same, rules, budget)
    assert best * (1 - 1 / np.e) <= greedy.measured.covered <= best
    assert not greedy.proved
    first = max(covered(literals, [rule]) for rule in rules)
    assert covered(literals, [greedy.rules[0]]) == first
    assert max(len(optimal.rules), len(greedy.rules)) <= budget


def test_greedy_ends_when_all_is_covered(literals: Literals, same: np.ndarray) -> None:
    assert submodular_pick(literals, same, [(0, 2), (), (1,)], 3).rules == ((),)


@pytest.mark.parametrize("engine", ["cpsat", "milp:highs"])
def test_engines_agree(literals: Literals, rules: Rules, engine: str) -> None:
    problem = maximum_coverage(literals, rules, 2)
    result = solve(problem, engine)
    assert result.objective == solve(problem, "search").objective
    assert not violations(problem.to_dict(), result.to_dict())


def test_bad_input(literals: Literals, same: np.ndarray) -> None:
    for pick in (submodular_pick, optimal_pick):
        with pytest.raises(DataError, match="no rules to pick"):
            pick(literals, same, [], 2)
        with pytest.raises(InvalidOption, match="budget must be"):
            pick(literals, same, [(0,)], 0)
