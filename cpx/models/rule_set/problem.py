"""The base class of problems about sets of rules: parameters, value of a set, its figures."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cpx.answers.evaluation import SampleEvaluation
from cpx.answers.explanation import Explanation
from cpx.answers.rule import Literal as Condition
from cpx.answers.rule import RuleFigures, RuleSet
from cpx.data.samples import Samples
from cpx.data.weights import MAX_TOTAL_WEIGHT
from cpx.errors import InvalidInstance, shown
from cpx.modelling.encodings import stated_in
from cpx.modelling.parameters import Choice, Indices, Integer, Json, Kind, ListKind, parameter
from cpx.modelling.side_constraints.statement import constrained
from cpx.modelling.statement import Encoding, Statement
from cpx.models.rule_set.encodings import channelling, signature
from cpx.models.rule_set.encodings_near_bound import bounded, narrowed
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.near_bound import bound_cost, has_bound
from cpx.models.rule_set.text import RuleSetText
from cpx.support.validation import Share, entries, feature_list, index

Loss = Literal["zero-one", "hamming"]


class ClassWeights(ListKind):
    """Two integers of at least 0, one of them positive; or None."""

    range: ClassVar[str] = "two integers of at least 0"
    schema: ClassVar[Json] = {
        "type": "array",
        "items": {"type": "integer", "minimum": 0},
        "minItems": 2,
        "maxItems": 2,
    }

    def check(self, name: str, value: Any, problem: Any) -> tuple[int, int] | None:
        """Return what an error weighs on another class, and on the class."""
        if value is None:
            return None
        if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
            raise InvalidInstance(f"{name} must be two integers, got {shown(value)}")
        other, own = (index(f"{name}[{c}]", weight) for c, weight in enumerate(value))
        if other < 0 or own < 0 or other + own == 0:
            raise InvalidInstance(
                f"{name} must not be negative, and not both 0, got {other} and {own}"
            )
        return other, own


class Candidates(Kind):
    """At least one rule, each with its literals, increasing."""

    range: ClassVar[str] = "lists of literals"
    schema: ClassVar[Json] = {"type": "array", "minItems": 1, "items": Indices.schema}

    def check(self, name: str, value: Any, problem: Any) -> tuple[tuple[int, ...], ...]:
        """Return the rules."""
        rules, d = entries(name, value, "lists of literals"), problem.samples.d
        found = tuple(
            feature_list(f"{name}[{r}]", rule, d, "literal") for r, rule in enumerate(rules)
        )
        if not found:
            raise InvalidInstance(f"{name}: there are no candidates")
        return found

    def saved(self, value: tuple[tuple[int, ...], ...]) -> list[list[int]]:
        """Return lists."""
        return [list(rule) for rule in value]


class Lengths(ListKind):
    """An integer of at least 0 for each rule, or None."""

    range: ClassVar[str] = "an integer of at least 0 per rule"
    schema: ClassVar[Json] = {"type": "array", "items": {"type": "integer", "minimum": 0}}

    def check(self, name: str, value: Any, problem: Any) -> tuple[int, ...] | None:
        """Return the integers."""
        if value is None:
            return None
        given = entries(name, value, "integers", problem.n_features)
        found = tuple(
            int(Integer(0).check(f"{name}[{r}]", entry, problem) or 0)
            for r, entry in enumerate(given)
        )
        if sum(found) >= 2**31:
            raise InvalidInstance(f"{name} must have a sum below 2**31, got {shown(sum(found))}")
        return found


# Parameters of all these problems.
PRICE = "price of a rule as a share of all weight, exact"
LOSS = parameter(
    Choice(get_args(Loss), unsaved="zero-one"),
    "whether an error counts once, or once for each rule that makes it; absent: zero-one",
)
CLASS_WEIGHTS = parameter(
    ClassWeights(), "weight of an error on another class, and on the class; absent: 1, 1"
)


Bools = NDArray[np.bool_]

_LARGEST = 2**62


ENCODINGS: tuple[Encoding[RuleSelection], ...] = (
    Encoding("signature", signature, every_solution=False),
    Encoding("channelling", channelling),
    Encoding(
        "narrowed",
        narrowed,
        applies=has_bound,
        cost=bound_cost,
        every_solution=False,
        searches=True,
    ),
    Encoding(
        "bounded",
        bounded,
        applies=has_bound,
        cost=bound_cost,
        every_solution=False,
        searches=True,
    ),
)
"""Encodings of every problem about sets of rules."""


class RuleSetProblem(RuleSetText):
    """Find a set of numbered rules S that minimises ``error(S) + penalty * M * |S|``.

    M is the weight of all samples. A subclass is a frozen dataclass with these fields and says
    which rules there are. The value is an integer, in units of 1 / :attr:`scale`.

    Attributes
    ----------
    samples : Samples
    penalty : Fraction
        Price of a rule as a share of M.
    loss : {"zero-one", "hamming"}
        Whether a sample of another class costs once, or once for each rule that covers it.
    class_weights : pair of int, or None
        What an error on a sample of another class, and on one of the class, weighs.
    name : str
    """

    samples: Samples
    penalty: Share
    loss: Loss
    class_weights: tuple[int, int] | None
    name: str

    encodings = ENCODINGS
    required: tuple[int, ...] = ()
    """Rules that every solution has."""

    def _validate(self) -> None:
        """Refuse weights of classes that cannot be added up exactly."""
        if self.class_weights is not None:
            self._refuse_heavy()

    def _refuse_heavy(self) -> None:
        assert self.class_weights is not None
        other, own = self.class_weights
        of_class = self.samples.agreeing
        total = own * of_class + other * (self.samples.total - of_class)
        if total > MAX_TOTAL_WEIGHT:
            raise InvalidInstance(
                f"class_weights {self.class_weights} make the weight of all samples {total}, "
                f"at most 2**40 = {MAX_TOTAL_WEIGHT} is added up exactly"
            )

    def _refuse_large(self, most_rules: int) -> None:
        # The Hamming loss may count every sample once for each rule.
        if (self.scale * self.total + self.price) * (most_rules + 1) >= _LARGEST:
            raise InvalidInstance(
                f"penalty {self.penalty} of a weight of {self.total} is no multiple of a number "
                "that fits 64 bits: give it fewer digits"
            )

    # ---------------------------------------------------------------- rules

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of rules that a set is chosen from."""

    @abstractmethod
    def cover(self, rule: int) -> Bools:
        """Return which samples a rule covers, shape (m,)."""

    @abstractmethod
    def length(self, rule: int) -> int:
        """Return the number of literals that a rule counts as."""

    @abstractmethod
    def literals(self, rule: int) -> tuple[int, ...]:
        """Return the literals of a rule, increasing."""

    @property
    @abstractmethod
    def selection_form(self) -> RuleSelection:
        """The selection of rules as plain arrays; refused where there is no statement."""

    @abstractmethod
    def allows(self, chosen: Iterable[int]) -> bool:
        """Say whether a set keeps the constraints."""

    @abstractmethod
    def with_loss(self, loss: Loss) -> RuleSetProblem:
        """Return the same problem with another loss."""

    def in_words(self, literals: Iterable[int]) -> str:
        """Return a conjunction of literals in words."""
        return " and ".join(self.samples.features[j] for j in literals) or "(always)"

    # ---------------------------------------------------------- the problem

    @cached_property
    def error_weights(self) -> NDArray[np.int64]:
        """What an error on each sample weighs, shape (m,)."""
        if self.class_weights is None:
            return self.samples.weights
        other, own = self.class_weights
        return self.samples.weights * np.where(self.samples.same, own, other)

    @cached_property
    def total(self) -> int:
        """Weight M of all samples, with those of their classes."""
        return int(self.error_weights.sum())

    @property
    def scale(self) -> int:
        """The objective is counted in units of 1 / ``scale`` of the samples' weight."""
        return (Fraction(self.penalty) * self.total).denominator

    @property
    def price(self) -> int:
        """What a rule costs, in the units of the objective."""
        return (Fraction(self.penalty) * self.total).numerator

    def form(self) -> RuleSelection | None:
        """Return the problem as plain arrays, None where there are too many rules."""
        return None if self._unstated else self.selection_form

    def model(self, encoding: str | None = None) -> Statement:
        """State the problem in the named encoding (default: ``signature``)."""
        statement: Statement = stated_in(self, encoding).build(self.selection_form)
        return constrained(statement, self.side_constraints)

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the set of these rules, each with its figures on the samples.

        Raises
        ------
        InvalidInstance
            For what is no number of a rule.
        """
        chosen = feature_list("features", set(features), self.n_features, "rule")
        covers = self._covers(chosen)
        # Only its precision and coverage are asked for.
        covered = np.asarray(covers.any(axis=0))
        found = SampleEvaluation.of(self.samples, covered, objective=0)
        rules = RuleSet(
            tuple(
                Condition(r, tuple(self.samples.features[j] for j in self.literals(r)))
                for r in chosen
            ),
            str(self.samples.context.get("class", "")),
            figures=self._figures(chosen, covers),
            total=self.samples.total,
        )
        return Explanation(rules, precision=found.precision, coverage=found.coverage)

    def _covers(self, chosen: tuple[int, ...]) -> Bools:
        return np.array([self.cover(r) for r in chosen]).reshape(len(chosen), self.samples.m)

    def _figures(self, chosen: tuple[int, ...], covers: Bools) -> tuple[RuleFigures, ...]:
        weights, same = self.samples.weights, self.samples.same
        alone = covers.sum(axis=0) == 1
        signed = np.where(same, self.error_weights, -self.error_weights)
        return tuple(
            RuleFigures(
                self.length(r),
                int(weights[own].sum()),
                int(weights[own & same].sum()),
                int(signed[own & alone].sum()),
            )
            for r, own in zip(chosen, covers, strict=True)
        )

    def evaluate(self, explanation: Explanation) -> SampleEvaluation:
        """Return the exact figures of a set; see :class:`SampleEvaluation`."""
        return self._measure(explanation.features, self._covers(explanation.features))

    def _measure(self, chosen: tuple[int, ...], covers: Bools) -> SampleEvaluation:
        value = self.scale * self._error(covers) + self.price * len(chosen)
        covered = np.asarray(covers.any(axis=0))
        return SampleEvaluation.of(self.samples, covered, value, feasible=self.allows(chosen))

    def _error(self, covers: Bools) -> int:
        times, same = covers.sum(axis=0, dtype=np.int64), self.samples.same
        often = times if self.loss == "hamming" else np.minimum(times, 1)
        counted = np.where(same, times == 0, often)
        return int((self.error_weights * counted).sum())

    def error(self, chosen: Iterable[int]) -> int:
        """Return the weight of the errors of a set, by the loss."""
        return self._error(self._covers(tuple(chosen)))

    def cost(self, chosen: Iterable[int]) -> int:
        """Return the objective of a set, allowed or not."""
        rules = tuple(chosen)
        return self.scale * self.error(rules) + self.price * len(rules)

    def _trivial_bound(self) -> int:
        """Return the cost of no error and no rule."""
        return 0

    def _shortened(self, explanation: Explanation) -> Explanation:
        """Drop rules, the last first, whose removal leaves the objective as it is."""
        kept = explanation.features
        value = self.cost(kept)
        for rule in reversed(kept):
            rest = tuple(r for r in kept if r != rule)
            if self.allows(rest) and self.cost(rest) == value:
                kept = rest
        return explanation if kept == explanation.features else self.explanation(kept)
