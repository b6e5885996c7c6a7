"""Exact values of problems, integers or fractions: in JSON, in words, and over time.

In JSON an integer stays an integer and a fraction is the string ``"p/q"``, so that reading
gives the same type back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from cpx.errors import InvalidInstance, shown

Value = int | Fraction
"""An objective or a bound."""

_FRACTION = re.compile(r"-?[0-9]+(/[0-9]*[1-9][0-9]*)?")

_FEWEST_DIGITS, _MOST_DIGITS = 4, 12


def to_json(value: Value | None) -> int | str | None:
    """Return a value as JSON has it.

    >>> to_json(3), to_json(Fraction(19, 20)), to_json(Fraction(1))
    (3, '19/20', '1')
    """
    return str(value) if isinstance(value, Fraction) else value


def from_json(name: str, value: object) -> Value | None:
    """Read what :func:`to_json` wrote.

    Raises InvalidInstance: Naming the value that is neither an integer nor a fraction in a string.

    >>> from_json("objective", 3), from_json("objective", "1")
    (3, Fraction(1, 1))
    """
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, str) and _FRACTION.fullmatch(value):
        return Fraction(value)
    raise InvalidInstance(f"result: {name} has a wrong type, got {shown(value)}")


class TracePoint(NamedTuple):
    """One event of a solve: after ``seconds``, the best value and bound so far."""

    seconds: float
    objective: Value | None
    bound: Value | None

    def to_json(self) -> list[Any]:
        """Return the point as a list of JSON values."""
        return [self.seconds, to_json(self.objective), to_json(self.bound)]

    @classmethod
    def from_json(cls, data: Any) -> TracePoint:
        """Read what :meth:`to_json` wrote."""
        seconds, objective, bound = data
        return cls(seconds, from_json("objective", objective), from_json("bound", bound))


def trace_to_json(trace: Iterable[TracePoint]) -> list[list[Any]]:
    """Return the events of a solve as JSON values."""
    return [point.to_json() for point in trace]


def relative_gap(objective: Value | None, bound: Value | None) -> float | None:
    """Return ``|objective - bound| / max(1, |objective|)``, the one gap of cpx.

    Examples
    --------
    >>> relative_gap(200, 150)
    0.25
    >>> relative_gap(Fraction(9, 10), Fraction(1))
    0.1
    >>> relative_gap(200, None) is None
    True
    """
    if objective is None or bound is None:
        return None
    if isinstance(objective, int) and isinstance(bound, int):
        return abs(objective - bound) / max(1, abs(objective))  # rounded once, as below
    best = Fraction(objective)
    return float(abs(best - bound) / max(Fraction(1), abs(best)))


def digits(values: Iterable[Value | None]) -> int:
    """Return how many digits after the point keep different fractions apart, at least 4.

    >>> digits([Fraction(1, 2), Fraction(1, 3)]), digits([Fraction(1, 2), Fraction(500001, 10**6)])
    (4, 6)
    """
    fractions = {value for value in values if isinstance(value, Fraction)}
    for count in range(_FEWEST_DIGITS, _MOST_DIGITS):
        if len({decimal(value, count) for value in fractions}) == len(fractions):
            return count
    return _MOST_DIGITS


def decimal(value: Value, count: int = _FEWEST_DIGITS) -> str:
    """Return a value as a number to read: a fraction with ``count`` digits after the point.

    It has more where it would read as an integer and is none.

    >>> decimal(12), decimal(Fraction(19, 20)), decimal(Fraction(99999, 100000))
    ('12', '0.9500', '0.99999')
    """
    if not isinstance(value, Fraction):
        return str(value)
    text = f"{float(value):.{count}f}"
    while value.denominator > 1 and Fraction(text).denominator == 1:
        count += 1
        text = f"{Decimal(value.numerator) / value.denominator:.{count}f}"
    return text


def in_words(value: Value, count: int = _FEWEST_DIGITS) -> str:
    """Return a value as :func:`decimal` does, a fraction with itself in parentheses.

    >>> in_words(12), in_words(Fraction(19, 20)), in_words(Fraction(1))
    ('12', '0.9500 (19/20)', '1')
    """
    if value.denominator == 1:
        return str(value)
    return f"{decimal(value, count)} ({value})"


def class_words(name: str) -> str:
    """Return the name of a class; "=> 1" reads like a value, "=> class 1" does not.

    >>> class_words("1"), class_words("benign")
    ('class 1', 'benign')
    """
    return f"class {name}" if name.lstrip("-").replace(".", "", 1).isdigit() else name


def exact_percent(share: Fraction) -> str:
    """Return a share in percent, or as a fraction where percents would be rounded.

    >>> exact_percent(Fraction(1, 20)), exact_percent(Fraction(1, 3))
    ('5 %', '1/3')
    """
    text = f"{float(100 * share):g}"
    return f"{text} %" if Fraction(text) == 100 * share else str(share)


def plural(n: int, what: str) -> str:
    """Return a number of things.

    >>> plural(1, "rule"), plural(2, "rule")
    ('1 rule', '2 rules')
    """
    return f"{n} {what}{'s' * (n != 1)}"


def listed(names: list[str], most: int = 5) -> str:
    """Return names with commas, the first ones of many.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
