"""Models that predict numbers, asked on which side of limits they are, against their predict."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from cpx.data.targets import Target
from cpx.errors import InvalidOption, UnsupportedModel
from cpx.trees import read_model
from cpx.trees.hold import hold
from cpx.trees.library_agreement import near_ties

X, Y = make_regression(300, 5, noise=3, random_state=0)
RANDOM = np.random.default_rng(0)
ROWS = np.vstack([X, 2 * RANDOM.normal(size=(1500, 5)), 1e30 * RANDOM.normal(size=(20, 5))])
GAPS = np.where(RANDOM.random(ROWS.shape) < 0.05, np.nan, ROWS)
# A limit that is no float times the number of trees, and one whose product is rounded.
LIMITS = ({"above": 10.1}, {"below": -3}, {"between": (0.3, 20.7)}, {"above": 1e-9})


def held(model: Any, rows: np.ndarray, **asked: Any) -> None:
    """Compare what was read with the library on all rows, and the numbers themselves."""
    read, target = read_model(model, **asked), Target(**asked)
    said = np.asarray(model.predict(rows), dtype=np.float64)
    differing = np.flatnonzero(read.predict_index(rows) != target.classify(said))
    assert near_ties(read, rows[differing]).all() if differing.size else True
    assert differing.size <= 2
    slack = 1e-4 * np.abs(said).max() if read.sums == "float32" else 1e-9 * np.abs(said).max()
    for i in range(0, len(rows), 100):
        number = read.predicted(rows[i])
        assert number is not None
        assert abs(number - Fraction(said[i])) <= slack
    hold(read, X[0])
    assert read.live is not None
    assert len(read.live.held) == 1


@pytest.mark.parametrize("asked", LIMITS, ids=str)
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(random_state=0),
        ExtraTreeRegressor(random_state=0),
        RandomForestRegressor(7, random_state=0),
        ExtraTreesRegressor(7, random_state=0),
        GradientBoostingRegressor(n_estimators=10, random_state=0),
        GradientBoostingRegressor(n_estimators=5, loss="huber", init="zero", random_state=0),
        HistGradientBoostingRegressor(max_iter=10),
        HistGradientBoostingRegressor(max_iter=5, loss="quantile", quantile=0.7),
    ],
    ids=lambda model: type(model).__name__,
)
def test_scikit_learn(model: Any, asked: dict[str, Any]) -> None:
    takes = not isinstance(model, GradientBoostingRegressor | ExtraTreeRegressor)
    held(
        model.fit(X, Y),
        GAPS if takes and not isinstance(model, ExtraTreesRegressor) else ROWS,
        **asked,
    )


@pytest.mark.parametrize("asked", LIMITS, ids=str)
@pytest.mark.parametrize("objective", ["squarederror", "absoluteerror", "pseudohubererror"])
def test_xgboost(tmp_path: Path, objective: str, asked: dict[str, Any]) -> None:
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBRegressor(n_estimators=8, objective=f"reg:{objective}").fit(X, Y)
    held(model, GAPS, **asked)
    live = read_model(model, **asked)
    model.save_model(tmp_path / "model.json")
    assert read_model(tmp_path / "model.json", **asked) == live
    booster = read_model(model.get_booster(), **asked)
    assert booster == live
    hold(booster, X[1])


@pytest.mark.parametrize("asked", LIMITS, ids=str)
@pytest.mark.parametrize(
    "objective", ["regression", "l1", "huber", "fair", "quantile", "mape", "rf"]
)
def test_lightgbm(tmp_path: Path, objective: str, asked: dict[str, Any]) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    options: dict[str, Any] = {"objective": objective}
    if objective == "rf":
        options = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
    model = lightgbm.LGBMRegressor(n_estimators=8, verbose=-1, **options).fit(X, Y)
    held(model, GAPS, **asked)
    model.booster_.save_model(tmp_path / "model.txt")
    assert read_model(tmp_path / "model.txt", **asked) == read_model(model, **asked)


def test_a_limit_that_is_a_prediction() -> None:
    tree = DecisionTreeRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.1, 0.2, 0.3])
    rows = [[0.0], [1.0], [2.0]]
    assert read_model(tree, above=0.2).predict(rows).tolist() == [
        *("at most 0.2", "at most 0.2", "above 0.2"),
    ]
    assert read_model(tree, below=0.2).predict(rows).tolist() == [
        *("below 0.2", "at least 0.2", "at least 0.2"),
    ]
    assert read_model(tree, between=(0.2, 0.3)).predict(rows).tolist() == [
        *("below 0.2", "between 0.2 and 0.3", "between 0.2 and 0.3"),
    ]
    assert read_model(tree, between=(0.1, 0.2)).predict(rows).tolist() == [
        *("between 0.1 and 0.2", "between 0.1 and 0.2", "above 0.2"),
    ]


def test_another_model_than_it_predicts_is_refused() -> None:
    class Doubled(RandomForestRegressor):
        def predict(self, X: Any) -> Any:
            return 2 * super().predict(X)

    model = read_model(Doubled(5, random_state=0).fit(X, Y), above=3)
    with pytest.raises(UnsupportedModel, match=r"Doubled.predict gives .* from the limit"):
        hold(model, X[0])


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, "RandomForestRegressor predicts numbers: say what is asked of them: above=50_000"),
        (
            {"above": 1, "below": 2},
            "one of above, below and between is asked, got above and below",
        ),
        ({"between": (2, 1)}, "between: 2.0 is more than 1.0"),
        ({"between": 3}, "between must be two numbers, got 3"),
        ({"above": "much"}, "above must be a finite number, got 'much'"),
        ({"above": float("nan")}, "above must be a finite number"),
        ({"above": 1, "classes": ["a", "b"]}, "classes is for classifiers"),
    ],
)
def test_what_is_asked_wrongly(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidOption, match=told):
        read_model(RandomForestRegressor(2, random_state=0).fit(X, Y), **asked)


def test_what_is_not_read() -> None:
    with pytest.raises(InvalidOption, match="above is for models that predict numbers"):
        read_model(RandomForestClassifier(2).fit(X, Y > 0), above=3)
    poisson = HistGradientBoostingRegressor(loss="poisson", max_iter=2).fit(X, abs(Y))
    with pytest.raises(UnsupportedModel, match="'poisson' predicts the exponential of a sum"):
        read_model(poisson, above=3)
    read = read_model(DecisionTreeRegressor(max_depth=1).fit(X, Y), above=3)
    with pytest.raises(
        InvalidOption, match="above, below and between are no options of a TreeMod"
    ):
        read_model(read, above=3)
