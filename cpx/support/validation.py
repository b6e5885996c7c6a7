"""Numbers given by users, checked: an integer is an integer, a truth value is neither."""

from __future__ import annotations

import math

import numpy as np

from cpx.errors import InvalidOption, shown

__all__ = [
    "closed_unit",
    "integer",
    "open_unit",
    "positive_integer",
    "real",
    "seconds",
    "valid_seed",
]


def integer(value: object) -> int | None:
    """Return a Python or NumPy integer as int, and None for anything else.

    Examples
    --------
    >>> integer(3), integer(3.0), integer(True)
    (3, None, None)
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    return None


def real(value: object) -> float | None:
    """Return a Python or NumPy integer or float as float, and None for anything else.

    Examples
    --------
    >>> real(2), real("2"), real(10**400)
    (2.0, None, None)
    """
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def positive_integer(name: str, value: object) -> int:
    """Return ``value`` as an int of at least 1, or raise InvalidOption naming it."""
    number = integer(value)
    if number is None or number < 1:
        raise InvalidOption(f"{name} must be an integer of at least 1, got {shown(value)}")
    return number


def valid_seed(value: object) -> int:
    """Return ``value`` as an int from 0 to below 2**31, or raise InvalidOption."""
    number = integer(value)
    if number is None or not 0 <= number < 2**31:
        raise InvalidOption(f"seed must be an integer from 0 to below 2**31, got {shown(value)}")
    return number


def open_unit(name: str, value: object) -> float:
    """Return ``value`` as a float strictly between 0 and 1, or raise InvalidOption."""
    number = real(value)
    if number is None or not 0 < number < 1:
        raise InvalidOption(f"{name} must be a number between 0 and 1, got {shown(value)}")
    return number


def closed_unit(name: str, value: object) -> float:
    """Return ``value`` as a float from 0 to 1, both included, or raise InvalidOption."""
    number = real(value)
    if number is None or not 0 <= number <= 1:
        raise InvalidOption(f"{name} must be a number from 0 to 1, got {shown(value)}")
    return number


def seconds(time_limit: object) -> float | None:
    """Return a time limit as a finite float above 0, None for none, or raise InvalidOption."""
    if time_limit is None:
        return None
    limit = real(time_limit)
    if limit is None or not 0 < limit < math.inf:
        raise InvalidOption(f"time_limit must be seconds > 0, got {shown(time_limit)}")
    return limit
