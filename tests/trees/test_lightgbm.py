from __future__ import annotations

import gzip
import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cpx
from cpx.errors import InvalidOption, ModelError, UnsupportedModel
from cpx.trees import TreeModel, read_lightgbm, read_model
from tests.seeds import every_other
from tests.trees.rows import TABLES, hard_rows, table, with_missing
from tests.trees.rows import same_answers as compare

lightgbm = pytest.importorskip("lightgbm")


def same_answers(model: TreeModel, classifier: Any, rows: np.ndarray) -> None:
    with warnings.catch_warnings():  # about names of columns
        warnings.simplefilter("ignore")
        compare(model, classifier, rows)


def fitted(X: np.ndarray, y: np.ndarray, **options: Any) -> Any:
    rounds = 12 if len(set(y.tolist())) < 10 else 4
    options = {"n_estimators": rounds, "verbose": -1, "n_jobs": 1, **options}
    return lightgbm.LGBMClassifier(**options).fit(X, y)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"max_depth": 3, "boosting_type": "dart"},
    {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5},
    {"class_weight": "balanced", "boost_from_average": False},
]


@pytest.mark.parametrize(("options", "name"), every_other(OPTIONS, TABLES))
def test_predictions(options: dict[str, Any], name: str, tmp_path: Path) -> None:
    X, y = table(name)
    labels = np.array([f"class {label}" for label in y])
    classifier = fitted(X, labels, **options)
    model = read_lightgbm(classifier)
    assert model.classes == tuple(sorted(set(labels)))
    rows = hard_rows(model, X)
    same_answers(model, classifier, rows)
    same_answers(model, classifier, with_missing(rows))
    assert TreeModel.from_dict(json.loads(json.dumps(model.to_dict()))) == model

    raw = classifier.booster_.predict(rows[:40], raw_score=True).reshape(40, -1)
    ours = np.array([[float(v) for v in model.scores(row)] for row in rows[:40]])
    np.testing.assert_allclose(ours, raw, rtol=1e-12, atol=1e-12)

    classifier.booster_.save_model(tmp_path / "model.txt")
    assert read_model(tmp_path / "model.txt", classes=model.classes) == model
    packed = tmp_path / "model.txt.gz"
    packed.write_bytes(gzip.compress((tmp_path / "model.txt").read_bytes()))
    numbered = read_model(packed)
    assert numbered.classes == tuple(range(len(model.classes)))
    assert (numbered.predict_index(X) == model.predict_index(X)).all()


def test_one_against_the_others() -> None:
    X, y = table("wine")
    classifier = fitted(X, y, objective="multiclassova")
    model = read_lightgbm(classifier)
    same_answers(model, classifier, hard_rows(model, X))


@pytest.mark.parametrize("options", [{}, {"use_missing": False}])
def test_missing_values_and_zeros_in_training(options: dict[str, Any]) -> None:
    X, y = table("breast_cancer")
    rng = np.random.default_rng(0)
    X = X * rng.choice([-1, 0, 1], X.shape, p=[0.1, 0.3, 0.6])
    classifier = fitted(with_missing(X), y, **options)
    model = read_lightgbm(classifier)
    rows = hard_rows(model, X)
    same_answers(model, classifier, rows)
    same_answers(model, classifier, with_missing(rows, seed=1))


def test_tiny_values_are_zeros() -> None:
    values = np.repeat([-1.0, 0.0, 1.0], 50)
    classifier = fitted(
        values[:, np.newaxis], values.astype(int), min_child_samples=1, n_estimators=3
    )
    model = read_lightgbm(classifier)
    tiny = float(np.float32(1e-35))
    near = [tiny, np.nextafter(tiny, 1), np.nextafter(tiny, 0), 1e-300, 5e-324, 0.0, 1e-34]
    rows = np.array([*near, *(-v for v in near)])[:, np.newaxis]
    assert model.predict(rows).tolist() == classifier.predict(rows).tolist()
    assert set(model.predict(rows).tolist()) == {-1, 0, 1}
    # A change is told in numbers that a person writes: next to zero no digits are of use.
    found = {
        label: cpx.Explainer(classifier).contrast([1.0], target=label).values["Column_0"]
        for label in (-1, 0)
    }
    assert found == {-1: -0.5, 0: 0.0}


def test_zero_as_missing() -> None:
    X, y = table("breast_cancer")
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.3, 0, X - X.mean(axis=0))
    with pytest.raises(UnsupportedModel, match=r"tree \d+ sends zeros .* node \d+ .*zero_as"):
        read_lightgbm(fitted(X, y, zero_as_missing=True))


def test_early_stopping() -> None:
    X, y = table("breast_cancer")
    classifier = lightgbm.LGBMClassifier(n_estimators=200, learning_rate=0.8, verbose=-1, n_jobs=1)
    stop = lightgbm.early_stopping(3, verbose=False)
    with warnings.catch_warnings():  # newer versions want other arguments
        warnings.simplefilter("ignore")
        classifier.fit(X[::2], y[::2], eval_set=[(X[1::2], y[1::2])], callbacks=[stop])
    model = read_lightgbm(classifier)
    assert len(model.trees) == classifier.best_iteration_ < 200
    same_answers(model, classifier, hard_rows(model, X))
    assert read_lightgbm(classifier.booster_) == model


def test_what_is_not_read() -> None:
    X, y = table("iris")
    with pytest.raises(ModelError, match="the LGBMClassifier is not fitted"):
        read_lightgbm(lightgbm.LGBMClassifier())
    regressor = lightgbm.LGBMRegressor(n_estimators=1, verbose=-1).fit(X, y)
    for numbers in (regressor, regressor.booster_):
        with pytest.raises(InvalidOption, match="objective regression predicts numbers: say"):
            read_lightgbm(numbers)
    rooted = lightgbm.LGBMRegressor(n_estimators=1, verbose=-1, reg_sqrt=True).fit(X, y)
    with pytest.raises(UnsupportedModel, match="objective 'regression sqrt' is not supported"):
        read_lightgbm(rooted)
    with pytest.raises(UnsupportedModel, match=r"tree \d is a linear tree"):
        read_lightgbm(fitted(X, y, linear_tree=True))
    with pytest.raises(UnsupportedModel, match="list is no model of LightGBM"):
        read_lightgbm([])


def test_one_leaf() -> None:
    X, y = table("breast_cancer")
    classifier = fitted(X, y, min_child_samples=10_000, n_estimators=2)
    model = read_lightgbm(classifier)
    assert model.used == ()
    assert model.predict(X).tolist() == classifier.predict(X).tolist()


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"^tree\n", "forest\n", "it starts with 'forest'"),
        (r"end of trees[\s\S]*", "", "the file ends before the trees do"),
        (r"Tree=1\n", "Tree=7\n", "Tree=1 expected, got 'Tree=7'"),
        (r"threshold=\S+ ", "threshold=", "threshold has . entries where . are expected"),
        (r"leaf_value=\S+", "leaf_value=x", "could not convert string"),
        (r"num_leaves=\d+\n", "", "the key 'num_leaves' is missing"),
        (r"objective=.*\n", "", "the objective 'none' is not supported"),
        (r"Tree=0[\s\S]*end of trees", "end of trees", "the model has no trees"),
        (r"split_feature=\d+", "split_feature=9", "tests the attribute 9, there are 4"),
        (r"left_child=\S+", "left_child=0", "tree 0: its nodes make no tree"),
    ],
)
def test_damaged_files(pattern: str, replacement: str, message: str, tmp_path: Path) -> None:
    text = fitted(*table("iris"), n_estimators=2).booster_.model_to_string()
    path = tmp_path / "model.txt"
    path.write_text(re.sub(pattern, replacement, text, count=1))
    with pytest.raises(ModelError, match=message):
        read_lightgbm(path)
