from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from cpx.errors import DataError, InvalidOption, ModelError, UnsupportedModel
from cpx.trees import Attribute, TreeModel, agreement, read_sklearn
from cpx.trees.library_agreement import near_ties
from tests.seeds import every_other
from tests.trees.rows import TABLES, hard_rows, same_answers, table, with_missing

MODELS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "shallow": DecisionTreeClassifier(max_depth=2, random_state=0),
    "extra": ExtraTreeClassifier(max_depth=6, random_state=0),
    "forest": RandomForestClassifier(n_estimators=15, random_state=0),
    "shallow-forest": RandomForestClassifier(n_estimators=15, max_depth=4, random_state=0),
    "extra-forest": ExtraTreesClassifier(n_estimators=15, max_depth=5, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=8, random_state=0),
    "zero": GradientBoostingClassifier(n_estimators=8, init="zero", subsample=0.7, random_state=0),
    "histogram": HistGradientBoostingClassifier(max_iter=10),
}


@pytest.mark.parametrize(("kind", "name"), every_other(MODELS, TABLES))
def test_predictions(kind: str, name: str) -> None:
    X, y = table(name)
    labels = np.array([f"class {label}" for label in y])
    classifier = clone(MODELS[kind])
    if name == "digits" and kind in ("boosting", "zero", "histogram"):
        classifier.set_params(**{"max_iter" if kind == "histogram" else "n_estimators": 3})
    classifier.fit(X, labels)
    model = read_sklearn(classifier)
    assert model.classes == tuple(sorted(set(labels)))
    same_answers(model, classifier, hard_rows(model, X))
    again = TreeModel.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again == model
    rows = hard_rows(model, X, 200, seed=1)
    assert (again.predict(rows) == model.predict(rows)).all()


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
@pytest.mark.parametrize("kind", ["tree", "extra", "forest", "extra-forest", "histogram"])
@pytest.mark.parametrize("seen", [False, True])
def test_missing_values(kind: str, name: str, seen: bool) -> None:
    X, y = table(name)
    classifier = clone(MODELS[kind]).fit(with_missing(X) if seen else X, y)
    model = read_sklearn(classifier)
    same_answers(model, classifier, hard_rows(model, X))
    same_answers(model, classifier, with_missing(hard_rows(model, X), seed=1))


def test_missing_values_where_the_library_refuses_them() -> None:
    X, y = table("iris")
    model = read_sklearn(clone(MODELS["boosting"]).fit(X, y))
    with pytest.raises(DataError, match=r"row 0: x2 is missing, and tree \d has no branch"):
        model.predict([[1, 1, np.nan, 1]])


def test_only_missing_values_are_separated() -> None:
    # The library keeps "is missing" as a threshold of infinity.
    X = np.array([[np.nan], [np.nan], [1.0], [1.0]])
    classifier = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    model = read_sklearn(classifier)
    assert model.thresholds[0].tolist() == []
    assert model.predict([[np.nan], [-1e9], [1.0], [1e9]]).tolist() == [0, 1, 1, 1]
    assert classifier.predict([[np.nan], [-1e9], [1.0], [1e9]]).tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("kind", ["tree", "shallow-forest", "boosting", "histogram"])
@pytest.mark.parametrize("name", ["wine", "breast_cancer"])
def test_scores_are_those_of_the_library(kind: str, name: str) -> None:
    X, y = table(name)
    classifier = clone(MODELS[kind]).fit(X, y)
    model = read_sklearn(classifier)
    rows = X[::7]
    if hasattr(classifier, "decision_function"):
        theirs = classifier.decision_function(rows).reshape(len(rows), -1)
    else:
        theirs = classifier.predict_proba(rows)
    ours = np.array([[float(v) for v in model.scores(row)] for row in rows])
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_votes() -> None:
    X, y = table("breast_cancer")
    forest = RandomForestClassifier(n_estimators=10, max_depth=3, random_state=0).fit(X, y)
    model = read_sklearn(forest, rule="vote")
    rows = hard_rows(model, X)
    votes = np.array([tree.predict(rows) for tree in forest.estimators_]).astype(int)
    ones = votes.sum(axis=0)
    assert (model.predict(rows) == (ones > 5)).all()
    assert (ones == 5).any()  # ties go to the first class
    assert [model.scores(row) for row in rows[:20]] == [
        (Fraction(10 - n), Fraction(n)) for n in ones[:20].tolist()
    ]
    assert (read_sklearn(forest).predict(rows) != model.predict(rows)).any()


def test_thresholds_between_float32_numbers() -> None:
    low = np.float32(1.0)
    high = np.float32(1.0 + 2.0**-20)
    classifier = DecisionTreeClassifier().fit([[low], [high]], [0, 1])
    classifier.tree_.threshold[0] = middle = 1.0 + 2.0**-20 - 2.0**-30
    model = read_sklearn(classifier)
    assert model.thresholds[0].tolist() == [1.0 + 2.0**-20 - 2.0**-23]
    assert np.float32(middle) == high  # the nearest float32 is on the wrong side
    values = np.linspace(float(low), 1.0 + 2.0**-19, 1001)[:, np.newaxis]
    assert (model.predict(values) == classifier.predict(values)).all()
    assert model.predict([[low], [high]]).tolist() == [0, 1]


def test_names() -> None:
    X, y = table("iris")
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    classifier = DecisionTreeClassifier(max_depth=1, random_state=0).fit(frame, y)
    assert [a.name for a in read_sklearn(classifier).attributes] == ["a", "b", "c", "d"]
    assert read_sklearn(classifier).predict(frame).tolist() == classifier.predict(frame).tolist()
    given = [Attribute("w", lower=0), "x", "y", "z"]
    model = read_sklearn(classifier, attributes=given)
    assert model.attributes[0] == Attribute("w", lower=0)
    assert str(model.condition(model.used[0], 0)) in ("z <= 0.8", "y <= 2.45")
    with pytest.raises(ModelError, match="the model has 4 attributes, 1 are given"):
        read_sklearn(classifier, attributes=["w"])
    with pytest.raises(ModelError, match="must be a list of names or Attributes, got 'wxyz'"):
        read_sklearn(classifier, attributes="wxyz")


@pytest.mark.parametrize("kind", MODELS)
def test_one_class_or_none(kind: str) -> None:
    X = np.array([[0.0], [1.0], [2.0]])
    classifier = clone(MODELS[kind])
    with pytest.raises(ModelError, match="is not fitted"):
        read_sklearn(classifier)
    try:
        classifier.fit(X, ["only"] * 3)
    except ValueError:  # gradient boosting needs two classes
        assert kind in ("boosting", "zero", "histogram")
        return
    if kind == "histogram":
        return
    assert read_sklearn(classifier).predict(X).tolist() == ["only"] * 3


def test_a_tree_of_one_leaf() -> None:
    classifier = DecisionTreeClassifier(min_samples_split=10).fit([[0.0], [1.0]], [3, 4])
    model = read_sklearn(classifier)
    assert model.used == ()
    assert model.predict([[0.0], [9.0]]).tolist() == [3, 3]
    assert model.scores([0.0]) == (Fraction(1, 2), Fraction(1, 2))


def test_several_outputs() -> None:
    classifier = DecisionTreeClassifier().fit([[0.0], [1.0]], [[0, 1], [1, 0]])
    with pytest.raises(UnsupportedModel, match="has 2 outputs"):
        read_sklearn(classifier)


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (LogisticRegression(), "LogisticRegression is no tree model of scikit-learn"),
        (object(), "object is no tree model"),
        (
            make_pipeline(StandardScaler(), DecisionTreeClassifier()),
            "and by read_model linear models, naive Bayes, pipelines, and votes of trees",
        ),
        (
            GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2),
            "init=LogisticRegression gives each row a start of its own",
        ),
    ],
)
def test_what_is_not_read(classifier: Any, message: str) -> None:
    X, y = table("iris")
    if hasattr(classifier, "fit"):
        classifier.fit(np.round(X), y)
    with pytest.raises(UnsupportedModel, match=message):
        read_sklearn(classifier)


def test_rules() -> None:
    X, y = table("iris")
    with pytest.raises(
        InvalidOption, match=r"rule must be one of average, vote for Random.*'sum'"
    ):
        read_sklearn(clone(MODELS["forest"]).fit(X, y), rule="sum")
    with pytest.raises(InvalidOption, match=r"rule must be one of sum for Gradient.*'vote'"):
        read_sklearn(clone(MODELS["boosting"]).fit(X, y), rule="vote")


# ------------------------------------------------------------------ rounding


def test_differences_by_rounding_are_told_from_others() -> None:
    X, y = table("iris")
    classifier = clone(MODELS["shallow-forest"]).fit(X, y)
    model = read_sklearn(classifier)
    assert agreement(model, classifier, X).differing == ()
    assert not near_ties(model, X).any()
    found = agreement(model, lambda rows: 2 - classifier.predict(rows), X)
    assert len(found.differing) >= 90
    assert not found.explained


def test_a_near_tie() -> None:
    from cpx.trees import Tree

    leaves = [Tree([-1], [0], [0], [[v]], (0,)) for v in (0.1, 0.2, -0.3)]
    model = TreeModel([Attribute("a")], [0, 1], leaves, [[]], "sum", "positive", [-(2.0**-55)])
    assert model.scores([0]) == (0,)
    found = agreement(model, lambda rows: np.ones(len(rows), dtype=int), np.zeros((4, 1)))
    assert found.differing == found.near_ties == (0, 1, 2, 3)
    assert found.explained
