"""What is asked about one instance: the rule wanted, and how many samples judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from cpx.errors import InvalidOption, UnknownName, nearest, shown
from cpx.models import problem_class
from cpx.support.memory import require_rows_fit
from cpx.support.validation import integer, open_unit, positive_integer, share

if TYPE_CHECKING:
    from fractions import Fraction

    from cpx.data.samples import Samples
    from cpx.explainers.conditions import Conditions
    from cpx.models.monomial.problem import MonomialProblem

__all__ = ["OBJECTIVES", "Question", "size_to_compare"]

OBJECTIVES = {
    "precision": "max-precision",
    "coverage": "max-coverage",
    "loss": "k-monomial",
    "negative-only": "negative-only",
}
"""What the best rule is best in, and the kind of problem that asks for it."""

_SAMPLES = 1000
_LIMITS = ("min_coverage", "max_coverage", "min_precision")


@dataclass(frozen=True)
class Question:
    """The parameters of :func:`cpx.explain` that say which rule is wanted.

    Attributes
    ----------
    k : int
        Greatest number of conditions.
    objective : str
        A name of ``OBJECTIVES``.
    m : int or None
        Number of samples; 1000 when neither it nor epsilon and delta are given.
    epsilon, delta : float or None
        Instead of m: tolerance and failure probability of what is guaranteed.
    min_coverage, max_coverage, min_precision : Fraction, int, float, str or None
        Limits on the rule, as shares of the samples; None for those of the problem.
    required, forbidden : conditions
        In any form that :meth:`cpx.explainers.conditions.Conditions.features` reads.
    one_per_group : bool
        At most one condition of each column.
    name : str
        Name of the problem.

    Raises
    ------
    InvalidOption, InvalidInstance, UnknownName
        Naming what is wrong, as far as it can be told without data.

    Examples
    --------
    >>> Question.of({"k": 3, "epsilon": 0.1, "delta": 0.05}).draws(d=90)
    3577
    """

    k: int = 5
    objective: str = "precision"
    m: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    min_coverage: Fraction | float | str | None = None
    max_coverage: Fraction | float | str | None = None
    min_precision: Fraction | float | str | None = None
    required: object = ()
    forbidden: object = ()
    one_per_group: bool = False
    name: str = ""

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Self:
        """Build a question from named parameters; an unknown name is refused."""
        known = [field.name for field in fields(cls)]
        for name in asked:
            if name not in known:
                raise InvalidOption(f"there is no option {shown(name)}{nearest(name, known)}")
        return cls(**asked)

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise UnknownName("objective", self.objective, OBJECTIVES)
        if (self.epsilon is None) != (self.delta is None):
            missing = "epsilon" if self.epsilon is None else "delta"
            raise InvalidOption(f"epsilon and delta belong together: {missing} is missing")
        if self.epsilon is not None:
            if self.m is not None:
                raise InvalidOption(
                    f"m = {shown(self.m)} and epsilon = {shown(self.epsilon)} both say "
                    "how many samples "
                    "are drawn: give one of the two"
                )
            open_unit("epsilon", self.epsilon)
            open_unit("delta", self.delta)
        elif self.m is not None:
            positive_integer("m", self.m)
        for name in _LIMITS:
            if getattr(self, name) is not None:
                share(name, getattr(self, name))

    @property
    def figures(self) -> int:
        """How many figures of a rule a guarantee speaks about: a loss, or two shares."""
        return 2 if self.objective in ("precision", "coverage") else 1

    def draws(self, d: int) -> int:
        """Return how many samples are drawn, for d features.

        Raises
        ------
        InvalidOption
            When k is out of range.
        """
        k = integer(self.k)
        if k is None or not 0 <= k <= d:
            raise InvalidOption(
                f"k must be between 0 and the number of features {d}, got {shown(self.k)}"
            )
        if self.epsilon is None or self.delta is None:
            name, count = "m", _SAMPLES if self.m is None else int(self.m)
        else:
            from cpx.data import sample_size

            name = "epsilon"
            count = sample_size(k, d, self.epsilon, self.delta / self.figures)
        require_rows_fit(name, count, d)
        return count

    def problem(self, samples: Samples, conditions: Conditions) -> MonomialProblem:
        """State the problem on samples.

        Raises
        ------
        InvalidInstance, InvalidOption
            When k or a condition does not fit the samples.
        """
        limits = {name: getattr(self, name) for name in _LIMITS}
        make: Any = problem_class(OBJECTIVES[self.objective])
        problem: MonomialProblem = make(
            samples,
            k=self.k,
            required=conditions.features(self.required, "required"),
            forbidden=conditions.features(self.forbidden, "forbidden"),
            one_per_group=self.one_per_group,
            name=self.name,
            **{name: value for name, value in limits.items() if value is not None},
        )
        return problem


def size_to_compare(features: Sequence[int], k: int | None) -> int:
    """Return the size of the rules that a given one is compared with: k, or its own.

    Raises
    ------
    InvalidOption
        When the rule has more than k conditions.
    """
    if k is None:
        return max(1, len(features))
    if len(features) > k:
        raise InvalidOption(f"the rule has {len(features)} conditions, k is {k}")
    return k
