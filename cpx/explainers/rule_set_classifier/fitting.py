"""Learning the rules of a classifier: from labels, or from a black box."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from cpx.answers.rule import Literal as Named
from cpx.answers.rule_set import RuleSet
from cpx.errors import InvalidOption, shown
from cpx.explainers.rule_set_classifier.labels import Target
from cpx.explainers.rule_set_classifier.report import LearningReport, SurrogateReport
from cpx.explainers.rule_set_classifier.stating import LabelledRows
from cpx.explainers.rule_set_classifier.table_rules import TableRules
from cpx.support.validation import choice, share

if TYPE_CHECKING:
    from cpx.explainers.rule_set_classifier.estimator import RuleSetClassifier
    from cpx.methods.active import ActiveDecisionSet, ExactDecisionSet

__all__ = ["Fitted", "Loop", "from_black_box", "from_labels", "measured"]

BoolArray = npt.NDArray[np.bool_]
Loop = Literal["active", "exact"]

_CELLS = 64


@dataclass(frozen=True, eq=False)
class Fitted:
    """Rules that were learned, the greatest contribution first.

    Attributes
    ----------
    target : Target
    rule_set : RuleSet
    conditions : tuple of tuple of str
        Of each rule.
    report : LearningReport or SurrogateReport
    covered : (rules, n) array of bool
        Which rules cover which rows of the table.
    same : (n,) array of bool
        Which rows are of the positive class.
    model : TableRules or DecisionSet
        What the rules are, in an order of its own.
    order : tuple of int
        The place of each rule there.
    """

    target: Target
    rule_set: RuleSet
    conditions: tuple[tuple[str, ...], ...]
    report: LearningReport | SurrogateReport
    covered: BoolArray
    same: BoolArray
    model: TableRules | ActiveDecisionSet | ExactDecisionSet
    order: tuple[int, ...]

    @property
    def surrogate(self) -> ActiveDecisionSet | ExactDecisionSet | None:
        """What asked the black box, if there is one."""
        return None if isinstance(self.model, TableRules) else self.model

    def covers(self, X: Any) -> BoolArray:
        """Return which rules cover which rows, shape (rules, n)."""
        found: BoolArray = self.model.covers(X)[list(self.order)]
        return found


def from_labels(
    asked: RuleSetClassifier, X: Any, y: Any, stop: threading.Event | None = None
) -> Fitted:
    """Learn rules by column generation.

    Parameters
    ----------
    asked : RuleSetClassifier
        Its parameters.
    X : data frame or (n, columns) array
    y : (n,) array
    stop : threading.Event, optional
    """
    from cpx.methods.column_generation import learn_rules

    _check_loop(asked)
    rows = LabelledRows.of(asked, X, y)
    learned = learn_rules(
        rows.samples,
        asked.k,
        asked.penalty,
        class_weights=asked.class_weights,
        time_limit=asked.time_limit,
        threads=asked.threads,
        seed=asked.seed,
        stop=stop,
    )
    model = TableRules(rows.binarizer, learned.rules).shortened(rows.literals)
    figures = _Figures(asked, rows.target, model.covers(X), rows.same, model.conditions)
    report = LearningReport(*figures.loss, learned.hamming, learned.hamming_bound, learned.closed)
    return figures.fitted(model, report)


def from_black_box(
    asked: RuleSetClassifier, X: Any, stop: threading.Event | None = None
) -> Fitted:
    """Learn rules that imitate the black box of a classifier, and ask it on the way.

    Parameters
    ----------
    asked : RuleSetClassifier
        Its parameters.
    X : data frame or (n, columns) array
    stop : threading.Event, optional
    """
    if asked.class_weights is not None:
        raise InvalidOption(
            "class_weights is not for a black box, all of whose labels count the same: got "
            f"{shown(asked.class_weights)}"
        )
    model = _surrogate(asked).fit(X, asked.black_box, stop=stop)
    target = Target(np.unique(model.labels_), asked.positive)
    same = target.same(model.labels_)
    words = tuple(tuple(map(str, rule.conditions)) for rule in model.rules_)
    figures = _Figures(asked, target, model.covers(X), same, words)
    report = SurrogateReport(
        *figures.loss,
        model.objective_,
        getattr(model, "bound_", None),
        model.queries_,
        model.rechecked_,
        model.changed_,
    )
    return figures.fitted(model, report)


def _check_loop(asked: RuleSetClassifier) -> None:
    choice("loop", asked.loop, get_args(Loop))


def _surrogate(asked: RuleSetClassifier) -> ActiveDecisionSet | ExactDecisionSet:
    from cpx.methods.active import ActiveDecisionSet, ExactDecisionSet

    _check_loop(asked)
    common: dict[str, Any] = {
        "penalty": float(share("penalty", asked.penalty)),
        "max_queries": asked.max_queries,
        "max_conditions": asked.k,
        "n_cells": _CELLS if asked.n_bins is None else asked.n_bins,
        "categorical": asked.categorical,
        "positive": asked.positive,
        "seed": asked.seed,
        "max_categories": asked.max_categories,
    }
    if asked.loop == "active":
        return ActiveDecisionSet(**common)
    return ExactDecisionSet(**common, time_limit=asked.time_limit)


class _Figures:
    """The figures of rules on the rows they were learned from."""

    def __init__(
        self,
        asked: RuleSetClassifier,
        target: Target,
        covers: BoolArray,
        same: BoolArray,
        conditions: tuple[tuple[str, ...], ...],
    ) -> None:
        from cpx.models.rule_set.selection import RuleSetSelection

        self._target, self._covers, self._same = target, covers, same
        self._conditions, self._n = conditions, len(conditions)
        # A selection has at least one candidate; that of no rules has one that is not selected.
        self._problem = RuleSetSelection.of_coverage(
            covers if self._n else np.zeros((1, len(same)), dtype=bool),
            same,
            texts=[" and ".join(rule) or "(always)" for rule in conditions] or ["(never)"],
            lengths=[len(rule) for rule in conditions] or None,
            penalty=asked.penalty,
            class_weights=asked.class_weights,
            context={"class": str(target.positive)},
        )

    @property
    def _price(self) -> Fraction:
        return Fraction(self._problem.price, self._problem.scale)

    @property
    def loss(self) -> tuple[int, int, int, Fraction, Fraction]:
        """Errors, weight of all rows, number of rules, price of one, and objective."""
        errors = self._problem.error(range(self._n))
        objective = errors + self._n * self._price
        return errors, self._problem.total, self._n, self._price, objective

    @property
    def rule_set(self) -> RuleSet:
        """The rules in the order given."""
        found = self._problem.explanation(range(self._n)).rule
        assert isinstance(found, RuleSet)
        return replace(found, price=self._price)

    def fitted(
        self,
        model: TableRules | ActiveDecisionSet | ExactDecisionSet,
        report: LearningReport | SurrogateReport,
    ) -> Fitted:
        """Return the rules in the order of their contributions."""
        found = self.rule_set
        order = sorted(range(self._n), key=lambda r: (-found.figures[r].marginal, r))
        rule_set = replace(
            found,
            literals=tuple(Named(i, found.literals[r].text) for i, r in enumerate(order)),
            figures=tuple(found.figures[r] for r in order),
        )
        return Fitted(
            self._target,
            rule_set,
            tuple(self._conditions[r] for r in order),
            report,
            self._covers[order],
            self._same,
            model,
            tuple(order),
        )


def measured(asked: RuleSetClassifier, fitted: Fitted, covers: BoolArray, labels: Any) -> RuleSet:
    """Return the rules with their figures on other rows.

    Parameters
    ----------
    asked : RuleSetClassifier
        Its parameters.
    fitted : Fitted
    covers : (rules, n) array of bool
        Which rules cover which rows.
    labels : (n,) array
    """
    same = fitted.target.same(labels)
    return _Figures(asked, fitted.target, covers, same, fitted.conditions).rule_set
