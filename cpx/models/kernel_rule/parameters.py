"""Parameters of the rules of kernel machines, declared: support vectors, weights, the unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.data.bits import bit_array, matrix_of, strings_of
from cpx.errors import InvalidInstance, shown
from cpx.models.parameters import Json, Kind, ListKind
from cpx.models.saved import BITS
from cpx.support.validation import index, positive_fraction

__all__ = ["Names", "SignedWeights", "Table", "Unit"]

_MOST_WEIGHT = 2**53


class Table(Kind):
    """A table of bits with at least one row."""

    schema: ClassVar[Json] = {"type": "array", "minItems": 1, "items": BITS}

    def check(self, name: str, value: Any, problem: Any) -> NDArray[np.bool_]:
        """Return the table."""
        return bit_array(name, value, 2, error=InvalidInstance)

    def saved(self, value: NDArray[np.bool_]) -> list[str]:
        """Return a string for each row."""
        return strings_of(value)

    def read(self, key: str, holder: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Return the table of a file."""
        return matrix_of(holder[key])


class SignedWeights(ListKind):
    """An integer of either sign for each sample."""

    schema: ClassVar[Json] = {"type": "array", "items": {"type": "integer"}}

    def check(self, name: str, value: Any, problem: Any) -> tuple[int, ...]:
        """Return the integers."""
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise InvalidInstance(f"{name} must be a list of integers, got {shown(value)}")
        weights, m = (
            tuple(index(f"{name}[{i}]", w) for i, w in enumerate(value)),
            len(problem.samples),
        )
        if len(weights) != m:
            raise InvalidInstance(f"{name} must have {m} integers, got {len(weights)}")
        if sum(map(abs, weights)) >= _MOST_WEIGHT:
            raise InvalidInstance(
                f"{name} must have absolute values that add up to less than 2**53"
            )
        return weights


class Unit(Kind):
    """A positive fraction."""

    range: ClassVar[str] = "a positive fraction"
    schema: ClassVar[Json] = {"type": "string", "pattern": "^[0-9]+(/[0-9]+)?$"}

    def check(self, name: str, value: Any, problem: Any) -> Fraction:
        """Return the fraction."""
        return positive_fraction(name, value)

    def saved(self, value: Fraction) -> str:
        """Return the fraction as text."""
        return str(value)


class Names(ListKind):
    """What each feature means; ``x0``, ``x1``, ... for none."""

    schema: ClassVar[Json] = {"type": "array", "items": {"type": "string"}}

    def check(self, name: str, value: Any, problem: Any) -> tuple[str, ...]:
        """Return the names."""
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise InvalidInstance(f"{name} must be a list of strings, got {shown(value)}")
        names = tuple(value) or tuple(f"x{j}" for j in range(problem.d))
        if len(names) != problem.d or not all(isinstance(text, str) for text in names):
            raise InvalidInstance(f"{name} must be {problem.d} strings, got {shown(names)}")
        return names
