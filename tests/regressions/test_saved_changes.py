"""Changes in files: missing values, columns that need not change, limits that are over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.answers import Result
from cpx.models.sufficient_reason.change_problem import MinimumChange
from cpx.trees import read_model


def _two_columns() -> MinimumChange:
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    tree = read_model(DecisionTreeClassifier(random_state=0).fit(rows, [0, 0, 0, 1]))
    return MinimumChange(tree, (1.0, 1.0))


def test_a_change_to_a_missing_value_comes_back_from_its_file() -> None:
    rows = np.array([[0.0], [1.0], [np.nan]] * 20)
    fitted = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=1)
    model = read_model(fitted.fit(rows, np.isnan(rows[:, 0])))
    model = replace(model, attributes=(replace(model.attributes[0], missing=True),))
    result = cpx.solve(MinimumChange(model, (1.0,)), "hitting-sets")
    assert str(result.explanation) == "x0 is missing (now 1) gives True in place of False"
    assert Result.from_json(result.to_json()) == result


def test_a_hint_loses_columns_that_need_not_change() -> None:
    problem = _two_columns()
    both = problem.explanation((0, 1))
    assert len(both.features) == 1
    assert problem.evaluate(both).objective == 1
    # The cells of both differ, and one of them may go back.
    assert len(problem.change((0, 1), (0, 0)).features) == 1


@pytest.mark.parametrize("engine", ["hitting-sets", "cpsat"])
def test_a_limit_that_is_over_before_the_search(engine: str) -> None:
    problem = _two_columns()
    for limit in (1e-9, 1e-5, 1e-4, 3e-4):
        result = cpx.solve(problem, engine, time_limit=limit, hint=problem.explanation((0, 1)))
        assert result.status in {"OPTIMAL", "FEASIBLE", "UNKNOWN"}, result.error
        assert result.error == ""
