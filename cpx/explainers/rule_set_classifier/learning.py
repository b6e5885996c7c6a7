"""Learning a set of rules from labels or from a black box, and the problem that is solved."""

from __future__ import annotations

import copy
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from cpx.answers.rule import Literal as Named
from cpx.answers.rule import RuleSet
from cpx.answers.values import plural
from cpx.data.binarizer import Binarizer, as_table
from cpx.data.samples import MAX_TOTAL_WEIGHT, Samples
from cpx.errors import CheckFailed, DataError, InvalidOption, shown
from cpx.explainers.rule_set_classifier.choice import FALLBACK, LENGTHS, Choice, chosen_price
from cpx.explainers.rule_set_classifier.fitted_rules import Fitted, FittedRules, Loop
from cpx.explainers.rule_set_classifier.labels import Target, two_classes
from cpx.explainers.rule_set_classifier.report import LearningReport, SurrogateReport
from cpx.explainers.rule_set_classifier.self_confidence import MOST, PARTS, self_confidence
from cpx.explainers.rule_set_classifier.table_rules import TableRules
from cpx.explainers.rule_set_classifier.weights import RowWeights
from cpx.methods.candidates.literals import Literals
from cpx.support.validation import choice as one_of
from cpx.support.validation import seconds, share

if TYPE_CHECKING:
    from cpx.answers.result import Result
    from cpx.methods.active import ActiveDecisionSet, ExactDecisionSet
    from cpx.models.rule_set.learning import RuleSetLearning
    from cpx.support.validation import Share

__all__ = ["answer", "from_black_box", "from_labels", "measured", "most_conditions", "stated"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

_BINS, _CELLS, _LENGTH = 10, 64, 4
_FINE = 20  # bins where rows held out say how far to trust their limits


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """A table with labels, in the literals that rules are made of.

    Attributes
    ----------
    binarizer : Binarizer
    literals : Literals
    target : Target
    same : (n,) array of bool
        Which rows are of the positive class.
    weights : RowWeights
        Only rows with a weight above 0 are among the others.
    confidence : (n,) array of int64, optional
        In tenths, by what the weight of an error on each row is multiplied.
    """

    binarizer: Binarizer
    literals: Literals
    target: Target
    same: BoolArray
    weights: RowWeights
    confidence: IntArray | None = None

    @classmethod
    def of(cls, asked: FittedRules, X: Any, y: Any, sample_weight: Any = None) -> LabelledRows:
        """Binarize a table and check its labels, by the parameters of a classifier."""
        rows = len(as_table(X))
        _, labels = two_classes(y, rows)
        weights = RowWeights.of(sample_weight, rows)
        if not weights.kept.all():
            X, labels = _kept(X, weights.kept), labels[weights.kept]
        usual = _FINE if asked.penalty == "auto" else _BINS
        bins = usual if asked.n_bins is None else asked.n_bins
        binarizer = Binarizer(
            bins, categorical=asked.categorical, max_categories=asked.max_categories
        ).fit(X, weights=weights.counts)
        bits = binarizer.transform(X)
        classes, labels = two_classes(labels, len(bits))
        target = Target(classes, asked.positive)
        literals = Literals.of_bits(bits, binarizer)
        return cls(binarizer, literals, target, target.same(labels), weights)

    def priced(
        self, asked: FittedRules, stop: threading.Event | None = None
    ) -> tuple[FittedRules, LabelledRows, Choice | None]:
        """Choose the price of a rule where none is given, in half of the time limit at most.

        Returns the parameters with it, and the rows with the class that rules are for.
        """
        if asked.penalty != "auto":
            rows = self if asked.positive is None else self.describing(asked.positive)
            return with_price(asked, asked.penalty, most_conditions(asked)), rows, None
        from cpx.models.rule_set.learning import RuleSetLearning

        end = time.monotonic() + (seconds(asked.time_limit) or math.inf) / 2

        def late() -> bool:
            return (stop is not None and stop.is_set()) or time.monotonic() > end

        samples = Samples(self.literals.matrix, self.same, self.weights.counts)
        k = most_conditions(asked)
        lengths = LENGTHS if asked.k is None else tuple(dict.fromkeys((k, (k + 1) // 2)))
        problem = RuleSetLearning(samples, k, FALLBACK, class_weights=asked.class_weights)
        classes = {self.target.positive: self.same}
        if asked.positive is None and asked.class_weights is None:
            classes[self.target.negative] = ~self.same
        errors = problem.error_weights
        choice = chosen_price(
            samples.agreement,
            classes,
            errors,
            lengths,
            seed=asked.seed,
            stop=late,
            confidence=self._confidence(asked),
        )
        rows = self.describing(choice.positive)
        rows = rows.weighed(asked) if choice.self_confidence else rows
        return with_price(asked, choice.penalty, choice.k), rows, choice

    def describing(self, positive: Any) -> LabelledRows:
        """Return the rows with one of the two classes as that of the rules."""
        target = Target(self.target.classes, positive)
        other = target.positive != self.target.positive
        return replace(self, target=target, same=self.same ^ other)

    def weighed(self, asked: FittedRules) -> LabelledRows:
        """Return the rows with their self-confidence, unless they are too many."""
        confidence = self._confidence(asked)
        if confidence is None:
            return self
        return replace(self, confidence=confidence(np.ones(len(self.same), dtype=bool)))

    def _confidence(self, asked: FittedRules) -> Callable[[BoolArray], IntArray] | None:
        """Return what gives some of the rows their self-confidence among these."""
        counts, bits = self.weights.counts, self.literals.matrix
        many = len(counts) > MOST or int(counts.sum()) * PARTS > MAX_TOTAL_WEIGHT
        if many or asked.class_weights is not None:
            return None
        return lambda rows: self_confidence(
            bits[rows], self.same[rows], counts[rows], seed=asked.seed
        )

    @property
    def errors(self) -> RowWeights:
        """What errors on the rows weigh."""
        if self.confidence is None:
            return self.weights
        counts = self.weights.counts * self.confidence
        return RowWeights(self.weights.kept, counts, self.weights.unit / PARTS)

    @property
    def samples(self) -> Samples:
        """The rows, with what errors on them weigh; equal ones are merged."""
        context = {"class": str(self.target.positive)}
        return self.literals.samples(self.same, context, self.errors.counts)


def with_price(asked: FittedRules, penalty: Share, k: int) -> FittedRules:
    """Return parameters with another price of a rule and another number of conditions."""
    priced = copy.copy(asked)
    priced.penalty, priced.k = penalty, k
    return priced


def most_conditions(asked: FittedRules) -> int:
    """Return the most conditions of a rule where they are not chosen."""
    return _LENGTH if asked.k is None else asked.k


def as_fitted(asked: FittedRules) -> FittedRules:
    """Return parameters with the price, k and class of the last fit, where it chose them."""
    if asked.penalty != "auto" or not hasattr(asked, "penalty_"):
        return asked
    priced = with_price(asked, asked.penalty_, asked.k_)
    priced.positive = asked.positive_
    return priced


def _kept(X: Any, kept: BoolArray) -> Any:
    """Return some rows of a table, in the form it has."""
    if isinstance(X, (list, tuple)):
        return [row for row, keep in zip(X, kept, strict=True) if keep]
    return X[kept] if isinstance(X, pd.DataFrame) else np.asarray(X)[kept]


def from_labels(
    asked: FittedRules,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    stop: threading.Event | None = None,
) -> Fitted:
    """Learn rules by column generation.

    Parameters
    ----------
    asked : FittedRules
        Its parameters.
    X : data frame or (n, columns) array
    y : (n,) array
    sample_weight : (n,) array, optional
    stop : threading.Event, optional
    """
    from cpx.methods.column_generation import learn_rules

    _check_loop(asked)
    rows = LabelledRows.of(asked, X, y, sample_weight)
    started, limit = time.monotonic(), seconds(asked.time_limit) or math.inf
    asked, rows, choice = rows.priced(asked, stop)
    if choice is not None and limit < math.inf:
        # Half is left, or hardly less: a step may end late.
        limit = max(limit / 2, limit - (time.monotonic() - started))
    learned = learn_rules(
        rows.samples,
        most_conditions(asked),
        asked.penalty,
        class_weights=asked.class_weights,
        time_limit=limit,
        threads=asked.threads,
        seed=asked.seed,
        stop=stop,
    )
    model = TableRules(rows.binarizer, learned.rules).shortened(rows.literals)
    covers = model.hold(rows.literals)
    about = asked, rows.target, covers, rows.same, model.conditions
    figures, weighed = _Figures(*about, rows.weights), _Figures(*about, rows.errors)
    report = LearningReport(
        *weighed.loss,
        learned.hamming,
        learned.hamming_bound,
        learned.closed,
        rows.errors.unit,
        None if rows.confidence is None else figures.loss[:2],
    )
    found = figures.fitted(model, report)
    return replace(found, choice=choice, confidence=rows.confidence)


def from_black_box(asked: FittedRules, X: Any, stop: threading.Event | None = None) -> Fitted:
    """Learn rules that imitate the black box of a classifier, and ask it on the way.

    Parameters
    ----------
    asked : FittedRules
        Its parameters.
    X : data frame or (n, columns) array
    stop : threading.Event, optional
    """
    if asked.class_weights is not None:
        raise InvalidOption(
            "class_weights is not for a black box, all of whose labels count the same: got "
            f"{shown(asked.class_weights)}"
        )
    price = FALLBACK if asked.penalty == "auto" else asked.penalty
    asked = with_price(asked, price, most_conditions(asked))
    model = _surrogate(asked).fit(X, asked.black_box, stop=stop)
    target = Target(np.unique(model.labels_), asked.positive)
    same = target.same(model.labels_)
    words = tuple(tuple(map(str, rule.conditions)) for rule in model.rules_)
    weights = RowWeights.of(None, len(same))
    figures = _Figures(asked, target, model.covers(X), same, words, weights)
    report = SurrogateReport(
        *figures.loss,
        model.objective_,
        getattr(model, "bound_", None),
        model.queries_,
        model.rechecked_,
        model.changed_,
    )
    return figures.fitted(model, report)


def _check_loop(asked: FittedRules) -> None:
    one_of("loop", asked.loop, get_args(Loop))


def _surrogate(asked: FittedRules) -> ActiveDecisionSet | ExactDecisionSet:
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
        asked: FittedRules,
        target: Target,
        covers: BoolArray,
        same: BoolArray,
        conditions: tuple[tuple[str, ...], ...],
        weights: RowWeights,
    ) -> None:
        from cpx.models.rule_set.selection import RuleSetSelection

        self._target, self._covers, self._same = target, covers, same
        self._conditions, self._n, self._weights = conditions, len(conditions), weights
        # A selection has at least one candidate; that of no rules has one that is not selected.
        self._problem = RuleSetSelection.of_coverage(
            covers if self._n else np.zeros((1, len(same)), dtype=bool),
            same,
            texts=[" and ".join(rule) or "(always)" for rule in conditions] or ["(never)"],
            lengths=[len(rule) for rule in conditions] or None,
            penalty=asked.penalty,
            class_weights=asked.class_weights,
            context={"class": str(target.positive)},
            weights=weights.counts,
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
            self._weights,
            model,
            tuple(order),
        )


def measured(
    asked: FittedRules, fitted: Fitted, covers: BoolArray, labels: Any, sample_weight: Any
) -> RuleSet:
    """Return the rules with their figures on other rows.

    Parameters
    ----------
    asked : FittedRules
        Its parameters.
    fitted : Fitted
    covers : (rules, n) array of bool
        Which rules cover which rows.
    labels : (n,) array
    sample_weight : (n,) array, or None
    """
    asked = as_fitted(asked)
    same = fitted.target.same(labels)
    weights = RowWeights.of(sample_weight, len(same))
    covers, same = covers[:, weights.kept], same[weights.kept]
    return _Figures(asked, fitted.target, covers, same, fitted.conditions, weights).rule_set


def stated(asked: FittedRules, X: Any, y: Any, sample_weight: Any, name: str) -> RuleSetLearning:
    """Return the problem of learning rules from a table by the parameters of a classifier."""
    from cpx.models.rule_set.learning import RuleSetLearning

    rows, fitted = LabelledRows.of(asked, X, y, sample_weight), as_fitted(asked)
    confident = fitted is not asked and asked.choice_.self_confidence
    asked, rows, _ = rows.priced(fitted)
    rows = rows.weighed(asked) if confident else rows
    return RuleSetLearning(
        rows.samples,
        most_conditions(asked),
        asked.penalty,
        class_weights=asked.class_weights,
        name=name,
    )


def answer(rules: TableRules, problem: RuleSetLearning, *, closed: bool) -> Result:
    """Return rules as an answer to a problem, confirmed by the independent checker.

    Parameters
    ----------
    rules : TableRules
    problem : RuleSetLearning
    closed : bool
        Whether learning ended because no rule was left to add, and not by its time limit.

    Raises
    ------
    DataError
        When the rules are not among those of the problem.
    CheckFailed
        When the checker finds something else than the problem.
    """
    from cpx.answers.result import Result, Status, Termination
    from cpx.check import violations
    from cpx.support.versions import installed_version

    explanation = problem.explanation_of(_literals(rules, problem))
    objective = problem.cost(explanation.features)
    result = Result(
        status=Status.FEASIBLE,
        termination=Termination.COMPLETED if closed else Termination.TIME_LIMIT,
        objective=objective,
        explanation=problem.conclude(explanation, False, objective, None),
        backend="column-generation",
        versions={"cpx-explain": installed_version("cpx-explain") or "uninstalled"},
        verified=True,
    )
    if found := violations(problem.to_dict(), result.to_dict()):
        raise CheckFailed(f"the learned rules: {'; '.join(found)}")
    return result


def _literals(rules: TableRules, problem: RuleSetLearning) -> list[list[int]]:
    place = {name: j for j, name in enumerate(problem.samples.features)}
    for names in rules.literal_names:
        for name in names:
            if name not in place:
                raise DataError(
                    f"the problem has no literal {shown(name)}, which the rules have: "
                    "state it for "
                    "the rows that they were learned from"
                )
        if len(names) > problem.max_literals:
            raise DataError(
                f"the problem has rules of at most {plural(problem.max_literals, 'literal')}, got "
                f"{shown(' and '.join(names))}"
            )
    return [[place[name] for name in names] for names in rules.literal_names]
