"""Arguments of rules of kernel machines, checked: weights of either sign, the unit, names."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from cpx.errors import InvalidInstance, shown
from cpx.models.arguments import index

__all__ = ["feature_names", "positive_fraction", "signed_weights"]

_MOST = 2**53


def signed_weights(value: object, m: int) -> tuple[int, ...]:
    """Return m integers whose absolute values add up to less than 2**53.

    Examples
    --------
    >>> signed_weights([3, -1], 2)
    (3, -1)
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInstance(f"weights must be a list of integers, got {shown(value)}")
    weights = tuple(index(f"weights[{i}]", w) for i, w in enumerate(value))
    if len(weights) != m:
        raise InvalidInstance(f"weights must have {m} integers, got {len(weights)}")
    if sum(map(abs, weights)) >= _MOST:
        raise InvalidInstance("weights must have absolute values that add up to less than 2**53")
    return weights


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


def feature_names(value: object, d: int) -> tuple[str, ...]:
    """Return d strings; ``x0``, ``x1``, ... for none.

    Examples
    --------
    >>> feature_names((), 2)
    ('x0', 'x1')
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInstance(f"features must be a list of strings, got {shown(value)}")
    names = tuple(value) or tuple(f"x{j}" for j in range(d))
    if len(names) != d or not all(isinstance(name, str) for name in names):
        raise InvalidInstance(f"features must be {d} strings, got {shown(names)}")
    return names
