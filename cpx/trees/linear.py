"""Linear models and naive Bayes of scikit-learn, as sums of functions of one column each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.targets import Target, require_target
from cpx.errors import ModelError, UnsupportedModel
from cpx.trees.checks import label_list, refuse_one_class
from cpx.trees.form import Decision
from cpx.trees.live import Link
from cpx.trees.outputs import OneOutput, chosen_output

Terms = Callable[[int, NDArray[np.float64]], NDArray[np.float64]]
"""What values, shape (n,), of a column of the model add to its scores, shape (n, scores)."""

CLASSIFIERS = (
    *("LogisticRegression", "LogisticRegressionCV", "LinearSVC", "RidgeClassifier"),
    *("RidgeClassifierCV", "SGDClassifier", "Perceptron", "PassiveAggressiveClassifier"),
    "LinearDiscriminantAnalysis",
)
REGRESSORS = (
    *("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "LassoLars", "LassoLarsCV"),
    *("LassoLarsIC", "Lars", "LarsCV", "ElasticNet", "ElasticNetCV", "BayesianRidge"),
    *("ARDRegression", "OrthogonalMatchingPursuit", "OrthogonalMatchingPursuitCV"),
    *("HuberRegressor", "QuantileRegressor", "TheilSenRegressor", "SGDRegressor"),
    *("PassiveAggressiveRegressor", "LinearSVR"),
)
BAYES = ("GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB")


@dataclass(frozen=True)
class Sum:
    """A model whose scores are a start and a function of each column, added up.

    model: What is asked by ``predict``.
    starts: The numbers whose sum each score starts from.
    terms: The functions.
    turns: Where the difference of two scores turns as a column rises; None where it never does.
    codes: Whether the values of columns are numbers of categories.
    """

    model: Any
    classes: tuple[Any, ...]
    starts: tuple[tuple[float, ...], ...]
    terms: Terms
    decision: Decision
    link: Link = "unknown"
    turns: Callable[[int], Sequence[float]] | None = None
    codes: bool = False
    target: Target | None = None


def kind_of_sum(model: Any) -> str:
    """Return the class of scikit-learn that a linear model or naive Bayes is of, "" of others."""
    for cls in type(model).__mro__:
        if cls.__name__ in (*CLASSIFIERS, *REGRESSORS, *BAYES) and cls.__module__.startswith(
            "sklearn."
        ):
            return cls.__name__
    return ""


def sum_of(model: Any, target: Target | None = None, output: int | None = None) -> Sum:
    """Return a fitted linear model or naive Bayes as a sum of functions of its columns.

    target: What is asked of the numbers of a regressor.
    output: Of a regressor of several outputs: which of them.
    Raises ModelError, UnsupportedModel, InvalidOption: When it is not fitted, saw one class, or
        has several outputs of which none is chosen.
    """
    kind = kind_of_sum(model)
    fitted = "classes_" if kind in CLASSIFIERS + BAYES else "coef_"
    if not hasattr(model, fitted) or not hasattr(model, "n_features_in_"):
        raise ModelError(f"the {kind} is not fitted")
    if kind in REGRESSORS:
        return _regressor(model, kind, require_target(target, kind), output)
    refuse_one_class(kind, model.classes_)
    return _bayes(model, kind) if kind in BAYES else _classifier(model, kind)


def _weights(model: Any) -> NDArray[np.float64]:
    coefficients = model.coef_
    if hasattr(coefficients, "toarray"):  # after sparsify()
        coefficients = coefficients.toarray()
    return np.atleast_2d(np.asarray(coefficients, dtype=np.float64))


def _intercept(model: Any, count: int) -> NDArray[np.float64]:
    given = np.ravel(np.asarray(model.intercept_, dtype=np.float64))
    return np.broadcast_to(given, (count,))


def _products(weights: NDArray[np.float64]) -> Terms:
    """Return what values add: times the weight of their column, shape (scores, columns)."""
    return lambda column, values: values[:, None] * weights[:, column]


def _classifier(model: Any, kind: str) -> Sum:
    weights, classes = _weights(model), label_list(model.classes_)
    if len(weights) != (1 if len(classes) == 2 else len(classes)):
        raise UnsupportedModel(f"the {kind} predicts several labels at once, one is read")
    logistic = kind.startswith("Logistic") or kind.startswith("LinearDisc")
    softmax = logistic and getattr(model, "solver", "") != "liblinear"
    link: Link = "unknown"
    if len(weights) == 1:
        log_loss = kind == "SGDClassifier" and model.loss == "log_loss"
        link = "sigmoid" if logistic or log_loss else "unknown"
    elif softmax:
        link = "softmax"
    return Sum(
        model,
        classes,
        tuple((v,) for v in _intercept(model, len(weights)).tolist()),
        _products(weights),
        "positive" if len(weights) == 1 else "first",
        link,
    )


def _regressor(model: Any, kind: str, target: Target, output: int | None) -> Sum:
    weights = _weights(model)
    at = chosen_output(len(weights), output, kind)
    row = weights[at or 0]
    start = float(_intercept(model, len(weights))[at or 0])
    signs = np.array([float(sign) for sign, _ in target.scores])
    return Sum(
        model if at is None else OneOutput(model, at),
        target.classes,
        tuple((sign * start, constant) for sign, constant in target.scores),
        _products(signs[:, None] * row),
        target.decision,
        "average",
        target=target,
    )


def _bayes(model: Any, kind: str) -> Sum:
    classes = label_list(model.classes_)
    base = np.asarray(getattr(model, "class_log_prior_", np.zeros(len(classes))))
    turns: Callable[[int], Sequence[float]] | None = None
    terms: Terms
    if kind == "GaussianNB":
        base, mean, spread = np.log(model.class_prior_), model.theta_, model.var_

        def terms(column: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
            scale = spread[:, column]
            away = (values[:, None] - mean[:, column]) ** 2 / scale
            return np.asarray(-0.5 * (np.log(2.0 * np.pi * scale) + away))

        def vertices(column: int) -> Sequence[float]:
            return _vertices(mean[:, column], spread[:, column])

        turns = vertices

    elif kind == "BernoulliNB":
        ones = np.asarray(model.feature_log_prob_, dtype=np.float64)
        zeros = np.log(1 - np.exp(ones))

        def terms(column: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
            cut = model.binarize
            share = (values if cut is None else (values > cut).astype(np.float64))[:, None]
            return np.asarray(share * (ones - zeros)[:, column] + zeros[:, column])

    elif kind == "CategoricalNB":

        def terms(column: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
            known = np.asarray(model.feature_log_prob_[column])
            found = np.full((len(values), len(classes)), np.nan)  # numbers that it does not take
            taken = np.isin(values, np.arange(known.shape[1]))
            found[taken] = known[:, values[taken].astype(np.int64)].T
            return found

    else:
        terms = _products(np.asarray(model.feature_log_prob_, dtype=np.float64))
        if kind == "ComplementNB":
            base = np.zeros(len(classes))
    return Sum(
        model,
        classes,
        tuple((v,) for v in np.asarray(base, dtype=np.float64).tolist()),
        terms,
        "first",
        "softmax",
        turns=turns,
        codes=kind == "CategoricalNB",
    )


def _vertices(mean: NDArray[np.float64], spread: NDArray[np.float64]) -> list[float]:
    """Return where the difference of two parabolas -(v - mean)^2 / spread / 2 turns."""
    first, second = np.triu_indices(len(mean), 1)
    bend = 1 / spread[first] - 1 / spread[second]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (mean[first] / spread[first] - mean[second] / spread[second]) / bend
    return [*np.unique(found[np.isfinite(found)] + 0.0).tolist()]
