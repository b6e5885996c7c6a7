"""Reasons at the level of intervals, each end of which counts, against all rows and all sets."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from cpx import SufficientReason, solve
from cpx.check import violations
from cpx.data.condition import Bounds
from cpx.errors import InvalidInstance
from cpx.models.sufficient_reason.brute import SufficientReason as AllRows
from cpx.models.sufficient_reason.draw import random_reason
from cpx.trees import Attribute, Tree, TreeModel
from tests.seeds import each


@pytest.mark.parametrize("definition", ["sufficient", "tree-specific"])
@each(range(200), 8)
def test_the_fewest_ends_are_found_proved_and_checked(seed: int, definition: str) -> None:
    problem = random_reason(seed, level="intervals", definition=definition)
    truth = AllRows(problem.to_dict())
    assert truth.n == problem.n_features
    sets = [S for r in range(truth.n + 1) for S in itertools.combinations(range(truth.n), r)]
    assert all(problem.enough(S) == truth.enough(frozenset(S)) for S in sets)
    least = min((v for S in sets if (v := truth.value(S)) is not None), default=None)
    full = definition == "sufficient"
    result = solve(problem, "hitting-sets" if full else "cpsat", proof=full)
    assert result.objective == least
    assert result.verified or least is None
    assert result.proof is not None or not full
    deleted = solve(problem, "deletion")
    if deleted.explanation is not None:
        S = deleted.explanation.features
        assert not any(problem.enough((*{*S} - {j},)) for j in {*S} - {*problem.required})
        assert not violations(problem.to_dict(), deleted.to_dict())


def _between() -> TreeModel:
    """Return the tree that says yes where b is above 1 and at most 3, or above 4, or a above 2."""
    tree = Tree(
        [0, 1, -1, 1, -1, 1, -1, -1, -1],
        [0, 0, 0, 1, 0, 2, 0, 0, 0],
        [0] * 9,
        [[-1.0], [1.0], [-1.0], [1.0], [1.0]],
        (0,),
    )
    names = [Attribute("a"), Attribute("b")]
    return TreeModel(names, ["no", "yes"], [tree], [[2], [1, 3, 4]], "sum", "positive", [0])


def test_what_is_said_and_how_ends_are_named() -> None:
    found = solve(SufficientReason(_between(), (0, 2), "intervals")).explanation
    assert str(found) == "1 < b <= 3 => yes"
    assert found.proved.startswith("2 interval ends, minimum: no sufficient reason is smaller")
    assert found.guarantee.startswith("1 < b <= 3 forces yes, whatever the other column is")
    above = SufficientReason(_between(), (0, 9), "intervals")
    assert above.feature_names == ("a <= 2", "b > 4")
    assert str(solve(above).explanation) == "b > 4 => yes"
    assert solve(SufficientReason(_between(), (5, 9), "intervals", required=["b"])).objective == 1
    both = SufficientReason(_between(), (5, 2), "intervals", required=["b"])
    assert both.required == (1, 2)
    with pytest.raises(InvalidInstance, match="'c' names no interval end"):
        SufficientReason(_between(), (0, 2), "intervals", required=["c"])


def test_an_end_that_says_more_than_the_features_is_refused() -> None:
    problem = SufficientReason(_between(), (0, 2), "intervals")
    found = solve(problem).explanation
    result = solve(problem).to_dict()
    for within, wrong in (
        ((((">", 1.0), ("<=", 3.0)),), ""),
        ((((">", 1.0),),), "do not force the class"),
        (((("<=", 3.0),),), "do not force the class"),
        ((((">", 3.0),),), "are not true of x"),
    ):
        rule = replace(found.rule, conditions=(Bounds("b", within),))
        said = {**result, "explanation": replace(found, rule=rule).to_dict()}
        told = " ".join(violations(problem.to_dict(), said))
        assert (wrong in told) if wrong else not told
    # With the upper end alone, the condition may not have a lower one.
    alone = SufficientReason(
        _between(), (5, 2), "intervals", required=["b <= 3"], forbidden=["b > 1"]
    )
    less = solve(alone)
    assert less.objective == 2
    narrow = (Bounds("a", (((">", 2.0),),)), Bounds("b", (((">", 1.0), ("<=", 3.0)),)))
    rule = replace(less.explanation.rule, conditions=narrow)
    said = {**less.to_dict(), "explanation": replace(less.explanation, rule=rule).to_dict()}
    assert "one for each column" in " ".join(violations(alone.to_dict(), said))


def test_a_model_that_is_kept_for_other_rows_is_read_anew_once_it_is_altered() -> None:
    saved = [
        (problem.to_dict(), solve(problem).to_dict())
        for problem in (SufficientReason(_between(), x) for x in ((0, 2), (5, 0), (0, 9)))
    ]
    for instance, result in (*saved, *saved):
        assert not violations(instance, result)
    instance, result = saved[-1]
    values = instance["model"]["trees"][0]["values"]
    values[:] = [(-float.fromhex(v)).hex() for v in values]
    assert violations(instance, result)
