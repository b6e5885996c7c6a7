"""The arguments of explain: which rule is wanted, on which samples, by which engine.

The arguments of :func:`cpx.explain` are declared here: what they say of the rule as fields of
:class:`Question`, with their defaults, and all that are given by name with their types, for type
checkers and editors. What each means is said where users look, at :func:`cpx.explain`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict

from cpx.answers.explanation import Explanation
from cpx.answers.result import Result
from cpx.backends import Event
from cpx.backends import backend as find_backend
from cpx.data import Distribution
from cpx.errors import InvalidOption, UnknownName, nearest, shown
from cpx.models import KMonomial, MaxCoverage, MaxPrecision, NegativeOnly, Problem
from cpx.models.monomial.problem import MonomialProblem
from cpx.solving import solve
from cpx.support.memory import require_rows_fit
from cpx.support.validation import Share, integer, open_unit, positive_integer, share

if TYPE_CHECKING:
    from cpx.data.samples import Samples
    from cpx.explainers.conditions import Conditions

__all__ = [
    "BACKEND",
    "FRESH",
    "OBJECTIVES",
    "SOLVE_OPTIONS",
    "TIME_LIMIT",
    "EngineOptions",
    "ExplainOptions",
    "Question",
    "QuestionOptions",
    "RuleOptions",
    "size_to_compare",
    "solve_with",
]

OBJECTIVES: dict[str, type[MonomialProblem]] = {
    "precision": MaxPrecision,
    "coverage": MaxCoverage,
    "loss": KMonomial,
    "negative-only": NegativeOnly,
}
"""What the best rule is best in, and the problem that asks for it."""

BACKEND, TIME_LIMIT, FRESH = "search", 10.0, 1000
"""The engine, its seconds and the number of fresh samples, unless they are given."""

_SAMPLES = 1000
_LIMITS = ("min_coverage", "max_coverage", "min_precision")


class EngineOptions(TypedDict, total=False):
    """Who solves, and the options of :func:`cpx.solve`."""

    backend: str
    time_limit: float | None
    threads: int
    seed: int
    gap: float | None
    hint: Explanation | Sequence[int | str] | None
    encoding: str | None
    isolate: bool
    listen: Callable[[Event], None] | None


SOLVE_OPTIONS = tuple(name for name in EngineOptions.__annotations__ if name != "backend")
"""Those of an engine that :func:`cpx.solve` takes by name."""


class QuestionOptions(TypedDict, total=False):
    """The fields of :class:`Question` but k."""

    objective: Literal["precision", "coverage", "loss", "negative-only"]
    m: int | None
    epsilon: float | None
    delta: float | None
    min_coverage: Share | None
    max_coverage: Share | None
    min_precision: Share | None
    required: object
    forbidden: object
    one_per_group: bool
    name: str


class RuleOptions(EngineOptions, QuestionOptions, total=False):
    """What :meth:`cpx.Explainer.explain` takes by name."""

    fresh: int


class ExplainOptions(RuleOptions, total=False):
    """What :func:`cpx.explain` takes by name for a rule: that of :class:`cpx.Explainer` too."""

    n_bins: int
    strategy: Literal["quantile", "uniform"]
    distribution: str | Distribution
    categorical: Sequence[Any] | None
    class_names: Sequence[str] | Mapping[Any, str] | None


@dataclass(frozen=True)
class Question:
    """Which rule is wanted; the parameters are explained at :func:`cpx.explain`.

    Conditions that are required or forbidden are in any form that
    :meth:`cpx.explainers.conditions.Conditions.features` reads. The name is that of the problem.

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
    min_coverage: Share | None = None
    max_coverage: Share | None = None
    min_precision: Share | None = None
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
        return OBJECTIVES[self.objective](
            samples,
            k=self.k,
            required=conditions.features(self.required, "required"),
            forbidden=conditions.features(self.forbidden, "forbidden"),
            one_per_group=self.one_per_group,
            name=self.name,
            **{name: value for name, value in limits.items() if value is not None},
        )


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


def solve_with(problem: Problem, backend: str, seed: int, options: Mapping[str, Any]) -> Result:
    """Solve with an engine that is there and loaded before the time starts.

    Parameters
    ----------
    problem : Problem
    backend : str
    seed : int
        For an engine that takes one, unless the options have it.
    options : mapping
        Options of :func:`cpx.solve`.
    """
    engine = find_backend(backend)
    engine.require()
    if not options.get("isolate"):
        # Loading an engine, or compiling it at its first use, is no part of the limit.
        engine.preload()
    own = {"seed": seed} if "seed" in engine.supported_options else {}
    return solve(problem, backend, **{**own, **options})
