"""Validation of arguments: numbers, seeds, shares, choices, indices, weights.

A message names the argument, says what it must be and shows at most 200 characters of what was
given. A wrong option is an InvalidOption and a wrong part of a problem an InvalidInstance; the
functions that serve both take the class as ``error``.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Collection, Iterable, Mapping, Set
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

from cpx.errors import CpxError, InvalidInstance, InvalidOption, nearest, shown

__all__ = [
    "Share",
    "choice",
    "closed_unit",
    "count",
    "entries",
    "feature_list",
    "finite_number",
    "group_list",
    "index",
    "index_set",
    "integer",
    "integer_in",
    "name_list",
    "open_unit",
    "positive_fraction",
    "positive_integer",
    "real",
    "seconds",
    "share",
    "text",
    "valid_seed",
    "weight_list",
    "weight_map",
]

Error = type[CpxError]

Share = Fraction | int | float | str
"""What stands for a share of the total weight; see :func:`share`."""

# No exponents: "1e-999999999" would be a number with as many digits.
_SHARE = re.compile(r"[0-9]+/[0-9]*[1-9][0-9]*|[0-9]+(\.[0-9]*)?|\.[0-9]+")

# Python reads no longer ones.
_MOST_DIGITS = 4300

_WORD = 2**31


# ------------------------------------------------------------------- numbers


def integer(value: object) -> int | None:
    """Return a Python or NumPy integer as int, and None for anything else.

    >>> integer(3), integer(3.0), integer(True)
    (3, None, None)
    """
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def real(value: object) -> float | None:
    """Return a Python or NumPy integer or float as float, and None for anything else.

    A fraction is refused: it would be rounded in silence.

    >>> real(2), real("2"), real(10**400)
    (2.0, None, None)
    """
    if isinstance(value, bool | Fraction) or not isinstance(value, Real):
        return None
    if type(value).__name__ == "timedelta64":  # a span of time is an integer to NumPy
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def integer_in(
    name: str,
    value: object,
    least: int | None = None,
    most: int | None = None,
    *,
    error: Error = InvalidOption,
) -> int:
    """Return an integer as int; anything else, and one out of the range, is refused by name.

    >>> integer_in("k", 3, 0, 5)
    3
    >>> integer_in("k", -1, 0)
    Traceback (most recent call last):
    cpx.errors.InvalidOption: k must be an integer of at least 0, got -1
    """
    number = integer(value)
    if (
        number is None
        or (least is not None and number < least)
        or (most is not None and number > most)
    ):
        limits = "" if least is None else f" of at least {least}"
        if most is not None:
            limits = f" from {least} to " + ("below 2**31" if most == _WORD - 1 else str(most))
        raise error(f"{name} must be an integer{limits}, got {shown(value)}")
    return number


def positive_integer(name: str, value: object) -> int:
    """Return ``value`` as an int of at least 1, or raise InvalidOption naming it."""
    return integer_in(name, value, 1)


def count(name: str, value: object) -> int:
    """Return ``value`` as an int of at least 0, or raise InvalidOption naming it."""
    return integer_in(name, value, 0)


def index(name: str, value: object) -> int:
    """Return an integer of a problem as int, or raise InvalidInstance naming it."""
    return integer_in(name, value, error=InvalidInstance)


def valid_seed(value: object) -> int:
    """Return ``value`` as an int from 0 to below 2**31, or raise InvalidOption."""
    return integer_in("seed", value, 0, _WORD - 1)


def finite_number(name: str, value: object, most: float = math.inf) -> float:
    """Return a finite number of at least 0 as float, or raise InvalidOption naming it."""
    number = _float(value)
    if number is None or not 0 <= number <= most or number == math.inf:
        limit = "" if most == math.inf else f" and at most {most:g}"
        raise InvalidOption(
            f"{name} must be a finite number of at least 0{limit}, got {shown(value)}"
        )
    return number


def _float(value: object) -> float | None:
    """Return a number as float; those that are rounded are welcome where no sum is exact."""
    if isinstance(value, Fraction | Decimal):
        try:
            return float(value)
        except (OverflowError, ValueError):
            return None
    return real(value)


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


def seconds(time_limit: object, name: str = "time_limit") -> float | None:
    """Return a time limit as a finite float above 0, None for none, or raise InvalidOption."""
    if time_limit is None:
        return None
    limit = _float(time_limit)
    if limit is None or not 0 < limit < math.inf:
        raise InvalidOption(f"{name} must be seconds > 0, got {shown(time_limit)}")
    return limit


# ----------------------------------------------------------- exact fractions


def share(name: str, value: object) -> Fraction:
    """Return a share from 0 to 1 as the exact fraction it stands for.

    name: Named in messages.
    value: A float means the decimal number it is printed as; a string is a fraction or a decimal
        number.
    Raises InvalidInstance: For anything that is no such number, or out of range.

    >>> share("min_coverage", 0.05), share("min_coverage", "19/20"), share("min_coverage", "0.95")
    (Fraction(1, 20), Fraction(19, 20), Fraction(19, 20))
    """
    exact = None
    if isinstance(value, bool):
        pass  # an integer to Python
    elif isinstance(value, str):
        if len(value) <= _MOST_DIGITS and _SHARE.fullmatch(value):
            exact = Fraction(value)
    elif isinstance(value, Rational):
        exact = Fraction(int(value.numerator), int(value.denominator))
    elif (number := real(value)) is not None and math.isfinite(number):
        exact = Fraction(str(value))  # of NumPy's shorter floats, too, what is printed
    if exact is None or not 0 <= exact <= 1:
        raise InvalidInstance(
            f"{name} must be a share from 0 to 1, such as 0.05 or '1/20', got {shown(value)}"
        )
    return exact


# ------------------------------------------------------------ names and lists


def choice(
    name: str, value: object, known: Collection[str], *, error: Error = InvalidOption
) -> str:
    """Return one of the known names, or raise with all of them and the nearest one.

    >>> choice("cast", "flot32", ["float32"])
    Traceback (most recent call last):
    cpx.errors.InvalidOption: cast must be one of float32, got 'flot32' (did you mean 'float32'?)
    """
    if not isinstance(value, str) or value not in known:
        raise error(
            f"{name} must be one of {', '.join(known)}, got {shown(value)}"
            + nearest(str(value)[:100], known)
        )
    return value


def text(name: str, value: object, *, error: Error = InvalidInstance) -> str:
    """Return a string, or raise for anything else."""
    if not isinstance(value, str):
        raise error(f"{name} must be a string, got {shown(value)}")
    return value


def entries(
    name: str,
    value: object,
    what: str,
    n: int | None = None,
    *,
    error: Error = InvalidInstance,
) -> tuple[object, ...]:
    """Return the entries of a list, n of them where n is given.

    A string and a mapping are no lists, though Python goes through both, and a set has no order
    that n entries could have.

    >>> entries("lengths", [1, 2], "integers", 3)
    Traceback (most recent call last):
    cpx.errors.InvalidInstance: lengths must have 3 integers, got 2
    """
    refused = (str, bytes, Mapping) if n is None else (str, bytes, Mapping, Set)
    if isinstance(value, refused) or not isinstance(value, Iterable):
        raise error(f"{name} must be a list of {what}, got {shown(value)}")
    found = tuple(value)
    if n is not None and len(found) != n:
        raise error(f"{name} must have {n} {what}, got {len(found)}")
    return found


def name_list(
    name: str, value: object, n: int, *, error: Error = InvalidInstance
) -> tuple[str, ...]:
    """Return n names; ``x0``, ``x1``, ... for None.

    >>> name_list("features", ["age", "sex"], 2), name_list("features", None, 2)
    (('age', 'sex'), ('x0', 'x1'))
    """
    if value is None:
        return tuple(f"x{j}" for j in range(n))
    found = entries(name, value, "strings", n, error=error)
    return tuple(str(text(f"{name}[{j}]", entry, error=error)) for j, entry in enumerate(found))


def index_set(
    name: str, value: object, d: int, what: str = "feature", *, error: Error = InvalidInstance
) -> frozenset[int]:
    """Return indices from 0 to d - 1 as a set; one that is given twice counts once.

    >>> sorted(index_set("must_keep", [2, 0, 2], 3))
    [0, 2]
    """
    return frozenset(_indices(name, value, d, what, error))


def feature_list(name: str, value: object, d: int, what: str = "feature") -> tuple[int, ...]:
    """Return indices of features, increasing; no index may be out of range or occur twice.

    >>> feature_list("required", [2, 0], 3)
    (0, 2)
    """
    indices = _indices(name, value, d, what, InvalidInstance)
    if len(set(indices)) < len(indices):
        raise InvalidInstance(f"{name} names a {what} twice: {shown(indices)}")
    return tuple(sorted(indices))


def _indices(name: str, value: object, d: int, what: str, error: Error) -> list[int]:
    found = entries(name, value, f"{what} indices", error=error)
    indices = [integer_in(name, j, error=error) for j in found]
    for j in indices:
        if not 0 <= j < d:
            raise error(f"{name} has the {what} {shown(j)}, indices go from 0 to {d - 1}")
    return indices


def group_list(
    name: str, value: object, d: int, *, error: Error = InvalidInstance
) -> tuple[int, ...]:
    """Return the number of the group of each of d features.

    >>> group_list("groups", [0, 0, 1], 3)
    (0, 0, 1)
    """
    found = entries(name, value, "non-negative integers", d, error=error)
    return tuple(integer_in(f"{name}[{j}]", g, 0, error=error) for j, g in enumerate(found))


def weight_list(name: str, value: object, n: int) -> tuple[int, ...]:
    """Return n positive integers whose sum stays below 2**31.

    >>> weight_list("weights", [3, 1], 2)
    (3, 1)
    """
    found = entries(name, value, "positive integers", n)
    weights = tuple(
        integer_in(f"{name}[{j}]", w, 1, error=InvalidInstance) for j, w in enumerate(found)
    )
    if sum(weights) >= _WORD:
        raise InvalidInstance(f"{name} must have a sum below 2**31, got {shown(sum(weights))}")
    return weights


def weight_map(weights: Mapping[int, int] | Iterable[int] | None, d: int) -> dict[int, int]:
    """Return the weight of each of d attributes, 1 where none is given.

    >>> weight_map({1: 5}, 3), weight_map([2, 1], 2)
    ({0: 1, 1: 5, 2: 1}, {0: 2, 1: 1})
    """
    if weights is None:
        return dict.fromkeys(range(d), 1)
    given: dict[int, object]
    if isinstance(weights, Mapping):
        index_set("weights", weights.keys(), d, "attribute")
        given = {**dict.fromkeys(range(d), 1), **{int(a): w for a, w in weights.items()}}
    else:
        given = dict(enumerate(entries("weights", weights, "integers", d)))
    return {
        a: integer_in(f"weights[{a}]", weight, 1, error=InvalidInstance)
        for a, weight in given.items()
    }


def positive_fraction(name: str, value: Any) -> Fraction:
    """Return a positive fraction, given as such, as an integer or as a string.

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
