"""Reader of logistic regression as trees: one for each column, with a leaf for each value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import DataError, ModelError, UnsupportedModel, shown
from cpx.trees.attribute import Attribute
from cpx.trees.building import Nodes, assemble
from cpx.trees.checks import label_list
from cpx.trees.form import TreeModel
from cpx.trees.live import LiveModel
from cpx.trees.tree import REFUSED

_MOST_VALUES = 256
"""A column of more values than these is a number to measure, no choice of a few."""


def is_linear(model: Any) -> bool:
    """Whether a model is a logistic regression of scikit-learn.

    >>> from sklearn.linear_model import LogisticRegression
    >>> is_linear(LogisticRegression()), is_linear(None)
    (True, False)
    """
    names = {"LogisticRegression", "LogisticRegressionCV"}
    return any(
        cls.__name__ in names and cls.__module__.startswith("sklearn.")
        for cls in type(model).__mro__
    )


def read_linear(model: Any, X: ArrayLike) -> TreeModel:
    """Read a logistic regression of two classes over columns of few values.

    Its log-odds are a sum of one term for each column. The term of a column is a tree that tells
    its values apart, so each column must have few of them: 0/1 columns of categories, or bins.

    model: Fitted.
    X: Rows that have all values there are.
    Returns: Of the rule ``"sum"``. No other values than those of X are rows of it.
    Raises UnsupportedModel: For more than two classes.
    Raises ModelError: When the model is not fitted.
    Raises DataError: For other columns than the model's, missing values, and a column of more than
        256 values.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0, 1], [1, 1], [2, 0], [2, 1]], [0, 0, 1, 1]
    >>> trees = read_linear(LogisticRegression().fit(X, y), X)
    >>> trees, trees.predict(X).tolist()
    (<TreeModel: 2 trees over 2 attributes, 2 classes, rule sum>, [0, 0, 1, 1])
    """
    if not hasattr(model, "coef_"):
        raise ModelError(f"{type(model).__name__} is not fitted")
    if len(model.classes_) != 2:
        raise UnsupportedModel(
            f"a logistic regression of {len(model.classes_)} classes has a score for each; two "
            "classes are expected"
        )
    table = np.asarray(X, dtype=np.float64)
    weights = np.asarray(model.coef_[0], dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(weights):
        raise DataError(f"the model has {len(weights)} columns, the rows have shape {table.shape}")
    own = getattr(model, "feature_names_in_", None)
    names = [f"x{c}" for c in range(len(weights))] if own is None else own
    trees, attributes = [], []
    for name, weight, column in zip(map(str, names), weights.tolist(), table.T, strict=True):
        values = np.unique(column)
        if not np.isfinite(values).all():
            raise DataError(f"column {shown(name)} has missing or infinite values")
        if len(values) > _MOST_VALUES:
            raise DataError(
                f"column {shown(name)} has {len(values)} values: a logistic regression is "
                f"explained over columns of at most {_MOST_VALUES}, such as bins; its weight "
                "counts each value by itself"
            )
        attributes.append(Attribute(name, values=tuple(values.tolist())))
        trees.append(_values_apart(len(attributes) - 1, values, weight * values))
    return assemble(
        trees,
        attributes,
        classes=label_list(model.classes_),
        rule="sum",
        decision="positive",
        base=(float(model.intercept_[0]),),
        cast="float64",
        source="sklearn LogisticRegression",
        named=own is not None,
        live=LiveModel(model, label_list(model.classes_), "sigmoid"),
    )


def _values_apart(a: int, values: NDArray[np.float64], leaves: NDArray[np.float64]) -> Nodes:
    """Return a tree that goes through the values of an attribute from the least on."""
    n, tests = 2 * len(values) - 1, len(values) - 1
    node = np.arange(n)
    inner = (node % 2 == 0) & (node < n - 1)
    threshold = np.zeros(n)
    threshold[inner] = values[:tests] + (values[1:] - values[:tests]) / 2
    result = np.zeros((n, 1))
    # The leaves are nodes 1, 3, 5, ..., and the last one.
    result[[*range(1, n, 2), n - 1], 0] = leaves
    return Nodes(
        attribute=np.where(inner, a, -1),
        threshold=threshold,
        left=np.where(inner, node + 1, -1),
        right=np.where(inner, node + 2, -1),
        missing=np.full(n, REFUSED),
        values=result,
        outputs=(0,),
    )
