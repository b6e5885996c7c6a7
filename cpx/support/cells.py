"""Single cells of tables, whatever library they come from: missing ones, and exact numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from cpx.errors import DataError, shown
from cpx.support.validation import integer

EXACT = 2**53  # the least integer whose successor is no float

# Of pandas, which need not be loaded to tell, and of masked arrays.
_MISSING = ("NAType", "NaTType", "MaskedConstant")


def is_missing(value: Any) -> bool:
    """Whether a cell has no value: None, NaN, or pandas' NA or NaT.

    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing([1.0])
    (True, True, False, False)
    """
    if value is None or type(value).__name__ in _MISSING:
        return True
    return getattr(value, "shape", ()) == () and bool(value != value)


def key_of(value: Any) -> Any:
    """Return what equals that of another cell only where both are the same; that of a list never.

    >>> key_of(1) == key_of(1), key_of(1) == key_of(True), key_of([1]) == key_of([1])
    (True, False, False)
    """
    if value is not None and is_missing(value):
        return "missing"
    try:
        hash(value)
    except TypeError:
        return object()
    return type(value), value


def plain(value: Any) -> Any:
    """Return a scalar of PyArrow, or a decimal number, as Python has it.

    A decimal number is the nearest float, as the same digits are in a file; an integer stays one.

    >>> plain(Decimal("0.1")), plain(Decimal(10**20)), plain("a")
    (0.1, 100000000000000000000, 'a')
    """
    if hasattr(value, "as_py"):
        value = value.as_py()
    if isinstance(value, Decimal) and value.is_finite():
        whole = value == value.to_integral_value()
        return int(value) if whole else float(value)
    return float(value) if isinstance(value, Decimal) else value


def as_float(what: str, value: Any) -> float:
    """Return a number as a float, unless it is an integer that no float holds.

    Raises
    ------
    DataError
        Naming what has the integer.

    Examples
    --------
    >>> as_float("column 'id'", 2**53)
    9007199254740992.0
    >>> as_float("column 'id'", 2**53 + 1)
    Traceback (most recent call last):
    cpx.errors.DataError: column 'id' has the integer 9007199254740993, which no float holds, so \
it cannot be compared exactly: leave the column out, subtract a constant, or make it categorical
    """
    number = integer(value)
    if number is None or -EXACT <= number <= EXACT:
        return float(value)
    try:
        near = float(number)
    except OverflowError:
        raise DataError(f"{what} has a number too large for a float") from None
    if near != number:
        raise DataError(
            f"{what} has the integer {shown(number)}, which no float holds, so it cannot be "
            "compared exactly: leave the column out, subtract a constant, or make it categorical"
        )
    return near
