"""The reader of ONNX, by graphs made here; the benchmark ``readers`` compares with onnxruntime."""

from __future__ import annotations

import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cpx.errors import ModelError, UnsupportedModel
from cpx.trees import read_model, read_onnx

# x0 <= 1.5 ? (x1 > 2 ? 0.25 : -1) : 2, by number of the node
TREE: dict[str, Any] = {
    "nodes_treeids": [0] * 5,
    "nodes_nodeids": [0, 1, 2, 3, 4],
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF"],
    "nodes_featureids": [0, 1, 0, 0, 0],
    "nodes_values": [1.5, 2.0, 0.0, 0.0, 0.0],
    "nodes_truenodeids": [1, 3, 0, 0, 0],
    "nodes_falsenodeids": [4, 2, 0, 0, 0],
    "nodes_missing_value_tracks_true": [1, 0, 0, 0, 0],
    "class_treeids": [0, 0, 0],
    "class_nodeids": [2, 3, 4],
    "class_ids": [0, 0, 0],
    "class_weights": [-1.0, 0.25, 2.0],
    "classlabels_strings": ["no", "yes"],
    "post_transform": "LOGISTIC",
}


def attribute(name: str, value: Any) -> Any:
    empty: dict[str, Any] = {"s": b"", "floats": [], "ints": [], "strings": [], "t": None}
    if isinstance(value, str):
        empty["s"] = value.encode()
    elif isinstance(value[0], str):
        empty["strings"] = [text.encode() for text in value]
    else:
        empty["floats" if isinstance(value[0], float) else "ints"] = value
    return SimpleNamespace(name=name, type=0, **empty)


def tensor(name: str, kind: int = 1, width: int = 3) -> Any:
    shape = SimpleNamespace(dim=[SimpleNamespace(dim_value=n) for n in (0, width)])
    kinds = SimpleNamespace(tensor_type=SimpleNamespace(elem_type=kind, shape=shape))
    return SimpleNamespace(name=name, type=kinds)


def operator(kind: str, given: str, *told: str, **values: Any) -> Any:
    attributes = [attribute(name, value) for name, value in values.items()]
    return SimpleNamespace(op_type=kind, input=[given], output=[*told], attribute=attributes)


def model(*more: Any, inputs: Any = None, **changed: Any) -> Any:
    values = {name: value for name, value in {**TREE, **changed}.items() if value is not None}
    trees = operator("TreeEnsembleClassifier", "X", "label", "scores", **values)
    nodes = [trees, *more]
    outputs = [tensor("told" if more else "label"), tensor("scores")]
    graph = SimpleNamespace(node=nodes, input=inputs or [tensor("X")], output=outputs)
    return SimpleNamespace(graph=graph)


ROWS = [[1.5, 3, 0], [1.5, 2, 0], [1.6, 0, 0], [np.nan, 3, 0], [1, np.nan, 0]]


def test_two_classes_with_one_score() -> None:
    read = read_onnx(model())
    assert [float(read.scores(row)[0]) for row in ROWS] == [0.25, -1, 2, 0.25, -1]
    assert read.predict(ROWS).tolist() == ["yes", "no", "yes", "yes", "no"]
    assert len(read.attributes) == 3
    assert str(read.condition(1, 0)) == "x1 <= 2"


def test_a_probability_wins_beyond_one_half() -> None:
    weights = {"class_weights": [0.0, 0.5, 0.75], "post_transform": "NONE", "base_values": [0.0]}
    assert read_onnx(model(**weights)).predict(ROWS).tolist() == ["no", "no", "yes", "no", "no"]


def test_tests_of_all_kinds() -> None:
    rows = [[1.25], [1.5], [1.75], [np.nan]]
    expected = {"LT": [1, 0, 0, 1], "GTE": [0, 1, 1, 1], "EQ": [0, 1, 0, 1], "LEQ": [1, 1, 0, 1]}
    for mode, said in expected.items():
        changed = {
            name: value[:3] if isinstance(value, list) and "labels" not in name else value
            for name, value in TREE.items()
        }
        changed |= {"nodes_modes": [f"BRANCH_{mode}", "LEAF", "LEAF"], "nodes_nodeids": [0, 1, 2]}
        changed |= {"nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0]}
        changed |= {"class_nodeids": [1, 2], "class_weights": [1.0, -1.0]}
        changed |= {"class_ids": [0, 0], "class_treeids": [0, 0]}
        read = read_onnx(model(inputs=[tensor("X", width=1)], **changed), classes=[0, 1])
        assert read.predict(rows).tolist() == said


def test_several_classes() -> None:
    changed = {
        "class_treeids": [0] * 9,
        "class_nodeids": [2, 2, 2, 3, 3, 3, 4, 4, 4],
        "class_ids": [0, 1, 2] * 3,
        "class_weights": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        "classlabels_strings": None,
        "classlabels_int64s": [5, 6, 7],
        "post_transform": "SOFTMAX",
    }
    read = read_onnx(model(operator("Identity", "label", "told"), **changed))
    assert read.predict(ROWS).tolist() == [6, 5, 7, 6, 5]
    changed |= {name: changed[name][:8] for name in changed if name.startswith("class_")}
    with pytest.raises(UnsupportedModel, match="give a class no score"):
        read_onnx(model(**changed))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"post_transform": "NONE"}, "onnxruntime by the signs of the weights"),
        ({"post_transform": "PROBIT"}, "post_transform 'PROBIT' is not supported"),
        ({"nodes_modes": ["BRANCH_NEQ", *TREE["nodes_modes"][1:]]}, "tests 'BRANCH_NEQ'"),
        ({"class_ids": [0, 1, 0]}, "two classes have a score each"),
        ({"inputs": [tensor("X", 11)]}, "no table of float32"),
        ({"inputs": [tensor("X"), tensor("Y")]}, "several inputs before the trees"),
        ({"nodes_values_as_tensor": [1.0]}, "numbers of double precision"),
    ],
)
def test_what_is_not_read(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(UnsupportedModel, match=told):
        read_onnx(model(**changed))


def test_other_graphs() -> None:
    scaled = model()
    scaled.graph.node.insert(0, operator("Scaler", "X", "Z"))
    scaled.graph.node[1].input = ["Z"]
    with pytest.raises(UnsupportedModel, match="Scaler before the trees"):
        read_onnx(scaled)
    with pytest.raises(UnsupportedModel, match="the label of the ONNX model is not that of"):
        read_onnx(model(operator("Not", "label", "told")))
    other = copy.deepcopy(model())
    other.graph.node[0].op_type = "LinearClassifier"
    with pytest.raises(UnsupportedModel, match="has the operators LinearClassifier"):
        read_onnx(other)
    with pytest.raises(ModelError, match="no ONNX model"):
        read_onnx(SimpleNamespace())


def test_a_damaged_file(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x08\x07no")
    with pytest.raises(ModelError, match="onnx cannot read it"):
        read_model(path)


def test_a_file(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    from onnx import helper

    trees = helper.make_node(
        "TreeEnsembleClassifier", ["X"], ["label", "scores"], domain="ai.onnx.ml", **TREE
    )
    graph = helper.make_graph(
        [trees],
        "trees",
        [helper.make_tensor_value_info("X", onnx.TensorProto.FLOAT, [None, 3])],
        [helper.make_tensor_value_info("label", onnx.TensorProto.STRING, [None])],
    )
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph), str(path))
    read = read_model(path)
    assert read == read_onnx(model())
    assert read == read_model(onnx.load(str(path)))
