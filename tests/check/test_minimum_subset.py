"""What is said of an answer to a problem of a smallest set that is enough for something."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from cpx.models.sufficient_reason.judge_minimum_subset import UNDECIDED, MinimumSubset, violations

Enough = Callable[[frozenset[int]], bool | None]


def both(chosen: frozenset[int]) -> bool:
    return {0, 1} <= chosen


def anything(chosen: frozenset[int]) -> bool:
    return True


def unconstrained(chosen: Iterable[int]) -> list[str]:
    return []


def said(
    enough: Enough, features: list[int] | None, status: str = "OPTIMAL", **changes: Any
) -> list[str]:
    """Judge a set of features of weights 3, 1, 2, 4, where 0 is required and 2 forbidden."""
    weights = [3, 1, 2, 4]
    value = None if features is None else sum(weights[j] for j in features if j < 4)
    result = {"status": status, "objective": value, "bound": value, "gap": 0.0, "trace": []}
    result["explanation"] = None if features is None else {"features": features}
    if status == "FEASIBLE":
        result |= {"bound": None, "gap": None}
    if features is None:
        result["gap"] = None
    return violations(
        MinimumSubset(weights, {0}, {2}, enough, lambda chosen: []), result | changes
    )


def test_right_answers_pass() -> None:
    assert said(both, [0, 1]) == []
    assert said(both, [1, 0, 3], "FEASIBLE") == []
    assert said(anything, [0, 1], "FEASIBLE") == []
    assert said(anything, [0]) == []
    assert said(lambda chosen: 2 in chosen, None, "INFEASIBLE") == []
    assert said(anything, None, "UNKNOWN") == []


@pytest.mark.parametrize(
    ("features", "told"),
    [
        ([0, 1, 4], "features: [0, 1, 4] are not all indices from 0 to 3"),
        ([0, 1, 1], "features: [0, 1, 1] names a feature twice"),
        ([1], "features: the required [0] are not chosen"),
        ([0, 2], "features: the forbidden [2] are chosen"),
        ([0, 3], "sufficiency: the features are not enough"),
        ([0, 1, 3], "status: OPTIMAL, but the feature 3 can be left out"),
    ],
)
def test_wrong_sets_are_told(features: list[int], told: str) -> None:
    assert said(both, features) == [told]


def test_wrong_values_are_told() -> None:
    wrong = said(both, [0, 1], objective=5, gap=0.25)
    assert "objective: the result says 5, the data give 4" in wrong
    # Which features are idle is said of answers that are right else.
    assert not any("left out" in told for told in said(anything, [0, 1], objective=5))
    assert said(both, [0, 1], objective="4") == ["objective: '4' is no integer"]
    assert said(both, [1, 2], objective="3") == [
        "features: the required [0] are not chosen",
        "features: the forbidden [2] are chosen",
        "objective: '3' is no integer",
    ]


def test_a_claim_that_nothing_is_enough_is_decided_by_all_that_is_allowed() -> None:
    all_allowed = "status: INFEASIBLE, but all features that are allowed are enough together"
    assert said(lambda chosen: chosen == {0, 1, 3}, None, "INFEASIBLE") == [all_allowed]
    clash = MinimumSubset([1, 1], {0}, {0}, anything, unconstrained)
    nothing = {"status": "INFEASIBLE", "objective": None, "bound": None, "gap": None, "trace": []}
    assert violations(clash, nothing | {"explanation": None}) == []


def test_what_is_not_decided_is_told() -> None:
    assert said(lambda chosen: None, [0], "FEASIBLE") == [UNDECIDED]
    assert said(lambda chosen: None, None, "INFEASIBLE") == [UNDECIDED]
