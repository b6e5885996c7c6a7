"""Keyword arguments of ``explain`` as typed dictionaries, for type checkers and editors.

What each means is said where users look, at :func:`cpx.explain`; which rule they ask for is a
:class:`~cpx.explainers.question.Question`. They are written here besides the fields of that class
and the parameters of :class:`cpx.Explainer`, since no type checker derives one from the other; a
test holds them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from cpx.answers.explanation import Explanation
from cpx.backends import Event
from cpx.compiled.library import has_kernels
from cpx.data import Distribution
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.explainers.class_names import ClassNames
from cpx.models.sufficient_reason.features import Level
from cpx.models.sufficient_reason.form import Definition
from cpx.support.validation import Share
from cpx.trees.form import Missing

Objective = Literal["precision", "coverage", "loss", "negative-only"]

BACKEND = "search" if has_kernels() else "cpsat"
TIME_LIMIT, FRESH = 10.0, 1000
"""The engine, its seconds and the number of fresh samples, unless they are given."""


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

    objective: Objective
    m: int | None
    epsilon: float | None
    delta: float | None
    max_queries: int | None
    min_coverage: Share | None
    max_coverage: Share | None
    min_precision: Share | None
    required: object
    forbidden: object
    where: str | Sequence[str]
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
    class_names: ClassNames


class ReaderOptions(TypedDict, total=False):
    """What :func:`cpx.read_model` takes by name; each reader has some of them."""

    trusted: bool | Iterable[str]
    rounds: int | str | None
    classes: int | Sequence[Any] | None
    rule: Literal["average", "vote", "sum"] | None
    output: int | None
    attributes: Any
    objective: str | None
    base: Sequence[float] | None
    num_parallel_tree: int


READER_OPTIONS = tuple(ReaderOptions.__annotations__)


class ReasonOptions(EngineOptions, ReaderOptions, total=False):
    """What :func:`cpx.explain` takes by name for a sufficient reason."""

    level: Level
    definition: Definition
    weights: Sequence[int] | Mapping[Any, int] | None
    required: object
    forbidden: object
    where: str | Sequence[str]
    class_names: ClassNames
    label: Any
    missing: Missing
    background: Any


class ExpectationOptions(EngineOptions, total=False):
    """What :meth:`cpx.ProbabilisticExplainer.explain` takes by name."""

    threshold: Share | None
    measure: Literal["expectation", "probability-bound", "sampled-probability"] | None
    samples: int
    least: int
    prediction: str | None
    required: object
    forbidden: object
    where: str | Sequence[str]
    unit: Share | None
    label: Any
    name: str
    fresh: int


class ProbabilisticOptions(ExpectationOptions, ReaderOptions, total=False):
    """What :func:`cpx.explain` takes by name for a probabilistic explanation."""

    distribution: str | TreeMixture
    components: int | None
    groups: Mapping[str, Sequence[int | str]] | None
    max_states: int
    smoothing: float
    missing: Missing
    class_names: ClassNames
