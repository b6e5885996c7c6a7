"""A set of rules as a scikit-learn classifier, learned from labels or by asking a black box."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone

from cpx.data.binarizer import as_table
from cpx.errors import DataError, InvalidInstance, InvalidOption, shown
from cpx.models.rule_set.classifier.cross_validation import FALLBACK
from cpx.models.rule_set.classifier.fitted_rules import FittedRules
from cpx.models.rule_set.classifier.labelled_rows import most_conditions
from cpx.models.rule_set.classifier.learning import (
    answer,
    from_black_box,
    from_labels,
    measured,
    stated,
)
from cpx.models.rule_set.classifier.report import LearningReport
from cpx.models.rule_set.classifier.table_rules import TableRules
from cpx.support.validation import integer_in, positive_integer, share
from cpx.support.warnings import warn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cpx.answers.result import Result
    from cpx.answers.rule import RuleSet
    from cpx.answers.text import Block
    from cpx.models.rule_set.learning import RuleSetLearning

__all__ = ["RuleSetClassifier"]


class RuleSetClassifier(FittedRules):
    """Classify by a few rules: the positive class where one of them holds, else the other class.

    A rule is a conjunction of conditions on the columns of a table: limits of numbers, values of
    categories. Rules are chosen so that ::

        errors  +  penalty * rows * number of rules

    is low. They are learned from labels by column generation (:func:`cpx.learn_rules`), which
    proves how far from the best of all rule sets they can be, by the Hamming loss. Given a
    black box, they imitate it instead, and it is asked about more instances on the way
    (:mod:`cpx.models.decision_set`).

    Parameters
    ----------
    k : int, optional
        Most conditions of a rule, the two limits of an interval counted as two; as
        one with a black box. When not given it is 3 or 6, chosen with the penalty, and 4 where
        that is given, or with a black box.
    penalty : "auto", Fraction, int, float or str
        Price of a rule as a share of the rows, from 0 to 1. ``"auto"`` is 0.02, with rules for
        the more frequent class, and errors that weigh by how surely rows like a row have its
        label, known as self-confidence; unless others are clearly more accurate on rows held out
        of learning (``choice_``): another price, rules for the other class, where ``positive`` is
        not given, another k, or half of it where it is given, or errors that weigh the same. With
        ``class_weights`` and for more than 2000 rows they always do. With a black box it is 0.01.
    n_bins : int, optional
        Most bins of a numeric column; limits lie between them. Default: 20 where the penalty is
        chosen, 10 where it is given, and fewer in a table of more than 2000 columns, 40,000 in
        all, but 3 at least; 64 with a black box.
    categorical : sequence of column names, optional
        Numeric columns to treat as categories.
    positive : label, optional
        Class that the rules describe. When not given it is chosen with the penalty, and the
        greater of the two labels where that or ``class_weights`` are given, or a black box.
    class_weights : pair of int, optional
        What an error on a row of the other class, and on one of the positive class, weighs. Not
        with a black box.
    black_box : object with ``predict``, or callable, optional
        The model to imitate. It gets tables like X, and answers with two labels.
    loop : str
        How a black box is asked: ``"active"``, by Algorithm 1 of Lu and Ester
        (:class:`~cpx.models.decision_set.ActiveDecisionSet`), ``"exact"``
        (:class:`~cpx.models.decision_set.ExactDecisionSet`) or ``"learned"``
        (:class:`~cpx.models.decision_set.LearnedDecisionSet`). Their other parameters follow in
        braces: ``"active{beta=0.02, queries_per_iteration=1000}"``.
    max_queries : int
        Instances that the black box is asked about besides the rows of X, at most; 0 for none.
    time_limit : float or None
        Seconds of learning from labels, of each selection of the exact loop, and of column
        generation in the learned one; ``None`` for no limit. Where the limit ends the search,
        another run may find other rules. Choosing the penalty counts, but leaves half of the
        seconds to learning.
    threads : int
        Of the exact search in learning from labels.
    seed : int
    max_categories : int
        A column with more categories is refused.
    words : mapping of columns, optional
        What columns are called in the rules: of each a label, or a mapping with ``label``,
        ``unit`` and, with labels, ``cuts``; by default ``X.attrs["words"]``.
    prove : bool
        Whether to look on, in the time there is, until no rule is left to add, and for the best
        set by the Hamming loss. Else some tenths of a second go into its bound: less is proved
        where that is hard, and the rules are as accurate. Not with a black box.

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
        Errors and prices on the rows of fit, as ``report_`` counts them.
    penalty_ : Fraction
        The price of a rule.
    k_ : int
        Most conditions of a rule.
    choice_ : Choice
        How these, the class and the weights were chosen, with ``penalty="auto"`` and labels: all
        that were validated.
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

    Warns
    -----
    ConvergenceWarning
        When ``time_limit`` ended the learning or the choice: others may have fewer errors.
    UserWarning
        When all rows get one class, as no rule is worth its price. When the black box gave a row
        another label than before; ``report_`` counts how often.
    DataConversionWarning
        When y is a column.

    Notes
    -----
    ``clone``, and so cross-validation, leaves the black box as it is: it is not
    an estimator to fit again.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1, 2, 3, 4, 5, 6], "tint": list("aababb")})
    >>> model = RuleSetClassifier(k=2).fit(table, ["no", "no", "yes", "no", "yes", "yes"])
    >>> print(model)
    1 rule for the class yes, otherwise no
    penalty    0.01, not chosen: too few rows to hold some out
    errors     0 of 6, 1 rule at 0.06: 0.06 in all, no bound
    Hamming    0.06, at least 0.06 for every set; no rule is left to add
    coverage  precision  errors without it  contribution  rule
       0.500      1.000                 +3         +2.94  tint = b
    >>> model.predict(pd.DataFrame({"size": [9], "tint": ["b"]}))
    array(['yes'], dtype='<U3')
    """

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        stop: threading.Event | None = None,
    ) -> Self:
        """Learn rules.

        Parameters
        ----------
        X : data frame or (n, columns) array
            Numbers, categories, missing values.
        y : (n,) array, optional
            Labels of two classes. With a black box, its labels are learned and y is not looked at.
        sample_weight : (n,) array of numbers >= 0, optional
            How much each row counts in errors, in the price of a rule, in bins and in
            probabilities: a row of weight 2 as two equal rows, one of weight 0 not at all. Weights
            that are not whole are counted in parts, see ``report_.unit``; where no unit is large
            enough they are rounded to 2**-30 of their sum. In choosing a penalty, and for its
            self-confidence, a row is left out with all of its weight, two equal rows are not. Not
            with a black box.
        stop : threading.Event, optional
            Ends the learning when another thread, or what handles Ctrl-C, sets it: the rules are
            those found by then.

        Returns
        -------
        RuleSetClassifier
            Itself.
        """
        self._check_parameters()
        if self.black_box is None:
            found = from_labels(self, X, y, sample_weight, stop)
        else:
            if sample_weight is not None:
                raise InvalidOption(
                    "sample_weight is not for a black box, all of whose labels count the same"
                )
            found = from_black_box(self, X, stop)
        for name in ("surrogate_", "feature_names_in_", "choice_"):
            if hasattr(self, name):
                delattr(self, name)  # left from an earlier fit
        self._fitted = found
        self.classes_, self.positive_ = found.target.classes, found.target.positive
        self.rule_set_, self.rules_ = found.rule_set, found.conditions
        self.report_, self.objective_ = found.report, found.report.objective
        covered = np.unique(found.covered.any(axis=0))
        if len(covered) == 1:
            only = shown(str(found.target.labels(covered)[0]))
            warn(
                f"every row of fit gets the class {only}: no better set of rules that are worth "
                "their price was found; a lower penalty may give one"
            )
        if found.surrogate is not None:
            self.surrogate_ = found.surrogate
        if found.choice is not None:
            self.choice_ = found.choice
            self.penalty_, self.k_ = found.choice.penalty, found.choice.k
        else:
            self.penalty_ = FALLBACK if self.penalty == "auto" else share("penalty", self.penalty)
            self.k_ = most_conditions(self)
        table = as_table(X)
        self.n_features_in_ = table.shape[1]
        if table is X and all(isinstance(name, str) for name in table.columns):
            self.feature_names_in_ = np.array(table.columns, dtype=object)
        return self

    def problem(
        self, X: Any, y: Any, name: str = "", *, sample_weight: Any = None
    ) -> RuleSetLearning:
        """State the problem that fit solves, for other engines and :func:`cpx.save`.

        Nothing needs to be fitted before. With ``penalty="auto"``, the price, the maximum length
        and the class of a rule, and how errors weigh, are as the last fit chose; before a fit
        they are chosen here.

        Parameters
        ----------
        X, y
            As for :meth:`fit`.
        name : str
            Of the instance, free.
        sample_weight : (n,) array, optional
            As for :meth:`fit`.

        Returns
        -------
        RuleSetLearning
            With the zero-one loss; equal rows are merged.

        Raises
        ------
        InvalidOption
            With a black box: there the rows grow by what it is asked.

        Examples
        --------
        >>> import pandas as pd
        >>> from cpx import solve
        >>> table = pd.DataFrame({"size": [1, 2, 3, 4, 5, 6], "tint": list("aababb")})
        >>> y = ["no", "no", "yes", "no", "yes", "yes"]
        >>> model = RuleSetClassifier(k=2)
        >>> problem = model.problem(table, y)
        >>> result = model.fit(table, y).answer(problem)
        >>> str(result.explanation), result.objective, solve(problem, "search").bound
        ('tint = b => yes', 3, 3)
        """
        self._check_parameters()
        if self.black_box is not None:
            raise InvalidOption(
                "black_box: rules that imitate it are chosen on rows and queries, for which "
                "there is no instance"
            )
        return stated(self, X, y, sample_weight, name)

    def answer(self, problem: RuleSetLearning) -> Result:
        """Return the fitted rules as an answer to a problem that :meth:`problem` stated.

        Parameters
        ----------
        problem : RuleSetLearning
            Over the literals that the rules are made of, as for the rows of fit.

        Returns
        -------
        Result
            Without a bound: the one in ``report_`` is of another loss. The independent checker
            has confirmed its value.

        Raises
        ------
        DataError
            When the rules are not among those of the problem, or imitate a black box.
        """
        self._check_fitted()
        rules = self._fitted.model
        if not isinstance(rules, TableRules) or not isinstance(self.report_, LearningReport):
            raise DataError("rules that imitate a black box are no answer to a problem on rows")
        return answer(rules, problem, finished=self.report_.finished)

    def measure(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> RuleSet:
        """Return the rules with coverage, precision and contribution on other rows.

        Parameters
        ----------
        X : data frame or (n, columns) array
        y : (n,) array, optional
            Labels; those of the black box when not given.
        sample_weight : (n,) array, optional
            How much each row counts; 1 when not given.
        """
        covers = self.covers(X)
        return measured(self, self._fitted, covers, self._labels(X, y), sample_weight)

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
            See :func:`cpx.answers.plot_rules`.
        """
        from cpx.answers.plots import plot_rules

        self._check_fitted()
        found = self._fitted
        if X is None:
            return plot_rules(
                self.rule_set_,
                found.covered,
                found.same,
                weights=found.weights.counts,
                ax=ax,
            )
        labels = self._labels(X, y)
        rules = self.measure(X, labels)
        return plot_rules(rules, self.covers(X), found.target.same(labels), ax=ax)

    def _check_parameters(self) -> None:
        if self.k is not None:
            positive_integer("k", self.k)
        if self.penalty != "auto":
            try:
                share("penalty", self.penalty)
            except InvalidInstance as error:
                raise InvalidInstance(f"{error}; 'auto' chooses it") from None
        if self.n_bins is not None:
            integer_in("n_bins", self.n_bins, 2)

    def __str__(self) -> str:
        from cpx.answers.text import as_text

        return as_text(self.blocks()) if hasattr(self, "rule_set_") else repr(self)

    def blocks(self) -> list[Block]:
        """Return what is printed, and shown in notebooks, once it is fitted."""
        from cpx.answers.text import Fact, Facts, Paragraph

        self._check_fitted()
        n, otherwise = len(self.rules_), self._fitted.target.negative
        head = f"{n} rule{'s' * (n != 1)} for the class {self.positive_}, otherwise {otherwise}"
        table = [self.rule_set_.figures_table()] * bool(n)
        chosen = self._fitted.choice
        told = [] if chosen is None else [Fact("penalty", str(chosen))]
        return [Paragraph(head), Facts.of([*told, *self.report_.facts()]), *table]

    def _repr_html_(self) -> str:
        from sklearn.utils import estimator_html_repr

        from cpx.answers.html import as_html

        if hasattr(self, "rule_set_"):
            return as_html(self.blocks())
        return str(estimator_html_repr(self))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        # What notebooks ask first: with HTML, unless scikit-learn is set to show text only.
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return {**bundle, "text/html": self._repr_html_()} if "text/html" in bundle else bundle

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
