"""Models that hold others, read as one sum of trees where that is exact, and refused else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.errors import ModelError, UnsupportedModel
from cpx.trees import read_model
from cpx.trees.hold import hold

FOREST = RandomForestClassifier(5, max_depth=4, random_state=0)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
SCALED = make_pipeline(StandardScaler(), FOREST)


def _votes(*models: Any, **options: Any) -> Any:
    return VotingClassifier([(f"m{i}", model) for i, model in enumerate(models)], **options)


READ: dict[str, Any] = {
    "search": GridSearchCV(SCALED, {"randomforestclassifier__max_depth": [2, 3]}, cv=2),
    "soft, weighted": _votes(FOREST, TREE, SCALED, voting="soft", weights=[2, 1, 1]),
    "soft, alike": _votes(ExtraTreesClassifier(5), FOREST, voting="soft"),
    "hard": _votes(
        TREE, "drop", make_pipeline(MinMaxScaler(), DecisionTreeClassifier(max_depth=4))
    ),
    "hard, weighted": _votes(TREE, DecisionTreeClassifier(max_depth=1), weights=[1, 1.5]),
    "votes of votes": _votes(
        _votes(FOREST, TREE, voting="soft", weights=[3, 1]), TREE, voting="soft"
    ),
    "bags": BaggingClassifier(DecisionTreeClassifier(), 5, max_features=0.5, random_state=0),
    "bags of few rows": BaggingClassifier(TREE, 4, max_samples=3, random_state=1),
    "bags of pipelines": BaggingClassifier(SCALED, 3, max_features=0.5, random_state=0),
    "boosts": AdaBoostClassifier(TREE, n_estimators=6, random_state=0),
}

TWO_CLASSES: dict[str, Any] = {
    "sigmoid": CalibratedClassifierCV(FOREST, ensemble=False, cv=3),
    "isotonic": CalibratedClassifierCV(SCALED, method="isotonic", ensemble=False, cv=3),
    "raw scores": CalibratedClassifierCV(
        GradientBoostingClassifier(n_estimators=6), ensemble=False, cv=3
    ),
    "boosted scores": CalibratedClassifierCV(
        AdaBoostClassifier(n_estimators=6, random_state=0), ensemble=False, cv=3
    ),
    "threshold": FixedThresholdClassifier(SCALED, threshold=0.3),
    "threshold of a link": FixedThresholdClassifier(
        GradientBoostingClassifier(n_estimators=6), threshold=0.65
    ),
    "tuned": TunedThresholdClassifierCV(FOREST, cv=3),
}


def _compare(classifier: Any, X: pd.DataFrame, y: Any) -> None:
    classifier.fit(X, y)
    model = read_model(classifier)
    rng = np.random.default_rng(0)
    values = X.to_numpy()
    rows = np.where(
        rng.random((300, X.shape[1])) < 0.5, *(rng.choice(values, 300) for _ in range(2))
    )
    theirs = classifier.predict(pd.DataFrame(rows, columns=X.columns))
    assert model.predict(rows).tolist() == theirs.tolist()
    assert len({*theirs}) > 1
    assert [a.name for a in model.attributes] == [*X.columns]
    hold(model, values[0])  # probabilities, too, and values at cuts
    assert cpx.explain(classifier, None, X.iloc[0], kind="reason").verified


@pytest.mark.parametrize("name", READ)
def test_several_classes(name: str) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    _compare(READ[name], X, np.array(["a", "b", "c"])[y])


@pytest.mark.parametrize("name", [*TWO_CLASSES, "boosts", "soft, weighted"])
def test_two_classes(name: str) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    _compare((TWO_CLASSES | READ)[name], X.iloc[:, :5], y)


def test_a_frozen_model_is_calibrated() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :5]
    _compare(CalibratedClassifierCV(FrozenEstimator(FOREST.fit(X, y)), ensemble=False), X, y)


@pytest.mark.parametrize(
    ("classifier", "told"),
    [
        (_votes(TREE, FOREST), "counts the votes of sklearn RandomForestClassifier"),
        (
            _votes(FOREST, GradientBoostingClassifier(n_estimators=2), voting="soft"),
            "averages the probabilities of sklearn GradientBoostingClassifier",
        ),
        (CalibratedClassifierCV(FOREST, cv=2), "averages 2 models, each by a curve of its own"),
        (
            CalibratedClassifierCV(FOREST, ensemble=False, cv=2),
            "with method='sigmoid' and 3 classes is no sum of trees",
        ),
        (
            StackingClassifier([("a", TREE)], LogisticRegression(max_iter=500), cv=2),
            "gives what DecisionTreeClassifier predict to a LogisticRegression",
        ),
        (_votes(TREE, LogisticRegression(max_iter=500)), "holds a LogisticRegression"),
    ],
)
def test_what_is_no_sum_of_trees(classifier: Any, told: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(UnsupportedModel, match=told):
        read_model(classifier.fit(X, y))


def test_what_is_not_fitted() -> None:
    for name in ("search", "hard", "bags", "boosts"):
        with pytest.raises(ModelError, match="not fitted"):
            read_model(clone(READ[name]))
