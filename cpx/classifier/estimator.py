"""A set of rules as a scikit-learn classifier, learned from labels or by asking a black box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from cpx.classifier.fitting import Loop, from_black_box, from_labels, measured
from cpx.classifier.labels import plain_labels
from cpx.data.binarizer import NotFitted, as_table
from cpx.data.scalars import positive_integer
from cpx.errors import DataError, InvalidOption
from cpx.models.arguments import Share, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cpx.rule_sets import RuleSet

__all__ = ["RuleSetClassifier"]

BoolArray = npt.NDArray[np.bool_]


class RuleSetClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify by a few rules: the positive class where one of them holds, else the other class.

    A rule is a conjunction of conditions on the columns of a table: limits of numbers, values of
    categories. Rules are chosen so that ::

        errors  +  penalty * rows * number of rules

    is low. They are learned from labels by column generation (:func:`cpx.learn_rules`), which
    proves how far from the best of all rule sets they can be, by the Hamming loss. Given a
    black box, they imitate it instead, and it is asked about more instances on the way
    (:mod:`cpx.methods.active`).

    Parameters
    ----------
    k : int
        Greatest number of conditions of a rule, the two limits of an interval counted as two; as
        one with a black box.
    penalty : Fraction, int, float or str
        Price of a rule as a share of the rows, from 0 to 1.
    n_bins : int, optional
        Most bins of a numeric column; limits lie between them. Default: 10, and 64 with a
        black box.
    categorical : sequence of column names, optional
        Numeric columns to treat as categories.
    positive : label, optional
        Class that the rules describe; the greater of the two labels when not given.
    class_weights : pair of int, optional
        What an error on a row of the other class, and on one of the positive class, weighs. Not
        with a black box.
    black_box : object with ``predict``, or callable, optional
        The model to imitate. It gets tables like X, and answers with two labels.
    loop : {"active", "exact"}
        How a black box is asked: :class:`~cpx.methods.active.ActiveDecisionSet` or
        :class:`~cpx.methods.active.ExactDecisionSet`.
    max_queries : int
        Instances that the black box is asked about beside the rows of X, at most; 0 for none.
    time_limit : float or None
        Seconds of learning from labels, and of each selection of the exact loop; ``None`` for no
        limit. Where the limit ends the search, another run may find other rules.
    threads : int
        Of the exact search in learning from labels.
    seed : int

    Attributes
    ----------
    rule_set_ : RuleSet
        The rules with coverage, precision and contribution on the rows of fit; the greatest
        contribution first. ``print(rule_set_.table())``.
    rules_ : tuple of tuple of str
        The conditions of each.
    report_ : LearningReport or SurrogateReport
        Loss, bounds and what they bound; queries, and changed answers of the black box.
    objective_ : Fraction
        Errors and prices on the rows of fit.
    classes_ : (2,) array
        The labels, sorted.
    positive_ : label
        Class that the rules describe.
    surrogate_ : ActiveDecisionSet or ExactDecisionSet
        With a black box: what asked it, with its history.
    n_features_in_ : int
    feature_names_in_ : array of object, one per column
        Only after fitting on a frame whose column names are text.

    Raises
    ------
    InvalidOption, InvalidInstance
        For a parameter out of its range, by name.
    DataError
        For a table or labels that cannot be used: one class, more than two, missing ones.
    ClassifierError
        When the black box fails.

    Notes
    -----
    A black box that answers twice differently for a row is warned of, and counted in
    ``report_``. ``clone``, and so cross-validation, leaves the black box as it is: it is not
    an estimator to fit again.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1, 2, 3, 4, 5, 6], "tint": list("aababb")})
    >>> model = RuleSetClassifier(k=2).fit(table, ["no", "no", "yes", "no", "yes", "yes"])
    >>> print(model)
    1 rule for the class yes, otherwise no
    errors     0 of 6, 1 rule at 0.06: 0.06 in all, no bound
    Hamming    0.06, at least 0.06 for every set; no rule is left to add
    coverage  precision  errors without it  contribution  rule
       0.500      1.000                 +3         +2.94  tint = b
    >>> model.predict(pd.DataFrame({"size": [9], "tint": ["b"]}))
    array(['yes'], dtype='<U3')
    """

    def __init__(
        self,
        k: int = 4,
        penalty: Share = 0.01,
        n_bins: int | None = None,
        categorical: Sequence[str | int] | None = None,
        positive: Any = None,
        class_weights: tuple[int, int] | None = None,
        black_box: Any = None,
        loop: Loop = "active",
        max_queries: int = 1000,
        time_limit: float | None = 10.0,
        threads: int = 1,
        seed: int = 0,
    ) -> None:
        self.k = k
        self.penalty = penalty
        self.n_bins = n_bins
        self.categorical = categorical
        self.positive = positive
        self.class_weights = class_weights
        self.black_box = black_box
        self.loop = loop
        self.max_queries = max_queries
        self.time_limit = time_limit
        self.threads = threads
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn rules.

        Parameters
        ----------
        X : data frame or (n, columns) array
            Numbers, categories, missing values.
        y : (n,) array, optional
            Labels of two classes. With a black box, its labels are learned and y is not looked at.

        Returns
        -------
        RuleSetClassifier
            Itself.
        """
        positive_integer("k", self.k)
        share("penalty", self.penalty)
        if self.n_bins is not None and positive_integer("n_bins", self.n_bins) < 2:
            raise InvalidOption(f"n_bins must be at least 2, got {self.n_bins!r}")
        found = from_labels(self, X, y) if self.black_box is None else from_black_box(self, X)
        for name in ("surrogate_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)  # left from an earlier fit
        self._fitted = found
        self.classes_, self.positive_ = found.target.classes, found.target.positive
        self.rule_set_, self.rules_ = found.rule_set, found.conditions
        self.report_, self.objective_ = found.report, found.report.objective
        if found.surrogate is not None:
            self.surrogate_ = found.surrogate
        table = as_table(X)
        self.n_features_in_ = table.shape[1]
        if table is X and all(isinstance(name, str) for name in table.columns):
            self.feature_names_in_ = np.array(table.columns, dtype=object)
        return self

    def covers(self, X: Any) -> BoolArray:
        """Return which rules cover which rows, shape (rules, n), in the order of ``rule_set_``."""
        self._check_fitted()
        columns = as_table(X).shape[1]
        if columns != self.n_features_in_ and not hasattr(X, "columns"):
            raise DataError(
                f"X has {columns} features, but RuleSetClassifier is expecting "
                f"{self.n_features_in_} features as input"
            )
        return self._fitted.covers(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the label of each row, shape (n,).

        Raises
        ------
        DataError
            When X does not have the columns seen in fit, or fit was not called.
        """
        covers = self.covers(X)
        return self._fitted.target.labels(np.logical_or.reduce(covers, axis=0))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of rows that get the right label.

        Parameters
        ----------
        X : data frame or (n, columns) array
        y : (n,) array, optional
            When not given, the labels of the black box: then it is the fidelity.
        sample_weight : (n,) array, optional
        """
        return float(super().score(X, self._labels(X, y), sample_weight))

    def measure(self, X: Any, y: Any = None) -> RuleSet:
        """Return the rules with coverage, precision and contribution on other rows.

        Parameters
        ----------
        X : data frame or (n, columns) array
        y : (n,) array, optional
            Labels; those of the black box when not given.
        """
        covers = self.covers(X)
        return measured(self, self._fitted, covers, self._labels(X, y))

    def plot(self, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
        """Draw the rules against rows, those of fit when X is not given.

        Parameters
        ----------
        X, y
            As in :meth:`measure`.
        ax : matplotlib axes, optional
            Where to draw; those of a new figure of pyplot when not given.

        Returns
        -------
        matplotlib axes
            See :func:`cpx.plot_rules`.
        """
        from cpx.plots.rules import plot_rules

        self._check_fitted()
        found = self._fitted
        if X is None:
            return plot_rules(self.rule_set_, found.covered, found.same, ax=ax)
        labels = self._labels(X, y)
        rules = self.measure(X, labels)
        return plot_rules(rules, self.covers(X), found.target.same(labels), ax=ax)

    def _labels(self, X: Any, y: Any) -> Any:
        from cpx.data.classifiers import labels

        if y is not None:
            given, rows = plain_labels(y), len(as_table(X))
            if len(given) != rows:
                raise DataError(f"y has {len(given)} labels, X has {rows} rows")
            return given
        if self.black_box is None:
            raise DataError("y is missing: without a black box there are no other labels")
        return labels(self.black_box, X)

    def _check_fitted(self) -> None:
        if not hasattr(self, "_fitted"):
            raise NotFitted(
                "this RuleSetClassifier is not fitted yet: call fit with a table and labels, or "
                "with a table and a black box"
            )

    def __str__(self) -> str:
        if not hasattr(self, "rule_set_"):
            return repr(self)
        n, otherwise = len(self.rules_), self._fitted.target.negative
        head = f"{n} rule{'s' * (n != 1)} for the class {self.positive_}, otherwise {otherwise}"
        table = [self.rule_set_.table()] * bool(n)
        return "\n".join([head, str(self.report_), *table])

    def __sklearn_clone__(self) -> Self:
        # clone would take a fitted black box for an estimator that is to be fitted anew.
        return type(self)(
            **{
                name: value if name == "black_box" else clone(value, safe=False)
                for name, value in self.get_params(deep=False).items()
            }
        )

    def __sklearn_tags__(self) -> Any:
        """Say to scikit-learn which input is taken."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = self.black_box is None
        return tags
