"""Validation of tree models and of the rows that they classify."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import DataError, ModelError, UnsupportedModel, shortened, shown
from cpx.support.validation import choice, real
from cpx.trees.attribute import Attribute
from cpx.trees.tree import Tree

_CHOICES = {
    "rule": ("vote", "average", "sum"),
    "decision": ("first", "positive", "nonnegative"),
    "cast": ("float32", "float64"),
    "sums": ("float32", "float64"),
}


def checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a tree model in the types they are kept in.

    Raises ModelError: Naming the argument that does not fit.
    """
    for name, known in _CHOICES.items():
        choice(name, fields[name], known, error=ModelError)
    attributes = _all("attributes", fields["attributes"], Attribute)
    trees = _all("trees", fields["trees"], Tree)
    if not trees:
        raise ModelError("the model has no trees")
    classes = label_list(fields["classes"])
    base = _base(fields["base"], len(classes), fields["decision"])
    if len(fields["thresholds"]) != len(attributes):
        raise ModelError(
            f"there are {len(attributes)} attributes and thresholds of {len(fields['thresholds'])}"
        )
    thresholds = tuple(
        _thresholds(a.name, t, fields["cast"]) for a, t in zip(attributes, fields["thresholds"])
    )
    sets = _sets(attributes, fields["sets"], thresholds)
    sizes = np.array([len(t) for t in thresholds], dtype=np.int64)
    last = sizes + np.array([len(own) for own in sets], dtype=np.int64) if sets else sizes
    for i, tree in enumerate(trees):
        _fits(i, tree, last, len(base))
        if fields["rule"] == "vote" and not _is_vote(tree):
            raise ModelError(f"tree {i}: with the rule vote each leaf has one 1 and zeros")
    if not isinstance(fields["strict"], bool) or not isinstance(fields["source"], str):
        raise ModelError("strict must be true or false, and source a string")
    if not isinstance(fields["named"], bool | None):
        raise ModelError(f"named must be true, false or None, got {shown(fields['named'])}")
    _refuse_missing(attributes, trees)
    return {
        "attributes": attributes,
        "classes": classes,
        "trees": trees,
        "thresholds": thresholds,
        "sets": sets,
        "base": base,
    }


def label_list(labels: Iterable[Any]) -> tuple[Any, ...]:
    """Return labels of classes as Python values, all different.

    >>> label_list(np.array([0, 1])), label_list(["a", "b"])
    ((0, 1), ('a', 'b'))
    """
    plain = tuple(v.item() if isinstance(v, np.generic) else v for v in labels)
    if not plain:
        raise ModelError("the model has no classes")
    for label in plain:
        if not isinstance(label, int | float | str) or label != label:
            raise ModelError(
                f"a class must be a number, a string or a truth value, got {shown(label)}"
            )
    if len(set(plain)) < len(plain):
        raise ModelError(f"classes must be different, got {shown(plain)}")
    return plain


def refuse_one_class(name: str, classes: Sequence[Any]) -> None:
    """Raise where a boosted model saw one class: libraries keep these in forms of their own."""
    if len(classes) == 1:
        raise UnsupportedModel(
            f"the {name} was trained on rows of one class, {shown(str(classes[0]))}: it knows "
            "no other, and there is nothing to explain"
        )


def class_labels(classes: int | Sequence[Any] | None, count: int) -> tuple[Any, ...]:
    """Return the labels of the classes: as given, or 0, 1, ... as libraries number them."""
    if isinstance(classes, Set | Mapping):
        raise ModelError(f"classes must be a list of labels in their order, got {shown(classes)}")
    if classes is None or isinstance(classes, int):
        classes = range(count if classes is None else classes)
    labels = label_list(classes)
    if len(labels) != count:
        raise ModelError(f"the model has {count} classes, {len(labels)} are given: {labels}")
    return labels


def numbers(X: ArrayLike) -> NDArray[Any]:
    """Return rows as an array of numbers.

    Raises DataError: When there is something that is no number.
    """
    try:
        array = np.asarray(X)
        return array if array.dtype.kind in "fiu" else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"rows must be numbers: {shortened(error)}") from error


def _all(name: str, values: Sequence[Any], kind: type) -> tuple[Any, ...]:
    for i, value in enumerate(values):
        if not isinstance(value, kind):
            raise ModelError(f"{name}[{i}] must be {kind.__name__}, got {type(value).__name__}")
    return tuple(values)


def _base(values: Sequence[float], classes: int, decision: str) -> tuple[float, ...]:
    base = tuple(real(v) for v in values)
    if any(v is None or not math.isfinite(v) for v in base):
        raise ModelError(f"base must have finite numbers, got {shown(tuple(values))}")
    if decision != "first" and classes != 2:
        raise ModelError(f"the decision {decision} is for two classes, there are {classes}")
    scores = classes if decision == "first" else 1
    if len(base) != scores:
        raise ModelError(
            f"base must have {scores} numbers with {classes} classes and the decision "
            f"{decision}, got {len(base)}"
        )
    return tuple(v + 0.0 for v in base if v is not None)


def _thresholds(name: str, values: Any, cast: str) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64) + 0.0
    if array.ndim != 1 or not np.isfinite(array).all() or (np.diff(array) <= 0).any():
        raise ModelError(f"thresholds of {shown(name)} must be finite and increasing")
    if cast == "float32" and (array.astype(np.float32) != array).any():
        raise ModelError(f"thresholds of {shown(name)} must be float32 numbers, as cast says")
    array.setflags(write=False)
    return array


def _sets(
    attributes: Sequence[Attribute], values: Any, thresholds: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.bool_], ...]:
    """Return the sets of each attribute, nothing where no attribute has any."""
    if not any(map(len, values)):
        return ()
    if len(values) != len(attributes):
        raise ModelError(f"there are {len(attributes)} attributes and sets of {len(values)}")
    found = []
    for attribute, given, t in zip(attributes, values, thresholds):
        array = np.array(given)
        if array.dtype != np.bool_ or array.ndim != 2 or array.shape[1] != len(t) + 1:
            raise ModelError(
                f"sets of {shown(attribute.name)} must be rows of {len(t) + 1} truth values, one "
                "for each cell"
            )
        if array.all(axis=1).any() or not array.any(axis=1).all():
            raise ModelError(
                f"sets of {shown(attribute.name)} must have some cells, and not all of them"
            )
        array.setflags(write=False)
        found.append(array)
    return tuple(found)


def _fits(i: int, tree: Tree, last: NDArray[np.int64], scores: int) -> None:
    inner = tree.attribute >= 0
    tested, split = tree.attribute[inner], tree.split[inner]
    if (tested >= len(last)).any():
        raise ModelError(
            f"tree {i} tests the attribute {int(tested.max())}, there are {len(last)}"
        )
    if (split < -1).any() or (split > last[tested]).any():
        raise ModelError(
            f"tree {i} has a split that is out of the thresholds and sets of its attribute"
        )
    if max(tree.outputs) >= scores:
        raise ModelError(f"tree {i} adds to the score {max(tree.outputs)}, there are {scores}")


def _is_vote(tree: Tree) -> bool:
    values = tree.values
    return bool(np.isin(values, (0, 1)).all() and (values.sum(axis=1) == 1).all())


def _refuse_missing(attributes: Sequence[Attribute], trees: Sequence[Tree]) -> None:
    may_be = np.array([a.missing for a in attributes], dtype=bool)
    if not may_be.any():
        return
    for i, tree in enumerate(trees):
        refused = (tree.attribute >= 0) & (tree.missing < 0)
        refused[refused] = may_be[tree.attribute[refused]]
        if refused.any():
            node = int(np.argmax(refused))
            raise ModelError(
                f"attribute {shown(attributes[tree.attribute[node]].name)} may be "
                "missing, but tree "
                f"{i} has no branch for missing values at its node {node}"
            )
