"""Monomials of maximum precision that cover enough, and of maximum coverage, precise enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.answers.explanation import Explanation
from cpx.answers.values import Value
from cpx.errors import InvalidInstance
from cpx.modelling.base import Listing
from cpx.modelling.parameters import ShareOf, parameter
from cpx.modelling.ratio import RatioProblem, RatioStep
from cpx.modelling.statement import Statement
from cpx.models.monomial.form import (
    CoverageLimits,
    RatioMonomial,
    least_fraction,
)
from cpx.models.monomial.problem import MonomialProblem, WeightedProblem
from cpx.models.monomial.text import listings_of
from cpx.support.validation import Share

_MOST_WEIGHT = 2**31


@dataclass(frozen=True, eq=False)
class MaxPrecision(MonomialProblem, RatioProblem):
    """Find the most precise monomial of at most k features that covers enough.

    Maximise the agreeing covered weight divided by the covered weight, an exact fraction, over
    the rules that cover at least ``min_coverage`` (1/20 unless given) of all weight. Without
    a floor a rule that covers one sample would win; a rule that covers nothing has no
    precision and is never allowed. One minus the precision on the samples estimates the
    error by which Koriche et al. measure explanations [1]_; Anchors [2]_ look for rules of
    high precision by a heuristic search.

    Notes
    -----
    Parameters are those of :class:`~cpx.models.monomial.problem.MonomialProblem`. The weights of
    the samples must add up to less than 2**31, so that products of two sums fit 64 bits. Engines
    that need a linear statement solve it by :func:`cpx.solving.dinkelbach.dinkelbach`.

    References
    ----------
    .. [1] F. Koriche, J.-M. Lagniez, S. Mengel, C. Tran: Learning Model Agnostic Explanations
       via Constraint Programming, equation 1.
    .. [2] M. T. Ribeiro, S. Singh, C. Guestrin: Anchors: High-Precision Model-Agnostic
       Explanations, AAAI 2018.

    Examples
    --------
    >>> from cpx import MaxPrecision, Samples, solve
    >>> samples = Samples(
    ...     [[1, 1], [1, 1], [1, 0], [0, 1], [0, 1]], [1, 1, 0, 0, 0], features=("a", "b")
    ... )
    >>> result = solve(MaxPrecision(samples, k=1, min_coverage=0.5))
    >>> result.objective, str(result.explanation)
    (Fraction(2, 3), 'a => same class as x')
    """

    min_coverage: Share | None = Fraction(1, 20)

    kind: ClassVar[str] = "max-precision"
    sense: ClassVar[Literal["min", "max"]] = "max"
    covers_something: ClassVar[bool] = True
    ratio: ClassVar[str] = "precision(S) = agreeing weight covered / weight covered"

    def _validate(self) -> None:
        """Refuse weights whose products do not fit 64 bits."""
        super()._validate()
        if self.samples.total >= _MOST_WEIGHT:
            raise InvalidInstance(
                f"{self.kind} needs samples of a total weight below 2**31, "
                f"got {self.samples.total}"
            )

    def form(self) -> RatioMonomial:
        """Return the problem as plain arrays."""
        return self._form

    @cached_property
    def _form(self) -> RatioMonomial:
        return RatioMonomial(
            self.samples.agreement,
            self.samples.same,
            self.samples.weights,
            self.k,
            self.required,
            self.forbidden,
            self.choice_groups,
            limits=self._limits,
            side=self.side_constraints,
            packed=self.samples.pack,
        )

    @property
    def _limits(self) -> CoverageLimits:
        assert self.limits is not None  # something must be covered
        return self.limits

    def value_of(self, covered: NDArray[np.bool_]) -> Fraction:
        """Return the precision; 0 where nothing is covered, which is not allowed."""
        weights = self.samples.weights
        weight = int(weights[covered].sum())
        return Fraction(int(weights[covered & self.samples.same].sum()), max(weight, 1))

    def model(self, encoding: str | None = None) -> Statement:
        """State the first step: :meth:`step` at the precision of :meth:`first`.

        The precision itself has no linear statement, so what engines and ``cpx show`` get
        is a step, whose objective is not the precision.
        """
        return self.first_step().model(encoding)

    # ------------------------------------------------------------ as a ratio

    def first(self) -> Explanation:
        """Return the rule of the required features alone."""
        return self._trivial()

    def step(self, value: Fraction) -> PrecisionStep:
        """Return the weighted problem of one step of Dinkelbach's method.

        See :class:`PrecisionStep`; its constraints and limits are those of this problem.
        """
        limits: dict[str, Any] = self.shares
        return PrecisionStep(
            samples=self.samples,
            k=self.k,
            required=self.required,
            forbidden=self.forbidden,
            one_per_group=self.one_per_group,
            name=f"{self.name or self.kind} at precision {value}",
            side_constraints=self.side_constraints,
            **limits,
            value=value,
        )

    def covering(self, precision: Value | None) -> MaxCoverage:
        """Return the problem of the rule of at least this precision that covers most."""
        limits: dict[str, Any] = {**self.shares, "min_precision": precision}
        return MaxCoverage(
            samples=self.samples,
            k=self.k,
            required=self.required,
            forbidden=self.forbidden,
            one_per_group=self.one_per_group,
            side_constraints=self.side_constraints,
            **limits,
        )

    def _trivial_bound(self) -> Fraction:
        """Return 1, or less where the agreeing samples do not fill the least coverage."""
        return min(Fraction(1), Fraction(self.samples.agreeing, self._limits.least))

    # ------------------------------------------------------------- sentences

    def _listings(self) -> Iterator[Listing]:
        """Yield features, and samples and objective of the step that :meth:`model` states."""
        at = self.evaluate(self.first()).objective
        step = self.step(Fraction(at))
        objective = [
            f"Objective: {self.ratio}, to maximise",
            f"Stated below: the first step of Dinkelbach's method, at {at}",
            "",
            *step.objective_lines(),
        ]
        return listings_of(self.samples, step.form(), objective)

    def without_agreement(self) -> str:
        """Say that every rule has the precision 0."""
        return "the precision of every rule is 0"


@dataclass(frozen=True, eq=False)
class PrecisionStep(WeightedProblem, RatioStep):
    """One step of Dinkelbach's method for :class:`MaxPrecision` at a value p/q.

    Maximise the gain, the sum over the covered samples of ``w_i (q - p)`` if they agree and
    of ``-w_i p`` if not, divided by p or q - p where one class is absent. A gain is positive,
    0 or negative as the precision of the rule is above, at or below p/q.

    value: The precision p/q, from 0 to 1. The other parameters are those of
        :class:`~cpx.models.monomial.problem.MonomialProblem`.
    """

    value: Fraction = field(
        default=Fraction(0), metadata=parameter(ShareOf(), "the precision p/q of the step")
    )

    kind: ClassVar[str] = "max-precision-step"
    _stated_as: ClassVar[str] = MaxPrecision.kind
    sense: ClassVar[Literal["min", "max"]] = "max"
    covers_something: ClassVar[bool] = True

    def _validate(self) -> None:
        """Refuse a value whose products with weights do not fit 64 bits."""
        super()._validate()
        if self.samples.total * self.value.denominator >= 2**62:
            raise InvalidInstance(
                f"value {self.value}: its denominator times the total weight "
                f"{self.samples.total} is not below 2**62"
            )

    @cached_property
    def _gains(self) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        p, q = self.value.numerator, self.value.denominator
        weights, same = self.samples.weights, self.samples.same
        # Not by a divisor of the weights: the search counts gains per unit of weight.
        scale = gcd(0 if same.all() else p, q - p if same.any() else 0) or 1
        rates = p // scale, (q - p) // scale
        return np.where(same, 0, weights * rates[0]), np.where(same, weights * rates[1], 0), scale

    @property
    def scale(self) -> int:
        """What the gains are divided by."""
        return self._gains[2]

    def costs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Covering costs where x's class is missed, not covering where it is met."""
        loses, wins, _ = self._gains
        return loses, wins

    def ratio_bound(self, bound: int) -> Fraction:
        """Return the bound on the precision that a bound on the gains implies.

        Let B be the bound and g the divisor of the gains. A rule that covers c, of which a
        agrees, has (qa - pc)/g <= B, so a/c <= p/q + gB/(qc). The last term is greatest at
        the least allowed c where B >= 0, and at the greatest allowed c where B < 0. No
        precision has a denominator above the greatest c, so the bound is rounded down to
        the next fraction without one.
        """
        limits = self.limits
        assert limits is not None  # something must be covered
        most = self.samples.total if limits.most is None else max(limits.most, 1)
        covered = limits.least if bound >= 0 else most
        exact = self.value + Fraction(self._gains[2] * bound, self.value.denominator * covered)
        return -least_fraction(-exact, most)

    def greatest(self) -> int:
        """Return the gain of a rule that covers all agreeing samples and no other."""
        return int(self._gains[1].sum())


@dataclass(frozen=True, eq=False)
class MaxCoverage(WeightedProblem):
    """Find a monomial of at most k features that covers the most and is precise enough.

    Maximise the covered weight over the rules whose agreeing covered weight is at least
    ``min_precision`` (19/20 unless given) of it. This is the question that Anchors [1]_ ask
    of the distribution and answer by a heuristic search; here it is asked of the samples
    and answered exactly.

    Notes
    -----
    Parameters are those of :class:`~cpx.models.monomial.problem.MonomialProblem`.

    References
    ----------
    .. [1] M. T. Ribeiro, S. Singh, C. Guestrin: Anchors: High-Precision Model-Agnostic
       Explanations, AAAI 2018, equation 4: coverage is maximised among the rules of at
       least a given precision.

    Examples
    --------
    >>> from cpx import MaxCoverage, Samples, solve
    >>> samples = Samples([[1, 1], [1, 1], [1, 0], [0, 1]], [1, 1, 0, 1], features=("a", "b"))
    >>> result = solve(MaxCoverage(samples, k=1, min_precision="9/10"))
    >>> result.objective, str(result.explanation)
    (3, 'b => same class as x')
    """

    min_precision: Share | None = Fraction(19, 20)

    kind: ClassVar[str] = "max-coverage"
    sense: ClassVar[Literal["min", "max"]] = "max"

    def costs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every sample costs its weight when it is not covered."""
        weights = self.samples.weights
        return np.zeros_like(weights), weights

    def greatest(self) -> int:
        """Return the weight of all samples, which the empty rule covers."""
        return self.samples.total

    def _trivial_bound(self) -> int:
        """Return what the limits let a rule cover at most: agreeing weight by the precision."""
        limits, most = self.limits, self.samples.total
        if limits is not None and limits.most is not None:
            most = limits.most
        if limits is not None and limits.precision:
            most = min(most, int(self.samples.agreeing / limits.precision))
        return most
