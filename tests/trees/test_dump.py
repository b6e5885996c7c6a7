from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cpx.errors import ModelError, UnsupportedModel
from cpx.trees import Attribute, read_model, read_xgboost_dump

DUMP = """booster[0]:
0:[f2<2.5] yes=1,no=2,missing=2,gain=12.5,cover=4
\t1:leaf=0.5,cover=2
\t2:[f0<-1e-05] yes=3,no=4,missing=3
\t\t3:leaf=-0.25
\t\t4:leaf=0.125
booster[1]:
0:leaf=-0.125
"""


@pytest.mark.parametrize(
    ("row", "score"),
    [
        ([9, 0, 2.4999], Fraction(3, 8)),
        ([9, 0, 2.5], Fraction(0)),
        ([-1e-5, 0, 2.5], Fraction(0)),  # equal is not less
        ([-2e-5, 0, 2.5], Fraction(-3, 8)),
        ([np.nan, 0, np.nan], Fraction(-3, 8)),
        ([0, np.nan, np.nan], Fraction(0)),
    ],
)
def test_by_hand(row: list[float], score: Fraction, tmp_path: Path) -> None:
    path = tmp_path / "dump.txt"
    path.write_text(DUMP)
    model = read_xgboost_dump(path, classes=2)
    assert model.scores(row) == (score,)
    assert model.predict([row]).tolist() == [int(score > 0)]
    packed = tmp_path / "dump.txt.gz"
    packed.write_bytes(gzip.compress(DUMP.encode()))
    assert read_model(packed, classes=2) == model
    assert [a.name for a in model.attributes] == ["f0", "f1", "f2"]
    assert str(model.condition(2, 0)) == "f2 < 2.5"
    assert str(model.condition(0, 0, holds=False)) == "f0 >= -1e-05"


def test_as_many_classes_as_trees() -> None:
    trees = ["0:[f0<1] yes=1,no=2,missing=1\n1:leaf=1\n2:leaf=0\n", "0:leaf=0.5", "0:leaf=0.5"]
    model = read_xgboost_dump(trees, classes="abc")
    assert model.predict([[0], [1]]).tolist() == ["a", "b"]
    assert model.scores([0]) == (1, Fraction(1, 2), Fraction(1, 2))
    again = read_xgboost_dump(trees[:2], classes=2, objective="multi:softprob")
    assert again.predict([[0], [1]]).tolist() == [0, 1]
    started = read_xgboost_dump(trees, classes="abc", base=[0, 0, 3])
    assert started.predict([[0]]).tolist() == ["c"]
    parallel = read_xgboost_dump([*trees, "0:leaf=9"], classes=2, num_parallel_tree=2,
                                 objective="multi:softprob")  # fmt: skip
    assert [tree.outputs for tree in parallel.trees] == [(0,), (0,), (1,), (1,)]


def test_names() -> None:
    tree = "0:[petal length (cm)<1.5] yes=1,no=2\n1:leaf=-1\n2:leaf=1\n"
    columns = ["petal width (cm)", "petal length (cm)"]
    model = read_xgboost_dump([tree], classes=2, attributes=columns)
    assert model.predict([[0, 1], [0, 2], [0, np.nan]]).tolist() == [0, 1, 0]
    assert str(model.condition(1, 0)) == "petal length (cm) < 1.5"
    table = pd.DataFrame([[0.0, 1.0]], columns=columns)
    by_table = read_xgboost_dump([tree], classes=2, rows=table)
    assert (by_table.attributes, by_table.named) == (model.attributes, True)
    with pytest.raises(ModelError, match=r"names the feature 'petal length \(cm\)': give the"):
        read_xgboost_dump([tree], classes=2, rows=table.iloc[:, :1])
    with pytest.raises(ModelError, match=r"tree 0 tests 'petal length .*', which is no attribute"):
        read_xgboost_dump([tree], classes=2, attributes=["a", "b"])
    with pytest.raises(ModelError, match="two attributes have the same name"):
        read_xgboost_dump([tree], classes=2, attributes=["a", "a"])

    numbered = "0:[f1<1.5] yes=1,no=2,missing=1\n1:leaf=-1\n2:leaf=1\n"
    given = [Attribute("age", "integer"), Attribute("size")]
    assert str(read_xgboost_dump([numbered], classes=2, attributes=given).condition(1, 0)) == (
        "size < 1.5"
    )
    wide = read_xgboost_dump([numbered], classes=2, attributes=5)
    assert wide.predict([[0, 1, 0, 0, 0]]).tolist() == [0]
    with pytest.raises(ModelError, match="the dump tests f1, 1 attributes are given"):
        read_xgboost_dump([numbered], classes=2, attributes=1)
    with pytest.raises(ModelError, match="tree 0 tests 'f1', which is no attribute"):
        read_xgboost_dump([numbered], classes=2, attributes=["age"])


@pytest.mark.parametrize(
    ("tree", "error", "message"),
    [
        ("0:[f0:{1,x}] yes=1,no=2,missing=1", ModelError, "tree 0: .* no node of a dump"),
        ('{"nodeid": 0, "split": "a", "yes": 1}', UnsupportedModel, "tree 0: indicator features"),
        ('{"nodeid": 0}', UnsupportedModel, "tree 0: indicator features"),
        ('{"leaf": 1}', ModelError, "tree 0: the key 'nodeid' is missing"),
        ('{"nodeid": 1, "leaf": 1}', ModelError, "tree 0 has no node 0"),
        ("0:[f0] yes=1,no=2", UnsupportedModel, "tree 0: .* indicator features"),
        ("0:[f0<x] yes=1,no=2,missing=1", ModelError, "could not convert string to float"),
        ("0:leaf=much", ModelError, "could not convert string to float"),
        ("0:leaf=inf", ModelError, "must be finite"),
        ("hello", ModelError, "tree 0: 'hello': no node of a dump"),
        ("1:leaf=1", ModelError, "tree 0 has no node 0"),
        ("", ModelError, "tree 0 has no node 0"),
        ("0:leaf=1\n0:leaf=2", ModelError, "tree 0 has the node 0 twice"),
        ("0:[f0<1] yes=1,no=2,missing=3\n1:leaf=1\n2:leaf=1", ModelError, "neither yes nor no"),
        ("0:[f0<1] yes=1,no=2,missing=1\n1:leaf=1", ModelError, "a child of node 0 is not there"),
        ("0:[f0<1] yes=0,no=0,missing=0", ModelError, "tree 0: its nodes make no tree"),
        ("0:[f0<nan] yes=1,no=2,missing=1\n1:leaf=1\n2:leaf=1", ModelError, "is no number"),
    ],
)
def test_what_is_no_dump(tree: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_xgboost_dump([tree], classes=2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0:leaf=1\n", "line 1: no dump of XGBoost, it starts with '0:leaf=1'"),
        ("booster[1]:\n0:leaf=1\n", r"line 1: booster\[0\] expected"),
        ("booster[0]:\n0:leaf=1\nbooster[2]:\n", r"line 3: booster\[1\] expected"),
        ("", "the dump has 0 trees"),
    ],
)
def test_files_that_are_no_dump(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "dump.txt"
    path.write_text(text)
    with pytest.raises(ModelError, match=message):
        read_xgboost_dump(path, classes=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"classes": 3}, "has 1 trees, not a multiple of 3"),
        ({"classes": 2, "num_parallel_tree": 2}, "has 1 trees, not a multiple of 2"),
        ({"classes": 2, "num_parallel_tree": 0}, "num_parallel_tree must be an integer"),
        ({"classes": []}, "the model has no classes"),
        ({"classes": 3, "objective": "binary:logistic"}, "is for two classes, there are 3"),
        ({"classes": 2, "objective": "reg:squarederror"}, "objective 'reg:squarederror' is not"),
        ({"classes": 2, "base": [0, 0]}, "base must have 1 numbers"),
    ],
)
def test_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_xgboost_dump(["0:leaf=1"], **arguments)


def test_categories_and_json() -> None:
    text = "0:[f0:{0,2}] yes=2,no=1,missing=1\n1:leaf=-1\n2:leaf=1\n"
    content = {
        "nodeid": 0, "split": "f0", "split_condition": [0, 2], "yes": 2, "no": 1, "missing": 1,
        "children": [{"nodeid": 1, "leaf": -1}, {"nodeid": 2, "leaf": 1}],
    }  # fmt: skip
    rows = [[0.0], [0.5], [-0.5], [1], [2], [2.5], [3], [np.nan]]
    for tree in (text, json.dumps(content)):
        read = read_xgboost_dump([tree], classes=2)
        assert read.predict(rows).tolist() == [1, 1, 0, 0, 1, 1, 0, 0]


def test_a_file_of_json(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_text('[\n  { "nodeid": 0, "leaf": 0.5 },\n  { "nodeid": 0, "leaf": -1 }\n]')
    assert read_model(path, classes=2).predict([[]]).tolist() == [0]
    path.write_text("[1, 2]")
    with pytest.raises(ModelError, match="not recognised as a tree model"):
        read_model(path, classes=2)
