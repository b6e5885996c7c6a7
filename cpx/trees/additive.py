"""Reader of linear models and naive Bayes, over the values that columns have in some rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.targets import Target, refuse_target
from cpx.errors import DataError, InvalidOption, UnsupportedModel, shown
from cpx.trees.attribute import Attribute
from cpx.trees.building import attribute_list
from cpx.trees.checks import class_labels
from cpx.trees.column_sums import ColumnSums
from cpx.trees.dates import days_of
from cpx.trees.form import TreeModel
from cpx.trees.front import Front, names_and_width
from cpx.trees.linear import BAYES, CLASSIFIERS, REGRESSORS
from cpx.trees.linear_wrapped import kind_inside, opened
from cpx.trees.outputs import OneOutput
from cpx.trees.wrapped import behind


def is_additive(model: Any) -> bool:
    """Whether a model, or what stands at the end of its pipeline, is one that is read here."""
    return bool(kind_inside(model))


def read_additive(
    model: Any,
    *,
    rows: Any = None,
    classes: Sequence[Any] | None = None,
    attributes: Sequence[str | Attribute] | None = None,
    output: int | None = None,
    target: Target | None = None,
) -> TreeModel:
    """Read a linear model or naive Bayes of scikit-learn over the values of some rows.

    Each column becomes a tree with a leaf per value, which adds what the model adds for it: a sum
    of functions of one column each. These values are all that the attributes can have. Whoever
    explains a row has its values added, and at most 64 others kept of a column of many.

    Parameters
    ----------
    model : classifier or regressor
        Linear: LogisticRegression, LinearSVC, RidgeClassifier, SGDClassifier, Perceptron,
        LinearDiscriminantAnalysis, LinearRegression, Ridge, Lasso, ElasticNet, LinearSVR and
        others. Naive Bayes: GaussianNB, BernoulliNB, MultinomialNB, ComplementNB, CategoricalNB.
        It may stand behind transformers, each column of which is made of one of the table, and in
        a model that calibrates it by one curve, has a threshold, averages regressors, or asks one
        model for each class.
    rows : (n, d) array or frame
        They say which values columns of numbers have.
    classes, attributes, output, target
        As for :func:`read_sklearn`. The bounds or values of an Attribute are in place of those of
        the rows.

    Returns
    -------
    TreeModel
        Whose scores are those of the model, each of a column's functions rounded once.

    Raises
    ------
    UnsupportedModel
        For another model, and for transformers that are not followed.
    ModelError
        When the model is not fitted, or the attributes do not fit.
    InvalidOption
        When rows are needed, or an option is none of the model's.
    DataError
        For rows of other columns, and values that are no numbers or not taken by the model.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0, 1], [1, 0], [2.5, 0], [3, 1]])
    >>> regression = LogisticRegression().fit(X, ["no", "no", "yes", "yes"])
    >>> trees = read_additive(regression, rows=X)
    >>> trees, trees.predict(X).tolist()
    (<TreeModel: 2 trees over 2 attributes, 2 classes, rule sum>, ['no', 'no', 'yes', 'yes'])
    >>> bool(abs(float(trees.scores(X[2])[0]) - regression.decision_function(X)[2]) < 1e-12)
    True
    """
    kind = kind_inside(model)
    if not kind:
        raise UnsupportedModel(
            f"{type(behind(model)[1]).__name__} is no sum over columns that cpx reads; it reads "
            f"{', '.join((*CLASSIFIERS, *REGRESSORS, *BAYES))}"
        )
    if kind not in REGRESSORS:
        refuse_target(target, kind)
        if output is not None:
            raise InvalidOption(f"output is for models of several outputs, not for {kind}")
    elif classes is not None:
        raise InvalidOption(f"classes is for classifiers, not for {kind}")
    part = opened(model, target, output)
    total = part.total
    names, width = names_and_width(model, part.blocks)
    front = Front(part.blocks, names, width, dates=days_of(rows, names))
    one_of_several = isinstance(total.model, OneOutput)
    whole = replace(total.model, model=model) if one_of_several else model
    given = attribute_list(attributes, [front.title(c) for c in range(width)])
    told = f"the {kind} adds up what each number of"
    numbers = column_numbers(front, rows, given, told)
    labels = total.classes if classes is None else class_labels(classes, len(total.classes))
    named = names is not None or attributes is not None
    sums = ColumnSums(replace(total, model=whole), front, given, tuple(numbers), labels, named)
    return sums.over(None)


def column_numbers(
    front: Front, rows: Any, given: Sequence[Attribute], told: str
) -> list[NDArray[np.float64]]:
    """Return the values of each column of numbers, none of others, increasing.

    given: What is said of the columns: bounds or values stand for those of the rows.
    told: Why rows are needed, before the name of a column.
    """
    open_ = [
        c
        for c, a in enumerate(given)
        if front.categories(c) is None
        and a.values is None
        and a.kind != "boolean"
        and (a.lower is None or a.upper is None)
        and front.made_of[c]
    ]
    table = np.zeros((0, front.width))
    if rows is None and open_:
        raise InvalidOption(
            f"{told} {shown(given[open_[0]].name)} is worth: give X (rows of read_model), which "
            "says how small and how great they are, or attributes with bounds"
        )
    if rows is not None:
        table = _table(front, rows, {*open_})
    found = []
    for c, attribute in enumerate(given):
        if front.categories(c) is not None:
            found.append(np.zeros(0))
            continue
        listed = (0.0, 1.0) if attribute.kind == "boolean" else attribute.values
        low, high = attribute.interval
        column = table[:, c]
        column = np.append(column[(low <= column) & (column <= high)], attribute.ends)
        found.append(np.unique(column + 0.0 if listed is None else np.array(listed)))
        if c in open_ and not len(found[-1]):
            raise DataError(f"column {shown(attribute.name)} has no number")
    return found


def _table(front: Front, rows: Any, open_: set[int]) -> NDArray[np.float64]:
    """Return the columns of numbers of some rows, and nothing but NaN in others."""
    from cpx.data.columns import as_numbers  # these load pandas
    from cpx.data.frames import as_table

    frame = as_table(rows)
    names = [*frame.columns]
    order = [*range(front.width)]
    if front.names is not None and names != [*range(len(names))]:
        places = {str(name): i for i, name in enumerate(names)}
        if lacking := [name for name in front.names if name not in places]:
            told = ", ".join(map(repr, lacking[:5]))
            raise DataError(f"X lacks {told}, columns of the model")
        order = [places[name] for name in front.names]
    elif len(names) != front.width:
        raise DataError(
            f"rows must have {front.width} columns, those of the model; got {len(names)}"
        )
    if not len(frame):
        raise DataError("there are no rows")
    table = np.full((len(frame), front.width), np.nan)
    for c in sorted(open_):
        table[:, c] = as_numbers(front.title(c), frame.iloc[:, order[c]])
        if np.isinf(table[:, c]).any():
            raise DataError(f"column {shown(front.title(c))} has an infinite value")
    return table
