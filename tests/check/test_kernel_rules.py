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
