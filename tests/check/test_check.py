"""The checker finds every kind of wrong answer."""

from __future__ import annotations

import pytest

from cpx import KMonomial, Samples, check, solve
from cpx.models import NegativeOnly
from cpx.models.rule_set.cases import random_learning

SAMPLES = Samples(
    [[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]],
    [1, 1, 0, 0],
    weights=[1, 2, 3, 4],
    features=("a", "b", "c"),
    groups=(0, 0, 1),
)


def _pair(**arguments):
    problem = KMonomial(SAMPLES, **{"k": 2, **arguments})
    return problem.to_dict(), solve(problem).to_dict()


@pytest.mark.parametrize("kind", [KMonomial, NegativeOnly])
def test_right_answers_pass(kind) -> None:
    problem = kind(SAMPLES, k=1, required=(1,), one_per_group=True)
    assert check.violations(problem.to_dict(), solve(problem).to_dict()) == []


def test_right_infeasible_answers_pass() -> None:
    instance, result = _pair(k=0, required=(1,))
    assert result["status"] == "INFEASIBLE"
    assert check.violations(instance, result) == []


def _wrong_objective(instance, result):
    result["objective"] += 1


def _better_objective(instance, result):
    result["objective"] = result["bound"] = -1


def _wrong_features(instance, result):
    result["explanation"]["features"] = [2]


def _feature_out_of_range(instance, result):
    result["explanation"]["features"] = [3]


def _fractional_feature(instance, result):
    result["explanation"]["features"] = [0.0]


def _twice(instance, result):
    result["explanation"]["features"] = [0, 0]


def _too_many(instance, result):
    instance["parameters"]["k"] = 0


def _missing_required(instance, result):
    instance["parameters"]["required"] = [2]


def _chosen_forbidden(instance, result):
    instance["parameters"]["forbidden"] = [0]


def _two_of_a_group(instance, result):
    instance["parameters"]["one_per_group"] = True
    result["explanation"]["features"] = [0, 1]


def _bound_above_value(instance, result):
    result["bound"] = result["objective"] + 1


def _optimal_without_bound(instance, result):
    result["bound"], result["gap"] = None, None


def _wrong_gap(instance, result):
    result["gap"] = 0.5


def _wrong_precision(instance, result):
    result["explanation"]["precision"] = "1/3"


def _wrong_coverage(instance, result):
    result["explanation"]["coverage"] = None


def _wrong_words(instance, result):
    result["explanation"]["rule"]["literals"][0][1] = "z"


def _no_explanation(instance, result):
    result["explanation"] = None


def _false_infeasible(instance, result):
    result["status"], result["explanation"] = "INFEASIBLE", None


def _infeasible_with_explanation(instance, result):
    result["status"] = "INFEASIBLE"


def _rising_values(instance, result):
    result["trace"] = [[0.0, 5, None], [0.1, 6, None]]


def _trace_below_value(instance, result):
    result["trace"] = [[0.0, -1, None]]


def _unknown_problem(instance, result):
    instance["problem"] = "sorting"


CORRUPTIONS = [
    value
    for name, value in list(globals().items())
    if name.startswith("_") and callable(value) and name != "_pair" and not name.startswith("__")
]


@pytest.mark.parametrize("corrupt", CORRUPTIONS, ids=lambda f: f.__name__)
def test_wrong_answers_do_not_pass(corrupt) -> None:
    instance, result = _pair()
    assert result["explanation"]["features"] == [0]
    assert check.violations(instance, result) == []
    corrupt(instance, result)
    assert check.violations(instance, result) != []


def test_samples_may_be_an_array_whatever_the_kind() -> None:
    problem = random_learning(4)
    result = solve(problem, "search").to_dict()
    instance = {**problem.to_dict(), "samples": problem.samples.agreement}
    assert check.violations(instance, result) == []
    wrong = {**result, "objective": result["objective"] + 1}
    assert check.violations(instance, wrong) == check.violations(problem.to_dict(), wrong) != []


def test_counts_that_are_certain_are_those_of_the_samples() -> None:
    """With a confidence of 1 all rows there are were asked, and these are the samples."""
    instance, result = _pair()
    found = result["explanation"]
    assert found["precision"] == "1"
    covered = int(SAMPLES.weights[:2].sum())
    for agreeing, confidence, fields in ((covered, 1, []), (1, 1, ["fresh"]), (1, 0.9, [])):
        share = agreeing / covered
        fresh = {"agreeing": agreeing, "drawn": covered, "confidence": confidence}
        low, high = (share, share) if confidence == 1 else (0.0, 1.0)
        fresh |= {"low": low, "high": high}
        told = check.violations(instance, result | {"explanation": found | {"fresh": fresh}})
        assert [words.partition(":")[0] for words in told] == fields
        assert not any("must be" in words for words in told)


def test_side_constraints_of_rules_are_kept_and_named() -> None:
    plain = KMonomial(SAMPLES, k=2)
    limited = plain.where("not a")
    result = solve(limited)
    assert "keeps the side constraints" in result.explanation.proved
    assert check.violations(limited.to_dict(), result.to_dict()) == []
    told = check.violations(limited.to_dict(), solve(plain).to_dict())
    assert told == [
        "where: 'not a' does not hold",
        "claim: over: the result says {'k': 2}, the data give {'k': 2, 'where': 1}",
    ]


def test_required_features_that_are_none_are_no_solution() -> None:
    instance, result = _pair(k=0, required=(1,))
    instance["parameters"] |= {"k": 2, "required": [7]}
    assert check.violations(instance, result) == []
