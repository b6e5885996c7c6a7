"""Arguments of the functions that explain a row, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cpx.errors import InvalidInstance, shown
from cpx.support.validation import integer

__all__ = ["attribute_set", "weight_map"]


def attribute_set(name: str, values: Iterable[int], d: int) -> frozenset[int]:
    """Return indices of attributes as a set, or raise InvalidInstance naming the argument.

    Examples
    --------
    >>> sorted(attribute_set("must_keep", [2, 0], 3))
    [0, 2]
    """
    found = set()
    for value in values:
        a = integer(value)
        if a is None or not 0 <= a < d:
            raise InvalidInstance(
                f"{name} must have attributes from 0 to {d - 1}, got {shown(value)}"
            )
        found.add(a)
    return frozenset(found)


def weight_map(weights: Mapping[int, int] | Iterable[int] | None, d: int) -> dict[int, int]:
    """Return the weight of each attribute, 1 where none is given.

    Examples
    --------
    >>> weight_map({1: 5}, 3), weight_map([2, 1], 2)
    ({0: 1, 1: 5, 2: 1}, {0: 2, 1: 1})
    """
    result = dict.fromkeys(range(d), 1)
    if weights is None:
        return result
    if isinstance(weights, Mapping):
        attribute_set("weights", weights, d)
        given: dict[int, Any] = {int(a): weight for a, weight in weights.items()}
    else:
        given = dict(enumerate(weights))
        if len(given) != d:
            raise InvalidInstance(f"weights must have {d} numbers, got {len(given)}")
    for a, value in given.items():
        weight = integer(value)
        if weight is None or weight < 1:
            raise InvalidInstance(f"weights must be positive integers, got {shown(value)} for {a}")
        result[a] = weight
    return result
