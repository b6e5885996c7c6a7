"""The check of side constraints, from the linear form that an instance saves of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cpx.check.shape import shown

__all__ = ["KEEPS", "broken_by", "kept_words"]

KEEPS = "keeps the side constraints"


def broken_by(instance: Mapping[str, Any]) -> Callable[[Iterable[int]], list[str]]:
    """Return what says of a set which side constraints of an instance it breaks.

    One of which only the text is known, as in a file written by hand that was not saved again,
    is not taken to hold.

    Examples
    --------
    >>> either = {"terms": [[1, [0]], [1, [1, 2]]], "at_least": 1}
    >>> broken = broken_by({"where": [{"text": "a or b", "means": [either]}]})
    >>> broken([2]), broken([3])
    ([], ["where: 'a or b' does not hold"])
    """
    constraints = instance.get("where") or []

    def broken(chosen: Iterable[int]) -> list[str]:
        there = set(chosen)
        return [
            f"where: {shown(constraint['text'])} does not hold"
            for constraint in constraints
            if "means" not in constraint
            or not all(_holds(linear, there) for linear in constraint["means"])
        ]

    return broken


def kept_words(instance: Mapping[str, Any]) -> list[str]:
    """Return what is said of the answers that compete: nothing without side constraints."""
    return [KEEPS] if instance.get("where") else []


def _holds(linear: Mapping[str, Any], there: set[int]) -> bool:
    total = 0
    for factor, any_of in linear["terms"]:
        if not there.isdisjoint(any_of):
            total += factor
    return bool(total >= linear["at_least"])
