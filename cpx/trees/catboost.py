"""Reader of CatBoost models: their JSON files, and live ones by such a file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cpx.data.targets import Target, refuse_target, require_target
from cpx.errors import ModelError, UnsupportedModel, shown
from cpx.support.files import parse_json, read_text
from cpx.trees.attribute import Attribute
from cpx.trees.building import Node, Nodes, assemble, attribute_list, reading
from cpx.trees.checks import class_labels, label_list
from cpx.trees.form import TreeModel
from cpx.trees.live import LiveModel
from cpx.trees.regressors import LiveNumbers, fields_of_numbers
from cpx.trees.tree import LEFT, RIGHT

_LINKS: dict[str, Literal["sigmoid", "softmax"]] = {
    "Logloss": "sigmoid",
    "CrossEntropy": "sigmoid",
    "MultiClass": "softmax",
    "MultiClassOneVsAll": "sigmoid",
}
_NUMBERS = ("RMSE", "MAE", "Quantile", "MAPE", "Huber")
_MISSING = {"AsIs": LEFT, "AsFalse": LEFT, "AsTrue": RIGHT}


def is_catboost(content: Any) -> bool:
    """Say whether the content of a JSON file is a model of CatBoost."""
    return isinstance(content, Mapping) and "features_info" in content


def read_catboost(
    model: Any,
    *,
    classes: Sequence[Any] | None = None,
    attributes: Sequence[str | Attribute] | None = None,
    target: Target | None = None,
) -> TreeModel:
    """Read a classifier or regressor of CatBoost over numbers.

    Parameters
    ----------
    model : path, mapping, CatBoostClassifier or CatBoostRegressor
        A file of ``save_model(path, format="json")``, plain or gzipped, or its content; or a live
        model, which writes such a file.
    classes : sequence of labels, optional
        By default those of the model.
    attributes : sequence of str or Attribute, optional
        Names of the columns, or all there is to say of them. By default those of the model, or
        ``x0, x1, ...``.
    target : Target, optional
        Of a regressor: what is asked of the number that it predicts.

    Returns
    -------
    TreeModel

    Raises
    ------
    UnsupportedModel
        For columns of categories, texts or embeddings: CatBoost stores hashes of categories, and
        statistics of them, and not the categories. For another loss than ``Logloss``,
        ``CrossEntropy``, ``MultiClass``, ``MultiClassOneVsAll`` and those of regressors, such as
        ``RMSE``; and for scaled scores. Naming it.
    ModelError
        When the file cannot be read or is no such model; when the model is not fitted; when
        classes or attributes do not fit.

    Notes
    -----
    CatBoost compares in float32, ``value > border``, and adds in float64. A missing value is less
    than all numbers to it, or greater; of a column that had none in training, less. Two classes
    have one score, positive for the second class.

    Examples
    --------
    >>> number = {"feature_index": 0, "flat_feature_index": 0, "feature_id": "age",
    ...           "has_nans": False, "nan_value_treatment": "AsIs"}
    >>> content = {"features_info": {"float_features": [number]}, "scale_and_bias": [1, [0.0]],
    ...            "model_info": {"params": {"loss_function": {"type": "Logloss"}}},
    ...            "oblivious_trees": [{"leaf_values": [-1, 1], "splits": [
    ...                {"split_type": "FloatFeature", "float_feature_index": 0, "border": 30.5}]}]}
    >>> read_catboost(content, classes=["no", "yes"]).predict([[30.5], [31]]).tolist()
    ['no', 'yes']
    """
    live = None
    if isinstance(model, str | PathLike):
        content, source = parse_json(read_text(model, ModelError), ModelError), "catboost file"
    elif isinstance(model, Mapping):
        content, source = model, "catboost file"
    else:
        live, source = model, f"catboost {type(model).__name__}"
        content = _written(model)
    with reading("CatBoost model"):
        info = content["model_info"]
        parameters = info["params"]
        parameters = json.loads(parameters) if isinstance(parameters, str) else parameters
        loss = parameters["loss_function"]["type"]
        own = info.get("class_params", {}).get("class_names")
        scale, bias = content["scale_and_bias"]
        if scale != 1:
            raise UnsupportedModel(f"the scores are scaled by {scale}, not supported")
        columns, names = _columns(content["features_info"])
        trees = [
            *(_oblivious(tree, columns) for tree in content.get("oblivious_trees", ())),
            *(_grown(tree, columns) for tree in content.get("trees", ())),
        ]
    if not trees:
        raise ModelError("the model has no trees")
    name = type(live).__name__
    fields: dict[str, Any] = {
        "attributes": attribute_list(attributes, names, trees),
        "cast": "float32",
        "source": source,
        "named": attributes is not None or names != [f"x{i}" for i in range(len(names))],
    }
    if loss in _NUMBERS:
        asked = require_target(target, f"a model of CatBoost with the loss {loss}")
        fields |= fields_of_numbers(asked, trees, bias)
        if live is not None:
            fields["live"] = LiveNumbers(live, asked.classes, "average", title=name, target=asked)
        return assemble(**fields)
    if loss not in _LINKS:
        raise UnsupportedModel(
            f"the loss {shown(loss)} is not supported; cpx reads {', '.join((*_LINKS, *_NUMBERS))}"
        )
    refuse_target(target, f"a model of CatBoost with the loss {loss}")
    count = max(2, len(bias))
    labels = class_labels(own if classes is None else classes, count)
    if live is not None:
        fields["live"] = LiveModel(live, label_list(live.classes_), _LINKS[loss], 1.0, name)
    return assemble(
        trees,
        classes=labels,
        rule="sum",
        decision="positive" if len(bias) == 1 else "first",
        base=bias,
        **fields,
    )


def _written(model: Any) -> Any:
    """Return the content of the file that a live model writes."""
    name = type(model).__name__
    if not hasattr(model, "is_fitted") or not hasattr(model, "save_model"):
        raise UnsupportedModel(f"{name} is no model of CatBoost")
    if not model.is_fitted():
        raise ModelError(f"the {name} is not fitted")
    if model.get_cat_feature_indices():
        raise _categories([model.feature_names_[i] for i in model.get_cat_feature_indices()])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        return parse_json(read_text(path, ModelError), ModelError)


def _categories(names: Sequence[str]) -> UnsupportedModel:
    return UnsupportedModel(
        f"the model has the categorical features {', '.join(map(shown, names))}: CatBoost stores "
        "hashes and statistics of categories, and not the categories, so that its trees cannot "
        "be read exactly; kind='rule' explains any classifier by its predict alone"
    )


def _columns(info: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Return the numeric features by their index, and the names of all columns."""
    if info.get("categorical_features"):
        raise _categories([str(f["feature_id"]) for f in info["categorical_features"]])
    for kind in ("text_features", "embedding_features"):
        if info.get(kind):
            raise UnsupportedModel(f"the model has {kind.replace('_', ' ')}, not supported")
    columns = sorted(info["float_features"], key=lambda f: int(f["feature_index"]))
    count = 1 + max((int(f["flat_feature_index"]) for f in columns), default=-1)
    names = [f"x{i}" for i in range(count)]
    for feature in columns:
        if feature.get("feature_id", "") not in ("", str(feature["flat_feature_index"])):
            names[int(feature["flat_feature_index"])] = str(feature["feature_id"])
    return columns, names


def _oblivious(tree: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> Nodes:
    """Return a tree that asks the same at all nodes of a level; answer i is bit i of the leaf."""
    splits = tree["splits"] or []
    leaves = np.array(tree["leaf_values"], dtype=np.float64).reshape(2 ** len(splits), -1)
    tests = [_test(split, columns) for split in splits]
    made = [
        tests[level]._replace(left=2 * i + 1, right=2 * i + 2)
        for level in range(len(splits))
        for i in range(2**level - 1, 2 ** (level + 1) - 1)
    ]
    for i in range(len(leaves)):
        answers = format(i, f"0{len(splits)}b") if splits else ""  # from the root on
        made.append(Node(values=tuple(leaves[int("0" + answers[::-1], 2)].tolist())))
    return Nodes.of(made)


def _grown(root: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> Nodes:
    """Return a tree of nodes with children."""
    made: list[Node] = []
    waiting: list[tuple[Mapping[str, Any], int]] = [(root, -1)]
    while waiting:
        node, above = waiting.pop()
        if above >= 0:  # a right child; a left one is next to its parent
            made[above] = made[above]._replace(right=len(made))
        while "split" in node:
            waiting.append((node["right"], len(made)))
            made.append(_test(node["split"], columns)._replace(left=len(made) + 1))
            node = node["left"]
        made.append(Node(values=tuple(np.atleast_1d(node["value"]).astype(float).tolist())))
    return Nodes.of(made)


def _test(split: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> Node:
    if split["split_type"] != "FloatFeature":
        raise UnsupportedModel(
            f"splits of the type {shown(split['split_type'])} are not supported"
        )
    feature = columns[int(split["float_feature_index"])]
    return Node(
        attribute=int(feature["flat_feature_index"]),
        threshold=float(split["border"]),
        missing=_MISSING[feature["nan_value_treatment"]],
        saw_missing=bool(feature["has_nans"]),
    )
