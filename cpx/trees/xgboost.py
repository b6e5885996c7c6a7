"""Reader of XGBoost models: JSON files, boosters, classifiers and regressors."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.data.targets import Target, refuse_target, require_target
from cpx.errors import InvalidOption, ModelError, UnsupportedModel, shown
from cpx.support.files import parse_json, read_text
from cpx.support.validation import integer
from cpx.trees.attribute import Attribute
from cpx.trees.building import Nodes, assemble, attribute_list, highest_below, reading
from cpx.trees.categories import Categories, Ranges, outside, whole_numbers
from cpx.trees.checks import class_labels, label_list, refuse_one_class
from cpx.trees.form import TreeModel
from cpx.trees.live import LiveModel
from cpx.trees.outputs import OneOutput, chosen_output
from cpx.trees.regressors import LiveNumbers, fields_of_numbers
from cpx.trees.tree import LEFT, RIGHT
from cpx.trees.xgboost_live import BoosterAnswers, UpTo, refuse_other_missing
from cpx.trees.xgboost_objectives import FLOAT32, NUMBERS, decided_by, start_margin


def read_xgboost(
    model: Any,
    *,
    rounds: int | str | None = None,
    classes: Sequence[Any] | None = None,
    output: int | None = None,
    attributes: Sequence[str | Attribute] | None = None,
    target: Target | None = None,
) -> TreeModel:
    """Read a classifier or regressor of XGBoost.

    Parameters
    ----------
    model : path, mapping, Booster, XGBClassifier or XGBRegressor
        A JSON file of ``save_model``, plain or gzipped, or its content; or a live model.
    rounds : int or {"all", "best"}, optional
        How many boosting rounds to read: a number, all, or those up to the best iteration
        that early stopping has found. By default, what ``predict`` of the live model does: an
        XGBClassifier uses the best iteration if there is one, a Booster all rounds. A file
        does not say which of them it was.
    classes : sequence of labels, optional
        By default those of the XGBClassifier, or 0, 1, ...
    output : int, optional
        Of a classifier that predicts several columns: which of them is read, from 0.
    attributes : sequence of str or Attribute, optional
        Names of the columns, or all there is to say of them. By default the names that the
        model has, or ``f0, f1, ...``.
    target : Target, optional
        Of a model that predicts numbers: what is asked of them; see :func:`read_model`.

    Returns
    -------
    TreeModel

    Raises
    ------
    UnsupportedModel
        For the booster gblinear, other objectives than ``binary:logistic``, ``multi:softprob``,
        ``multi:softmax`` and those that predict a sum, such as ``reg:squarederror``; several
        outputs of which none is chosen, and another ``missing`` value than NaN or None; naming
        it.
    ModelError
        When the file cannot be read, is no such model, or has no trees; when the classifier
        is not fitted; when classes or attributes do not fit.
    InvalidOption
        When rounds is out of range; and when it is not given for a file whose best iteration
        is not its last.

    Notes
    -----
    XGBoost compares in float32 with ``<`` and adds in float32; we compare the same and add
    exactly. So where two scores differ by less than the rounding, the classes can differ. The
    log odds of ``base_score`` are computed in float32 too, by NumPy, which may differ from the
    library's in the last bit. With ``dart``, the leaves of a tree times its weight are rounded to
    float32, as the library does.

    Categories are those of the frame that the model was trained on. Where it was trained on
    numbers, with ``feature_types``, categories are 0, 1, ...; what is between is cut to them.

    Examples
    --------
    >>> leaf = {"left_children": [-1], "right_children": [-1], "split_indices": [0],
    ...         "split_conditions": [0.5], "default_left": [0], "split_type": [0],
    ...         "tree_param": {"size_leaf_vector": "1"}}
    >>> content = {"learner": {
    ...     "objective": {"name": "binary:logistic"}, "attributes": {}, "feature_names": ["a"],
    ...     "learner_model_param": {"num_class": "0", "num_feature": "1", "base_score": "5E-1"},
    ...     "gradient_booster": {"name": "gbtree", "model": {
    ...         "gbtree_model_param": {"num_parallel_tree": "1"},
    ...         "tree_info": [0], "trees": [leaf]}}}}
    >>> read_xgboost(content).predict([[7.0]]).tolist()
    [1]
    """
    if isinstance(model, str | PathLike):
        try:
            content = parse_json(read_text(model, ModelError), ModelError)
        except ModelError as error:
            raise ModelError(f"{model}: {str(error).removeprefix(f'{model}: ')}") from error
        return _from_file(content, rounds, classes, output, attributes, target)
    if isinstance(model, Mapping):
        return _from_file(model, rounds, classes, output, attributes, target)
    return _from_live(model, rounds, classes, output, attributes, target)


def _from_file(
    content: Any, rounds: Any, classes: Any, output: Any, attributes: Any, target: Target | None
) -> TreeModel:
    with reading("XGBoost model"):
        best, count = _best(content), _rounds_of(content)
    if rounds is None and best is not None and best != count:
        raise InvalidOption(
            f"the model has {count} rounds and its best iteration is the round {best}: say "
            "rounds='best', as XGBClassifier predicts, or rounds='all', as Booster does"
        )
    used = "all" if rounds is None else rounds
    return _read(content, used, classes, output, attributes, target, "xgboost file")


def _from_live(
    model: Any, rounds: Any, classes: Any, output: Any, attributes: Any, target: Target | None
) -> TreeModel:
    name, booster = type(model).__name__, model
    if hasattr(model, "get_booster"):
        if not hasattr(model, "__sklearn_is_fitted__") or not model.__sklearn_is_fitted__():
            raise ModelError(f"the {name} is not fitted")
        if hasattr(model, "n_classes_"):
            refuse_one_class(name, model.classes_)
            classes = model.classes_ if classes is None else classes
        refuse_other_missing(name, getattr(model, "missing", np.nan))
        booster = model.get_booster()
    elif not hasattr(model, "save_raw"):
        raise UnsupportedModel(f"{name} is no model of XGBoost")
    content = json.loads(bytes(booster.save_raw("json")))
    asked = model
    if booster is model:
        objective = content["learner"]["objective"]["name"]
        asked = BoosterAnswers(booster, objective, output is not None)
    elif getattr(model, "missing", np.nan) is None:
        asked = copy.copy(model)  # fit takes None for NaN, predict takes NaN alone
        asked.missing = np.nan
    if rounds is None:
        best_is_used = booster is not model and _best(content) is not None
        rounds = "best" if best_is_used else "all"
    else:
        asked = UpTo(asked, _used_rounds(content, rounds))
    read = _read(content, rounds, classes, output, attributes, target, f"xgboost {name}")
    columns = _categories(content["learner"])
    if output is not None:
        asked = OneOutput(asked, output)
    if target is not None:
        live = LiveNumbers(
            asked, target.classes, "average", 1.0, name, True, columns, target=target
        )
        return replace(read, live=live)
    own = label_list(getattr(model, "classes_", range(len(read.classes))))
    link: Literal["sigmoid", "softmax"] = "sigmoid" if len(read.base) == 1 else "softmax"
    return replace(read, live=LiveModel(asked, own, link, 1.0, name, True, columns))


def _read(
    content: Any,
    rounds: int | str,
    classes: Any,
    output: Any,
    attributes: Any,
    target: Target | None,
    source: str,
) -> TreeModel:
    with reading("XGBoost model"):
        learner = content["learner"]
        booster, parameters = learner["gradient_booster"], learner["learner_model_param"]
        if booster["name"] not in ("gbtree", "dart"):
            raise UnsupportedModel(
                f"the booster {shown(booster['name'])} is not supported, only gbtree and dart"
            )
        objective = learner["objective"]["name"]
        groups = max(int(parameters["num_class"]), 1)
        count = max(groups, 2)
        if objective in NUMBERS:
            asked = require_target(target, f"a model of XGBoost with {objective}")
            fields: dict[str, Any] = dict(FLOAT32)
        else:
            fields = decided_by(objective, count)
            refuse_target(target, f"a model of XGBoost with {objective}")
        at = chosen_output(int(parameters.get("num_target", "1")), output)
        starts = [float(v) for v in parameters["base_score"].strip("[]").split(",")]
        base = [start_margin(objective, v) for v in starts]
        if len(base) == 1:
            base *= groups
        elif at is not None:
            base = [base[at]]
        used = _used_rounds(content, rounds)
        model = _trees_of(content)
        chosen = model["trees"][: used * _trees_per_round(content)]
        if not chosen:
            raise ModelError("the model has no trees")
        columns = _categories(learner)
        trees = [
            _nodes(tree, int(group), groups, i, columns, at)
            for i, (tree, group) in enumerate(zip(chosen, model["tree_info"]))
            if at is None or int(group) == at or _width(tree) > 1
        ]
        if booster["name"] == "dart":
            trees = _weighted(trees, booster["weight_drop"])
        features = int(parameters["num_feature"])
        names = learner.get("feature_names")
        default = names or [f"f{i}" for i in range(features)]
    if objective in NUMBERS:
        fields |= fields_of_numbers(asked, trees, base)
    else:
        fields |= {"trees": trees, "base": base, "classes": class_labels(classes, count)}
    return assemble(
        attributes=attribute_list(attributes, default, columns=columns),
        source=source,
        named=bool(names) or attributes is not None,
        **fields,
    )


def _best(content: Any) -> int | None:
    """Return the number of rounds up to the best one, None without early stopping."""
    best = content["learner"].get("attributes", {}).get("best_iteration")
    return None if best is None else int(best) + 1


def _rounds_of(content: Any) -> int:
    model = _trees_of(content)
    if not isinstance(model, Mapping) or "trees" not in model:
        return 0  # a booster without trees, refused later by its name
    per_round = _trees_per_round(content)
    rounds, rest = divmod(len(model["trees"]), per_round)
    if rest or len(model["tree_info"]) != len(model["trees"]):
        raise ModelError(f"the model has {len(model['trees'])} trees, not {per_round} per round")
    return rounds


def _trees_per_round(content: Any) -> int:
    parameters, model = content["learner"]["learner_model_param"], _trees_of(content)
    parallel = int(model["gbtree_model_param"].get("num_parallel_tree", "1") or 1)
    # A tree whose leaves have several outputs is one for all classes.
    if model["trees"] and _width(model["trees"][0]) > 1:
        return parallel
    outputs = (parameters["num_class"], parameters.get("num_target", "1"))
    return parallel * max(*map(int, outputs), 1)


def _trees_of(content: Any) -> Any:
    """Return what has the trees; ``dart`` has it inside of another booster."""
    booster = content["learner"]["gradient_booster"]
    return booster.get("gbtree", booster).get("model")


def _weighted(trees: Sequence[Nodes], weights: Sequence[float]) -> list[Nodes]:
    """Return trees with their leaves times a weight, in float32."""
    if len(weights) < len(trees):
        raise ModelError(f"the model has {len(trees)} trees and {len(weights)} weights of them")
    return [
        replace(tree, values=(tree.values.astype(np.float32) * np.float32(w)).astype(np.float64))
        for tree, w in zip(trees, weights, strict=False)
    ]


def _categories(learner: Any) -> dict[int, Categories]:
    """Return the columns that were categories in the frame that the model was trained on."""
    names = learner.get("feature_names") or ()
    found = {}
    for c, own in enumerate(_trees_of({"learner": learner}).get("cats", {}).get("enc", ())):
        if len(own["values"]):
            name = names[c] if c < len(names) else f"f{c}"
            found[c] = Categories.of(_objects(own, name), name)
    return found


def _objects(own: Mapping[str, Any], name: str) -> list[Any]:
    """Return the categories of a column: numbers, or texts as their bytes one after the other."""
    values = own["values"]
    if "offsets" not in own:
        return list(values)
    if not all(0 <= byte < 128 for byte in values):
        # XGBoost 3.2 counts letters and writes as many bytes.
        raise UnsupportedModel(
            f"the categories of {shown(name)} are not all in ASCII, and XGBoost does not store "
            "such texts whole: encode them as numbers"
        )
    return [bytes(values[a:b]).decode() for a, b in pairwise(own["offsets"])]


def _width(tree: Mapping[str, Any]) -> int:
    """Return how many outputs a leaf has."""
    return int(tree["tree_param"].get("size_leaf_vector", "1") or 1)


def _used_rounds(content: Any, rounds: int | str) -> int:
    count, best = _rounds_of(content), _best(content)
    if rounds == "all":
        return count
    if rounds == "best":
        if best is None:
            raise InvalidOption("rounds='best', but the model has no best iteration")
        return best
    number = integer(rounds)
    if number is None or not 1 <= number <= count:
        raise InvalidOption(f"rounds must be 'all', 'best' or 1 to {count}, got {shown(rounds)}")
    return number


def _nodes(
    tree: Mapping[str, Any],
    group: int,
    groups: int,
    index: int,
    columns: Mapping[int, Categories],
    at: int | None,
) -> Nodes:
    n, width = len(tree["left_children"]), _width(tree)
    if at is None and width not in (1, groups):
        raise ModelError(f"tree {index} has {width} outputs at its leaves, of {groups} classes")
    left, right, tests, direction, numbers = (
        _array(tree, key, n, index)
        for key in (
            "left_children",
            "right_children",
            "split_indices",
            "default_left",
            "split_conditions",
        )
    )
    # XGBoost keeps the value of a leaf where other nodes have their threshold.
    numbers = numbers.astype(np.float32)
    values = numbers.astype(np.float64)[:, np.newaxis]
    if width > 1:
        values = _leaf_vectors(tree, left, right, width, index)
    outputs = (group,) if width == 1 else tuple(range(width))
    if at is not None:
        values, outputs = values[:, [at if width > 1 else 0]], (0,)
    return Nodes(
        attribute=np.where(left < 0, -1, tests),
        threshold=highest_below(numbers),
        left=left,
        right=right,
        missing=np.where(direction != 0, LEFT, RIGHT),
        values=values,
        outputs=outputs,
        sets={
            node: outside(
                columns[test].ranges(codes, np.float32)
                if (test := int(tests[node])) in columns
                else codes_of_numbers(codes)
            )
            for node, codes in _sets(tree, n, index)
        },
    )


def codes_of_numbers(codes: Iterable[int]) -> Ranges:
    """Return the numbers that XGBoost cuts to these categories; what is below 0 is none.

    >>> codes_of_numbers([0])
    [(-1.401298464324817e-45, 0.9999999403953552)]
    """
    below = float(np.nextafter(np.float32(0), np.float32(-1)))
    return [(max(low, below), high) for low, high in whole_numbers(codes, np.float32)]


def _sets(tree: Mapping[str, Any], n: int, index: int) -> Iterator[tuple[int, list[int]]]:
    """Yield the nodes with a categorical split, and the categories that go right there."""
    if "split_type" not in tree:
        return
    categorical = np.flatnonzero(_array(tree, "split_type", n, index))
    places = {node: i for i, node in enumerate(tree.get("categories_nodes", ()))}
    for node in categorical.tolist():
        if node not in places:
            raise ModelError(f"tree {index} has no categories for the split at its node {node}")
        first = tree["categories_segments"][places[node]]
        yield node, tree["categories"][first : first + tree["categories_sizes"][places[node]]]


def _leaf_vectors(
    tree: Mapping[str, Any], left: NDArray[Any], right: NDArray[Any], width: int, index: int
) -> NDArray[np.float64]:
    """Return what the leaves of a tree of several outputs add, zeros at other nodes."""
    leaves = np.flatnonzero(left < 0)
    if "leaf_weights" in tree:  # numbered by what other nodes have as their right child
        weights = _array(tree, "leaf_weights", len(leaves) * width, index).reshape(-1, width)
        chosen = weights[right[leaves]]
    else:
        chosen = _array(tree, "base_weights", len(left) * width, index).reshape(-1, width)[leaves]
    values = np.zeros((len(left), width))
    values[leaves] = chosen.astype(np.float32)
    return values


def _array(tree: Mapping[str, Any], key: str, length: int, index: int) -> NDArray[Any]:
    array = np.array(tree[key])
    if array.shape != (length,) or array.dtype.kind not in "biuf":
        raise ModelError(f"no XGBoost model: {key} of tree {index} must be {length} numbers")
    return array
