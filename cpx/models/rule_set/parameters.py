"""Parameters of problems about sets of rules, declared: candidates, losses, weights of classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal, get_args

from cpx.errors import InvalidInstance, shown
from cpx.models.parameters import Choice, Indices, Integer, Json, Kind, ListKind, parameter
from cpx.support.validation import feature_list, index

__all__ = ["CLASS_WEIGHTS", "LOSS", "PRICE", "Candidates", "ClassWeights", "Lengths", "Loss"]

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
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise InvalidInstance(f"{name} must be lists of literals, got {shown(value)}")
        d = problem.samples.d
        found = tuple(
            feature_list(f"{name}[{r}]", rule, d, "literal") for r, rule in enumerate(value)
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
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise InvalidInstance(f"{name} must be a list of integers, got {shown(value)}")
        found = tuple(
            int(Integer(0).check(f"{name}[{r}]", entry, problem) or 0)
            for r, entry in enumerate(value)
        )
        if len(found) != problem.n_features:
            raise InvalidInstance(
                f"{name} must have {problem.n_features} integers, got {len(found)}"
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
