"""Monomial problems as plain arrays: what encodings and the exact search take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.data.packed import Packed
from cpx.errors import InvalidInstance
from cpx.modelling.base import Problem
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints

_WIDTH = 2**62
"""Products of weights and the terms of a precision stay below: exact in 64 bits."""

_READABLE = 1000
"""A precision with a denominator up to this is taken as it was given."""


@dataclass(frozen=True, eq=False)
class CoverageLimits:
    """Limits on what a monomial covers.

    weights (m,): Positive.
    same (m,): Samples of the class of x.
    least: Minimum covered weight.
    most: Maximum covered weight.
    precision: Minimum precision tau: ``agreeing covered >= tau * covered``, which is linear in the
        covered samples: the sum of ``w_i (1 - tau)`` over those of the class of x, and of ``-w_i
        tau`` over the others, is not negative. Its denominator times the total weight is below
        2**62.
    """

    weights: NDArray[np.int64]
    same: NDArray[np.bool_]
    least: int = 0
    most: int | None = None
    precision: Fraction | None = None

    def in_words(self) -> str:
        """Return the limits as weights, for who reads an instance."""
        parts = []
        if self.least:
            parts.append(f"covered weight >= {self.least}")
        if self.most is not None:
            parts.append(f"covered weight <= {self.most}")
        if self.precision is not None:
            parts.append(f"agreeing weight covered >= {self.precision} of the weight covered")
        return ", ".join(parts)

    @classmethod
    def of(
        cls,
        weights: NDArray[np.int64],
        same: NDArray[np.bool_],
        min_coverage: Fraction | None = None,
        max_coverage: Fraction | None = None,
        min_precision: Fraction | None = None,
        covers_something: bool = False,
    ) -> CoverageLimits | None:
        """Return the limits of shares of the total weight; None when nothing is limited.

        A precision is asked of rules that have one, so ``min_precision`` implies that
        something is covered, as ``covers_something`` does.

        >>> ones, same = np.ones(30, dtype=np.int64), np.ones(30, dtype=bool)
        >>> limits = CoverageLimits.of(ones, same, Fraction(1, 20), None, Fraction(19, 20))
        >>> limits.least, limits.most, limits.precision
        (2, None, Fraction(19, 20))
        """
        total = int(weights.sum())
        least, most = 0, total
        if min_coverage is not None:
            least = -(-min_coverage.numerator * total // min_coverage.denominator)
        if max_coverage is not None:
            most = max_coverage.numerator * total // max_coverage.denominator
        if covers_something or min_precision is not None:
            least = max(least, 1)
        precision = _exact_precision(min_precision or None, total)
        if not least and most == total and precision is None:
            return None
        return cls(weights, same, least, None if most == total else most, precision)

    def allow(self, covered: int, agreeing: int) -> bool:
        """Whether a covered weight, ``agreeing`` of it agreeing, is within the limits."""
        if covered < self.least or (self.most is not None and covered > self.most):
            return False
        tau = self.precision
        return tau is None or agreeing * tau.denominator >= covered * tau.numerator


@dataclass(frozen=True, eq=False)
class _Choice:
    """What all monomial problems share: which sets of features there are.

    packed: Returns the samples packed, unless some are equal.
    """

    agreement: NDArray[np.bool_]
    packed: Callable[[], Packed | None] | None = field(default=None, kw_only=True)

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features, ``(m, d)``."""
        m, d = self.agreement.shape
        return m, d

    def covered(self, features: Iterable[int]) -> NDArray[np.bool_]:
        """Return which samples the monomial covers, shape (m,)."""
        chosen = list(features)
        return np.asarray(self.agreement[:, chosen].all(axis=1), dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class WeightedMonomial(_Choice):
    """A monomial problem with a sum as its objective, as plain arrays.

    Minimise, over sets S of at most ``k`` features that contain ``required`` and avoid
    ``forbidden`` (and have at most one feature per group when ``groups`` is given)::

        sum of cost_covered[i]   over the samples i with a_ij = 1 for all j in S
      + sum of cost_uncovered[i] over the others

    agreement (m, d): a_ij, sample i agrees with x on feature j.
    cost_covered, cost_uncovered (m,): Non-negative costs.
    k: Maximum number of features.
    required, forbidden: Features that must, and must not, be chosen.
    groups (d,): Group of each feature; None when groups do not restrict the choice.
    limits: Limits on what S covers; None when nothing is limited.
    side: Further constraints on S.
    """

    cost_covered: NDArray[np.int64]
    cost_uncovered: NDArray[np.int64]
    k: int
    required: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()
    groups: NDArray[np.int64] | None = None
    limits: CoverageLimits | None = None
    side: SideConstraints = NO_SIDE_CONSTRAINTS


@dataclass(frozen=True, eq=False)
class RatioMonomial(_Choice):
    """A monomial problem with the precision as its objective, as plain arrays.

    Maximise the agreeing covered weight divided by the covered weight, over the sets S of
    :class:`WeightedMonomial` that are within the limits.

    agreement (m, d): a_ij, sample i agrees with x on feature j.
    same (m,): Samples of the class of x.
    weights (m,): Positive; their sum is below 2**31, so that products of two sums fit 64 bits.
    k, required, forbidden, groups: As in :class:`WeightedMonomial`.
    limits: Limits on what S covers; ``limits.least`` is at least 1.
    side: Further constraints on S.
    """

    same: NDArray[np.bool_]
    weights: NDArray[np.int64]
    k: int
    required: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()
    groups: NDArray[np.int64] | None = None
    limits: CoverageLimits = field(kw_only=True)
    side: SideConstraints = NO_SIDE_CONSTRAINTS


def least_fraction(value: Fraction, most: int) -> Fraction:
    """Return the least fraction >= value with a denominator of at most ``most``.

    most: At least 1.

    Neighbours a/b < c/d in the Farey sequence of order n have bc - ad = 1 and b + d > n, so
    d is the largest number up to n with ad = -1 modulo b (G. H. Hardy, E. M. Wright: An
    Introduction to the Theory of Numbers, chapter 3).

    >>> least_fraction(Fraction(833333, 10**6), 100)
    Fraction(5, 6)
    >>> least_fraction(Fraction(19, 20), 20), least_fraction(Fraction(19, 20), 10)
    (Fraction(19, 20), Fraction(1, 1))
    """
    near = value.limit_denominator(most)
    if near >= value:
        return near
    a, b = near.numerator, near.denominator
    d = -pow(a, -1, b) % b
    d += (most - d) // b * b
    return Fraction((a * d + 1) // b, d)


def _exact_precision(wanted: Fraction | None, total: int) -> Fraction | None:
    """Return a limit that is the same for every rule, with as small numbers as there are."""
    if wanted is None:
        return None
    near = wanted
    if wanted.denominator > max(total, _READABLE):
        # The precision of a rule has a denominator of at most the total weight, so no rule
        # is between the wanted precision and the least such fraction above it.
        near = least_fraction(wanted, total)
    if near.denominator * total >= _WIDTH:
        raise InvalidInstance(
            f"min_precision {wanted} needs samples of a total weight below 2**31, got {total}"
        )
    return near


MonomialForm = WeightedMonomial | RatioMonomial


def monomial_form(problem: Problem) -> MonomialForm | None:
    """Return the plain arrays of a monomial problem; None for another one."""
    form = problem.form()
    return form if isinstance(form, MonomialForm) else None


def allowed(form: MonomialForm, chosen: tuple[int, ...]) -> list[int]:
    """Return the features that may be added to a set, increasing.

    >>> import numpy as np
    >>> agreement, cost = np.ones((1, 4), dtype=bool), np.zeros(1, dtype=np.int64)
    >>> form = WeightedMonomial(agreement, cost, cost, k=3, forbidden=(3,),
    ...                         groups=np.array([0, 0, 1, 1]))
    >>> allowed(form, (1,))
    [2]
    """
    closed = {*chosen, *form.forbidden}
    free = [j for j in range(form.shape[1]) if j not in closed]
    if form.groups is None:
        return free
    groups = form.groups
    taken = {int(groups[j]) for j in chosen}
    return [j for j in free if int(groups[j]) not in taken]
