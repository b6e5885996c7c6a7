"""Monomials whose value is a sum over the samples: least loss, maximum coverage.

:class:`KMonomial` is "Cop" and :class:`NegativeOnly` is "Sat" of Koriche et al.;
:class:`MaxCoverage` is what Anchors ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.answers.explanation import Explanation
from cpx.answers.values import Value
from cpx.models.monomial.encodings.channelling import channelling, table1_literal
from cpx.models.monomial.encodings.clausal import clausal
from cpx.models.monomial.encodings.pairs import pairs
from cpx.models.monomial.encodings.reified import reified
from cpx.models.monomial.encodings.sizes import sizes
from cpx.models.monomial.encodings.triples import known_rule_helps, triples
from cpx.models.monomial.form import WeightedMonomial
from cpx.models.monomial.problem import WeightedProblem
from cpx.models.registry import register
from cpx.models.statement import Encoding
from cpx.support.validation import Share

__all__ = [
    "LIMITED_ENCODINGS",
    "MONOMIAL_ENCODINGS",
    "KMonomial",
    "MaxCoverage",
    "NegativeOnly",
]

MONOMIAL_ENCODINGS: tuple[Encoding[WeightedMonomial], ...] = (
    Encoding("clausal", clausal),
    Encoding("channelling", channelling),
    Encoding("reified", reified),
    Encoding("sizes", sizes),
    Encoding("pairs", pairs),
    Encoding("triples", triples, applies=known_rule_helps, every_solution=False),
    Encoding("table1-literal", table1_literal, faithful=False, limits=False),
)

LIMITED_ENCODINGS = tuple(encoding for encoding in MONOMIAL_ENCODINGS if encoding.limits)
"""Those that can state limits on what the rule covers."""


@register
@dataclass(frozen=True, eq=False)
class KMonomial(WeightedProblem):
    """Find a monomial of at most k features with the least loss.

    The loss of S is the weight of the samples that are covered and disagree, plus the weight
    of those that are not covered and agree [1]_.

    Notes
    -----
    Parameters are those of :class:`~cpx.models.monomial.problem.MonomialProblem`.

    References
    ----------
    .. [1] F. Koriche, J.-M. Lagniez, S. Mengel, C. Tran: Learning Model Agnostic Explanations
       via Constraint Programming, equation 9 and Table 1 ("Cop").

    Examples
    --------
    >>> import numpy as np
    >>> from cpx import KMonomial, Samples
    >>> samples = Samples(
    ...     agreement=np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool),
    ...     same=np.array([True, True, False, False]),
    ...     features=("a", "b"),
    ... )
    >>> problem = KMonomial(samples, k=1)
    >>> problem.evaluate(problem.explanation([0])).objective
    0
    """

    kind: ClassVar[str] = "k-monomial"
    encodings: ClassVar[tuple[Encoding[WeightedMonomial], ...]] = MONOMIAL_ENCODINGS

    def costs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Covering costs where x's class is missed, not covering where it is met."""
        weights, same = self.samples.weights, self.samples.same
        return np.where(same, 0, weights), np.where(same, weights, 0)

    def claim(self) -> str:
        """Name the loss."""
        return "loss"


@register
@dataclass(frozen=True, eq=False)
class NegativeOnly(WeightedProblem):
    """Find a monomial of at most k features that covers the least disagreeing weight.

    The positive constraints of Table 1 are left out: agreeing samples do not count, so
    the rule may be right for no sample at all [1]_.

    Notes
    -----
    Parameters are those of :class:`~cpx.models.monomial.problem.MonomialProblem`; with
    ``min_coverage`` a rule cannot avoid covering.

    References
    ----------
    .. [1] F. Koriche, J.-M. Lagniez, S. Mengel, C. Tran: Learning Model Agnostic Explanations
       via Constraint Programming, section 4.1 ("Sat").

    Examples
    --------
    >>> import numpy as np
    >>> from cpx import NegativeOnly, Samples
    >>> samples = Samples(np.array([[1, 0], [1, 1]], dtype=bool), np.array([True, False]))
    >>> problem = NegativeOnly(samples, k=1)
    >>> problem.evaluate(problem.explanation([0])).objective
    1
    """

    kind: ClassVar[str] = "negative-only"
    encodings: ClassVar[tuple[Encoding[WeightedMonomial], ...]] = MONOMIAL_ENCODINGS

    def costs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Covering costs where x's class is missed; nothing else does."""
        weights, same = self.samples.weights, self.samples.same
        return np.where(same, 0, weights), np.zeros_like(weights)

    def claim(self) -> str:
        """Name the negative-only loss."""
        return "covered disagreeing weight"


@register
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
    encodings: ClassVar[tuple[Encoding[WeightedMonomial], ...]] = LIMITED_ENCODINGS

    def costs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every sample costs its weight when it is not covered."""
        weights = self.samples.weights
        return np.zeros_like(weights), weights

    def greatest(self) -> int:
        """Return the weight of all samples, which the empty rule covers."""
        return self.samples.total

    def claim(self) -> str:
        """Name the coverage."""
        return "coverage"

    def _figure(self, explanation: Explanation) -> str:
        found = self.evaluate(explanation)
        return f"{found.covered}/{found.total} ({float(found.coverage):.3f})"

    def _better(self) -> str:
        return "covers more"

    def _at_best(self, bound: Value) -> str:
        return f"no {self.candidate()} covers more than {bound}"
