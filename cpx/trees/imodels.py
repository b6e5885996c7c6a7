"""Reader for decision lists of the package imodels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from cpx.errors import ModelError, UnsupportedModel
from cpx.trees.attribute import Attribute
from cpx.trees.building import ColumnTest, attribute_list, reading
from cpx.trees.checks import class_labels, label_list
from cpx.trees.decision_list import Rule, list_model
from cpx.trees.form import TreeModel
from cpx.trees.live import LiveModel


def above(attribute: int, cut: float, *, equal: bool, false: bool = False) -> ColumnTest:
    """Return the test that a number is above a cut, or, where ``equal``, the same; or is not.

    >>> above(0, 2.0, equal=False), above(0, 2.0, equal=False, false=True).ranges
    (ColumnTest(attribute=0, ranges=[(2.0, inf)], null=False), [(-inf, 2.0)])
    """
    low = float(np.nextafter(cut, -np.inf)) if equal else float(cut)
    return ColumnTest(attribute, [(-np.inf, low)] if false else [(low, np.inf)], null=False)


def is_list(model: Any) -> bool:
    """Whether a model is a decision list of imodels."""
    return _kind(model) is not None


def read_imodels(
    model: Any,
    *,
    classes: Sequence[Any] | None = None,
    attributes: Sequence[str | Attribute] | None = None,
) -> TreeModel:
    """Read a decision list of the package imodels.

    Parameters
    ----------
    model : classifier
        GreedyRuleListClassifier, OneRClassifier, FastFrugalTreeClassifier or
        BayesianRuleListClassifier, fitted.
    classes : sequence of labels, optional
        By default those of the classifier.
    attributes : sequence of str or Attribute, optional
        Names of the columns, or all there is to say of them. By default the names seen in
        fit, or ``x0, x1, ...``. Those of a Bayesian list are 0 or 1.

    Returns
    -------
    TreeModel

    Raises
    ------
    UnsupportedModel
        When it is none of these.
    ModelError
        When the model is not fitted, or the attributes do not fit.
    """
    kind = _kind(model)
    if kind is None:
        raise UnsupportedModel(f"{type(model).__name__} is no decision list of imodels")
    if not hasattr(model, "rules_"):
        raise ModelError(f"the {type(model).__name__} is not fitted")
    with reading(f"fitted {type(model).__name__}"):
        *rules, (_, otherwise) = kind(model)
        labels = label_list(model.classes_)
        names = getattr(model, "feature_names_in_", None)
        width = int(model.n_features_in_)
    default = [f"x{c}" for c in range(width)] if names is None else [*map(str, names)]
    found = attribute_list(attributes, default)
    if kind is _bayesian and attributes is None:
        found = tuple(Attribute(name, "boolean") for name in default)
    return list_model(
        [Rule(tuple(tests), gives) for tests, gives in rules],
        otherwise,
        found,
        classes=labels if classes is None else class_labels(classes, len(labels)),
        live=LiveModel(model, labels, "unknown"),
        named=names is not None or attributes is not None,
    )


_Read = Iterator[tuple[list[ColumnTest], int]]
"""The tests and the class of each rule; the last one has none."""


def _cuts(model: Any, equal: bool) -> _Read:
    for rule in model.rules_[:-1]:
        test = above(rule["index_col"], float(rule["cutoff"]), equal=equal, false=rule["flip"])
        yield [test], int(rule["val_right"] > 0.5)
    yield [], int(model.rules_[-1]["val"] > 0.5)


def _greedy(model: Any) -> _Read:
    return _cuts(model, equal=True)


def _frugal(model: Any) -> _Read:
    return _cuts(model, equal=False)


def _bayesian(model: Any) -> _Read:
    """Read sets of columns that are 1, with the probability of the second class."""
    places = {str(name): c for c, name in enumerate(model.feature_placeholders)}
    one = [(float(np.nextafter(1.0, 0.0)), 1.0)]
    for number, probability in zip(model.d_star, model.theta, strict=True):
        items = model.itemsets[number]
        gives = int(probability >= 0.5)
        if isinstance(items, str):  # "null": whatever is left
            yield [], gives
            return
        yield [ColumnTest(places[str(item)], one, False) for item in items], gives
    raise ModelError("the list has no rule for what is left")


_KINDS: dict[str, Callable[[Any], _Read]] = {
    "GreedyRuleListClassifier": _greedy,
    "OneRClassifier": _greedy,
    "FastFrugalTreeClassifier": _frugal,
    "BayesianRuleListClassifier": _bayesian,
}


def _kind(model: Any) -> Callable[[Any], _Read] | None:
    for cls in type(model).__mro__:
        if cls.__module__.startswith("imodels.") and cls.__name__ in _KINDS:
            return _KINDS[cls.__name__]
    return None
