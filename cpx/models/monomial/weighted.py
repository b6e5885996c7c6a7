"""Monomials of least loss: "Cop" and "Sat" of Koriche et al."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.statement import Encoding
from cpx.models.monomial.form import WeightedMonomial
from cpx.models.monomial.problem import MONOMIAL_ENCODINGS, WeightedProblem


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
    >>> from cpx import Samples
    >>> from cpx.models import NegativeOnly
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
