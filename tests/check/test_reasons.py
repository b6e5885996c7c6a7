"""The check of sufficient reasons where several rivals, and ties, decide."""

from __future__ import annotations

from cpx import SufficientReason, check, solve
from cpx.trees import Attribute, Tree, TreeModel


def _stump(a: int, low: list[float], high: list[float], outputs: tuple[int, ...]) -> Tree:
    return Tree([a, -1, -1], [0] * 3, [0] * 3, [low, high], outputs)


def test_a_reason_must_win_against_every_rival() -> None:
    """Without any column the class ties with the second, and loses to the third."""
    trees = [
        _stump(0, [2.0, 0.0, 0.0], [0.0, 0.0, 3.0], (0, 1, 2)),
        _stump(1, [2.0, 0.0, 0.0], [1.0, 1.0, 0.0], (0, 1, 2)),
    ]
    attributes = [Attribute("a"), Attribute("b")]
    classes, base = ["own", "second", "third"], [0.0] * 3
    model = TreeModel(attributes, classes, trees, [[0.5], [0.5]], "sum", "first", base)
    problem = SufficientReason(model, [0.0, 0.0], definition="tree-specific", unit=0)
    result = solve(problem, "cpsat")
    assert result.explanation is not None
    assert result.explanation.features == (0,)
    none = problem.conclude(problem.explanation([]), True, 0, 0).to_dict()
    claim = {**result.to_dict(), "objective": 0, "bound": 0, "gap": 0.0, "trace": []}
    told = check.violations(problem.to_dict(), {**claim, "explanation": none})
    assert told == ["sufficiency: the features are not enough"]


def test_a_score_of_nothing_may_be_the_second_class() -> None:
    stump = _stump(0, [-1.0], [0.0], (0,))
    model = TreeModel([Attribute("a")], ["no", "yes"], [stump], [[0.5]], "sum", "nonnegative", [0])
    for x, label in ((1.0, "yes"), (0.0, "no")):
        problem = SufficientReason(model, [x])
        result = solve(problem, "cpsat")
        assert problem.label == label
        assert check.violations(problem.to_dict(), result.to_dict()) == []
