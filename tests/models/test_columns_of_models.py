"""Columns of rows and tables against those of models: by position, by name, or refused."""

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.data.other_frames import printed_names
from cpx.errors import DataError
from cpx.modelling.row import row_values
from cpx.trees import TreeModel, read_model, read_xgboost, read_xgboost_dump
from tests.seeds import every_other

V = np.random.default_rng(1).normal(size=(400, 3))
Y = (V[:, 0] > 0).astype(int)
ROW = V[int(np.flatnonzero((V[:, 0] > 0) & (V[:, 2] < 0))[0])]
"""The class depends on the first column, which differs in sign from the last one."""


def models(X: Any) -> dict[str, Any]:
    """Return models of all libraries that are there, fitted to a table."""
    found: dict[str, Any] = {
        "tree": DecisionTreeClassifier(random_state=0).fit(X, Y),
        "forest": RandomForestClassifier(3, random_state=0).fit(X, Y),
        "histograms": HistGradientBoostingClassifier(max_iter=3).fit(X, Y),
    }
    try:
        import lightgbm
        import xgboost
    except ImportError:
        return found
    found["lightgbm"] = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1).fit(X, Y)
    found["its booster"] = found["lightgbm"].booster_
    found["xgboost"] = xgboost.XGBClassifier(n_estimators=3, n_jobs=1).fit(X, Y)
    found["XGBoost's booster"] = found["xgboost"].get_booster()
    return found


OF_ARRAYS = models(V)


def reason(model: Any, x: Any) -> Any:
    return cpx.explain(model, None, x, kind="reason")


NAMES: list[tuple[Any, ...]] = [
    ("x2", "x1", "x0"),
    ("x1", "x2", "x3"),
    ("f2", "f0", "f1"),
    ("Column_2", "Column_1", "Column_0"),
    ("a", "b", "c"),
    (2, 0, 1),
]


@pytest.mark.parametrize(("which", "names"), every_other([*OF_ARRAYS], NAMES))
def test_a_model_of_arrays_takes_columns_by_position(which: str, names: tuple[Any, ...]) -> None:
    named = pd.Series(ROW, index=[*names])
    for x in (named, named.to_dict(), named.to_frame().T):
        found = reason(OF_ARRAYS[which], x)
        assert found.rule.says == "class 1"
        assert [text.split()[0] for text in found.rule.words] == printed_names(names[:1])
        assert any("taken in their order" in note for note in found.notes)
    assert not any("in their order" in note for note in reason(OF_ARRAYS[which], ROW).notes)


@pytest.mark.parametrize("names", [("x2", "x1", "x0"), ("f2", "f1", "f0"), ("Column_1", "x", "y")])
def test_a_model_of_a_frame_takes_columns_by_name(names: tuple[str, ...]) -> None:
    row = pd.Series(ROW, index=[*names])
    for model in models(pd.DataFrame(V, columns=[*names])).values():
        for x in (row, row[::-1].to_dict(), ROW):
            assert reason(model, x).rule.words[0].startswith(f"{names[0]} >")
        told = f"x lacks '{names[0]}', columns of the model, and has 'other', no columns of the"
        with pytest.raises(DataError, match=told):
            reason(model, row.rename({names[0]: "other"}))
        with pytest.raises(
            DataError, match=r"x has 'target', no columns of the model: leave .* --target"
        ):
            reason(model, pd.concat([row, pd.Series({"target": 1.0})]))


@pytest.mark.parametrize("which", ["tree", "lightgbm", "xgboost"])
def test_files_know_whether_they_have_names(which: str, tmp_path: Path) -> None:
    """Names that a library gives itself can be those of a frame, too."""
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    own = {"tree": "x", "lightgbm": "Column_", "xgboost": "f"}[which]
    names = [f"{own}{i}" for i in (2, 1, 0)]
    row = pd.Series(ROW, index=names)
    for model in (
        OF_ARRAYS[which],
        models(pd.DataFrame(V, columns=names))[which],
        models(pd.DataFrame(V[:, ::-1], columns=names[::-1]))[which],
    ):
        path = tmp_path / "model.json"
        if which == "tree":
            path = tmp_path / "model.joblib"
            joblib.dump(model, path)
        elif which == "lightgbm":
            model.booster_.save_model(path)
        else:
            model.save_model(path)
        trees = read_model(path, trusted=True)
        saved = TreeModel.from_dict(trees.to_dict())
        assert saved == trees
        assert saved.named == trees.named == (model is not OF_ARRAYS[which])
        for source in (model, trees, saved):
            assert reason(source, row).rule.words[0].startswith(f"{names[0]} >")


def test_what_cannot_be_told_is_refused() -> None:
    """A dump does not say whether f0 is a number or a name, nor does a model of earlier files."""
    dump = "0:[f0<0.5] yes=1,no=2,missing=1\n\t1:leaf=-0.5\n\t2:leaf=0.25\n"
    model = read_xgboost_dump([dump], classes=2, attributes=2)
    assert model.named is None
    assert row_values(model, {"f0": 1.0, "f1": 2.0}) == (1.0, 2.0)
    with pytest.raises(DataError, match="f1, f0, which are the numbers of a model that may have"):
        reason(model, {"f1": 2.0, "f0": 1.0})
    assert reason(model, {"a": 1.0, "b": 2.0}).rule.words == ("a >= 0.5",)
    said = read_xgboost_dump([dump], classes=2, attributes=["f0", "f1"])
    assert reason(said, {"f1": 2.0, "f0": 1.0}).rule.words == ("f0 >= 0.5",)
    old = {k: v for k, v in read_model(OF_ARRAYS["tree"]).to_dict().items() if k != "named"}
    assert TreeModel.from_dict(old).named is None


def test_names_that_are_there_twice() -> None:
    twice = pd.Series(ROW, index=["a", "b", "a"])
    with pytest.raises(DataError, match="x has two columns named 'a': rename one"):
        reason(OF_ARRAYS["tree"], twice)
    named = models(pd.DataFrame(V, columns=["a", "b", "c"]))["tree"]
    with pytest.raises(DataError, match="x has two columns named 'a'"):
        reason(named, twice)


def test_the_number_of_columns() -> None:
    for model in OF_ARRAYS.values():
        with pytest.raises(DataError, match="x has 2 columns; the model was trained on 3"):
            reason(model, {"a": 1.0, "b": 2.0})
        with pytest.raises(DataError, match="x must have 3 values, got 2"):
            reason(model, [1.0, 2.0])


@pytest.mark.parametrize("which", ["tree", "linear"])
def test_backgrounds(which: str) -> None:
    """Expected predictions read the table and the row by the same rule."""
    bits = (V > 0).astype(float)
    model: Any = LogisticRegression() if which == "linear" else DecisionTreeClassifier()
    model.fit(bits, Y)
    row = np.array([1.0, 0.0, 0.0])

    def expected(x: Any, X: Any, model: Any = model) -> Any:
        options = {"k": 1, "distribution": "factorised", "kind": "expectation"}
        return cpx.explain(model, X, x, **options).rule

    frame = pd.DataFrame(bits, columns=["x2", "x1", "x0"])
    x = pd.Series(row, index=frame.columns)
    assert expected(x, frame).words[0].startswith("x2 ")
    assert expected(x[::-1], frame) == expected(x, frame) == expected(row, frame)
    assert expected(row, bits).words[0].startswith("x0 ")
    assert expected(row, pd.DataFrame(bits)).words[0].startswith("x0 ")
    assert expected(x, bits) == expected(x.set_axis(["x0", "x1", "x2"]), bits)
    with pytest.raises(DataError, match="x2, x1, x0, which are the numbers of a model"):
        expected(x.to_dict(), bits)
    named: Any = type(model)().fit(frame, Y)
    turned = frame[["x0", "x1", "x2"]]
    assert expected(x, turned, named) == expected(x, frame, named) == expected(x, frame)
    with pytest.raises(DataError, match="lacks 'x2', columns of the model"):
        expected(x, frame.rename(columns={"x2": "b"}), named)
    with pytest.raises(DataError, match=r"has 2 columns; the model|rows must have 3 columns"):
        expected(x[:2], frame[["x2", "x1"]])


def test_a_file_of_xgboost_without_names() -> None:
    leaf = {"left_children": [-1], "right_children": [-1], "split_indices": [0]}
    leaf |= {"split_conditions": [0.5], "default_left": [0]}
    tree = leaf | {"tree_param": {"size_leaf_vector": "1"}}
    forest = {"gbtree_model_param": {"num_parallel_tree": "1"}, "tree_info": [0], "trees": [tree]}
    shape = {"num_class": "0", "num_feature": "2", "base_score": "5E-1"}
    learner = {
        "objective": {"name": "binary:logistic"},
        "attributes": {},
        "learner_model_param": shape,
        "gradient_booster": {"name": "gbtree", "model": forest},
    }
    for names, known in ((None, False), ([], False), (["f1", "f0"], True)):
        own = learner if names is None else learner | {"feature_names": names}
        assert read_xgboost({"learner": own}).named is known
