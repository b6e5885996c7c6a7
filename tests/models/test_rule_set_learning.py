"""Rule sets to be learned: numbers of rules, the definition, saved forms, bad input."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from cpx import RuleSetSelection, Samples, solve
from cpx.answers.result import Status
from cpx.check import violations
from cpx.errors import InvalidInstance, InvalidOption
from cpx.modelling.instances import dumps, from_dict, loads, schema
from cpx.models import RuleSetLearning
from cpx.models.rule_set.cases import random_learning
from cpx.models.rule_set.judge import Learning
from cpx.models.rule_set.learning import conjunction, conjunctions, how_many, number_of

SAMPLES = Samples([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]], [1, 1, 0, 1], [3, 1, 2, 4])


@pytest.mark.parametrize(("d", "most"), [(1, 1), (5, 2), (6, 4), (4, 9)])
def test_numbers_of_rules(d: int, most: int) -> None:
    every = list(conjunctions(d, most))
    assert every == [c for size in range(most + 1) for c in combinations(range(d), size)]
    assert len(every) == how_many(d, most)
    problem = RuleSetLearning(Samples(np.eye(d, dtype=bool), np.arange(d) < 1), most)
    judged = Learning(problem.to_dict())
    assert judged.count() == problem.n_features == len(every)
    for number, literals in enumerate(every):
        assert number_of(literals, d) == number
        assert conjunction(number, d) == literals == tuple(judged.rule(number))


def test_numbers_of_large_rules() -> None:
    literals = (17, 250, 251, 399)
    problem = RuleSetLearning(Samples(np.zeros((1, 400)), [1]), 4)
    number = number_of(literals, 400)
    assert conjunction(number, 400) == literals == tuple(Learning(problem.to_dict()).rule(number))
    assert number_of((396, 397, 398, 399), 400) == problem.n_features - 1


@pytest.mark.parametrize("loss", ["zero-one", "hamming"])
def test_values_are_those_of_the_selection(loss) -> None:
    problem = RuleSetLearning(SAMPLES, 2, "0.15", loss, class_weights=(3, 1))
    rules = list(conjunctions(3, 2))
    selection = RuleSetSelection(SAMPLES, rules, "0.15", loss, class_weights=(3, 1))
    assert problem.scale == selection.scale
    for chosen in [(), (0,), (1, 3), (0, 1, 4), (2, 5, 6)]:
        mine, other = problem.explanation(chosen), selection.explanation(chosen)
        assert mine == other == problem.explanation_of([rules[r] for r in chosen])
        assert problem.evaluate(mine) == selection.evaluate(other)
        assert problem.cost(chosen) == selection.selection_form.cost(chosen)


def test_value_by_hand() -> None:
    problem = RuleSetLearning(SAMPLES, 2, "0.15")
    # M = 10, a rule costs 1.5: counted in halves. Rules: {}, a, b, c, ab, ...
    assert (problem.scale, problem.price) == (2, 3)
    assert [problem.cost(S) for S in [(), (1,), (1, 3), (3, 4)]] == [16, (2 + 4) * 2 + 3, 10, 6]


def test_shorter_rules_of_the_same_value() -> None:
    samples = Samples([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]], [1, 0, 1, 0])
    problem = RuleSetLearning(samples, 2, 0)
    # b alone covers what a and b do; a and c covers nothing; c must stay.
    long = problem.explanation_of([(0, 1), (0, 2), (2,)])
    short = problem._shortened(long)
    assert [problem.literals(rule) for rule in short.features] == [(1,), (2,)]
    assert problem.evaluate(short).objective == problem.evaluate(long).objective


def test_too_many_rules_have_no_statement() -> None:
    wide = RuleSetLearning(Samples(np.zeros((2, 30)), [0, 1]), 3)
    assert wide.n_features == 4526
    assert not wide.feature_names
    for engine in ("cpsat", "search", "local-search"):
        with pytest.raises(InvalidOption, match="4526 conjunctions of at most 3 of 30 literals"):
            solve(wide, engine)
    narrow = RuleSetLearning(Samples(np.zeros((2, 28)), [0, 1]), 3)
    assert narrow.n_features == len(narrow.feature_names) == 3683


def test_saved_and_read_again() -> None:
    (form,) = (
        s for s in schema()["oneOf"] if s["properties"]["problem"]["enum"] == ["rule-set-learning"]
    )
    for seed in range(20):
        problem = random_learning(seed)
        data = problem.to_dict()
        again = loads(dumps(problem))
        assert again.to_dict() == data
        assert set(data) <= set(form["properties"])
        assert set(data["parameters"]) <= set(form["properties"]["parameters"]["properties"])
    for key in ("max_literals", "penalty"):
        lacking = {k: v for k, v in data["parameters"].items() if k != key}
        with pytest.raises(InvalidInstance, match=key):
            from_dict({**data, "parameters": lacking})
    with pytest.raises(InvalidInstance, match="lambda"):
        from_dict({**data, "parameters": {**data["parameters"], "lambda": 1}})


def test_checker_sees_wrong_answers() -> None:
    problem = RuleSetLearning(SAMPLES, 2, "0.15")
    instance, result = problem.to_dict(), solve(problem, "cpsat").to_dict()
    assert violations(instance, result) == []

    def told(change: dict[str, object]) -> str:
        return " ".join(violations(instance, {**result, **change}))

    wider = RuleSetLearning(SAMPLES, 3, "0.15").explanation_of([(0, 1, 2)]).to_dict()
    assert "features" in told({"explanation": wider})
    assert "objective" in told({"objective": result["objective"] - 1})
    assert "bound" in told({"bound": result["objective"] + 1, "status": "FEASIBLE"})
    assert "status" in told({"status": "INFEASIBLE", "explanation": None})
    other = problem.explanation_of([(0,)]).to_dict()
    other["rule"]["literals"][0][1] = ["x1"]
    assert "rule" in told({"explanation": other})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": [[1]]}, "samples must be Samples"),
        ({"max_literals": 0}, "max_literals must be at least 1"),
        ({"max_literals": 1.5}, "max_literals must be an integer"),
        ({"penalty": -0.1}, "penalty must be"),
        ({"penalty": float("nan")}, "penalty must be"),
        ({"penalty": "1/123456789012345678901"}, "fewer digits"),
        ({"loss": "square"}, "loss must be"),
        ({"class_weights": (0, 0)}, "not both 0"),
        ({"name": 3}, "name must be"),
    ],
)
def test_bad_input_is_named(change, message: str) -> None:
    with pytest.raises(InvalidInstance, match=message):
        RuleSetLearning(**{"samples": SAMPLES, **change})
    with pytest.raises(InvalidInstance, match="no features"):
        Samples(np.zeros((2, 0)), [0, 1])


def test_one_class_is_noted() -> None:
    for same, words in (([0, 0], "no sample is of the class"), ([1, 1], "all samples are")):
        problem = RuleSetLearning(Samples([[1], [0]], same))
        assert any(words in text for text in problem._notes())


@pytest.mark.parametrize("encoding", [None, "signature"])
def test_constraints_clash_with_each_other_and_not_with_what_is_best(encoding) -> None:
    rows = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    learning = RuleSetLearning(Samples(rows, np.array([1, 1, 0, 0], dtype=bool)), 1, "1/20")
    # Rules that cover nothing of the class are worth nothing, and can be asked for.
    problem = learning.where("feature[2]", "feature[3]", "not feature[3]")
    result = solve(problem, "cpsat", encoding=encoding)
    assert result.status is Status.INFEASIBLE
    assert result.clash == ("feature[3]", "not feature[3]")
    both = solve(learning.where("feature[2]", "feature[3]"), "cpsat").explanation.features
    assert {2, 3} <= set(both)
