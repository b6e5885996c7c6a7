"""Arguments of problems, checked: indices, lists of features, exact shares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from cpx.errors import InvalidInstance, shown

__all__ = ["Share", "feature_list", "index", "positive_fraction", "share", "weight_list"]

Share = Fraction | int | float | str
"""What stands for a share of the total weight; see :func:`share`."""

# No exponents: "1e-999999999" would be a number with as many digits.
_SHARE = re.compile(r"[0-9]+/[0-9]*[1-9][0-9]*|[0-9]+(\.[0-9]*)?|\.[0-9]+")

# Python reads no longer ones.
_MOST_DIGITS = 4300


def index(name: str, value: object) -> int:
    """Return an integer as int; anything else is refused by name."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidInstance(f"{name} must be an integer, got {shown(value)}")
    return int(value.__index__())


def feature_list(name: str, value: object, d: int, what: str = "feature") -> tuple[int, ...]:
    """Return indices of features, increasing; no index may be out of range or occur twice.

    Examples
    --------
    >>> feature_list("required", [2, 0], 3)
    (0, 2)
    """
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise InvalidInstance(f"{name} must be a list of {what} indices, got {shown(value)}")
    indices = [index(name, j) for j in value]
    for j in indices:
        if not 0 <= j < d:
            raise InvalidInstance(f"{name} has the {what} {j}, indices go from 0 to {d - 1}")
    if len(set(indices)) < len(indices):
        raise InvalidInstance(f"{name} names a {what} twice: {shown(indices)}")
    return tuple(sorted(indices))


def share(name: str, value: object) -> Fraction:
    """Return a share from 0 to 1 as the exact fraction it stands for.

    Parameters
    ----------
    name : str
        Named in messages.
    value : Fraction, int, float or str
        A float means the decimal number it is printed as; a string is a fraction or a
        decimal number.

    Raises
    ------
    InvalidInstance
        For anything that is no such number, or out of range.

    Examples
    --------
    >>> share("min_coverage", 0.05), share("min_coverage", "19/20"), share("min_coverage", "0.95")
    (Fraction(1, 20), Fraction(19, 20), Fraction(19, 20))
    """
    exact = None
    if isinstance(value, str):
        if len(value) <= _MOST_DIGITS and _SHARE.fullmatch(value):
            exact = Fraction(value)
    elif isinstance(value, float | np.floating):
        if np.isfinite(value):
            exact = Fraction(str(value))
    elif isinstance(value, Fraction):
        exact = value
    elif isinstance(value, int | np.integer) and not isinstance(value, bool):
        exact = Fraction(int(value))
    if exact is None or not 0 <= exact <= 1:
        raise InvalidInstance(
            f"{name} must be a share from 0 to 1, such as 0.05 or '1/20', got {shown(value)}"
        )
    return exact


def positive_fraction(name: str, value: Any) -> Fraction:
    """Return a positive fraction, given as such, as an integer or as a string.

    Examples
    --------
    >>> positive_fraction("unit", "1/1000")
    Fraction(1, 1000)
    """
    try:
        fraction = Fraction(value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        fraction = Fraction(0)
    if fraction <= 0 or isinstance(value, bool | float):
        raise InvalidInstance(f"{name} must be a positive fraction, got {shown(value)}")
    return fraction


def weight_list(name: str, value: object, n: int) -> tuple[int, ...]:
    """Return n positive integers whose sum stays below 2**31.

    Examples
    --------
    >>> weight_list("weights", [3, 1], 2)
    (3, 1)
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInstance(f"{name} must be a list of positive integers, got {shown(value)}")
    weights = tuple(index(f"{name}[{j}]", w) for j, w in enumerate(value))
    if len(weights) != n:
        raise InvalidInstance(f"{name} must have {n} integers, got {len(weights)}")
    for j, w in enumerate(weights):
        if w < 1:
            raise InvalidInstance(f"{name}[{j}] must be positive, got {shown(w)}")
    if sum(weights) >= 2**31:
        raise InvalidInstance(f"{name} must have a sum below 2**31, got {shown(sum(weights))}")
    return weights
