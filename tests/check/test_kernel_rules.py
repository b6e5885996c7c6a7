"""Bounds of kernel rules that a small rule refutes, and those that none does."""

from __future__ import annotations

from cpx import KernelRule, check, solve


def test_two_features_refute_no_bound_where_one_is_allowed() -> None:
    problem = KernelRule([[1, 1], [1, 0], [0, 1]], [3, -5, -5], 1, 1)
    result = solve(problem, "search")
    assert (result.objective, result.bound) == (-2, -2)
    assert check.violations(problem.to_dict(), result.to_dict()) == []


def test_nothing_is_better_than_all_positive_weight() -> None:
    problem = KernelRule([[1, 0], [0, 1]], [1, -2], 1, 1)
    result = solve(problem, "search").to_dict()
    assert (result["status"], result["objective"]) == ("OPTIMAL", 1)
    result |= {"status": "FEASIBLE", "bound": 2, "gap": 1.0}
    told = check.violations(problem.to_dict(), result)
    assert "status: FEASIBLE, but no rule has more than 1" in told


def test_a_bound_that_a_rule_of_two_features_exceeds_is_refuted() -> None:
    problem = KernelRule([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]], [5, -2, -2, 1], 1, 2)
    best = problem.explanation([0, 1])
    assert problem.evaluate(best).objective == 5
    worse = problem.explanation([2])
    value = problem.evaluate(worse).objective
    result = solve(problem, "search").to_dict()
    shown = problem.conclude(worse, True, value, value)
    result |= {"objective": value, "bound": value, "gap": 0.0, "trace": []}
    result["explanation"] = {**result["explanation"], **shown.to_dict()}
    told = check.violations(problem.to_dict(), result)
    assert told == [f"bound: {value} is beyond the value 5 of the features [0, 1]"]
