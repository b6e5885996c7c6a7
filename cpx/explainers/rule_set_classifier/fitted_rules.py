"""What fitted rules say of rows: which they cover, which class, how surely, how well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from cpx.data.binarizer import NotFitted, as_table
from cpx.errors import DataError
from cpx.explainers.rule_set_classifier.fitting import Fitted, measured
from cpx.explainers.rule_set_classifier.labels import plain_labels
from cpx.explainers.rule_set_classifier.shares import smoothed_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cpx.answers.rule_set import RuleSet

__all__ = ["FittedRules"]

BoolArray = npt.NDArray[np.bool_]


class FittedRules(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier by rules, once it is fitted; how, a subclass says.

    Attributes
    ----------
    rule_set_ : RuleSet
    n_features_in_ : int
    """

    _fitted: Fitted
    rule_set_: RuleSet
    n_features_in_: int
    black_box: Any

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

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return how often rows like each were of each class in fit, shape (n, 2).

        The rows of fit that are like a row are those that one or more of its rules cover; like
        a row that no rule covers are those that no rule covers. With n of them, p of the
        positive class, its probability is ``(p + 1) / (n + 2)``: the rule of succession of
        Laplace, which is never 0 or 1. Weights of classes do not count.

        :meth:`predict` goes by the rules. It gives the class with the greater probability,
        except where the rows alike are half of each class, or most of them are not of the class
        that the rules say: rules learned with ``class_weights`` may cover more of the other
        class than of theirs.

        Parameters
        ----------
        X : data frame or (n, columns) array

        Returns
        -------
        (n, 2) array of float
            In the order of ``classes_``. With a black box, of the labels that it gave the rows
            of fit.

        Raises
        ------
        DataError
            When X does not have the columns seen in fit, or fit was not called.

        Examples
        --------
        >>> import pandas as pd
        >>> from cpx import RuleSetClassifier
        >>> table = pd.DataFrame({"size": [1, 2, 3, 4, 5, 6], "tint": list("aababb")})
        >>> model = RuleSetClassifier(k=2).fit(table, ["no", "no", "yes", "no", "yes", "yes"])
        >>> model.rules_
        (('tint = b',),)
        >>> model.predict_proba(table[2:4])
        array([[0.2, 0.8],
               [0.8, 0.2]])
        """
        covers = self.covers(X)
        found = self._fitted
        positive = smoothed_shares(covers, found.covered, found.same)
        return found.target.columns(positive)

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
        from cpx.answers.plots import plot_rules

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
