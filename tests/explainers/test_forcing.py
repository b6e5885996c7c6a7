"""One call for what forces the class of a row: ``explain(model, X, x, kind="reason")``."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import cpx
from cpx import check
from cpx.answers.explanation import Reason
from cpx.errors import (
    DataError,
    EngineError,
    InvalidInstance,
    InvalidOption,
    ModelError,
    UnknownName,
    UnsupportedModel,
)
from cpx.models.sufficient_reason.cases import random_votes, stump, three_definitions
from cpx.models.sufficient_reason.explainer import conclude
from cpx.testing.random_trees import completions
from cpx.trees import Attribute, TreeModel
from tests.seeds import each

X, Y = load_iris(return_X_y=True, as_frame=True)
ROW = X.iloc[60]
WIDTH, LENGTH = "petal width (cm)", "petal length (cm)"
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
EVEN = RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, Y)


def forced(model: Any, x: Any = ROW, **options: Any) -> Reason:
    return cpx.explain(model, None, x, kind="reason", **options)


# ---------------------------------------------------------------- right answers


def test_a_tree_in_words() -> None:
    found = forced(TREE)
    told = f"{LENGTH} <= 4.95 and 0.8 < {WIDTH} <= 1.75 force class 1"
    assert str(found) == f"{told}, whatever the other 2 columns are"
    assert (found.weight, found.least, found.minimum, found.verified) == (2, 2, True, True)
    lines = found.summary().splitlines()
    assert lines[0] == str(found)
    values = f"{LENGTH} = 3.5, {WIDTH} = 1"
    assert lines[1] == f"row        {values}; predicted probability of the class 0.98"
    assert lines[2] == "proved     2 attributes, minimum: no sufficient reason is smaller"
    assert any(line.startswith("note       checked: ") for line in lines)
    assert Reason.from_dict(found.to_dict()) == found


@each(range(12))
def test_a_forest_is_explained_in_the_full_sense(seed: int) -> None:
    problem = random_votes(seed, 7, 6)
    model, x = problem.tree_model, problem.x
    sizes = (
        size
        for size in range(7)
        for S in combinations(range(6), size)
        if (model.predict_index(completions(model, x, S)) == problem.label_index).all()
    )
    found = forced(model, x)
    assert found.weight == found.least == next(sizes)


def test_definitions_levels_and_engines() -> None:
    model, x = three_definitions(), (1, 1, 1)
    asked = {"sufficient": 0, "tree-specific": 1, "majoritary": 2}
    for definition, size in asked.items():
        assert forced(model, x, definition=definition).weight == size
    conditions = forced(TREE, level="conditions")
    assert all(" <= " in word or " > " in word for word in conditions.rule.words)
    deleted = forced(EVEN, backend="deletion")
    assert (deleted.least, deleted.minimum, deleted.verified) == (None, False, True)
    assert deleted.proved == "2 attributes, without a bound"


def test_required_forbidden_weights_and_hint_by_name() -> None:
    assert "sepal length (cm) = 5" in str(forced(TREE, required="sepal length (cm)"))
    without = forced(EVEN, forbidden=[LENGTH])
    assert LENGTH not in str(without)
    heavy = forced(EVEN, weights={LENGTH: 9})
    assert heavy.weight == sum(9 if j == 2 else 1 for j in heavy.features)
    assert forced(EVEN, weights=[1, 1, 9, 1]).weight == heavy.weight
    for hint in ([WIDTH, LENGTH], [3, 2], forced(TREE)):
        assert forced(TREE, hint=hint) == forced(TREE)
    assert any("hint breaks" in text for text in forced(TREE, hint=WIDTH).notes)


@pytest.mark.parametrize(
    "names", [["a", "b", "c"], {1: "b"}, {"1": "b"}, np.array(["a", "b", "c"])]
)
def test_names_of_classes(names: Any) -> None:
    assert forced(TREE, class_names=names).rule.conclusion == "b"


def test_the_interval_when_time_runs_out() -> None:
    problem = random_votes(1, 25, 14)
    result = cpx.solve(problem, "deletion")
    cut = replace(result, bound=1, explanation=problem._conclude(result.explanation, False, 3, 1))
    found = conclude(problem, cut)
    assert (found.least, found.minimum) == (1, False)
    assert found.proved.endswith("not proved minimum: every sufficient reason has at least size 1")


def test_ties_go_to_the_first_class() -> None:
    """Of two trees, one votes for each class: the first wins, whatever the column is."""
    model = three_definitions()
    even = replace(model, trees=model.trees[:2])
    found = forced(even, (1, 1, 1))
    told = "whatever the columns are, none of them missing: no other class is ever given"
    assert str(found) == f"yes in every case, {told}"
    assert "ties: of classes with equal scores the first one is given" in found.notes


def test_a_near_tie_is_told() -> None:
    """Two trees that cancel give the score 0, which is the first class by the rule of ties."""
    trees = (stump(0, [-1.0], [1.0]), stump(1, [1.0], [-1.0]))
    columns, thresholds = (Attribute("a"), Attribute("b")), (np.array([0.5]),) * 2
    model = TreeModel(columns, ("no", "yes"), trees, thresholds, "sum", "positive", (0.0,))
    tied, clear = forced(model, (1, 1)), forced(model, (1, 0))
    assert any(note.startswith("near tie: ") and "no is the" in note for note in tied.notes)
    assert not any(note.startswith("near tie") for note in clear.notes)
    assert (str(tied.rule), clear.weight) == ("b > 0.5 => no", 2)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(min_samples_leaf=100).fit(X, Y),
        RandomForestClassifier(4, min_samples_leaf=100, random_state=0).fit(X, Y),
        DecisionTreeClassifier().fit(X, np.zeros(150, dtype=int)),
    ],
    ids=["one leaf", "forest of leaves", "one class"],
)
def test_models_that_test_nothing(model: Any) -> None:
    found = forced(model)
    (label,) = model.predict(X.iloc[[60]])
    assert str(found) == f"class {label} in every case: no other class is ever given"
    assert "the model tests nothing: every row has the same class" in found.notes


# ----------------------------------------------------------- columns and rows


@pytest.mark.parametrize("x", [ROW, X.iloc[[60]], ROW.to_dict(), ROW.to_numpy(), ROW[::-1]])
def test_rows_of_all_kinds(x: Any) -> None:
    assert forced(TREE, x) == forced(TREE)


def test_a_model_without_names_gets_those_of_x() -> None:
    plain = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X.to_numpy(), Y)
    found = forced(plain)
    assert str(found) == str(forced(TREE))
    assert any("taken in their order" in note for note in found.notes)
    assert "x2 <= 4.95" in str(forced(plain, ROW.to_numpy()))
    with pytest.raises(DataError, match="x has 3 columns; the model was trained on 4"):
        forced(plain, ROW[:3])


def test_lightgbm_writes_spaces_as_underscores() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=3, num_leaves=4, verbose=-1).fit(X, Y)
    assert WIDTH in str(forced(model)) or LENGTH in str(forced(model))
    with pytest.raises(DataError, match="x lacks 'petal_width_"):
        forced(model, ROW.drop(WIDTH))


def test_a_missing_value_of_x() -> None:
    gaps, x = X.copy(), ROW.copy()
    gaps.iloc[::3, 3] = x[WIDTH] = np.nan
    found = forced(HistGradientBoostingClassifier(max_iter=3, random_state=0).fit(gaps, Y), x)
    assert found.verified
    assert str(found).endswith(f", of which only {WIDTH} may be missing")
    told = f"missing in x, so that other rows may lack it too: {WIDTH}"
    assert told in forced(TREE, x).notes


def test_a_missing_value_without_a_branch() -> None:
    tree = three_definitions()
    refuses = replace(
        tree, trees=tuple(replace(t, missing=np.full(3, -1, dtype=np.int32)) for t in tree.trees)
    )
    with pytest.raises(DataError, match="'a' is missing, and the model has no branch for that"):
        forced(refuses, (np.nan, 1, 1))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (ROW.drop(WIDTH), "x lacks 'petal width"),
        (pd.concat([ROW, pd.Series({"z": 1})]), "x has 'z', no columns of the model"),
        ([1, 2], "x must have 4 values, got 2"),
        (X.iloc[:2], "x must be one row, got a table of 2"),
        (["wide", 1, 2, 3], "must be a finite number or missing, got 'wide'"),
    ],
)
def test_wrong_rows(x: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        forced(TREE, x)


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (DecisionTreeClassifier(), ModelError, "the DecisionTreeClassifier is not fitted"),
        (RandomForestClassifier(), ModelError, "the RandomForestClassifier is not fitted"),
        (KNeighborsClassifier(), UnsupportedModel, "KNeighborsClassifier is no tree model"),
        (LogisticRegression(), ModelError, "LogisticRegression is not fitted"),
        (DecisionTreeRegressor(), InvalidOption, "DecisionTreeRegressor predicts numbers"),
        (None, InvalidOption, "model is None"),
        ("gone.json", ModelError, "gone.json: cannot be read"),
    ],
)
def test_models_that_are_not_read(model: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        forced(model)


def test_objectives_and_boosters_that_are_not_read() -> None:
    xgboost = pytest.importorskip("xgboost")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        linear = xgboost.XGBClassifier(booster="gblinear", n_estimators=1).fit(X, Y)
        counts = xgboost.XGBRegressor(n_estimators=1, objective="count:poisson").fit(X, Y)
    with pytest.raises(UnsupportedModel, match="booster 'gblinear' is not supported"):
        forced(linear)
    with pytest.raises(UnsupportedModel, match="'count:poisson' is not supported"):
        forced(counts.get_booster())
    with pytest.raises(ModelError, match="XGBClassifier is not fitted"):
        forced(xgboost.XGBClassifier())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"k": 3}, InvalidOption, "k is for kind='rule', this is kind='reason'"),
        ({"weigths": [1]}, InvalidOption, r"no option 'weigths' \(did you mean 'weights'\?\)"),
        ({"weights": {"z": 1}}, InvalidInstance, "weights: 'z' names no attribute"),
        (
            {"weights": {WIDTH: 0}},
            InvalidInstance,
            r"weights\[3\] must be an integer of at least 1, got 0",
        ),
        ({"hint": ["z"]}, InvalidInstance, "hint: 'z' names no attribute"),
        ({"label": 2}, InvalidInstance, "label is 2, and the model gives x 1"),
        ({"definition": "majoritary"}, InvalidInstance, "is for models that vote"),
        (
            {"level": "rows"},
            InvalidInstance,
            "level must be one of attributes, intervals",
        ),
        ({"class_names": ["a"]}, InvalidOption, "must name the 3 classes of the model"),
        ({"class_names": "abc"}, InvalidOption, "must name the 3 classes of the model"),
        ({"backend": "search"}, InvalidOption, "cannot solve problems of kind"),
        ({"backend": "cpsat"}, InvalidOption, "stated for one tree, this model has 4"),
        ({"time_limit": 0}, InvalidOption, "time_limit must be seconds > 0, got 0"),
        ({"seed": -1}, InvalidOption, "seed must be an integer from 0"),
        ({"forbidden": list(X)}, EngineError, "there is no sufficient reason that has nothing"),
        (
            {"required": WIDTH, "forbidden": WIDTH},
            EngineError,
            "required and forbidden contradict",
        ),
    ],
    ids=str,
)
def test_wrong_options(options: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        forced(EVEN, **options)


def test_kinds_are_not_mixed_up() -> None:
    with pytest.raises(
        UnknownName, match=r"'sufficient' \(here 'reason'\); known: contrast, expectation, reason"
    ):
        cpx.explain(TREE, X, ROW, kind="sufficient")
    with pytest.raises(InvalidOption, match="x is missing, the row to explain"):
        cpx.explain(TREE, ROW, kind="reason")
    with pytest.raises(InvalidOption, match="level is for kind='reason', this is kind='rule'"):
        cpx.explain(TREE, X, ROW, level="attributes")
    assert cpx.explain(model=TREE, x=ROW, kind="reason") == forced(TREE)


def test_an_answer_that_fails_its_check_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "violations", lambda *_: ["it is wrong"])
    with pytest.raises(EngineError, match=r"a reason that is wrong: .*it is wrong"):
        forced(TREE)
    with pytest.raises(EngineError, match=r"a rule that is wrong: .*it is wrong"):
        cpx.explain(TREE, X, ROW, k=1, m=50, fresh=10)


def test_an_answer_that_is_not_checked_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "violations", lambda *_: [check.UNDECIDED])
    found = forced(TREE)
    assert not found.verified
    assert found.notes[-1] == f"not verified: {check.UNDECIDED}"
