"""The check of rule sets: the set that refutes bounds, and samples given as an array."""

from __future__ import annotations

import numpy as np
import pytest

from cpx import RuleSetLearning, RuleSetSelection, Samples, solve
from cpx.check import violations
from cpx.check.rule_sets import _Learning, _Selection, _Sets


def _drawn(seed: int) -> Samples:
    rng = np.random.default_rng(seed)
    return Samples(rng.random((12, 4)) < 0.5, rng.random(12) < 0.5, rng.integers(1, 4, 12))


@pytest.mark.parametrize("loss", ["zero-one", "hamming"])
@pytest.mark.parametrize("seed", range(12))
def test_the_set_that_refutes_bounds_is_the_best_of_its_size(seed: int, loss: str) -> None:
    samples = _drawn(seed)
    rules = [(0,), (1,), (0, 2), (3,), ()]
    limits = {"max_rules": 2, "max_overlap": 5, "required": [1] * (seed % 3 == 0)}
    selection = RuleSetSelection(samples, rules, penalty="0.02", loss=loss, **limits)
    learning = RuleSetLearning(samples, 1, "0.02", loss)
    judges: list[_Sets] = [_Selection(selection.to_dict()), _Learning(learning.to_dict())]
    for judge in judges:
        base = sorted(judge.parameters.get("required", ()))
        sets = [base, *([*base, r] for r in range(judge.count()) if r not in base)]
        allowed = [rules for rules in sets if not judge.broken(rules)]
        found = judge.small_set()
        assert found is not None
        assert judge.objective(found) == min(map(judge.objective, allowed))


def test_samples_may_be_an_array() -> None:
    problem = RuleSetLearning(_drawn(0), 2, "0.05")
    result = solve(problem, "column-generation").to_dict()
    assert violations(problem.to_check(), result) == violations(problem.to_dict(), result) == []
    wrong = {**result, "objective": result["objective"] + 1}
    told = violations(problem.to_check(), wrong)
    assert told
    assert told == violations(problem.to_dict(), wrong)
