"""What a condition of an answer says of a column, as data, and the words that are printed."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from cpx.support.cells import is_missing, plain

_Writer = Callable[[str], str]
_Lister = Callable[[Sequence[str]], str]


_TEXTS = ("label", "unit", "now")

_LISTED = 5
"""So many categories are listed in words, of more than these and one."""


@dataclass(frozen=True)
class ColumnCondition:
    """What is said of a column: ``str`` has it as data name it, ``words`` as people read it.

    column: Its name.
    label, unit: What it is called for people, and what its numbers are in; empty for none.
    now: What the row has in its place, of a change.
    negated: Whether it is said not to be so.
    """

    column: str
    _: KW_ONLY
    label: str = ""
    unit: str = ""
    now: str = ""
    negated: bool = False

    def __str__(self) -> str:
        return self._text(self.column, "", _same, _all)

    @property
    def words(self) -> str:
        """The condition as people read it: label, unit, long numbers and lists made short."""
        unit = f" {self.unit}" if self.unit else ""
        told = self._text(self.title, unit, thousands, _first)
        return f"{told} (now {self.now})" if self.now else told

    @property
    def title(self) -> str:
        """What the column is called for people."""
        return self.label or self.column

    @abstractmethod
    def _text(self, name: str, unit: str, number: _Writer, listed: _Lister) -> str:
        """Return the condition, with what writes numbers and lists."""

    def _state(self, name: str, known: bool) -> str:
        return f"{name} {'is not' if known else 'is'} missing"

    @abstractmethod
    def said(self) -> dict[str, Any]:
        """Return what is said of the column as JSON values."""

    def to_json(self) -> dict[str, Any]:
        """Return the condition as JSON values."""
        more = {name: getattr(self, name) for name in _TEXTS} | {"not": self.negated}
        return {"column": self.column, **self.said(), **{k: v for k, v in more.items() if v}}


@dataclass(frozen=True)
class Bounds(ColumnCondition):
    """Intervals, in one of which the value of a column is.

    within: Of each interval the signs and numbers of its bounds, the lower one first. No interval
        stands for "is not missing".

    A number of more than nine digits is printed in those that tell it from others of float32.

    >>> print(Bounds("a", (((">", 1.0), ("<=", 2.5)), ((">", 3.0),))))
    1 < a <= 2.5 or a > 3
    >>> print(Bounds("a", ((("<=", 92.7900000407442),),)), Bounds("a", (((">", 0.29999999999),),)))
    a <= 92.79 a >= 0.3
    >>> Bounds("pay", (((">", 50000.0),),), label="yearly pay", unit="EUR").words
    'yearly pay > 50,000 EUR'
    """

    within: tuple[tuple[tuple[str, float], ...], ...]

    def _text(self, name: str, unit: str, number: _Writer, listed: _Lister) -> str:
        if not self.within:
            return self._state(name, not self.negated)
        told = " or ".join(self._interval(ends, name, unit, number) for ends in self.within)
        return f"not ({told})" if self.negated else told

    @staticmethod
    def _interval(
        bounds: tuple[tuple[str, float], ...], name: str, unit: str, number: _Writer
    ) -> str:
        *above, (sign, end) = (_shortly(*one) for one in bounds)
        told = f"{name} {sign} {number(end)}{unit}"
        if not above:
            return told
        ((sign, low),) = above
        if low == end:
            return f"{name} = {number(end)}{unit}"
        return f"{number(low)} {sign.replace('>', '<')} {told}"

    def said(self) -> dict[str, Any]:
        return {"within": [[[*one] for one in ends] for ends in self.within]}


@dataclass(frozen=True)
class OneOf(ColumnCondition):
    """Categories, one of which is the value of a column.

    labels: None where a test tells its value from those that are known.

    >>> print(OneOf("city", ("Lens", "Lille")))
    city is one of 2 (Lens, Lille)
    >>> OneOf("city", tuple("ABCDEFGH")).words
    'city is one of 8 (A, B, C, D, E and 3 more)'

    Of days the first and the last of those are told that follow each other.

    >>> print(OneOf("start", ("2024-02-28", "2024-02-29", "2024-03-01", "2024-06-01")))
    start is from 2024-02-28 to 2024-03-01 or 2024-06-01
    """

    labels: tuple[str, ...]

    def _text(self, name: str, unit: str, number: _Writer, listed: _Lister) -> str:
        if len(self.labels) == 1:
            return f"{name} {'!=' if self.negated else '='} {self.labels[0]}"
        is_ = f"{name} is{' not' * self.negated}"
        if not self.labels:
            return f"{is_} of another category"
        if (days := _days_told(self.labels)) is not None:
            return f"{is_} {days}"
        return f"{is_} one of {len(self.labels)} ({listed(self.labels)})"

    @property
    def told(self) -> str:
        """The categories in words."""
        return _first(self.labels)

    def said(self) -> dict[str, Any]:
        return {"one_of": list(self.labels)}


def day_spans(labels: Sequence[str]) -> list[Any]:
    """Return days that follow each other, as arrays of NumPy; none where not all are days.

    >>> [len(span) for span in day_spans(["2024-03-01", "2024-02-29", "2025-01-01"])]
    [2, 1]
    """
    if not all(map(_A_DAY.fullmatch, labels)):
        return []
    try:
        days = np.sort(np.array(labels, dtype="datetime64[D]"))
    except ValueError:
        return []
    return np.split(days, np.flatnonzero(np.diff(days) > np.timedelta64(1, "D")) + 1)


def _days_told(labels: Sequence[str]) -> str | None:
    """Say which days these are, where all are days: spans of them, or days of the week of one."""
    spans = day_spans(labels)
    if not spans:
        return None
    days = np.concatenate(spans)
    if len(spans) > _LISTED:
        every = np.arange(days[0], days[-1] + np.timedelta64(1, "D"))
        for named, names, what in ((_weekday, DAYS, ""), (_month, MONTHS, "day of ")):
            own = {*named(days).tolist()}
            if np.array_equal(every[np.isin(named(every), [*own])], days):
                which = " or ".join(names[i] for i in sorted(own))
                return f"any {what}{which} from {days[0]} to {days[-1]}"
    told = [f"from {one[0]} to {one[-1]}" if len(one) > 1 else f"{one[0]}" for one in spans]
    if len(told) <= _LISTED + 1:
        return " or ".join(told)
    return f"one of {len(days)} days, {', '.join(told[:_LISTED])} and {len(told) - _LISTED} more"


def _weekday(days: Any) -> Any:
    return (days.astype(np.int64) + 3) % 7  # 1970 began on a Thursday


def _month(days: Any) -> Any:
    return days.astype("datetime64[M]").astype(np.int64) % 12


_A_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class Equals(ColumnCondition):
    """The value that a column has, None where it is missing.

    >>> str(Equals("a", 9.0)), str(Equals("a", None))
    ('a = 9', 'a is missing')
    """

    value: float | None

    def _text(self, name: str, unit: str, number: _Writer, listed: _Lister) -> str:
        if self.value is None:
            return self._state(name, self.negated)
        return f"{name} {'!=' if self.negated else '='} {number(value_text(self.value))}{unit}"

    @property
    def told(self) -> str:
        """The value in words."""
        if self.value is None:
            return "missing"
        return f"{thousands(value_text(self.value))}{f' {self.unit}' * bool(self.unit)}"

    def said(self) -> dict[str, Any]:
        return {"value": self.value}


@dataclass(frozen=True)
class GroupValues(ColumnCondition):
    """The values that all columns of a group have, such as those of one-hot encoding.

    column: Name of the group.
    values: Columns and their values.

    >>> print(GroupValues("hue", (("hue_red", 1.0), ("hue_blue", 0.0))))
    hue = red
    """

    values: tuple[tuple[str, float], ...]

    def _text(self, name: str, unit: str, number: _Writer, listed: _Lister) -> str:
        present = [value for _, value in self.values if value]
        return f"{name}{':' if present not in ([], [1]) else ' ='} {self.told}"

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

    def said(self) -> dict[str, Any]:
        return {"values": [list(pair) for pair in self.values]}


Condition = str | ColumnCondition | tuple[str, ...] | tuple[tuple[str, ...], ...]
"""A Boolean feature by its name, a column, a conjunction of names, or several conjunctions."""


def told(condition: Condition) -> str:
    """Return a condition in words.

    >>> told("a <= 1"), told(("a", "b")), told((("a", "b"), ("c",)))
    ('a <= 1', 'a and b', '(a and b) or c')
    >>> told(())
    '(always)'
    """
    if isinstance(condition, ColumnCondition):
        return condition.words
    if isinstance(condition, str):
        return condition
    clauses = [part for part in condition if isinstance(part, tuple)]
    if not clauses:
        return " and ".join(map(str, condition)) or "(always)"
    alone = len(clauses) == 1
    texts = (f"({told(c)})" if len(c) > 1 and not alone else told(c) for c in clauses)
    return " or ".join(texts)


def to_json(condition: Condition) -> Any:
    """Return a condition as JSON values."""
    if isinstance(condition, ColumnCondition):
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
    said, name = dict(data), data["column"]
    more = {key: said.pop(key, "") for key in _TEXTS}
    negated = said.pop("not", False)
    if not all(isinstance(text, str) for text in more.values()) or not isinstance(negated, bool):
        raise ValueError(f"no condition: {data!r:.200}")
    told: dict[str, Any] = {**more, "negated": negated}
    match said:
        case {"column": _, "within": [*within], **rest} if not rest:
            return Bounds(name, tuple(map(_bounds, within)), **told)
        case {"column": _, "one_of": [*labels], **rest} if not rest:
            return OneOf(name, tuple(map(str, labels)), **told)
        case {"column": _, "value": value, **rest} if not rest:
            return Equals(name, None if value is None else float(value), **told)
        case {"column": _, "dates": [start, end], **rest} if not rest and (start or end):
            return Span(name, *(None if one is None else str(one) for one in (start, end)), **told)
        case {"column": _, "values": [*values], **rest} if not rest:
            pairs = tuple((str(title), float(value)) for title, value in values)
            return GroupValues(name, pairs, **told)
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


@dataclass(frozen=True)
class Span(ColumnCondition):
    """Dates, from one on and before another one, each None where there is none.

    >>> later, between = (Span("start", "2024-03-01", end) for end in (None, "2025-01-01"))
    >>> print(later, between, sep="; ")
    start >= 2024-03-01; 2024-03-01 <= start < 2025-01-01
    >>> later.words, between.words
    ('start from 2024-03-01 on', 'start from 2024-03-01 to 2024-12-31')
    """

    start: str | None
    end: str | None

    def __str__(self) -> str:
        if self.start is None:
            told = f"{self.column} < {self.end}"
        elif self.end is None:
            told = f"{self.column} >= {self.start}"
        else:
            told = f"{self.start} <= {self.column} < {self.end}"
        return f"not ({told})" if self.negated else told

    def _text(self, name: str, unit: str, number: _Writer, listed: _Lister) -> str:
        if self.start is None:
            told = f"{name} before {self.end}"
        elif self.end is None:
            told = f"{name} from {self.start} on"
        elif len(self.start) == len(self.end) == _DAY:
            # Of whole days, the last one is told.
            told = (
                f"{name} from {self.start} to {np.datetime64(self.end) - np.timedelta64(1, 'D')}"
            )
        else:
            told = f"{name} from {self.start} to before {self.end}"
        return f"not ({told})" if self.negated else told

    def said(self) -> dict[str, Any]:
        return {"dates": [self.start, self.end]}


_DAY = len("2024-03-01")

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""What the days of the week are called."""

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
"""What the months are called."""


def clock(microseconds: float) -> str:
    """Return a moment, in microseconds since 1970, as it is printed.

    >>> clock(0.0), clock(3_600_000_000.0)
    ('1970-01-01', '1970-01-01 01:00:00')
    """
    text = str(np.datetime64(int(microseconds), "us")).replace("T", " ")
    return text.removesuffix(".000000").removesuffix(" 00:00:00")


def valued(column: str, value: Any, category: bool = False) -> Equals | OneOf:
    """Return that a column has a value: a number, unless it is a category; a text, or none.

    >>> str(valued("a", 2)), str(valued("a", "red")), str(valued("a", float("nan")))
    ('a = 2', 'a = red', 'a is missing')
    """
    value = plain(value.item() if isinstance(value, np.generic) else value)
    if is_missing(value):
        return Equals(column, None)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and not category:
        return Equals(column, float(value))
    if number:
        return OneOf(column, (value_text(float(value)),))
    day = hasattr(value, "isoformat")  # midnight is not said
    return OneOf(column, (str(value).removesuffix(" 00:00:00") if day else str(value),))


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


def thousands(text: str) -> str:
    """Return a number as it is printed, with commas where it has five digits or more.

    >>> thousands("50000.5"), thousands("-1234567"), thousands("1994"), thousands("1e+16")
    ('50,000.5', '-1,234,567', '1994', '1e+16')
    """
    match = _LONG.fullmatch(text)
    return f"{int(match[1]):,}{match[2] or ''}" if match else text


_LONG = re.compile(r"(-?\d{5,})(\.\d+)?")


def _same(text: str) -> str:
    return text


def _all(labels: Sequence[str]) -> str:
    return ", ".join(labels)


def _first(labels: Sequence[str]) -> str:
    """List the first categories of many: one more would be as long as to say that it is there."""
    if len(labels) <= _LISTED + 1:
        return _all(labels)
    return f"{_all(labels[:_LISTED])} and {len(labels) - _LISTED} more"


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
