"""Which rule is wanted: the question, and the problem that it is on samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from cpx.data.bits import require_rows_fit
from cpx.errors import InvalidOption, UnknownName, shown
from cpx.explainers.options import FORBIDDEN, FRESH, NAME, REQUIRED, WHERE, Option, built
from cpx.modelling.side_constraints.parameter import texts_of
from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
from cpx.models.monomial.problem import MonomialProblem
from cpx.models.monomial.weighted import KMonomial, NegativeOnly
from cpx.support.validation import Share, integer, open_unit, positive_integer, share

if TYPE_CHECKING:
    from cpx.data.samples import Samples
    from cpx.models.monomial.explainers.conditions import Conditions

Objective = Literal["precision", "coverage", "loss", "negative-only"]
OBJECTIVE_NAMES: tuple[str, ...] = get_args(Objective)

OBJECTIVES: dict[str, type[MonomialProblem]] = {
    "precision": MaxPrecision,
    "coverage": MaxCoverage,
    "loss": KMonomial,
    "negative-only": NegativeOnly,
}
"""What the best rule is best in, and the problem that asks for it."""

_MOST = 5
_SAMPLES = 1000
_LIMITS = ("min_coverage", "max_coverage", "min_precision")


@dataclass(frozen=True)
class Question:
    """Which rule is wanted; the parameters are explained at :func:`cpx.explain`.

    Conditions that are required or forbidden are in any form that
    :meth:`.conditions.Conditions.features` reads. The name is that of the problem.

    Raises InvalidOption, InvalidInstance, UnknownName: Naming what is wrong, as far as it can be
        told without data.

    >>> Question.of({"k": 3, "epsilon": 0.1, "delta": 0.05}).draws(d=90)
    3577
    """

    k: Annotated[
        int | None, Option("Most conditions: 5, or all where these are fewer.", "N", int)
    ] = None
    objective: Annotated[
        Objective,
        Option(
            "What is optimised: precision, coverage, loss (all errors), or negative-only (errors "
            "of covered samples).",
            "NAME",
            choices=OBJECTIVE_NAMES,
        ),
    ] = "precision"
    m: Annotated[
        int | None,
        Option(
            "Samples the rule is found on: all rows where the distribution is empirical, else "
            "1000.",
            "N",
            int,
        ),
    ] = None
    epsilon: Annotated[
        float | None,
        Option(
            "In place of m: draw samples in rounds until no rule can be so much more precise; for "
            "other objectives, as many as it takes to know the loss so well.",
            "E",
            float,
        ),
    ] = None
    delta: Annotated[
        float | None,
        Option("With epsilon: the guarantee holds with probability 1 - delta.", "D", float),
    ] = None
    max_queries: Annotated[
        int | None, Option("With epsilon: rows the model may be asked about.", "N", int)
    ] = None
    min_coverage: Annotated[
        Share | None,
        Option("Least share of the samples covered: 0.05 for the objective precision.", "SHARE"),
    ] = None
    max_coverage: Annotated[
        Share | None, Option("Greatest share of the samples covered.", "SHARE")
    ] = None
    min_precision: Annotated[
        Share | None,
        Option("Least precision on the samples: 0.95 for the objective coverage.", "SHARE"),
    ] = None
    required: Annotated[object, REQUIRED] = ()
    forbidden: Annotated[object, FORBIDDEN] = ()
    where: Annotated[str | Sequence[str], WHERE] = ()
    one_per_group: Annotated[bool, Option("At most one condition of a column.", kind=bool)] = False
    fresh: Annotated[int, Option("Fresh samples that the answer is measured on.", "N", int)] = (
        FRESH
    )
    name: Annotated[str, NAME] = ""

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Self:
        """Build a question from named parameters; an unknown name is refused."""
        question: Self = built(cls, asked)
        return question

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise UnknownName("objective", self.objective, OBJECTIVES)
        if (self.epsilon is None) != (self.delta is None):
            missing = "epsilon" if self.epsilon is None else "delta"
            raise InvalidOption(f"epsilon and delta belong together: {missing} is missing")
        if self.epsilon is not None:
            if self.m is not None:
                raise InvalidOption(
                    f"m = {shown(self.m)} and epsilon = {shown(self.epsilon)} both say how many "
                    "samples are drawn: give one of the two"
                )
            open_unit("epsilon", self.epsilon)
            open_unit("delta", self.delta)
        elif self.m is not None:
            positive_integer("m", self.m)
        if self.max_queries is not None:
            positive_integer("max_queries", self.max_queries)
            if not self.adaptive:
                raise InvalidOption(
                    "max_queries is for epsilon and delta with the objective 'precision', which "
                    "draw samples until they are enough"
                )
        positive_integer("fresh", self.fresh)
        for name in _LIMITS:
            if getattr(self, name) is not None:
                share(name, getattr(self, name))

    @property
    def adaptive(self) -> bool:
        """Whether samples can be drawn in rounds, until the precision is known up to epsilon."""
        return self.objective == "precision" and self.epsilon is not None

    def without_sampling(self) -> Self:
        """Return the same question, of all rows there are."""
        return replace(self, m=None, epsilon=None, delta=None, max_queries=None)

    @property
    def figures(self) -> int:
        """How many figures of a rule a guarantee speaks about: a loss, or two shares."""
        return 2 if self.objective in ("precision", "coverage") else 1

    def size(self, d: int) -> int:
        """Return k, which is 5 unless it is given, or all of d features where these are fewer.

        Raises InvalidOption: When it is out of range.
        """
        k = min(_MOST, d) if self.k is None else integer(self.k)
        if k is None or not 0 <= k <= d:
            raise InvalidOption(
                f"k must be between 0 and the number of features {d}, got {shown(self.k)}"
            )
        return k

    def draws(self, d: int, rows: int | None = None) -> int | None:
        """Return how many samples are drawn, for d features.

        rows: How many rows the distribution has, where they are known. They are all used, and
            nothing is drawn, unless fewer samples are asked for.
        Returns: None when all rows are used.
        Raises InvalidOption: When k is out of range.
        """
        k = self.size(d)
        if self.epsilon is None or self.delta is None:
            if rows is not None and self.m is None:
                return None
            name, count = "m", _SAMPLES if self.m is None else int(self.m)
        else:
            from cpx.data import sample_size

            name = "epsilon"
            count = sample_size(k, d, self.epsilon, self.delta / self.figures)
            if rows is not None and count >= rows:
                return None
        require_rows_fit(name, count, d)
        return count

    def problem(self, samples: Samples, conditions: Callable[[], Conditions]) -> MonomialProblem:
        """State the problem on samples.

        conditions: Returns what is true of x; called where the question names conditions.
        Raises InvalidInstance, InvalidOption: When k or a condition does not fit the samples.
        """
        chosen: dict[str, Any] = {
            name: conditions().features(given, name)
            for name in ("required", "forbidden")
            if not _is_unset(given := getattr(self, name))
        }
        limits = {name: getattr(self, name) for name in _LIMITS}
        stated = OBJECTIVES[self.objective](
            samples,
            k=self.size(samples.d),
            one_per_group=self.one_per_group,
            name=self.name,
            **chosen,
            **{name: value for name, value in limits.items() if value is not None},
        )
        if _is_unset(self.where):
            return stated
        return stated.where(*texts_of(self.where), untrue=conditions().untrue())


def _is_unset(given: object) -> bool:
    return isinstance(given, tuple) and not given


def size_to_compare(features: Sequence[int], k: int | None) -> int:
    """Return the size of the rules that a given one is compared with: k, or its own.

    Raises InvalidOption: When the rule has more than k conditions.
    """
    if k is None:
        return max(1, len(features))
    if len(features) > k:
        raise InvalidOption(f"the rule has {len(features)} conditions, k is {k}")
    return k
