"""The check of sufficient reasons where several rivals, and ties, decide."""

from __future__ import annotations

import itertools
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cpx import SufficientReason, check, solve
from cpx.models.sufficient_reason import judge as reasons
from cpx.trees import Attribute, Tree, TreeModel
from tests.seeds import each


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
    none = problem._conclude(problem.explanation([]), True, 0, 0).to_dict()
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


def _refused(problem: SufficientReason, features: tuple[int, ...]) -> bool:
    """Say whether a set of features is said not to be enough."""
    found = {"features": [*features], "rule": {"literals": []}}
    claim = {"status": "FEASIBLE", "objective": len(features), "bound": 0, "gap": None}
    told = check.violations(problem.to_dict(), {**claim, "trace": [], "explanation": found})
    return any(words.startswith("sufficiency") for words in told)


@pytest.mark.parametrize("definition", ["sufficient", "tree-specific"])
def test_one_rival_that_may_win_is_enough_to_refute(definition: str) -> None:
    """The second class never wins: without any column the third does."""
    trees = [
        _stump(0, [2.0, 0.0, 0.0], [0.0, 0.0, 3.0], (0, 1, 2)),
        _stump(1, [2.0, 0.0, 0.0], [1.0, 1.0, 0.0], (0, 1, 2)),
    ]
    attributes, base = [Attribute("a"), Attribute("b")], [0.5, 0.0, 0.0]
    classes = ["own", "second", "third"]
    model = TreeModel(attributes, classes, trees, [[0.5], [0.5]], "sum", "first", base)
    problem = SufficientReason(model, [0.0, 0.0], definition=definition)
    assert _refused(problem, ())
    assert not _refused(problem, (0,))


@each(range(60), 15)
def test_a_majority_is_counted_against_the_worst_rival(seed: int) -> None:
    """Against all rows: trees that may vote otherwise all vote for one rival."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 10)), 3
    shape = [0, 1, -1, -1, 2, -1, -1]
    trees, votes = [], []
    for _ in range(n):
        votes.append(rng.integers(0, 3, 4))
        # The second test only now and then, so that some trees are sure of one column.
        votes[-1][3] = votes[-1][2] if rng.random() < 0.5 else votes[-1][3]
        trees.append(Tree(shape, [0] * 7, [0] * 7, np.eye(3)[votes[-1]], (0, 1, 2)))
    base = (rng.integers(-6, 7, 3) / 4).tolist() if seed % 2 else [0.0] * 3
    model = TreeModel(
        [Attribute(name, "boolean") for name in "abc"],
        ["u", "v", "w"], trees, [[0.5]] * 3, "vote", "first", base,
    )  # fmt: skip
    x = rng.integers(0, 2, d).tolist()
    problem = SufficientReason(model, x, definition="majoritary")
    own = problem.label_index

    def vote(tree: int, row: tuple[int, ...]) -> int:
        return int(votes[tree][row[1] if not row[0] else 2 + row[2]])

    def wins(sure: int) -> bool:
        leads = [Fraction(2 * sure - n) + Fraction(base[own]) - Fraction(v) for v in base]
        return all(lead > 0 or (lead == 0 and own < r) for r, lead in enumerate(leads) if r != own)

    for size in range(d + 1):
        for S in itertools.combinations(range(d), size):
            rows = [*itertools.product(*([x[j]] if j in S else [0, 1] for j in range(d)))]
            sure = sum(all(vote(t, row) == own for row in rows) for t in range(n))
            assert _refused(problem, S) != wins(sure), S
    reading = reasons.Reason(problem.to_dict())
    assert reading._votes_needed() == next(v for v in itertools.count() if wins(v))


@pytest.mark.parametrize(("decision", "refused"), [("positive", True), ("nonnegative", False)])
def test_a_rounded_loss_may_end_in_a_tie(decision: Any, refused: bool) -> None:
    """The score of x is 1, and without any column 0: whose class that is decides."""
    trees = [_stump(0, [1.0], [0.0], (0,)), _stump(1, [0.0], [1.0], (0,))]
    attributes = [Attribute("a"), Attribute("b")]
    model = TreeModel(attributes, ["no", "yes"], trees, [[0.5]] * 2, "sum", decision, [0.0])
    for unit in (0, 1):
        problem = SufficientReason(model, [0, 0], definition="tree-specific", unit=unit)
        assert _refused(problem, ()) == refused
        assert not _refused(problem, (0,))


def test_a_score_of_nothing_is_the_first_class_unless_it_is_said_to_be_the_second() -> None:
    stump = _stump(0, [0.0], [1.0], (0,))
    model = TreeModel([Attribute("a")], ["no", "yes"], [stump], [[0.5]], "sum", "positive", [0])
    problem = SufficientReason(model, [0.0])
    assert problem.label == "no"
    assert check.violations(problem.to_dict(), solve(problem, "cpsat").to_dict()) == []


def test_reading_counts_in_the_time_of_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Noted(reasons.Reason):
        def __init__(self, instance: Any, forest: Any) -> None:
            super().__init__(instance, forest)
            made.append(self)

    stump = _stump(0, [0.0], [1.0], (0,))
    model = TreeModel([Attribute("a")], ["no", "yes"], [stump], [[0.5]], "sum", "positive", [0])
    problem = SufficientReason(model, [0.0])
    result = solve(problem, "cpsat").to_dict()
    ticks = itertools.count(5)
    monkeypatch.setattr(reasons, "Reason", Noted)
    monkeypatch.setattr(reasons, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
    assert reasons.judge(problem.to_dict(), 10.0)(result) == []
    # Read from 5 to 6; what is left of the ten seconds counts from 7.
    assert [reading.deadline for reading in made] == [16.0]
