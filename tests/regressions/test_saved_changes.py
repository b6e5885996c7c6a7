"""Changes in files: missing values, columns that need not change, limits that are over."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.answers import Result
from cpx.models.sufficient_reason.change_problem import MinimumChange
from cpx.models.sufficient_reason.judge_change import class_of
from cpx.testing.random_trees import random_row, random_tree_model
from cpx.trees import Attribute, Tree, TreeModel, read_model
from tests.seeds import each


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


@each(range(300))
def test_the_class_of_a_row_by_one_walk_through_each_tree(seed: int) -> None:
    model = random_tree_model(seed, most_attributes=6)
    for more in range(3):
        row = random_row(model, seed + more)
        plain = [None if math.isnan(v) else v for v in row]
        assert class_of(model.to_dict(), plain) == model.predict(np.array([row]))[0]


def test_tests_that_none_or_all_pass() -> None:
    for split, leaf in ((-1, 2.0), (1, 1.0)):
        tree = Tree([0, -1, -1], [split, 0, 0], [0, 0, 0], [[1.0], [leaf - 3.0]], (0,))
        model = TreeModel([Attribute("a")], ["no", "yes"], [tree], [[0.5]], "sum", "positive", [0])
        assert class_of(model.to_dict(), [0.0]) == model.predict(np.array([[0.0]]))[0]


def test_a_column_of_integers_with_bounds_between_them_changes_to_an_integer() -> None:
    # A missing value goes left, and all others right.
    tree = Tree([0, -1, -1], [0] * 3, [0] * 3, [[0.0], [1.0]], (0,))
    column = Attribute("a", "integer", lower=0.5, upper=4.5, missing=True)
    model = TreeModel([column], [0, 1], [tree], [[0.0]], "sum", "positive", [0])
    result = cpx.solve(MinimumChange(model, (math.nan,)), "hitting-sets")
    assert (result.status, result.verified) == ("OPTIMAL", True)
    assert result.explanation.values == {"a": 1}
    assert column.interval == (1.0, 4.0)
