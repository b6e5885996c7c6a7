"""k-monomials of minimum loss ("Cop" of Koriche et al.)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.models.base import Encoding
from cpx.models.monomial.encodings.channelling import channelling, table1_literal
from cpx.models.monomial.encodings.clausal import clausal
from cpx.models.monomial.encodings.pairs import pairs
from cpx.models.monomial.encodings.reified import reified
from cpx.models.monomial.form import WeightedMonomial
from cpx.models.monomial.problem import WeightedProblem
from cpx.models.registry import register

__all__ = ["LIMITED_ENCODINGS", "MONOMIAL_ENCODINGS", "KMonomial"]

MONOMIAL_ENCODINGS: tuple[Encoding[WeightedMonomial], ...] = (
    Encoding("clausal", clausal),
    Encoding("channelling", channelling),
    Encoding("reified", reified),
    Encoding("pairs", pairs),
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
