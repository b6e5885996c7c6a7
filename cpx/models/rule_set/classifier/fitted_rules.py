"""What fitted rules say of rows: which rules cover them, which class they get, how surely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from cpx.data.binarizer import NotFitted, as_table
from cpx.errors import DataError
from cpx.models.rule_set.classifier.labels import Target, plain_labels
from cpx.models.rule_set.classifier.model_selection import Choice
from cpx.models.rule_set.classifier.report import LearningReport, SurrogateReport
from cpx.models.rule_set.classifier.table_rules import TableRules
from cpx.models.rule_set.classifier.weights import RowWeights
from cpx.options import TIME_LIMIT
from cpx.support.validation import Share

if TYPE_CHECKING:
    from cpx.answers.rule import RuleSet
    from cpx.trees import Attribute, TreeModel

__all__ = ["Fitted", "FittedRules", "Surrogate", "smoothed_shares"]

BoolArray = npt.NDArray[np.bool_]


class Surrogate(Protocol):
    """A decision set that has asked the black box."""

    def covers(self, X: Any) -> BoolArray:
        """Return which rules cover which rows."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Rules that were learned, the largest contribution first.

    conditions: Of each rule.
    covered: Which rules cover which rows of the table.
    same: Which rows are of the positive class.
    weights: Of the rows; those of weight 0 are not among them.
    model: What the rules are, in an order of its own.
    order: The place of each rule there.
    choice: Of the price of a rule, where it was not given.
    confidence: Self-confidence of the rows, in tenths, where errors weigh by it.
    """

    target: Target
    rule_set: RuleSet
    conditions: tuple[tuple[str, ...], ...]
    report: LearningReport | SurrogateReport
    covered: BoolArray
    same: BoolArray
    weights: RowWeights
    model: TableRules | Surrogate
    order: tuple[int, ...]
    choice: Choice | None = None
    confidence: npt.NDArray[np.int64] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Rules that were pickled when rows had no weights have none.
        state.setdefault("weights", RowWeights.of(None, len(state["same"])))
        self.__dict__.update(state)

    @property
    def surrogate(self) -> Surrogate | None:
        """What asked the black box, if there is one."""
        return None if isinstance(self.model, TableRules) else self.model

    def covers(self, X: Any) -> BoolArray:
        """Return which rules cover which rows, shape (rules, n)."""
        found: BoolArray = self.model.covers(X)[list(self.order)]
        return found


class FittedRules(ClassifierMixin, BaseEstimator):
    """The parameters of a classifier by rules, and what it says once it is fitted.

    How it learns is said by :class:`cpx.RuleSetClassifier`, where the parameters are explained.

    Attributes
    ----------
    rule_set_ : RuleSet
    penalty_ : Fraction
    k_ : int
    positive_ : label
    n_features_in_ : int
    """

    _fitted: Fitted
    rule_set_: RuleSet
    penalty_: Fraction
    k_: int
    positive_: Any
    choice_: Choice
    n_features_in_: int

    def __init__(
        self,
        k: int | None = None,
        penalty: Share | Literal["auto"] = "auto",
        n_bins: int | None = None,
        categorical: Sequence[str | int] | None = None,
        positive: Any = None,
        class_weights: tuple[int, int] | None = None,
        black_box: Any = None,
        loop: str = "active",
        max_queries: int = 1000,
        time_limit: float | None = TIME_LIMIT,
        threads: int = 1,
        seed: int = 0,
        max_categories: int = 100,
        words: Mapping[Any, Any] | None = None,
        prove: bool = False,
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
        self.max_categories = max_categories
        self.words = words
        self.prove = prove

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

    def as_trees(
        self,
        *,
        classes: Sequence[Any] | None = None,
        attributes: Sequence[str | Attribute] | None = None,
    ) -> TreeModel:
        """Return the rules as a tree model, which :func:`cpx.read_model` asks for.

        So reasons and contrasts of rules are those of trees: one for each rule.

        classes, attributes: As for :func:`cpx.trees.read_sklearn`.
        """
        from cpx.models.rule_set.classifier.as_trees import as_trees

        self._check_fitted()
        return as_trees(self, classes, attributes)

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
        Laplace, which is never 0 or 1. Rows count by their ``sample_weight`` in fit; weights of
        classes do not count.

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
        positive = smoothed_shares(covers, found.covered, found.same, found.weights.numbers)
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

    def _labels(self, X: Any, y: Any) -> Any:
        from cpx.data.oracle import labels

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


def smoothed_shares(
    covers: BoolArray,
    covered: BoolArray,
    same: BoolArray,
    weights: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return for each row the smoothed share of the class among known rows like it, shape (n,).

    Like a row are the known rows that one or more of the rules that cover it cover; like a row
    that no rule covers, those that no rule covers. The share is smoothed by one row of each
    class, the rule of succession of Laplace.

    covers: Which rules cover the rows.
    covered: Which rules cover the known rows.
    same: Which known rows are of the class.
    weights: How much each known row counts.

    The two rules cover the known rows 0, 1 and 1, 2; nothing covers 3.

    >>> covered = np.array([[1, 1, 0, 0], [0, 1, 1, 0]], dtype=bool)
    >>> same = np.array([1, 1, 0, 0], dtype=bool)
    >>> covers = np.array([[1, 0, 1, 0], [0, 1, 1, 0]], dtype=bool)
    >>> smoothed_shares(covers, covered, same, np.ones(4)).round(3)
    array([0.75 , 0.5  , 0.6  , 0.333])
    """
    shares = np.empty(covers.shape[1])
    known: dict[bytes, float] = {}
    for i, rules in enumerate(covers.T):
        key = rules.tobytes()
        if key not in known:
            alike = covered[rules].any(axis=0) if rules.any() else ~covered.any(axis=0)
            known[key] = float((weights[alike & same].sum() + 1) / (weights[alike].sum() + 2))
        shares[i] = known[key]
    return shares
