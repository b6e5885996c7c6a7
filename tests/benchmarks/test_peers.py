"""Reasons of PyXAI as the benchmark reads them, on answers written by hand."""

from __future__ import annotations

import pytest

from benchmarks.judging import confirmed, needs_all, valid
from benchmarks.peers import pyxai as pyxai_peer
from cpx import SufficientReason
from cpx.models.sufficient_reason.features import conditions
from cpx.trees import Attribute, Tree, TreeModel

# One third is between two singles; the tree tests "a is at most the lower one".
THIRD = 1 / 3
BELOW = 0.3333333134651184


@pytest.fixture
def model() -> TreeModel:
    """Return a tree of class yes where 1/3 < a <= 2, as votes; b is tested beside it."""
    tree = Tree(
        [0, -1, 0, 1, -1, -1, -1],
        [0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]],
        (0, 1),
    )
    thresholds = [[BELOW, 2.0], [5.0]]
    names = [Attribute("a"), Attribute("b")]
    return TreeModel(names, ["no", "yes"], [tree], thresholds, "vote", "first", [0, 0], "float32")


def test_conditions_are_found_by_their_thresholds(model: TreeModel) -> None:
    assert conditions(model) == ((0, 0), (0, 1), (1, 0))
    reason = [[0, 2.0, False], [0, THIRD, True]]
    assert pyxai_peer.as_conditions(model, reason) == (0, 1)
    assert pyxai_peer.as_columns(reason) == (0,)


def test_a_threshold_that_is_none_of_the_model_is_refused(model: TreeModel) -> None:
    with pytest.raises(AssertionError):
        pyxai_peer.as_conditions(model, [[0, 1.5, True]])


def test_reasons_are_judged_over_conditions(model: TreeModel) -> None:
    problem = SufficientReason(model, [1.0, 7.0], level="conditions")
    assert problem.label == "yes"
    assert valid(problem, (0, 1)) == (True, "checker")
    assert valid(problem, (0, 2)) == (False, "checker")
    assert needs_all(problem, (0, 1))
    assert not needs_all(problem, (0, 1, 2))
    assert confirmed(problem, (1,)) is False


def test_reasons_with_a_theory_are_judged_over_their_intervals(model: TreeModel) -> None:
    def holds(reason: list[list[object]]) -> bool:
        problem = SufficientReason(pyxai_peer.within(model, reason), [1.0, 7.0])
        return valid(problem, ())[0]

    assert holds([[0, THIRD, True], [0, 2.0, False]])
    assert not holds([[0, 2.0, False], [1, 5.0, True]])
    assert not holds([[0, THIRD, True]])
