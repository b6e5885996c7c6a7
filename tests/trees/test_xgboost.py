from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cpx.errors import InvalidOption, ModelError, UnsupportedModel
from cpx.trees import TreeModel, read_model, read_xgboost, read_xgboost_dump
from tests.seeds import every_other
from tests.trees.rows import TABLES, hard_rows, same_answers, table, with_missing

xgboost = pytest.importorskip("xgboost")


def fitted(name: str, **options: Any) -> Any:
    X, y = table(name)
    options = {"n_estimators": 12 if name != "digits" else 3, "n_jobs": 1, **options}
    return xgboost.XGBClassifier(**options).fit(X, y)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"max_depth": 2, "base_score": 0.3},
    {"num_parallel_tree": 3, "subsample": 0.5, "n_estimators": 4},
    {"grow_policy": "lossguide", "tree_method": "exact", "gamma": 1.0},
]


@pytest.mark.parametrize(("options", "name"), every_other(OPTIONS, TABLES))
def test_predictions(options: dict[str, Any], name: str, tmp_path: Path) -> None:
    X, y = table(name)
    classifier = fitted(name, **options)
    model = read_xgboost(classifier)
    rows = hard_rows(model, X)
    same_answers(model, classifier, rows)
    same_answers(model, classifier, with_missing(rows))
    assert TreeModel.from_dict(json.loads(json.dumps(model.to_dict()))) == model

    margins = classifier.predict(rows[:40], output_margin=True).reshape(40, -1)
    ours = np.array([[float(v) for v in model.scores(row)] for row in rows[:40]])
    np.testing.assert_allclose(ours, margins, rtol=1e-5, atol=1e-5)

    for file in ("model.json", "model.ubj"):
        classifier.save_model(tmp_path / file)
        assert read_model(tmp_path / file) == model
    assert read_xgboost(classifier.get_booster()) == model

    dump = classifier.get_booster().get_dump(with_stats=True)
    parallel = options.get("num_parallel_tree", 1)
    again = read_xgboost_dump(
        dump,
        classes=len(set(y)),
        attributes=X.shape[1],
        base=model.base,
        num_parallel_tree=parallel,
    )
    assert again == model


def test_missing_values_in_training() -> None:
    X, y = table("breast_cancer")
    classifier = xgboost.XGBClassifier(n_estimators=10).fit(with_missing(X), y)
    model = read_xgboost(classifier)
    directions = {int(d) for t in model.trees for d in t.missing[t.attribute >= 0]}
    assert directions == {0, 1}
    same_answers(model, classifier, with_missing(hard_rows(model, X), seed=1))


def test_early_stopping(tmp_path: Path) -> None:
    X, y = table("breast_cancer")
    classifier = xgboost.XGBClassifier(
        n_estimators=60, early_stopping_rounds=3, learning_rate=1.0, n_jobs=1
    )
    classifier.fit(X[::2], y[::2], eval_set=[(X[1::2], y[1::2])], verbose=False)
    best = classifier.best_iteration + 1
    rounds = classifier.get_booster().num_boosted_rounds()
    assert best < rounds
    model = read_xgboost(classifier)
    assert len(model.trees) == best
    same_answers(model, classifier, hard_rows(model, X))
    booster = classifier.get_booster()
    everything = read_xgboost(booster)
    assert len(everything.trees) == rounds
    data = xgboost.DMatrix(X)
    assert (everything.predict(X) == (booster.predict(data) > 0.5)).all()

    classifier.save_model(tmp_path / "model.json")
    with pytest.raises(InvalidOption, match=f"has {rounds} rounds and its best .* round {best}"):
        read_model(tmp_path / "model.json")
    assert read_model(tmp_path / "model.json", rounds="best") == model
    assert read_model(tmp_path / "model.json", rounds="all") == everything
    assert len(read_xgboost(classifier, rounds=2).trees) == 2
    for wrong in (0, rounds + 1, "last", True):
        with pytest.raises(InvalidOption, match="rounds must be 'all', 'best' or 1 to"):
            read_xgboost(classifier, rounds=wrong)
    with pytest.raises(InvalidOption, match="no best iteration"):
        read_xgboost(fitted("iris", n_estimators=2), rounds="best")


def test_names_and_classes(tmp_path: Path) -> None:
    import pandas as pd

    X, y = table("iris")
    frame = pd.DataFrame(X, columns=["a b", "c", "d", "e"])
    classifier = xgboost.XGBClassifier(n_estimators=3).fit(frame, y)
    model = read_xgboost(classifier, classes=["s", "v", "w"])
    assert [a.name for a in model.attributes] == ["a b", "c", "d", "e"]
    assert set(model.predict(X).tolist()) == {"s", "v", "w"}
    with pytest.raises(ModelError, match="the model has 3 classes, 2 are given"):
        read_xgboost(classifier, classes=["s", "v"])
    path = tmp_path / "model.json.gz"
    path.write_bytes(gzip.compress(bytes(classifier.get_booster().save_raw("json"))))
    assert read_model(path, classes=["s", "v", "w"]) == model


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    return json.loads(bytes(fitted("iris", n_estimators=2).get_booster().save_raw("json")))


def changed(content: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(content)
    *keys, last = path.split("/")
    holder: Any = data
    for key in keys:
        holder = holder[int(key)] if isinstance(holder, list) else holder[key]
    if value is None:
        del holder[last]
    else:
        holder[last] = value
    return data


TREES = "learner/gradient_booster/model/trees"


@pytest.mark.parametrize(
    ("path", "value", "error", "message"),
    [
        ("learner/gradient_booster/name", "gblinear", UnsupportedModel, "booster 'gblinear'"),
        ("learner/objective/name", "rank:ndcg", UnsupportedModel, "objective 'rank:ndcg'"),
        ("learner/objective/name", "binary:logistic", ModelError, "is for two classes"),
        (
            "learner/learner_model_param/num_target",
            "2",
            UnsupportedModel,
            "has 2 outputs, one is read",
        ),
        ("learner/learner_model_param/base_score", "x", ModelError, "could not convert"),
        (f"{TREES}/0/split_type", [1, 0, 0], ModelError, "no categories for .* its node 0"),
        (f"{TREES}/1/tree_param", {"size_leaf_vector": "3"}, ModelError, "base_weights of tree 1"),
        (f"{TREES}/1/left_children", [0] * 5, ModelError, "right_children of tree 1 must be 5"),
        ("learner", None, ModelError, "no XGBoost model: the key 'learner' is missing"),
        ("learner", 3, ModelError, "no XGBoost model"),
        (f"{TREES}", [], ModelError, "the model has 0 trees, not 3 per round"),
        ("learner/gradient_booster/model/tree_info", [0], ModelError, "not 3 per round"),
        (f"{TREES}/0/split_indices", [99] * 3, ModelError, "tests the attribute 99, there are 4"),
    ],
)
def test_wrong_content(
    content: dict[str, Any], path: str, value: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read_xgboost(changed(content, path, value))


def test_circles(content: dict[str, Any]) -> None:
    data = copy.deepcopy(content)
    tree = data["learner"]["gradient_booster"]["model"]["trees"][1]
    inner = next(i for i, child in enumerate(tree["left_children"]) if i and child >= 0)
    tree["left_children"][inner] = 0
    with pytest.raises(ModelError, match="tree 1: its nodes make no tree"):
        read_xgboost(data)


def test_live_models_that_are_not_read() -> None:
    X, y = table("iris")
    with pytest.raises(ModelError, match="the XGBClassifier is not fitted"):
        read_xgboost(xgboost.XGBClassifier())
    with pytest.raises(InvalidOption, match="reg:squarederror predicts numbers: say"):
        read_xgboost(xgboost.XGBRegressor(n_estimators=1).fit(X, y))
    with pytest.raises(UnsupportedModel, match=r"missing=0\.0 is not supported"):
        read_xgboost(fitted("iris", n_estimators=1, missing=0.0))
    with pytest.raises(InvalidOption, match="output must be 0 to 0, got 1"):
        read_xgboost(fitted("iris", n_estimators=1), output=1)
    with pytest.raises(UnsupportedModel, match="booster 'gblinear'"):
        read_xgboost(fitted("iris", n_estimators=1, booster="gblinear"))
    with pytest.raises(UnsupportedModel, match="objective 'binary:hinge'"):
        read_xgboost(fitted("breast_cancer", n_estimators=1, objective="binary:hinge"))
    with pytest.raises(UnsupportedModel, match="list is no model of XGBoost"):
        read_xgboost([1])


def test_one_leaf() -> None:
    X, y = table("breast_cancer")
    classifier = xgboost.XGBClassifier(n_estimators=2, gamma=1e9).fit(X, y)
    model = read_xgboost(classifier)
    assert model.used == ()
    assert model.predict(X).tolist() == classifier.predict(X).tolist()
