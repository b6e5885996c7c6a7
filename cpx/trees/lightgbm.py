"""Reader of LightGBM models: text files, boosters, classifiers and regressors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.data.targets import Target, refuse_target, require_target
from cpx.errors import ModelError, UnsupportedModel, shown
from cpx.support.files import read_text
from cpx.trees.attribute import Attribute
from cpx.trees.building import Nodes, assemble, attribute_list, reading
from cpx.trees.categories import Categories, whole_numbers
from cpx.trees.checks import class_labels, label_list, refuse_one_class
from cpx.trees.form import TreeModel
from cpx.trees.live import LiveModel
from cpx.trees.regressors import LiveNumbers, fields_of_numbers
from cpx.trees.tree import LEFT, RIGHT

# The bits of decision_type.
_CATEGORICAL, _DEFAULT_LEFT, _MISSING_SHIFT = 1, 2, 2
_ZERO, _NAN = 1, 2

_NUMBERS = ("regression", "regression_l1", "huber", "fair", "quantile", "mape")
"""Objectives whose models predict the sum itself."""

_ZERO_THRESHOLD = float(np.float32(1e-35))
"""Values up to this size are zero to LightGBM, which skips them in rows."""


def read_lightgbm(
    model: Any,
    *,
    classes: Sequence[Any] | None = None,
    attributes: Sequence[str | Attribute] | None = None,
    target: Target | None = None,
) -> TreeModel:
    """Read a classifier or regressor of LightGBM.

    Parameters
    ----------
    model : path, Booster, LGBMClassifier or LGBMRegressor
        A text file of ``save_model``, plain or gzipped, or a live model. With early stopping,
        both have the rounds up to the best one.
    classes : sequence of labels, optional
        By default those of the LGBMClassifier, or 0, 1, ...
    attributes : sequence of str or Attribute, optional
        Names of the columns, or all there is to say of them. By default those of the model.
    target : Target, optional
        Of a model that predicts numbers: what is asked of them; see :func:`read_model`.

    Returns
    -------
    TreeModel

    Raises
    ------
    UnsupportedModel
        For other objectives than ``binary``, ``multiclass``, ``multiclassova`` and those that
        predict a sum, such as ``regression``; linear trees; tests for which a zero is missing
        (``zero_as_missing``), where that is not what the threshold says anyway; and a frame of
        which the model does not tell which columns were categories. Naming it, and the tree and
        node.
    ModelError
        When the file cannot be read, is no such model, or has no trees; when the classifier
        is not fitted; when classes or attributes do not fit.

    Notes
    -----
    LightGBM compares and adds in float64. Values of a size up to 1e-35 are zeros to it, which
    is kept exactly. Two classes have one score, positive for the second class. With
    ``multiclassova`` it compares sigmoids, which are equal 1 for scores above about 37; we
    compare the scores. With ``boosting="rf"`` it divides the scores by the number of rounds before
    it makes probabilities of them, which changes no class; our scores are its raw scores.

    Where a feature had no missing values in training, NaN is a zero. Where it had, LightGBM
    records that at each test of it, and so the attribute may be missing.

    Categories are those of the frame that the model was trained on. Where it was trained on an
    array, categories are 0, 1, ...; what is between is cut to them, and no category, like a
    missing value, is what goes right.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> text = '''tree
    ... num_class=1
    ... num_tree_per_iteration=1
    ... objective=binary sigmoid:1
    ... feature_names=age
    ...
    ... Tree=0
    ... num_leaves=2
    ... num_cat=0
    ... split_feature=0
    ... threshold=30.5
    ... decision_type=2
    ... left_child=-1
    ... right_child=-2
    ... leaf_value=-0.25 0.5
    ... is_linear=0
    ...
    ... end of trees
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.txt"
    ...     _ = path.write_text(text)
    ...     model = read_lightgbm(path, classes=["no", "yes"])
    >>> model.predict([[30.5], [31]]).tolist(), str(model.condition(0, 0, holds=False))
    (['no', 'yes'], 'age > 30.5')
    """
    if isinstance(model, str | PathLike):
        text, source = read_text(model, ModelError), "lightgbm file"
    else:
        text, source = _text(model), f"lightgbm {type(model).__name__}"
        if classes is None:
            classes = getattr(model, "classes_", None)
    with reading("LightGBM model"):
        head, blocks = _sections(text)
        per_round = int(head["num_tree_per_iteration"])
        objective, *options = head.get("objective", "none").split()
        names = head["feature_names"].split()
        columns = _categories(text, head, names)
        trees = [_nodes(block, (i % per_round,), i, columns) for i, block in enumerate(blocks)]
        named = _has_names(text, names) if attributes is None else True
    if not trees:
        raise ModelError("the model has no trees")
    fields: dict[str, Any] = {"attributes": attribute_list(attributes, names, trees, columns)}
    fields |= {"source": source, "named": named}
    if objective in _NUMBERS and "sqrt" not in options:
        asked = require_target(target, f"a model of LightGBM with the objective {objective}")
        averaged = "average_output" in head
        return _about_numbers(model, trees, asked, averaged, columns, fields)
    if objective not in ("binary", "multiclass", "multiclassova"):
        raise UnsupportedModel(
            f"the objective {shown(' '.join([objective, *options]))} is not supported; cpx reads "
            f"binary, multiclass, multiclassova, {', '.join(_NUMBERS)}"
        )
    refuse_target(target, f"a model of LightGBM with the objective {objective}")
    count = 2 if objective == "binary" else per_round
    live = None
    if not isinstance(model, str | PathLike):
        live = _live(model, head, objective, count, len(trees) // per_round, columns)
    labels = class_labels(classes, count)
    return assemble(
        trees,
        classes=labels,
        rule="sum",
        decision="positive" if objective == "binary" else "first",
        base=(0.0,) * per_round,
        live=live,
        **fields,
    )


def _about_numbers(
    model: Any,
    trees: list[Nodes],
    target: Target,
    averaged: bool,
    columns: Mapping[int, Categories],
    fields: dict[str, Any],
) -> TreeModel:
    """Return what says on which side of limits the predicted numbers are."""
    live = None
    if not isinstance(model, str | PathLike):
        name, own = type(model).__name__, target.classes
        asked = model if hasattr(model, "feature_names_in_") else _BoosterAnswers(model, True)
        live = LiveNumbers(asked, own, "average", title=name, columns=columns, target=target)
    return assemble(**fields_of_numbers(target, trees, (), averaged), live=live, **fields)


def _live(
    model: Any,
    head: Mapping[str, str],
    objective: str,
    count: int,
    rounds: int,
    columns: Mapping[int, Categories],
) -> LiveModel:
    """Return what is asked, and how it makes probabilities of scores."""
    words = head["objective"].split()
    scale = next((float(w.partition(":")[2]) for w in words if w.startswith("sigmoid:")), 1.0)
    if "average_output" in head:
        scale /= rounds
    link: Literal["sigmoid", "softmax"] = "softmax" if objective == "multiclass" else "sigmoid"
    if hasattr(model, "classes_"):
        return LiveModel(model, label_list(model.classes_), link, scale, columns=columns)
    asked, own = _BoosterAnswers(model), tuple(range(count))
    return LiveModel(asked, own, link, scale, type(model).__name__, columns=columns)


@dataclass(frozen=True)
class _BoosterAnswers:
    """A Booster, which predicts probabilities or numbers, as a classifier or regressor."""

    booster: Any
    numbers: bool = False

    @property
    def feature_names_in_(self) -> Any:
        """The columns it was trained with."""
        return self.booster.feature_name()

    def predict_proba(self, rows: Any) -> Any:
        """Return what it predicts."""
        return self.booster.predict(rows)

    def predict(self, rows: Any) -> Any:
        """Return the class that is most probable, of two the second beyond .5; or numbers."""
        said = np.asarray(self.booster.predict(rows))
        if self.numbers:
            return said
        return said.argmax(axis=1) if said.ndim == 2 else (said > 0.5).astype(int)


def _text(model: Any) -> str:
    name = type(model).__name__
    if hasattr(model, "__sklearn_is_fitted__"):
        if not model.__sklearn_is_fitted__():
            raise ModelError(f"the {name} is not fitted")
        if hasattr(model, "classes_"):
            refuse_one_class(name, model.classes_)
        model = model.booster_
    if not hasattr(model, "model_to_string"):
        raise UnsupportedModel(f"{name} is no model of LightGBM")
    return str(model.model_to_string())


def _has_names(text: str, names: list[str]) -> bool | None:
    """Say whether the names are those of columns, None when the text does not tell.

    What LightGBM numbers itself a frame can be called, too. Python appends to the text which
    categories the columns of a frame have, and ``null`` for an array.
    """
    if names != [f"Column_{i}" for i in range(len(names))]:
        return True
    last = text[text.rfind("pandas_categorical:") :].partition(":")[2].strip()
    return last != "null" if last else None


def _sections(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return what stands before the trees, and each tree, as keys and values."""
    lines = text.split("\n")
    if lines[0].strip() != "tree":
        raise ModelError(f"no LightGBM model: it starts with {shown(lines[0][:40])}")
    head: dict[str, str] = {}
    blocks: list[dict[str, str]] = []
    section = head
    for line in lines[1:]:
        key, _, value = line.strip().partition("=")
        if key == "end of trees":
            return head, blocks
        if key == "Tree":
            if value != str(len(blocks)):
                raise ModelError(
                    f"no LightGBM model: Tree={len(blocks)} expected, got {shown(line)}"
                )
            section = {}
            blocks.append(section)
        elif key:
            section[key] = value
    raise ModelError("no LightGBM model: the file ends before the trees do")


def _categories(text: str, head: Mapping[str, str], names: list[str]) -> dict[int, Categories]:
    """Return the columns that were categories in the frame that the model was trained on.

    Python appends to the text the categories of each column of them, not which columns these are.
    Of a column of categories the text has the numbers of those that occur, and of others an
    interval.
    """
    last = text[text.rfind("pandas_categorical:") :].partition(":")[2].partition("\n")[0].strip()
    lists = json.loads(last) if last not in ("", "null") else []
    kinds = head.get("feature_infos", "").split()
    some = [c for c, kind in enumerate(kinds) if kind != "none" and not kind.startswith("[")]
    codes = [max(map(int, kinds[c].split(":"))) for c in some]
    if not some:  # columns of one value, or of an order, which are numbers
        return {}
    if lists and (len(lists) != len(some) or any(n >= len(own) for n, own in zip(codes, lists))):
        raise UnsupportedModel(
            f"the frame had {len(lists)} columns of categories and LightGBM took {len(some)} as "
            "such: which ones it does not say. Ordered categories and columns of one value it "
            "does not take: make numbers of them, or leave them out"
        )
    return {c: Categories.of(own, names[c]) for c, own in zip(some, lists)}


def _nodes(
    block: Mapping[str, str],
    outputs: tuple[int, ...],
    index: int,
    columns: Mapping[int, Categories],
) -> Nodes:
    leaves = int(block["num_leaves"])
    if block.get("is_linear", "0") != "0":
        raise UnsupportedModel(f"tree {index} is a linear tree, not supported")
    inner = leaves - 1
    values = _array(block, "leaf_value", leaves, np.float64)
    tests = _array(block, "split_feature", inner, np.int64)
    threshold = _array(block, "threshold", inner, np.float64)
    decision = _array(block, "decision_type", inner, np.int64)
    # A negative child is a leaf: ~child is its number.
    left, right = (
        np.where(child < 0, inner + ~child, child)
        for child in (
            _array(block, f"{side}_child", inner, np.int64) for side in ("left", "right")
        )
    )
    categorical = decision & _CATEGORICAL != 0
    sets = {
        node: columns[test].ranges(codes) if test in columns else whole_numbers(codes)
        for node, codes in _sets(block, np.flatnonzero(categorical), threshold)
        for test in [int(tests[node])]
    }
    threshold = _without_tiny(threshold)
    padding = np.full(leaves, -1)
    return Nodes(
        attribute=np.concatenate([tests, padding]),
        threshold=np.concatenate([threshold, np.zeros(leaves)]),
        left=np.concatenate([left, padding]),
        right=np.concatenate([right, padding]),
        missing=np.concatenate(
            [np.where(categorical, RIGHT, _missing(decision, threshold, index)), padding]
        ),
        saw_missing=np.concatenate([_kind_of_missing(decision) == _NAN, padding >= 0]),
        values=np.concatenate([np.zeros(inner), values])[:, np.newaxis],
        outputs=outputs,
        sets=sets,
    )


def _sets(
    block: Mapping[str, str], nodes: NDArray[np.int64], threshold: NDArray[np.float64]
) -> Iterator[tuple[int, list[int]]]:
    """Yield the nodes with a categorical split, and the categories that go left there."""
    if not nodes.size:
        return
    ends = _array(block, "cat_boundaries", int(block["num_cat"]) + 1, np.int64)
    words = _array(block, "cat_threshold", int(ends[-1]), np.uint32)
    for node in nodes.tolist():
        place = int(threshold[node])
        bits = words[ends[place] : ends[place + 1]].view(np.uint8)
        yield node, np.flatnonzero(np.unpackbits(bits, bitorder="little")).tolist()


def _array(block: Mapping[str, str], key: str, length: int, kind: type) -> NDArray[Any]:
    # A tree of one leaf has no lines for its tests.
    array: NDArray[Any] = np.array((block[key] if length else "").split()).astype(kind)
    if len(array) != length:
        raise ModelError(
            f"no LightGBM model: {key} has {len(array)} entries where {length} are expected"
        )
    return array


def _without_tiny(threshold: NDArray[Any]) -> NDArray[np.float64]:
    """Return the thresholds for rows with tiny values that decide as if these were zeros."""
    negative = (threshold >= -_ZERO_THRESHOLD) & (threshold < 0)
    positive = (threshold >= 0) & (threshold < _ZERO_THRESHOLD)
    below = np.nextafter(-_ZERO_THRESHOLD, -np.inf)
    return np.where(negative, below, np.where(positive, _ZERO_THRESHOLD, threshold))


def _kind_of_missing(decision: NDArray[np.int64]) -> NDArray[np.int64]:
    return decision >> _MISSING_SHIFT & 3


def _missing(
    decision: NDArray[np.int64], threshold: NDArray[np.float64], index: int
) -> NDArray[np.int64]:
    """Return where missing values go; they are zeros unless NaN has a branch of its own."""
    kind = _kind_of_missing(decision)
    default = np.where(decision & _DEFAULT_LEFT != 0, LEFT, RIGHT)
    as_zero = np.where(threshold >= 0, LEFT, RIGHT)
    strange = (kind == _ZERO) & (default != as_zero) & (decision & _CATEGORICAL == 0)
    if strange.any():
        raise UnsupportedModel(
            f"tree {index} sends zeros against the threshold at its node "
            f"{int(np.argmax(strange))} (zero_as_missing), not supported"
        )
    return np.where(kind == _NAN, default, as_zero)
