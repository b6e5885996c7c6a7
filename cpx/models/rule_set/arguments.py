"""Arguments of the selection of rules, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cpx.errors import InvalidInstance, shown
from cpx.models.arguments import feature_list, index

__all__ = ["class_weights", "count", "lengths", "rules"]


def count(name: str, value: object) -> int:
    """Return an integer of at least 0; anything else is refused by name.

    Examples
    --------
    >>> count("max_rules", 3)
    3
    """
    number = index(name, value)
    if number < 0:
        raise InvalidInstance(f"{name} must not be negative, got {shown(number)}")
    return number


def rules(given: Any, d: int) -> tuple[tuple[int, ...], ...]:
    """Return at least one rule, each with its literals, of d, increasing.

    Examples
    --------
    >>> rules([[1, 0], []], 2)
    ((0, 1), ())
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInstance(f"rules must be lists of literals, got {shown(given)}")
    found = tuple(feature_list(f"rules[{r}]", rule, d, "literal") for r, rule in enumerate(given))
    if not found:
        raise InvalidInstance("rules: there are no candidates")
    return found


def class_weights(given: Any) -> tuple[int, int]:
    """Return what an error weighs on another class, and on the class."""
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise InvalidInstance(f"class_weights must be two integers, got {shown(given)}")
    other, own = (index(f"class_weights[{c}]", value) for c, value in enumerate(given))
    if other < 0 or own < 0 or other + own == 0:
        raise InvalidInstance(
            f"class_weights must not be negative, and not both 0, got {other} and {own}"
        )
    return other, own


def lengths(given: Any, R: int) -> tuple[int, ...]:
    """Return the literals that each of R rules counts as."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInstance(f"lengths must be a list of integers, got {shown(given)}")
    found = tuple(count(f"lengths[{r}]", value) for r, value in enumerate(given))
    if len(found) != R:
        raise InvalidInstance(f"lengths must have {R} integers, got {len(found)}")
    if sum(found) >= 2**31:
        raise InvalidInstance(f"lengths must have a sum below 2**31, got {shown(sum(found))}")
    return found
