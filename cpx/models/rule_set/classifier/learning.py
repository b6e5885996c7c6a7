"""Learning a set of rules from labels or from a black box, and the problem that is solved."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from cpx.answers.rule import Literal as Named
from cpx.answers.rule import RuleSet
from cpx.answers.values import plural
from cpx.data.words import cuts_of, words_of_table
from cpx.errors import CheckFailed, DataError, InvalidOption, UnknownName, shown
from cpx.models.rule_set.classifier.cross_validation import FALLBACK
from cpx.models.rule_set.classifier.fitted_rules import Fitted, FittedRules, Surrogate
from cpx.models.rule_set.classifier.labelled_rows import (
    LabelledRows,
    most_conditions,
    with_price,
)
from cpx.models.rule_set.classifier.labels import Target
from cpx.models.rule_set.classifier.report import LearningReport, SurrogateReport
from cpx.models.rule_set.classifier.table_rules import TableRules
from cpx.models.rule_set.classifier.weights import RowWeights
from cpx.models.rule_set.conditions import in_words
from cpx.options import read_named
from cpx.support.lazy_imports import named_object
from cpx.support.one_thread import one_thread
from cpx.support.validation import choice as one_of
from cpx.support.validation import seconds, share
from cpx.support.warnings import warn

if TYPE_CHECKING:
    from cpx.answers.result import Result
    from cpx.models.rule_set.learning import RuleSetLearning

__all__ = ["answer", "check_loop", "from_black_box", "from_labels", "measured", "stated"]

BoolArray = npt.NDArray[np.bool_]

_CELLS = 64
# Of a family that stands on this one, and may be left out.
_LOOPS = {
    "active": "cpx.models.decision_set.local_search:ActiveDecisionSet",
    "exact": "cpx.models.decision_set.exact_active_learning:ExactDecisionSet",
    "learned": "cpx.models.decision_set.learned:LearnedDecisionSet",
}


def as_fitted(asked: FittedRules) -> FittedRules:
    """Return parameters with the price, k and class of the last fit, where it chose them."""
    if asked.penalty != "auto" or not hasattr(asked, "penalty_"):
        return asked
    priced = with_price(asked, asked.penalty_, asked.k_)
    priced.positive = asked.positive_
    return priced


def from_labels(
    asked: FittedRules,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    stop: threading.Event | None = None,
) -> Fitted:
    """Learn rules by column generation.

    asked: Its parameters.
    """
    from cpx.models.rule_set.methods.column_generation import learn_rules

    check_loop(asked.loop)
    started, limit = time.monotonic(), seconds(asked.time_limit) or math.inf
    rows = LabelledRows.of(asked, X, y, sample_weight)
    with one_thread():
        asked, rows, choice = rows.priced(asked, stop, started)
        # Half is left, or hardly less: a step may end late.
        left = max(limit / 2, limit - (time.monotonic() - started))
        learned = learn_rules(
            rows.samples,
            most_conditions(asked),
            asked.penalty,
            class_weights=asked.class_weights,
            time_limit=left,
            threads=asked.threads,
            seed=asked.seed,
            stop=stop,
            prove=asked.prove,
        )
    finished = learned.finished and (choice is None or choice.finished)
    if not finished and not (stop is not None and stop.is_set()):
        warn(
            f"time_limit={asked.time_limit:g} ended the learning: these rules are the best found "
            "by then, and others may have fewer errors; a longer limit, or None, goes on",
            ConvergenceWarning,
        )
    model = TableRules(rows.binarizer, learned.rules, rows.words).shortened(rows.literals)
    covers = model.hold(rows.literals)
    about = asked, rows.target, covers, rows.same, model.conditions
    figures, weighed = _Figures(*about, rows.weights), _Figures(*about, rows.error_weights)
    report = LearningReport(
        *weighed.loss,
        learned.hamming,
        learned.hamming_bound,
        learned.closed,
        rows.error_weights.unit,
        None if rows.confidence is None else figures.loss[:2],
        learned.finished,
    )
    found = figures.fitted(model, report)
    return replace(found, choice=choice, confidence=rows.confidence)


def from_black_box(asked: FittedRules, X: Any, stop: threading.Event | None = None) -> Fitted:
    """Learn rules that imitate the black box of a classifier, and ask it on the way.

    asked: Its parameters.
    """
    if asked.class_weights is not None:
        raise InvalidOption(
            "class_weights is not for a black box, all of whose labels count the same: got "
            f"{shown(asked.class_weights)}"
        )
    if asked.prove:
        raise InvalidOption("prove is not for a black box, where no Hamming loss is bounded")
    price = FALLBACK if asked.penalty == "auto" else asked.penalty
    asked = with_price(asked, price, most_conditions(asked))
    model = _surrogate(asked).fit(X, asked.black_box, stop=stop)
    target = Target(np.unique(model.labels_), asked.positive)
    same = target.same(model.labels_)
    called = words_of_table(asked.words, X)
    if cut := sorted(cuts_of(called)):
        raise InvalidOption(
            f"words: {shown(cut[0])} has cuts, which are for labels: a black box is asked where "
            "it cuts"
        )
    words = tuple(tuple(in_words(one, called) for one in rule.conditions) for rule in model.rules_)
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


def check_loop(loop: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of a loop and its options, or raise."""
    if not isinstance(loop, str):
        one_of("loop", loop, tuple(_LOOPS))
    name, options = read_named("loop", loop)
    return one_of("loop", name, tuple(_LOOPS)), options


def _surrogate(asked: FittedRules) -> Any:
    loop, own = check_loop(asked.loop)
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
    if loop != "active":
        common["time_limit"] = asked.time_limit
    learner = named_object(_LOOPS[loop], f"loop {loop}", InvalidOption)
    known = sorted(declared.name for declared in fields(learner) if declared.name not in common)
    for option in own:
        if option in common:
            raise InvalidOption(f"{option} has an argument of its own, and is no option of a loop")
        if option not in known:
            raise UnknownName(f"option of the loop {loop}", option, known)
    return learner(**common, **own)


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
        model: TableRules | Surrogate,
        report: LearningReport | SurrogateReport,
    ) -> Fitted:
        """Return the rules in the order of their contributions."""
        found = self.rule_set
        order = sorted(range(self._n), key=lambda r: (-found.figures[r].marginal, r))
        rule_set = replace(
            found,
            literals=tuple(Named(i, found.literals[r].means) for i, r in enumerate(order)),
            figures=tuple(found.figures[r] for r in order),
            cases=tuple(model.cases[r] for r in order) if isinstance(model, TableRules) else None,
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

    asked: Its parameters.
    covers: Which rules cover which rows.
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


def answer(rules: TableRules, problem: RuleSetLearning, *, finished: bool) -> Result:
    """Return rules as an answer to a problem, confirmed by the independent checker.

    finished: Whether learning was not ended by its time limit.
    Raises DataError: When the rules are not among those of the problem.
    Raises CheckFailed: When the checker finds something else than the problem.
    """
    from cpx.answers.result import Result, Status, Termination
    from cpx.check import violations
    from cpx.support.versions import installed_version

    explanation = problem.explanation_of(_literals(rules, problem))
    objective = problem.cost(explanation.features)
    result = Result(
        status=Status.FEASIBLE,
        termination=Termination.COMPLETED if finished else Termination.TIME_LIMIT,
        objective=objective,
        explanation=problem._conclude(explanation, False, objective, None),
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
