"""Logistic regression as a sum of trees: a staircase per column, over the values that occur."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.errors import DataError, ModelError, UnsupportedModel, shown
from cpx.trees.attribute import Attribute
from cpx.trees.checks import label_list, numbers
from cpx.trees.form import TreeModel
from cpx.trees.live import LiveModel
from cpx.trees.tree import Tree


def is_logistic(model: Any) -> bool:
    """Whether a model is a logistic regression of scikit-learn."""
    names = {"LogisticRegression", "LogisticRegressionCV"}
    return any(
        cls.__name__ in names and cls.__module__.startswith("sklearn.")
        for cls in type(model).__mro__
    )


def read_logistic(model: Any, rows: Any, most_values: int = 256) -> TreeModel:
    """Read a logistic regression of two classes as a tree model over the values of some rows.

    Each column becomes a tree with a leaf per value v that occurs, which adds the coefficient
    times v, a float: a sum of functions of one column each. Thresholds are half-way between these
    values, and they are all that the attributes can have: other rows are refused.

    Parameters
    ----------
    model : fitted sklearn.linear_model.LogisticRegression or LogisticRegressionCV
    rows : (n, d) array or frame of numbers
        Without missing values.
    most_values : int
        A column of more values is refused.

    Returns
    -------
    TreeModel
        Whose scores are the log-odds of the second class, up to the rounding of the products.

    Raises
    ------
    UnsupportedModel
        For another model, and for more than two classes.
    ModelError
        When the model is not fitted.
    DataError
        For rows of other columns, a missing value, and a column of too many values.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0, 1], [1, 0], [2.5, 0], [3, 1]])
    >>> regression = LogisticRegression().fit(X, ["no", "no", "yes", "yes"])
    >>> trees = read_logistic(regression, X)
    >>> trees, trees.predict(X).tolist()
    (<TreeModel: 2 trees over 2 attributes, 2 classes, rule sum>, ['no', 'no', 'yes', 'yes'])
    >>> bool(abs(float(trees.scores(X[2])[0]) - regression.decision_function(X)[2]) < 1e-12)
    True
    """
    if not is_logistic(model):
        raise UnsupportedModel(
            f"{type(model).__name__} is no LogisticRegression of scikit-learn; trees are read by "
            "read_model"
        )
    if not hasattr(model, "coef_"):
        raise ModelError("the LogisticRegression is not fitted")
    from cpx.data.frames import as_table  # loads pandas

    classes = label_list(model.classes_)
    if len(classes) != 2:
        raise UnsupportedModel(
            f"the LogisticRegression has {len(classes)} classes; cpx reads two, whose log-odds "
            "are one sum"
        )
    coefficients = np.asarray(model.coef_, dtype=np.float64).reshape(-1)
    table = numbers(as_table(rows).to_numpy()).astype(np.float64)
    if table.ndim != 2 or table.shape[1] != len(coefficients):
        raise DataError(
            f"rows must have {len(coefficients)} columns, the features of the model; got an array "
            f"of shape {table.shape}"
        )
    own = getattr(model, "feature_names_in_", None)
    titles = [f"x{c}" for c in range(len(coefficients))] if own is None else own
    attributes, thresholds, trees = [], [], []
    for c, (title, coefficient) in enumerate(zip(map(str, titles), coefficients.tolist())):
        values = _values(title, table[:, c], most_values)
        both = set(values) <= {0.0, 1.0}
        attributes.append(
            Attribute(title, "boolean") if both else Attribute(title, values=tuple(values))
        )
        cuts = _between([0.0, 1.0] if both else values)
        thresholds.append(np.array(cuts, dtype=np.float64))
        if coefficient and cuts:
            steps = [coefficient * v for v in ([0.0, 1.0] if both else values)]
            trees.append(_staircase(c, steps))
    base = float(np.asarray(model.intercept_).reshape(-1)[0])
    base += sum(
        coefficient * a.values[0]
        for a, coefficient in zip(attributes, coefficients.tolist())
        if a.values is not None and len(a.values) == 1
    )
    if not trees:
        trees.append(_staircase(0, [0.0]))
    return TreeModel(
        attributes=tuple(attributes),
        classes=classes,
        trees=tuple(trees),
        thresholds=tuple(thresholds),
        rule="sum",
        decision="positive",
        base=(base,),
        source="sklearn LogisticRegression",
        named=own is not None,
        live=LiveModel(model, classes, "sigmoid"),
    )


def _values(title: str, column: NDArray[np.float64], most: int) -> list[float]:
    if not np.isfinite(column).all():
        raise DataError(f"column {shown(title)} has a missing or infinite value")
    values: list[float] = np.unique(column + 0.0).tolist()
    if not values:
        raise DataError("there are no rows")
    if len(values) > most:
        raise DataError(
            f"column {shown(title)} has {len(values)} values, at most {most} become a tree: round "
            "its values, or put them into bins"
        )
    return values


def _between(values: Sequence[float]) -> list[float]:
    """Return thresholds between values, none of them a value but for neighbouring floats."""
    pairs = pairwise(values)
    return [min(low + (high - low) / 2, float(np.nextafter(high, low))) for low, high in pairs]


def _staircase(c: int, steps: Sequence[float]) -> Tree:
    """Return the balanced tree of a column with these leaves from the least value on."""
    attribute: list[int] = []
    split: list[int] = []

    def grow(first: int, end: int) -> None:
        if end - first == 1:
            attribute.append(-1)
            split.append(0)
            return
        middle = (first + end) // 2
        attribute.append(c)
        split.append(middle - 1)
        grow(first, middle)
        grow(middle, end)

    grow(0, len(steps))
    missing = np.full(len(attribute), -1, dtype=np.int32)
    values = np.array(steps, dtype=np.float64)[:, None]
    return Tree(np.array(attribute), np.array(split), missing, values, (0,))
