"""Linear models and naive Bayes in others: those that stay a sum predict as the library does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.errors import UnsupportedModel
from cpx.trees import read_model

IRIS, KINDS = load_iris(return_X_y=True, as_frame=True)
TWO = np.where(KINDS == 1, "yes", "no")
NUMBERS, AMOUNTS = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
SOME = np.random.default_rng(0)


def scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


SUMS = [
    CalibratedClassifierCV(scaled(LogisticRegression()), ensemble=False),
    CalibratedClassifierCV(LinearSVC(), ensemble=False, method="isotonic"),
    make_pipeline(StandardScaler(), CalibratedClassifierCV(GaussianNB(), ensemble=False)),
    FixedThresholdClassifier(scaled(LogisticRegression()), threshold=0.3),
    FixedThresholdClassifier(
        LogisticRegression(), threshold=0.4, response_method="decision_function"
    ),
    OneVsRestClassifier(scaled(LogisticRegression())),
]
AVERAGES = [
    BaggingRegressor(LinearRegression(), 3, max_features=0.6, random_state=0),
    VotingRegressor([("a", Ridge()), ("b", scaled(Ridge(9))), ("c", "drop")], weights=[1, 3, 5]),
]


def drawn(table: Any) -> Any:
    """Return rows of values that columns have, in combinations that no row has."""
    return table.apply(lambda column: SOME.choice(column, 500))


@pytest.mark.parametrize("model", SUMS, ids=lambda model: str(model)[:40])
def test_classifiers_predict_as_the_library_does(model: Any) -> None:
    model.fit(IRIS, KINDS if isinstance(model, OneVsRestClassifier) else TWO)
    trees, rows = read_model(model, rows=IRIS), drawn(IRIS)
    numbers = rows.to_numpy()
    assert (trees.covering(numbers).predict(numbers) == model.predict(rows)).all()
    assert len({*model.predict(rows)}) > 1
    found = cpx.explain(model, IRIS, 60, kind="reason")
    assert found.verified


@pytest.mark.parametrize("model", AVERAGES, ids=["bag", "vote"])
def test_averages_of_regressors_predict_as_the_library_does(model: Any) -> None:
    model.fit(NUMBERS, AMOUNTS)
    trees, rows = read_model(model, rows=NUMBERS, above=150), drawn(NUMBERS)
    numbers = rows.to_numpy()
    said = [str(label) for label in trees.covering(numbers).predict(numbers)]
    assert said == ["above 150" if v > 150 else "at most 150" for v in model.predict(rows)]
    assert len({*said}) == 2


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (VotingClassifier([("a", LogisticRegression()), ("b", GaussianNB())], voting="soft"),
         "averages the probabilities of 2 models such as LogisticRegression"),
        (VotingClassifier([("a", LogisticRegression())]), "counts the votes of 1 models"),
        (BaggingClassifier(LinearSVC(), 2), "counts the votes of 2 models such as LinearSVC"),
        (AdaBoostClassifier(LogisticRegression(), n_estimators=2), "counts the votes of"),
        (CalibratedClassifierCV(LogisticRegression(), cv=2), "averages 2 models, each by a curve"),
        (VotingClassifier([("a", LogisticRegression()), ("t", DecisionTreeClassifier())]),
         "holds a LogisticRegression beside trees"),
    ],
)  # fmt: skip
def test_what_is_no_sum_is_refused_by_name(model: Any, told: str) -> None:
    model.fit(IRIS, TWO)
    with pytest.raises(UnsupportedModel, match=told):
        read_model(model, rows=IRIS)
