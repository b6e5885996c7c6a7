"""Reader of tree ensembles in ONNX: the operator TreeEnsembleClassifier, by the package onnx."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cpx.errors import EngineMissing, ModelError, UnsupportedModel, shortened, shown
from cpx.trees.attribute import Attribute
from cpx.trees.building import Node, Nodes, assemble, attribute_list, highest_below, reading
from cpx.trees.checks import class_labels
from cpx.trees.form import TreeModel
from cpx.trees.tree import LEFT, RIGHT

_OPERATOR, _FLOAT = "TreeEnsembleClassifier", 1
_HANDED_ON = ("Identity", "Cast")
_POST = ("NONE", "SOFTMAX", "LOGISTIC")


def read_onnx(
    model: Any,
    *,
    classes: Sequence[Any] | None = None,
    attributes: Sequence[str | Attribute] | None = None,
) -> TreeModel:
    """Read a classifier in ONNX that is one ensemble of trees over one table of float32.

    Parameters
    ----------
    model : path or onnx.ModelProto
        An ``.onnx`` file, or what ``onnx.load`` returns.
    classes : sequence of labels, optional
        By default those of the model.
    attributes : sequence of str or Attribute, optional
        Names of the columns, or all there is to say of them. By default ``x0, x1, ...``.

    Returns
    -------
    TreeModel

    Raises
    ------
    EngineMissing
        When the package onnx is not installed.
    UnsupportedModel
        For other operators before or beside the trees, inputs of another type or of several
        columns each, numbers of double precision, tests by ``!=``, and where the standard and
        onnxruntime decide otherwise. Naming it.
    ModelError
        When the file cannot be read, or is no such model; when classes or attributes do not fit.

    Notes
    -----
    ONNX compares and adds in float32. Of two classes with one score, the second wins beyond 1/2
    where the score is a probability, and beyond 0 where it is made one by a sigmoid. What is read
    is the ONNX model, which answers as the converted one does as far as its converter is right.
    """
    if isinstance(model, str | PathLike):
        model = _loaded(Path(model))
    with reading("ONNX model"):
        graph = model.graph
        node = _trees(graph)
        told = {a.name: _value(a) for a in node.attribute}
        _refuse_double(told)
        labels = told.get("classlabels_int64s") or [
            text.decode() for text in told.get("classlabels_strings", ())
        ]
        weights = _weights(told)
        single = len({*told["class_ids"]}) == 1
        if len(labels) == 2 and not single:
            raise UnsupportedModel(
                "two classes have a score each: onnxruntime decides by one of them alone"
            )
        scores = 1 if single else len(labels)
        trees = _nodes(told, weights, scores)
        base = [float(np.float32(v)) for v in told.get("base_values", ())] or [0.0] * scores
        post = told.get("post_transform", b"NONE").decode()
        if post not in _POST:
            raise UnsupportedModel(f"post_transform {shown(post)} is not supported")
        if single:
            base = [base[0] - _limit(told["class_weights"], post)]
        elif not _all_scored(told, len(labels)):
            raise UnsupportedModel("some rows give a class no score, not supported")
        width = _width(graph, max(int(tree.attribute.max()) for tree in trees) + 1)
    return assemble(
        trees,
        attribute_list(attributes, [f"x{i}" for i in range(width)]),
        classes=class_labels(labels if classes is None else classes, len(labels)),
        rule="sum",
        decision="positive" if single else "first",
        base=base,
        cast="float32",
        sums="float32",
        source="onnx file",
        named=attributes is not None,
    )


def _loaded(path: Path) -> Any:
    try:
        import onnx
    except ImportError:
        raise EngineMissing("an ONNX file needs onnx to be read; pip install onnx") from None
    try:
        return onnx.load(str(path))
    except Exception as error:  # what a damaged file raises is not documented
        raise ModelError(f"onnx cannot read it: {shortened(error)}") from error


def _value(attribute: Any) -> Any:
    """Return the value of an attribute: text, or a list."""
    if attribute.s:
        return attribute.s
    lists = (attribute.floats, attribute.ints, attribute.strings)
    return next(
        (list(found) for found in lists if len(found)), [attribute.t][: attribute.type == 4]
    )


def _trees(graph: Any) -> Any:
    """Return the one operator of trees: it takes the input of the graph, and its label is told."""
    kinds = [node.op_type for node in graph.node]
    if kinds.count(_OPERATOR) != 1:
        raise UnsupportedModel(
            f"the ONNX model has the operators {', '.join(kinds[:8])}; cpx reads one {_OPERATOR}"
        )
    found = graph.node[kinds.index(_OPERATOR)]
    inputs = {one.name: one.type.tensor_type.elem_type for one in graph.input}
    if found.input[0] not in inputs or len(inputs) != 1:
        before = ", ".join(kinds[: kinds.index(_OPERATOR)]) or "several inputs"
        raise UnsupportedModel(f"{before} before the trees of the ONNX model, not supported")
    if inputs[found.input[0]] != _FLOAT:
        raise UnsupportedModel("the input of the ONNX model is no table of float32")
    names = {found.output[0]}
    for node in graph.node:
        if names & {*node.input} and node.op_type in _HANDED_ON:
            names |= {*node.output}
    if not names & {one.name for one in graph.output}:
        raise UnsupportedModel("the label of the ONNX model is not that of its trees")
    return found


def _refuse_double(told: Mapping[str, Any]) -> None:
    for name, value in told.items():
        if name.endswith("_as_tensor") and value:
            raise UnsupportedModel(f"{name}: numbers of double precision are not supported")


def _weights(told: Mapping[str, Any]) -> dict[tuple[int, int], dict[int, float]]:
    """Return what each leaf, by its tree and number, adds to which scores."""
    found: dict[tuple[int, int], dict[int, float]] = {}
    columns = (told[f"class_{name}"] for name in ("treeids", "nodeids", "ids", "weights"))
    for tree, node, score, weight in zip(*columns, strict=True):
        own = found.setdefault((tree, node), {})
        if score in own:
            raise ModelError(f"a leaf of tree {tree} has two weights for one class")
        own[score] = float(np.float32(weight))
    return found


def _limit(weights: Sequence[float], post: str) -> float:
    """Return what the one score of two classes must exceed for the second class."""
    positive = min(weights) >= 0
    if positive != (post == "NONE"):
        raise UnsupportedModel(
            "two classes with one score: the standard goes by post_transform, onnxruntime by the "
            "signs of the weights, and here they decide otherwise"
        )
    return 0.5 if positive else 0.0


def _all_scored(told: Mapping[str, Any], classes: int) -> bool:
    """Whether for each class some tree has a score at every leaf."""
    leaves: dict[int, int] = {}
    for tree, mode in zip(told["nodes_treeids"], told["nodes_modes"], strict=True):
        leaves[tree] = leaves.get(tree, 0) + (mode == b"LEAF")
    counts: dict[tuple[int, int], int] = {}
    for tree, score in zip(told["class_treeids"], told["class_ids"], strict=True):
        counts[score, tree] = counts.get((score, tree), 0) + 1
    return all(any(counts.get((k, t)) == n for t, n in leaves.items()) for k in range(classes))


def _width(graph: Any, least: int) -> int:
    """Return the number of columns of the input."""
    shape = graph.input[0].type.tensor_type.shape.dim
    return max(shape[1].dim_value if len(shape) == 2 else 0, least)


def _nodes(
    told: Mapping[str, Any],
    weights: Mapping[tuple[int, int], Mapping[int, float]],
    scores: int,
) -> list[Nodes]:
    keys = ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids")
    columns = [told[f"nodes_{key}"] for key in keys]
    tracks = told.get("nodes_missing_value_tracks_true") or [0] * len(columns[0])
    rows: dict[int, list[tuple[Any, ...]]] = {}
    for row in zip(*columns, tracks, strict=True):
        rows.setdefault(row[0], []).append(row[1:])
    found = []
    for tree, own in rows.items():
        place = {row[0]: i for i, row in enumerate(own)}
        made, sets = [], {}
        for i, (number, mode, feature, value, true, false, tracked) in enumerate(own):
            if mode == b"LEAF":
                leaf = weights.get((tree, number), {})
                column = {0: next(iter(leaf.values()), 0.0)} if scores == 1 else leaf
                made.append(Node(values=tuple(column.get(k, 0.0) for k in range(scores))))
                continue
            threshold, swapped = _test(tree, mode, float(value))
            if mode == b"BRANCH_EQ":
                sets[i] = [(float(highest_below(value)), threshold)]
            left, right = (false, true) if swapped else (true, false)
            way = LEFT if bool(tracked) != swapped else RIGHT
            made.append(Node(feature, threshold, place[left], place[right], way))
        found.append(replace(Nodes.of(made), sets=sets))
    return found


def _test(tree: int, mode: bytes, value: float) -> tuple[float, bool]:
    """Return up to which number values go left, and whether left is where the test fails."""
    upto, below = float(np.float32(value)), float(highest_below(value))
    known = {
        b"BRANCH_LEQ": (upto, False),
        b"BRANCH_LT": (below, False),
        b"BRANCH_GTE": (below, True),
        b"BRANCH_GT": (upto, True),
        b"BRANCH_EQ": (upto, False),
    }
    if mode not in known:
        raise UnsupportedModel(f"tree {tree} has tests {shown(mode.decode())}, not supported")
    return known[mode]
