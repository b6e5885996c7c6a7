"""The base class of monomial problems: their constraints, and the exact value of a rule.

Shared by all problems whose answer is one monomial: the data, the constraints, the exact
evaluation (:class:`MonomialProblem`), and the statement of those whose objective is a sum over
the samples (:class:`WeightedProblem`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.answers.evaluation import SampleEvaluation, Unseen
from cpx.answers.explanation import Explanation
from cpx.answers.rule import Rule
from cpx.answers.values import Value
from cpx.data.samples import Samples
from cpx.errors import InvalidInstance
from cpx.modelling.base import Listing
from cpx.modelling.encodings import stated_in
from cpx.modelling.parameters import NAME, Flag, Indices, Integer, ShareOf, parameter
from cpx.modelling.saved import SAMPLES, UNSEEN
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.modelling.side_constraints.parameter import SIDE_CONSTRAINTS
from cpx.modelling.side_constraints.statement import constrained
from cpx.modelling.statement import Encoding, Statement, maximised
from cpx.models.monomial.encodings.branches import branches
from cpx.models.monomial.encodings.channelling import channelling, table1_literal
from cpx.models.monomial.encodings.clausal import clausal
from cpx.models.monomial.encodings.costs import predictor
from cpx.models.monomial.encodings.pairs import pairs
from cpx.models.monomial.encodings.reified import reified
from cpx.models.monomial.encodings.sizes import sizes
from cpx.models.monomial.encodings.triples import known_rule_helps, triples
from cpx.models.monomial.form import CoverageLimits, RatioMonomial, WeightedMonomial
from cpx.models.monomial.text import (
    LIMITS,
    MonomialText,
    listings_of,
    measure,
    objective_in_words,
)
from cpx.models.monomial.twins import plainer_twins
from cpx.support.validation import Share

__all__ = [
    "LIMITED_ENCODINGS",
    "MONOMIAL_ENCODINGS",
    "MonomialProblem",
    "WeightedMonomial",
    "WeightedProblem",
]

MONOMIAL_ENCODINGS: tuple[Encoding[WeightedMonomial], ...] = tuple(
    replace(encoding, cost=predictor(encoding.name))
    for encoding in (
        Encoding("clausal", clausal),
        Encoding("channelling", channelling),
        Encoding("reified", reified),
        Encoding("sizes", sizes),
        Encoding("pairs", pairs),
        Encoding(
            "triples", triples, applies=known_rule_helps, every_solution=False, searches=True
        ),
        Encoding(
            "branches", branches, applies=known_rule_helps, every_solution=False, searches=True
        ),
        Encoding("table1-literal", table1_literal, faithful=False, limits=False),
    )
)

LIMITED_ENCODINGS = tuple(encoding for encoding in MONOMIAL_ENCODINGS if encoding.limits)
"""Those that can state limits on what the rule covers."""

_MOST_MEASURED = 64
"""Rules whose figures are remembered."""


@dataclass(frozen=True, eq=False)
class MonomialProblem(MonomialText):
    """A problem whose answer is one monomial of at most k features.

    Parameters
    ----------
    samples : Samples
        Agreement with x, labels and weights.
    k : int
        Maximum number of features, 0 <= k <= d.
    required, forbidden : sequence of int, optional
        Features that must, and must not, be chosen. A contradiction between them is a
        valid problem without a solution.
    one_per_group : bool
        Choose at most one feature of each group of ``samples.groups``.
    name : str
        Name of the instance, free.
    min_coverage, max_coverage : Fraction, int, float or str, optional
        Minimum and maximum share of all weight that the rule covers, from 0 to 1. Shares are
        kept as exact fractions: a float means the decimal number it is printed as, a string
        is such as ``"19/20"`` or ``"0.95"``.
    min_precision : Fraction, int, float or str, optional
        Minimum precision of the rule. A rule that covers nothing has no precision and is not
        allowed when one is asked for. None stands for the default of the kind of problem, here
        and for the coverage. Limits that no rule keeps make a valid problem without a solution.
    unseen : Samples, optional
        Samples that no engine sees, of the same features: the rule that is found is measured on
        them (:attr:`~cpx.answers.explanation.Explanation.unseen`).
    side_constraints : sequence of str, optional
        Further constraints on the features; :meth:`~cpx.models.Problem.where` adds them.

    Raises
    ------
    InvalidInstance
        Naming the argument and its value.
    """

    samples: Samples = field(metadata=SAMPLES)
    k: int = field(metadata=parameter(Integer(0, "n_features"), "maximum number of features"))
    required: tuple[int, ...] = field(
        default=(), metadata=parameter(Indices(), "features that must be chosen")
    )
    forbidden: tuple[int, ...] = field(
        default=(), metadata=parameter(Indices(), "features that must not be chosen")
    )
    one_per_group: bool = field(
        default=False, metadata=parameter(Flag(), "choose at most one feature of each group")
    )
    name: str = field(default="", metadata=NAME)
    min_coverage: Share | None = field(
        default=None,
        metadata=parameter(
            ShareOf(optional=True), "minimum share of all weight covered, exact: '1/20'"
        ),
    )
    max_coverage: Share | None = field(
        default=None,
        metadata=parameter(ShareOf(optional=True), "maximum share of all weight covered"),
    )
    min_precision: Share | None = field(
        default=None, metadata=parameter(ShareOf(optional=True), "minimum precision of the rule")
    )
    side_constraints: SideConstraints = field(
        default=NO_SIDE_CONSTRAINTS, kw_only=True, metadata=SIDE_CONSTRAINTS
    )
    unseen: Samples | None = field(default=None, kw_only=True, metadata=UNSEEN)

    encodings: ClassVar[tuple[Encoding[WeightedMonomial], ...]] = LIMITED_ENCODINGS
    covers_something: ClassVar[bool] = False
    """Whether a rule that covers nothing is not allowed, whatever the limits."""

    def _validate(self) -> None:
        """Refuse groups that are not there, and a precision that does not fit 64 bits."""
        if self.one_per_group and self.samples.groups is None:
            raise InvalidInstance("one_per_group needs groups, and the samples have none")
        _ = self.limits

    # ----------------------------------------------------------- the problem

    @property
    def n_features(self) -> int:
        """Number d of Boolean features."""
        return int(self.samples.agreement.shape[1])

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The literal of each feature, true of x."""
        return self.samples.features

    @cached_property
    def shares(self) -> dict[str, Fraction]:
        """The shares that are asked for, by the names of the parameters."""
        given = {name: getattr(self, name) for name in LIMITS}
        return {name: value for name, value in given.items() if value is not None}

    @cached_property
    def limits(self) -> CoverageLimits | None:
        """The limits on what the rule covers, as weights; None when there are none."""
        return CoverageLimits.of(
            self.samples.weights,
            self.samples.same,
            **self.shares,
            covers_something=self.covers_something,
        )

    @abstractmethod
    def value_of(self, covered: NDArray[np.bool_]) -> Value:
        """Return the objective of a rule that covers these samples."""

    @abstractmethod
    def form(self) -> WeightedMonomial | RatioMonomial:
        """Return the problem as plain arrays."""

    @property
    def choice_groups(self) -> NDArray[np.int64] | None:
        """The group of each feature, None when groups do not restrict the choice."""
        if not self.one_per_group:
            return None
        return np.asarray(self.samples.groups, dtype=np.int64)

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the rule of these features with its exact precision and coverage."""
        rule = Rule.of(features, self.samples.features, self.conclusion)
        found = self._measure(rule.features)
        return Explanation(rule, precision=found.precision, coverage=found.coverage)

    def _trivial(self) -> Explanation:
        """Return the rule of the required features alone."""
        return self.explanation(self.required)

    def evaluate(self, explanation: Explanation) -> SampleEvaluation:
        """Return the exact figures of an explanation; see :class:`SampleEvaluation`."""
        return self._measure(explanation.features)

    def _conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with what was proved of it, and its figures on unseen samples."""
        found = super()._conclude(explanation, proved, objective, bound)
        if self.unseen is None:
            return found
        return replace(found, unseen=Unseen.of(self.unseen, found.features))

    def _measure(self, features: tuple[int, ...]) -> SampleEvaluation:
        # A rule is asked for several times on its way from an engine to the result.
        found = self._measured.get(features)
        if found is None:
            if len(self._measured) >= _MOST_MEASURED:
                self._measured.clear()
            found = self._measured[features] = self._measure_anew(features)
        return found

    @cached_property
    def _measured(self) -> dict[tuple[int, ...], SampleEvaluation]:
        return {}

    def _measure_anew(self, features: tuple[int, ...]) -> SampleEvaluation:
        covered = self.samples.covered(features)
        found = SampleEvaluation.of(self.samples, covered, self.value_of(covered))
        limits = self.limits
        allowed = limits is None or limits.allow(found.covered, found.agreeing_covered)
        return replace(found, feasible=allowed and self._may_choose(features))

    def _may_choose(self, features: tuple[int, ...]) -> bool:
        chosen = set(features)
        if len(chosen) > self.k or not chosen.issuperset(self.required):
            return False
        if not chosen.isdisjoint(self.forbidden):
            return False
        groups = self.choice_groups
        if groups is not None and len({int(groups[j]) for j in chosen}) < len(chosen):
            return False
        return not self.side_constraints or self.side_constraints.allow(chosen)

    def _shortened(self, explanation: Explanation) -> Explanation:
        """Drop features, the last first, whose removal leaves the objective as it is.

        Engines return any of several equally good rules, often with conditions that
        decide nothing. What is left is within the limits. Then a condition with "!=" or "not"
        gives way to one without that is true of the same samples.
        """
        kept = chosen = explanation.features
        value = self._measure(kept).objective
        for feature in reversed(chosen):
            rest = tuple(j for j in kept if j != feature)
            found = self._measure(rest)
            if found.feasible and found.objective == value:
                kept = rest
        while (plainer := self._plainer(kept)) != kept:
            kept = plainer
        return explanation if kept == chosen else self.explanation(kept)

    def _plainer(self, features: tuple[int, ...]) -> tuple[int, ...]:
        """Return a rule with one more of its conditions said without "!=", or itself."""
        for feature in features:
            for twin in plainer_twins(self.samples, feature):
                instead = tuple(sorted({twin, *features} - {feature}))
                if twin not in features and self._measure(instead).feasible:
                    return instead
        return features


@dataclass(frozen=True, eq=False)
class WeightedProblem(MonomialProblem):
    """A monomial problem whose objective is a sum over the samples.

    Subclasses say what each sample costs when it is covered and when it is not; parameters
    are those of :class:`MonomialProblem`. The objective is the cost, or, where ``sense`` is
    ``"max"``, :meth:`greatest` minus the cost.
    """

    @abstractmethod
    def costs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the costs of covering, and of not covering, each sample; shape (m,)."""

    def greatest(self) -> int:
        """Return the objective of a rule without cost, where ``sense`` is ``"max"``."""
        return 0

    def value_of(self, covered: NDArray[np.bool_]) -> int:
        """Return the cost, or what it leaves of the greatest value."""
        form = self._form
        cost = int(np.where(covered, form.cost_covered, form.cost_uncovered).sum())
        return cost if self.sense == "min" else self.greatest() - cost

    def _trivial_bound(self) -> int:
        """Return the objective of a rule without cost."""
        return 0 if self.sense == "min" else self.greatest()

    @cached_property
    def _form(self) -> WeightedMonomial:
        return WeightedMonomial(
            self.samples.agreement,
            *self.costs(),
            self.k,
            self.required,
            self.forbidden,
            self.choice_groups,
            self.limits,
            self.side_constraints,
            packed=self.samples.pack,
        )

    def form(self) -> WeightedMonomial:
        """Return the problem as plain arrays."""
        return self._form

    def objective_lines(self) -> list[str]:
        """Return the objective spelled out, as lines of text."""
        greatest = None if self.sense == "min" else self.greatest()
        return objective_in_words(self._form, measure(self.kind), greatest)

    def _listings(self) -> Iterator[Listing]:
        """Yield features, samples with their costs, and the objective."""
        return listings_of(self.samples, self._form, self.objective_lines())

    def model(self, encoding: str | None = None) -> Statement:
        """State the problem in the named encoding (default: ``clausal``)."""
        built: Statement = stated_in(self, encoding).build(self._form)
        statement = constrained(built, self.side_constraints)
        return statement if self.sense == "min" else maximised(statement, self.greatest())
