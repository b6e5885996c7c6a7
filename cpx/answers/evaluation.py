"""Exact figures of an explanation: on the samples of a problem, and on samples no engine saw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from cpx.answers.values import Value
from cpx.support.shares import ExactFloat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cpx.data.samples import Samples

__all__ = ["Evaluation", "SampleEvaluation", "Unseen"]


@dataclass(frozen=True)
class Evaluation:
    """Exact figures of an explanation.

    Attributes
    ----------
    objective : int or Fraction
        The value the problem optimises.
    feasible : bool
        Whether the explanation respects the constraints of the problem.
    tie : int
        Of explanations with the same objective, one of the least tie is wanted.
    """

    objective: Value
    feasible: bool = field(default=True, kw_only=True)
    tie: int = field(default=0, kw_only=True)


@dataclass(frozen=True)
class SampleEvaluation(Evaluation):
    """Exact figures of a monomial on the samples of a problem, as weights.

    Attributes
    ----------
    covered, agreeing_covered, agreeing, total : int
        Weight of the covered, the covered and agreeing, the agreeing, and all samples.
    """

    covered: int
    agreeing_covered: int
    agreeing: int
    total: int

    @classmethod
    def of(
        cls,
        samples: Samples,
        covered: NDArray[np.bool_],
        objective: Value,
        *,
        feasible: bool = True,
    ) -> Self:
        """Measure a rule, or a set of rules, that covers these samples; shape (m,)."""
        weights, same = samples.weights[covered], samples.same[covered]
        return cls(
            objective,
            covered=int(weights.sum()),
            agreeing_covered=int(weights[same].sum()),
            agreeing=samples.agreeing,
            total=samples.total,
            feasible=feasible,
        )

    @property
    def precision(self) -> ExactFloat | None:
        """Agreeing share of the covered weight; ``None`` when nothing is covered."""
        return ExactFloat.of(self.agreeing_covered, self.covered)

    @property
    def coverage(self) -> ExactFloat:
        """Covered share of all weight."""
        return ExactFloat(Fraction(self.covered, self.total))


@dataclass(frozen=True)
class Unseen:
    """Figures of a rule on samples that no engine saw, as weights.

    Attributes
    ----------
    agreeing : int
        Weight of the covered samples of the class of x.
    covered, total : int
        Weight of the covered samples, and of all.

    Examples
    --------
    >>> found = Unseen(agreeing=27, covered=30, total=200)
    >>> found.precision, found.coverage, str(found)
    (0.900, 0.150, 'precision 0.900, coverage 0.150 on 200 unseen samples')
    """

    agreeing: int
    covered: int
    total: int

    @classmethod
    def of(cls, samples: Samples, features: Iterable[int]) -> Self:
        """Measure the rule of these features."""
        covered = samples.covered(features)
        weights, same = samples.weights[covered], samples.same[covered]
        return cls(int(weights[same].sum()), int(weights.sum()), samples.total)

    @property
    def precision(self) -> ExactFloat | None:
        """Agreeing share of the covered weight; None when nothing is covered."""
        return ExactFloat.of(self.agreeing, self.covered)

    @property
    def coverage(self) -> ExactFloat:
        """Covered share of all weight."""
        return ExactFloat(Fraction(self.covered, self.total))

    def __str__(self) -> str:
        precise = "undefined" if self.precision is None else self.precision
        covers = f"coverage {self.coverage} on {self.total} unseen samples"
        return f"precision {precise}, {covers}"
