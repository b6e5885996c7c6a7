"""The reader of CatBoost, by files written here and, where it is installed, by the library."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cpx
from cpx.data.targets import Target
from cpx.errors import ModelError, UnsupportedModel
from cpx.trees import read_catboost, read_model


def feature(index: int, name: str = "", **more: Any) -> dict[str, Any]:
    plain = {"feature_index": index, "flat_feature_index": index, "feature_id": name}
    return {**plain, "has_nans": False, "nan_value_treatment": "AsIs", **more}


def split(index: int, border: float) -> dict[str, Any]:
    return {"split_type": "FloatFeature", "float_feature_index": index, "border": border}


CONTENT: dict[str, Any] = {
    "features_info": {
        "float_features": [
            feature(0, "age", has_nans=True, nan_value_treatment="AsTrue"),
            feature(1, "size"),
        ]
    },
    "model_info": {
        "params": {"loss_function": {"type": "Logloss"}},
        "class_params": {"class_names": ["no", "yes"]},
    },
    "oblivious_trees": [
        {"leaf_values": [-4, 1, 2, 3], "splits": [split(0, 30.5), split(1, 1.5)]},
        {"leaf_values": [0.5], "splits": None},
    ],
    "scale_and_bias": [1, [0.25]],
}


def changed(path: str, value: Any) -> dict[str, Any]:
    content = copy.deepcopy(CONTENT)
    *keys, last = path.split("/")
    holder: Any = content
    for key in keys:
        holder = holder[int(key)] if isinstance(holder, list) else holder[key]
    holder[last] = value
    return content


def test_the_answer_to_test_i_is_bit_i_of_the_leaf(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(CONTENT))
    read = read_model(path)
    rows = [[30, 1], [31, 1], [30, 2], [31, 2], [np.nan, 1], [30.5, np.nan]]
    assert [float(read.scores(x)[0]) - 0.75 for x in rows] == [-4, 1, 2, 3, 1, -4]
    assert read.predict(rows).tolist() == ["no", "yes", "yes", "yes", "yes", "no"]
    assert [(a.name, a.missing) for a in read.attributes] == [("age", True), ("size", False)]
    assert str(read.condition(0, 0, holds=False)) == "age > 30.5"


def test_grown_trees_have_their_numbers_at_leaves() -> None:
    inner = {
        "split": split(1, 1.5),
        "left": {"value": [2, 0, 0]},
        "right": {"value": [0, 2, 0]},
    }
    root = {"split": split(0, 30.5), "left": {"value": [0, 0, 2]}, "right": inner}
    content = changed("trees", [root])
    del content["oblivious_trees"]
    content["scale_and_bias"] = [1, [0, 0, 0.5]]
    content["model_info"]["params"] = json.dumps({"loss_function": {"type": "MultiClass"}})
    read = read_catboost(content, classes=["a", "b", "c"], attributes=["x", "y"])
    assert read.predict([[30, 9], [31, 1], [31, 2]]).tolist() == ["c", "a", "b"]


def test_numbers() -> None:
    content = changed("model_info/params/loss_function/type", "RMSE")
    read = read_catboost(content, target=Target(above=2.5))
    assert read.predict_index([[30, 1], [31, 1], [31, 2]]).tolist() == [0, 0, 1]


CATEGORICAL = [{"feature_id": "city", "feature_index": 0, "flat_feature_index": 2}]


@pytest.mark.parametrize(
    ("path", "value", "error", "told"),
    [
        ("model_info/params/loss_function/type", "PairLogit", UnsupportedModel, "'PairLogit'"),
        ("features_info/categorical_features", CATEGORICAL, UnsupportedModel, "features 'city'"),
        ("features_info/text_features", [1], UnsupportedModel, "text features"),
        ("scale_and_bias", [2, [0]], UnsupportedModel, "scaled by 2"),
        ("oblivious_trees/0/splits/0/split_type", "OnlineCtr", UnsupportedModel, "'OnlineCtr'"),
        ("oblivious_trees", [], ModelError, "no trees"),
        ("oblivious_trees/0/leaf_values", [1, 2, 3], ModelError, "no CatBoost model"),
        ("oblivious_trees/0/splits/0/float_feature_index", 7, ModelError, "no CatBoost model"),
        ("model_info", {}, ModelError, "the key 'params' is missing"),
    ],
)
def test_what_is_not_read(path: str, value: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        read_catboost(changed(path, value))


def test_a_binary_file(tmp_path: Path) -> None:
    path = tmp_path / "model.cbm"
    path.write_bytes(b"CBM1\x00\x80")
    with pytest.raises(UnsupportedModel, match=r"binary file of CatBoost: save it with"):
        read_model(path)


def test_live_models() -> None:
    library = pytest.importorskip("catboost")
    quiet = {"verbose": 0, "thread_count": 1, "allow_writing_files": False}
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] > X[:, 1], "up", "down")
    with pytest.raises(ModelError, match="the CatBoostClassifier is not fitted"):
        read_catboost(library.CatBoostClassifier())
    model = library.CatBoostClassifier(iterations=5, depth=3, **quiet).fit(X, y)
    told = cpx.Explainer(model, X).reason(0)
    assert "checked: CatBoostClassifier.predict agrees" in " ".join(told.remarks)
    X[:, 2] = rng.integers(0, 3, 200)
    rows = X.astype(object)
    rows[:, 2] = [str(v) for v in X[:, 2]]
    model = library.CatBoostClassifier(iterations=2, cat_features=[2], **quiet).fit(rows, y)
    with pytest.raises(UnsupportedModel, match="categorical features '2': CatBoost stores hashes"):
        read_catboost(model)
    with pytest.raises(UnsupportedModel, match="list is no model of CatBoost"):
        read_catboost([])
