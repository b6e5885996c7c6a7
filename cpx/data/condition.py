"""What a condition of an answer says of a column, as data, and the words that are printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Bounds:
    """Intervals, in one of which the value of a column is.

    column: Its name.
    within: Of each interval the signs and numbers of its bounds, the lower one first. No interval
        stands for "is not missing".

    A number of more than nine digits is printed in those that tell it from others of float32.

    >>> print(Bounds("a", (((">", 1.0), ("<=", 2.5)), ((">", 3.0),))))
    1 < a <= 2.5 or a > 3
    >>> print(Bounds("a", ((("<=", 92.7900000407442),),)), Bounds("a", (((">", 0.29999999999),),)))
    a <= 92.79 a >= 0.3
    """

    column: str
    within: tuple[tuple[tuple[str, float], ...], ...]

    def __str__(self) -> str:
        return " or ".join(map(self._interval, self.within)) or f"{self.column} is not missing"

    def _interval(self, bounds: tuple[tuple[str, float], ...]) -> str:
        *above, (sign, number) = (_shortly(*one) for one in bounds)
        told = f"{self.column} {sign} {number}"
        if not above:
            return told
        ((sign, number),) = above
        return f"{number} {sign.replace('>', '<')} {told}"

    def to_json(self) -> dict[str, Any]:
        """Return the condition as JSON values."""
        return {
            "column": self.column,
            "within": [[[*one] for one in ends] for ends in self.within],
        }


@dataclass(frozen=True)
class OneOf:
    """Categories, one of which is the value of a column.

    labels: None where a test tells its value from those that are known.

    >>> print(OneOf("city", ("Lens", "Lille")))
    city is one of 2 (Lens, Lille)
    """

    column: str
    labels: tuple[str, ...]

    def __str__(self) -> str:
        if len(self.labels) == 1:
            return f"{self.column} = {self.labels[0]}"
        if not self.labels:
            return f"{self.column} is of another category"
        return f"{self.column} is one of {len(self.labels)} ({', '.join(self.labels)})"

    def to_json(self) -> dict[str, Any]:
        """Return the condition as JSON values."""
        return {"column": self.column, "one_of": list(self.labels)}


@dataclass(frozen=True)
class Equals:
    """The value that a column has, None where it is missing.

    >>> str(Equals("a", 9.0)), str(Equals("a", None))
    ('a = 9', 'a is missing')
    """

    column: str
    value: float | None

    def __str__(self) -> str:
        return f"{self.column} {'is' if self.value is None else '='} {self.told}"

    @property
    def told(self) -> str:
        """The value in words."""
        return "missing" if self.value is None else value_text(self.value)

    def to_json(self) -> dict[str, Any]:
        """Return the condition as JSON values."""
        return {"column": self.column, "value": self.value}


@dataclass(frozen=True)
class GroupValues:
    """The values that all columns of a group have, such as those of one-hot encoding.

    column: Name of the group.
    values: Columns and their values.

    >>> print(GroupValues("hue", (("hue_red", 1.0), ("hue_blue", 0.0))))
    hue = red
    """

    column: str
    values: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        present = [value for _, value in self.values if value]
        return f"{self.column}{':' if present not in ([], [1]) else ' ='} {self.told}"

    @property
    def told(self) -> str:
        """The column that is 1, as a rule; else all that are not 0, and their values."""
        present = [(title, value) for title, value in self.values if value]
        if not present:
            return f"none of its {len(self.values)} columns"
        if [value for _, value in present] == [1]:
            title = present[0][0]
            return title.removeprefix(self.column).lstrip("_=: ") or title
        return ", ".join(f"{title} = {value_text(value)}" for title, value in present)

    def to_json(self) -> dict[str, Any]:
        """Return the condition as JSON values."""
        return {"column": self.column, "values": [list(pair) for pair in self.values]}


ColumnCondition = Bounds | OneOf | Equals | GroupValues

Condition = str | ColumnCondition | tuple[str, ...] | tuple[tuple[str, ...], ...]
"""A Boolean feature by its name, a column, a conjunction of names, or several conjunctions."""


def told(condition: Condition) -> str:
    """Return a condition in words.

    >>> told("a <= 1"), told(("a", "b")), told((("a", "b"), ("c",)))
    ('a <= 1', 'a and b', '(a and b) or c')
    >>> told(())
    '(always)'
    """
    if not isinstance(condition, tuple):
        return str(condition)
    clauses = [part for part in condition if isinstance(part, tuple)]
    if not clauses:
        return " and ".join(map(str, condition)) or "(always)"
    alone = len(clauses) == 1
    texts = (f"({told(c)})" if len(c) > 1 and not alone else told(c) for c in clauses)
    return " or ".join(texts)


def to_json(condition: Condition) -> Any:
    """Return a condition as JSON values."""
    if isinstance(condition, Bounds | OneOf | Equals | GroupValues):
        return condition.to_json()
    if isinstance(condition, tuple):
        return [to_json(part) for part in condition]
    return condition


def from_json(data: Any) -> Condition:
    """Read what :func:`to_json` wrote; a string is a name, or the words of an earlier version.

    Raises ValueError or TypeError: For what is no condition.
    """
    if isinstance(data, str):
        return data
    if isinstance(data, list):
        if all(isinstance(name, str) for name in data):
            return tuple(data)
        return tuple(tuple(map(str, clause)) for clause in data)
    if not isinstance(data, Mapping) or not isinstance(data.get("column"), str):
        raise ValueError(f"no condition: {data!r:.200}")
    match data:
        case {"column": name, "within": [*within], **rest} if not rest:
            return Bounds(name, tuple(map(_bounds, within)))
        case {"column": name, "one_of": [*labels], **rest} if not rest:
            return OneOf(name, tuple(map(str, labels)))
        case {"column": name, "value": value, **rest} if not rest:
            return Equals(name, None if value is None else float(value))
        case {"column": name, "values": [*values], **rest} if not rest:
            return GroupValues(name, tuple((str(title), float(value)) for title, value in values))
    raise ValueError(f"no condition: {data!r:.200}")


def _bounds(data: Any) -> tuple[tuple[str, float], ...]:
    if len(data) not in (1, 2) or not {sign for sign, _ in data} <= {"<", "<=", ">", ">="}:
        raise ValueError(f"no interval: {data!r:.200}")
    return tuple((sign, float(number)) for sign, number in data)


def bound(threshold: float, holds: bool, strict: bool, cast: str) -> tuple[str, float]:
    """Return sign and number of ``<= t``, or of ``< t'`` with the next number t'.

    Both say the same: values are rounded to the type of the threshold before they are compared,
    so that none lies between t and t'. The number with fewer digits is taken; of two with as
    many, t' when the model itself compares by ``<``.

    >>> below = float(np.nextafter(np.float32(2.605), np.float32(-np.inf)))
    >>> bound(below, True, strict=True, cast="float32")
    ('<', 2.605)
    >>> bound(755.0, False, strict=False, cast="float64")
    ('>', 755.0)
    >>> bound(float(np.float32(112.99999)), False, False, "float32")
    ('>=', 113.0)
    >>> bound(4.4, True, strict=False, cast="float32")  # float32(4.4) is greater than 4.4
    ('<', 4.4)
    >>> bound(float(np.nextafter(np.float32(0), np.float32(-1))), True, True, "float32")
    ('<', 0.0)
    """
    number = np.float32(threshold) if cast == "float32" else np.float64(threshold)
    if float(number) > threshold:  # cuts of other origin than the model need not be such numbers
        number = np.nextafter(number, type(number)(-np.inf))
    after = np.nextafter(number, type(number)(np.inf)) + type(number)(0)  # not -0.0
    upto, before = _written(number), _written(after)
    shorter = len(before) < len(upto) or (strict and len(before) == len(upto))
    if shorter and np.isfinite(after):
        return "<" if holds else ">=", float(before)
    return "<=" if holds else ">", float(upto)


_DIGITS = 9
"""As many tell any number from others of its type if that is float32."""

_WHOLE = 2**24
"""Below it all whole numbers are of float32."""


def _shortly(sign: str, number: float) -> tuple[str, str]:
    """Return a bound as it is printed.

    No number of float32, and so no whole one, lies between a number of many digits and the one
    that is printed for it; and the sign is right for the latter.
    """
    text = _written(np.float64(number))
    if len(text.strip("-0.").replace(".", "")) <= _DIGITS or abs(number) >= _WHOLE:
        return sign, text
    low = np.float32(number)
    if low > number:
        low = np.nextafter(low, np.float32(-np.inf))
    text = min(_written(low), _written(np.nextafter(low, np.float32(np.inf))), key=len)
    above = float(text) > number
    return {"<": "<" if above else "<=", ">": ">=" if above else ">"}[sign[0]], text


def _written(number: np.floating[Any]) -> str:
    """Return the fewest digits that read back as the same number of its type."""
    plain = number == 0 or 1e-4 <= abs(float(number)) < 1e16
    write = np.format_float_positional if plain else np.format_float_scientific
    return str(write(number, trim="-"))


def value_text(value: float) -> str:
    """Return a value in few digits, but never those of another one.

    >>> value_text(0.5), value_text(1234567.0), value_text(float(np.float32(0.1)))
    ('0.5', '1234567', '0.1')
    """
    text = f"{value:g}"
    with np.errstate(over="ignore"):
        if value in (float(text), float(np.float32(text))):
            return text
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(float(value))
