"""Minimum certificates on samples: the fewest features that leave few samples to disagree."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import ClassVar

import numpy as np

from cpx.answers.claim import competing
from cpx.answers.evaluation import SampleEvaluation
from cpx.answers.explanation import Explanation
from cpx.answers.rule import Rule
from cpx.answers.values import Value, exact_percent
from cpx.data.samples import Samples
from cpx.modelling.base import Problem
from cpx.modelling.claims import asked, claimed
from cpx.modelling.parameters import NAME, ShareOf, parameter
from cpx.modelling.saved import SAMPLES
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.modelling.side_constraints.parameter import SIDE_CONSTRAINTS
from cpx.modelling.statement import Encoding
from cpx.models.certificate.text import sought
from cpx.models.monomial.text import samples_in_words
from cpx.models.sufficient_reason.minimum_subset.form import LossForm
from cpx.models.sufficient_reason.minimum_subset.problem import (
    FORBIDDEN,
    REQUIRED,
    SUBSET_ENCODINGS,
    WEIGHTS,
    MinimumSubset,
)
from cpx.support.validation import Share


class OnSamples(Problem):
    """What problems of certificates on samples share: rules, and what these cover."""

    samples: Samples
    epsilon: Share

    @property
    def n_features(self) -> int:
        """Number d of Boolean features."""
        return int(self.samples.agreement.shape[1])

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The literal of each feature, true of x."""
        return self.samples.features

    def _cost(self, features: tuple[int, ...]) -> int:
        return len(features)

    @abstractmethod
    def _figures(self, found: SampleEvaluation) -> dict[str, int]:
        """Return what is claimed of the samples that an answer covers."""

    def _measure(self, features: tuple[int, ...]) -> SampleEvaluation:
        covered = self.samples.covered(features)
        return SampleEvaluation.of(self.samples, covered, self._cost(features))

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the rule of these features with its exact precision and coverage."""
        rule = Rule.of(features, self.samples.features, str(self.samples.context.get("class", "")))
        found = self._measure(rule.features)
        return Explanation(rule, precision=found.precision, coverage=found.coverage)

    def _conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with what is claimed of it, and what the samples say."""
        found = self._measure(explanation.features)
        disagreeing = found.covered - found.agreeing_covered
        figures = {**self._figures(found), "disagreeing": disagreeing, "total": found.total}
        return claimed(self, explanation, proved, objective, bound, **figures)

    def _sizes(self) -> dict[str, str]:
        samples = self.samples
        return {
            "samples": f"m = {samples.m}, weight {samples.total}",
            "agreeing": f"{samples.same.sum()} samples, weight {samples.agreeing}",
            "features": f"d = {samples.d}",
        }


@dataclass(frozen=True, eq=False)
class MinCertificate(OnSamples, MinimumSubset):
    """Find the fewest features that cover few disagreeing samples.

    A set S is enough when the weight of the samples that agree with x on S and have another
    class is at most ``epsilon`` times the weight of all samples. With epsilon 0, S is a
    sufficient reason as far as these samples tell: a certificate [1]_ on data, not of the
    model.

    Parameters
    ----------
    samples : Samples
        Agreement with x, labels and weights.
    epsilon : Fraction, int, float or str
        Tolerated share of the weight of all samples, from 0 to 1; exact, a float means the
        decimal number it is printed as.
    weights : sequence of int, optional
        A positive weight per feature; the weight of the set is minimised. Default: all 1.
    required, forbidden : sequence of int
        Features that must, and must not, be chosen. A contradiction between them, and samples
        of another class that only forbidden features or none tell from x, make a valid
        problem without a solution.
    name : str
        Name of the instance, free.

    Raises
    ------
    InvalidInstance
        Naming the argument and its value.

    References
    ----------
    .. [1] G. Blanc, J. Lange, L.-Y. Tan: Provably Efficient, Succinct, and Precise
       Explanations, NeurIPS 2021 (certificates of a given error); here the error counts all
       samples, not the covered ones only, so that it falls with every feature.

    Examples
    --------
    >>> from cpx import Samples, solve
    >>> samples = Samples([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 0, 0], features=("a", "b", "c"))
    >>> str(solve(MinCertificate(samples, epsilon=0)).explanation)
    'a and b => same class as x'
    """

    samples: Samples = field(metadata=SAMPLES)
    epsilon: Share = field(
        default=0,
        metadata=parameter(ShareOf(), "tolerated share of disagreeing weight, exact", needed=True),
    )
    weights: tuple[int, ...] | None = field(default=None, metadata=WEIGHTS)
    required: tuple[int, ...] = field(default=(), metadata=REQUIRED)
    forbidden: tuple[int, ...] = field(default=(), metadata=FORBIDDEN)
    name: str = field(default="", metadata=NAME)
    side_constraints: SideConstraints = field(
        default=NO_SIDE_CONSTRAINTS, kw_only=True, metadata=SIDE_CONSTRAINTS
    )

    kind: ClassVar[str] = "min-certificate"
    encodings: ClassVar[tuple[Encoding[LossForm], ...]] = SUBSET_ENCODINGS

    @property
    def tolerated(self) -> int:
        """Greatest disagreeing weight that may be covered."""
        return floor(Fraction(self.epsilon) * self.samples.total)

    @cached_property
    def losses(self) -> LossForm:
        """What a rule must exclude: each disagreeing sample is a tree of one leaf."""
        disagreeing = np.flatnonzero(~self.samples.same)
        return LossForm.of(
            ~self.samples.agreement[disagreeing],
            np.arange(disagreeing.size),
            [self.samples.weights[disagreeing]],
            [self.tolerated],
            self.weight_array,
            self.required,
            self.forbidden,
        )

    def enough(self, features: tuple[int, ...]) -> bool:
        """Say whether few disagreeing samples are covered."""
        found = self._measure(features)
        return found.covered - found.agreeing_covered <= self.tolerated

    def evaluate(self, explanation: Explanation) -> SampleEvaluation:
        """Return the weight of the features, what they cover, and whether they are enough."""
        features = explanation.features
        return replace(self._measure(features), feasible=self._allows(features))

    def _cost(self, features: tuple[int, ...]) -> int:
        return self.cost(features)

    def _figures(self, found: SampleEvaluation) -> dict[str, int]:
        return {"tolerated": self.tolerated}

    def _brief(self) -> list[str]:
        """Return samples, features and what is tolerated."""
        share = exact_percent(Fraction(self.epsilon))
        return [*samples_in_words(self.samples), f"at most {share} disagreeing"]

    def _facts(self) -> dict[str, str]:
        """Return samples, features and what is tolerated."""
        return {
            **self._sizes(),
            "tolerated": f"epsilon = {self.epsilon}: disagreeing weight up to {self.tolerated}",
            **self.choice_facts(),
        }

    def candidate(self) -> str:
        """Name what competes: certificates, with what is required and nothing forbidden."""
        over = asked(self)
        return competing(over, sought(over))

    def units(self, size: int) -> str:
        """Count conditions."""
        return f"{size} condition{'s' * (size != 1)}"

    def _notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        notes, samples = self.base_notes(), self.samples
        if samples.total - samples.agreeing <= self.tolerated:
            notes.append("so few samples have another class that nothing need be kept")
        same = samples.agreement.all(axis=1) & ~samples.same
        if same.any() and int(samples.weights[same].sum()) > self.tolerated:
            notes.append("samples of another class agree with x on all features")
        return tuple(notes)
