"""The check of rule sets: the set that refutes bounds, and samples given as an array."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cpx import RuleSetSelection, Samples, solve
from cpx.check import violations
from cpx.models import RuleSetLearning
from cpx.models.rule_set.judge import Learning, Selection, _by_column, _Sets
from tests.seeds import each


def _drawn(seed: int) -> Samples:
    rng = np.random.default_rng(seed)
    return Samples(rng.random((12, 4)) < 0.5, rng.random(12) < 0.5, rng.integers(1, 4, 12))


@pytest.mark.parametrize("loss", ["zero-one", "hamming"])
@each(range(36))
def test_the_set_that_refutes_bounds_is_the_best_of_its_size(seed: int, loss: str) -> None:
    samples = _drawn(seed)
    rules = [(0,), (1,), (0, 2), (3,), ()]
    required = ([], [1], [0, 2])[seed % 3]
    limits = {"max_rules": len(required) + 1, "max_overlap": 9, "required": required}
    selection = RuleSetSelection(samples, rules, penalty="0.02", loss=loss, **limits)
    learning = RuleSetLearning(samples, 1, "0.02", loss)
    judges: list[_Sets] = [Selection(selection.to_dict()), Learning(learning.to_dict())]
    for judge in judges:
        base = sorted(judge.parameters.get("required", ()))
        sets = [base, *([*base, r] for r in range(judge.count()) if r not in base)]
        allowed = [rules for rules in sets if not judge.broken(rules)]
        found = judge.small_set()
        assert found is not None
        assert judge.objective(found) == min(map(judge.objective, allowed))


def _claim(problem: RuleSetSelection, chosen: list[int]) -> list[str]:
    """Return what is said of a claim that a selection is optimal."""
    found = problem.explanation(chosen)
    value = problem.evaluate(found).objective
    shown = problem._conclude(found, True, value, value).to_dict()
    claim = {**solve(problem).to_dict(), "objective": value, "bound": value, "gap": 0.0}
    return violations(problem.to_dict(), {**claim, "trace": [], "explanation": shown})


def test_a_selection_must_keep_its_limits_and_no_small_set_be_better() -> None:
    samples = Samples([[1, 0], [1, 1], [0, 1], [0, 0]], [1, 1, 0, 0])
    rules = [(0,), (1,), (0, 1)]
    free = RuleSetSelection(samples, rules, penalty="0.05")
    assert _claim(free, [0]) == []
    (told,) = _claim(free, [1])
    assert told == "bound: 11 is beyond the value 1 of the features [0]"
    assert _claim(RuleSetSelection(samples, rules, penalty="0.05", required=[1]), [0]) == [
        "rules: the required [1] are not selected"
    ]
    assert _claim(RuleSetSelection(samples, rules, penalty="0.05", forbidden=[0]), [0]) == [
        "rules: the forbidden [0] are selected"
    ]


def test_limits_are_met_exactly_or_broken_by_one() -> None:
    """Rules 0 and 1 have four literals in all, and cover samples of weight 5 both."""
    rows = [[1, 1, 1], [1, 1, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]]
    samples = Samples(rows, [1, 1, 1, 1, 0], [2, 3, 5, 5, 9])
    rules = [(0, 1), (1, 2), (0, 1, 2)]
    met = {"max_rules": 2, "max_literals": 4, "max_overlap": 5}
    assert _claim(RuleSetSelection(samples, rules, **met), [0, 1]) == []
    for name, most in met.items():
        limited = RuleSetSelection(samples, rules, **{**met, name: most - 1})
        assert _claim(limited, [0, 1]) == [f"{name}: {most}, at most {most - 1} allowed"]


@pytest.mark.parametrize("great", [1, 2**52 - 1, 2**52])
def test_errors_of_many_rules_are_added_exactly(great: int) -> None:
    """Each of 2048 rules covers a bad sample: 64 bits may not hold the Hamming loss."""
    problem = RuleSetSelection(Samples([[1]], [0]), [(0,)] * 2048, loss="hamming")
    data = Selection(problem.to_dict() | {"weights": [great]})
    assert data.wrong([*range(2048)]) == 2048 * great


def test_rules_without_a_penalty_are_free() -> None:
    instance = RuleSetSelection(_drawn(0), [(0,)]).to_dict()
    instance["parameters"].pop("penalty", None)
    assert Selection(instance).price == 0


def test_the_price_of_a_rule_is_that_of_the_instance() -> None:
    problem = RuleSetLearning(_drawn(0), 2, "0.05")
    result = solve(problem, "column-generation").to_dict()
    found = result["explanation"]
    # As the classifier of rule sets gives it.
    own = Fraction(problem.penalty) * problem.samples.total
    for price, said in ((own, []), (own + 1, ["price"])):
        priced = {**found, "rule": {**found["rule"], "price": str(price)}}
        told = violations(problem.to_dict(), {**result, "explanation": priced})
        assert [text.split(":")[0] for text in told] == said


def test_samples_may_be_an_array() -> None:
    problem = RuleSetLearning(_drawn(0), 2, "0.05")
    result = solve(problem, "column-generation").to_dict()
    assert violations(problem._to_check(), result) == violations(problem.to_dict(), result) == []
    wrong = {**result, "objective": result["objective"] + 1}
    told = violations(problem._to_check(), wrong)
    assert told
    assert told == violations(problem.to_dict(), wrong)


def test_learned_rules_are_those_that_there_are() -> None:
    """Of 4 features there are 11 conjunctions of at most two."""
    problem = RuleSetLearning(_drawn(0), 2, "0.05")
    result = solve(problem, "column-generation").to_dict()
    for features in ([11], [-1], [0, 0]):
        claim = {**result, "explanation": {**result["explanation"], "features": features}}
        (told,) = violations(problem.to_dict(), claim)
        assert told.startswith(f"features: {features} ")


def test_a_table_by_columns_has_all_rows() -> None:
    rows = np.ones((700, 1000), dtype=np.bool_)
    assert _by_column(rows).all()
