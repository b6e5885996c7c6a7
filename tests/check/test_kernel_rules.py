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
    shown = problem._conclude(worse, True, value, value)
    result |= {"objective": value, "bound": value, "gap": 0.0, "trace": []}
    result["explanation"] = {**result["explanation"], **shown.to_dict()}
    told = check.violations(problem.to_dict(), result)
    assert told == [f"bound: {value} is beyond the value 5 of the features [0, 1]"]


def test_a_side_constraint_rules_out_formulas() -> None:
    plain = KernelRule([[1, 0], [0, 1]], [3, 2], 1, 1)
    best = solve(plain, "search").to_dict()
    assert best["explanation"]["features"] == [0]
    limited = plain.where("not x0").to_dict()
    told = check.violations(limited, best)
    assert any(words.startswith("where: ") for words in told)
    # A formula of feature 1 alone is allowed, and enough to refute that there is none.
    none = {**best, "status": "INFEASIBLE", "explanation": None, "trace": []}
    none |= {"objective": None, "bound": None, "gap": None}
    assert check.violations(limited, none) == [
        "status: INFEASIBLE, but a formula of one feature is allowed"
    ]
    assert check.violations(plain.where("not x0", "not x1").to_dict(), none) == []


def test_without_conditions_the_words_of_clauses_are_missing() -> None:
    problem = KernelRule([[1, 0], [0, 1]], [3, 2], 2, 1)
    result = solve(problem, "search").to_dict()
    result["explanation"]["rule"]["conditions"] = []
    told = check.violations(problem.to_dict(), result)
    assert "conditions: missing, without them the clauses are joined by 'and'" in told
