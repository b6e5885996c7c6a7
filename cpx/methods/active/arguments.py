"""Numbers given by users, checked."""

from __future__ import annotations

import math

from cpx.errors import InvalidOption, shown
from cpx.support.validation import integer, real

__all__ = ["at_least_zero", "count"]


def at_least_zero(name: str, value: object, most: float = math.inf) -> float:
    """Return a finite number of at least 0 as float, or raise InvalidOption naming it."""
    number = real(value)
    if number is None or not 0 <= number <= most or number == math.inf:
        limit = "" if most == math.inf else f" and at most {most:g}"
        raise InvalidOption(
            f"{name} must be a finite number of at least 0{limit}, got {shown(value)}"
        )
    return number


def count(name: str, value: object) -> int:
    """Return an integer of at least 0 as int, or raise InvalidOption naming it."""
    number = integer(value)
    if number is None or number < 0:
        raise InvalidOption(f"{name} must be an integer of at least 0, got {shown(value)}")
    return number
