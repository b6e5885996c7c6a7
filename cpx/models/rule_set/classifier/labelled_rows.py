"""A table with labels, as a classifier by rules learns from it: literals, classes, weights."""

from __future__ import annotations

import copy
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cpx.data.binarizer import Binarizer, as_table
from cpx.data.other_frames import as_pandas
from cpx.data.samples import Samples
from cpx.data.weights import MAX_TOTAL_WEIGHT
from cpx.data.words import Words, cuts_of, words_of_table
from cpx.models.rule_set.classifier.cross_validation import FALLBACK, LENGTHS, chosen_price
from cpx.models.rule_set.classifier.fitted_rules import FittedRules
from cpx.models.rule_set.classifier.labels import Target, two_classes
from cpx.models.rule_set.classifier.model_selection import Choice
from cpx.models.rule_set.classifier.self_confidence import MOST, PARTS, SelfConfidence
from cpx.models.rule_set.classifier.weights import RowWeights
from cpx.models.rule_set.methods.candidates.literals import Literals
from cpx.support.validation import seconds

if TYPE_CHECKING:
    from cpx.support.validation import Share

__all__ = ["LabelledRows", "most_conditions", "with_price"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

_BINS, _LENGTH = 10, 4
_FINE = 20  # bins where rows held out say how far to trust their limits
_MOST_BINS, _LEAST_BINS = 40_000, 3  # of all columns, and still of one


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """A table with labels, in the literals that rules are made of.

    same: Which rows are of the positive class.
    weights: Only rows with a weight above 0 are among the others.
    confidence: In tenths, by what the weight of an error on each row is multiplied.
    words: What columns are called.
    """

    binarizer: Binarizer
    literals: Literals
    target: Target
    same: BoolArray
    weights: RowWeights
    confidence: IntArray | None = None
    words: Words = field(default_factory=dict)

    @classmethod
    def of(cls, asked: FittedRules, X: Any, y: Any, sample_weight: Any = None) -> LabelledRows:
        """Binarize a table and check its labels, by the parameters of a classifier."""
        rows, columns = as_table(X).shape
        _, labels = two_classes(y, rows)
        weights = RowWeights.of(sample_weight, rows)
        if not weights.kept.all():
            X, labels = _kept(X, weights.kept), labels[weights.kept]
        usual = _FINE if asked.penalty == "auto" else _BINS
        usual = max(_LEAST_BINS, min(usual, _MOST_BINS // max(1, columns)))
        bins = usual if asked.n_bins is None else asked.n_bins
        words = words_of_table(asked.words, X)
        binarizer = Binarizer(
            bins,
            categorical=asked.categorical,
            max_categories=asked.max_categories,
            cuts=cuts_of(words) or None,
            dates=True,
        ).fit(X, weights=weights.counts)
        bits = binarizer.transform(X)
        classes, labels = two_classes(labels, len(bits))
        target = Target(classes, asked.positive)
        literals = Literals.of_bits(bits, binarizer)
        return cls(binarizer, literals, target, target.same(labels), weights, words=words)

    def priced(
        self,
        asked: FittedRules,
        stop: threading.Event | None = None,
        started: float | None = None,
    ) -> tuple[FittedRules, LabelledRows, Choice | None]:
        """Choose the price of a rule where none is given, in half of the time limit at most.

        The limit counts from when the fit ``started``, on the monotonic clock.
        Returns the parameters with it, and the rows with the class that rules are for.
        """
        if asked.penalty != "auto":
            rows = self if asked.positive is None else self.describing(asked.positive)
            return with_price(asked, asked.penalty, most_conditions(asked)), rows, None
        from cpx.models.rule_set.learning import RuleSetLearning

        started = time.monotonic() if started is None else started
        end = started + (seconds(asked.time_limit) or math.inf) / 2

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
        confidence = self._confidence(asked)
        choice = chosen_price(
            samples.agreement,
            classes,
            errors,
            lengths,
            seed=asked.seed,
            stop=late,
            confidence=confidence,
        )
        rows = self.describing(choice.positive)
        rows = rows._weighed_by(confidence) if choice.self_confidence else rows
        return with_price(asked, choice.penalty, choice.k), rows, choice

    def describing(self, positive: Any) -> LabelledRows:
        """Return the rows with one of the two classes as that of the rules."""
        target = Target(self.target.classes, positive)
        other = target.positive != self.target.positive
        return replace(self, target=target, same=self.same ^ other)

    def weighed(self, asked: FittedRules) -> LabelledRows:
        """Return the rows with their self-confidence, unless they are too many."""
        return self._weighed_by(self._confidence(asked))

    def _weighed_by(self, confidence: Callable[[BoolArray], IntArray] | None) -> LabelledRows:
        if confidence is None:
            return self
        return replace(self, confidence=confidence(np.ones(len(self.same), dtype=bool)))

    def _confidence(self, asked: FittedRules) -> Callable[[BoolArray], IntArray] | None:
        """Return what gives some of the rows their self-confidence among these."""
        counts, bits = self.weights.counts, self.literals.matrix
        many = len(counts) > MOST or int(counts.sum()) * PARTS > MAX_TOTAL_WEIGHT
        if many or asked.class_weights is not None:
            return None
        return SelfConfidence(bits, self.same, counts)

    @property
    def error_weights(self) -> RowWeights:
        """What errors on the rows weigh."""
        if self.confidence is None:
            return self.weights
        counts = self.weights.counts * self.confidence
        return RowWeights(self.weights.kept, counts, self.weights.unit / PARTS)

    @property
    def samples(self) -> Samples:
        """The rows, with what errors on them weigh; equal ones are merged."""
        context = {"class": str(self.target.positive)}
        return self.literals.samples(self.same, context, self.error_weights.counts)


def with_price(asked: FittedRules, penalty: Share, k: int) -> FittedRules:
    """Return parameters with another price of a rule and another number of conditions."""
    priced = copy.copy(asked)
    priced.penalty, priced.k = penalty, k
    return priced


def most_conditions(asked: FittedRules) -> int:
    """Return the most conditions of a rule where they are not chosen."""
    return _LENGTH if asked.k is None else asked.k


def _kept(X: Any, kept: BoolArray) -> Any:
    """Return some rows of a table, in the form it has."""
    if isinstance(X, (list, tuple)):
        return [row for row, keep in zip(X, kept, strict=True) if keep]
    X = as_pandas(X)
    return X[kept] if isinstance(X, pd.DataFrame) else np.asarray(X)[kept]
