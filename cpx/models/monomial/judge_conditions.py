"""Whether the conditions of columns that a rule is printed with say what its features say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cpx.check.result_fields import shown

_ENDS: dict[str, Any] = {">": -math.inf, "<=": math.inf}


@dataclass(frozen=True)
class _Said:
    """What is said of a column.

    within: An interval ``(low, high]``; else it is that the value is ``text``, or missing.
    """

    negated: bool
    within: tuple[float, float] | None = None
    text: str | None = None

    def holds(self, value: float) -> bool:
        """Whether it is true of a number."""
        assert self.within is not None
        low, high = self.within
        return (low < value <= high) != self.negated


def wrong_conditions(
    conditions: Sequence[Any], features: Iterable[int], names: Sequence[str]
) -> list[str]:
    """Return violations about conditions of columns in place of features.

    Each is one feature of its column, or an interval that is what all its features leave. Words of
    files of earlier versions are not looked at.

    conditions: As they are saved.
    features: Those of the rule.
    names: Of all features.

    >>> names = ["a <= 1", "not (1 < a <= 2)", "a > 2", "b = x"]
    >>> def between(*ends): return [{"column": "a", "within": [[*ends]]}]
    >>> wrong_conditions(between([">", 2]), [1, 2], names)
    []
    >>> wrong_conditions(between([">", 1]), [1, 2], names)
    ["conditions: column 'a' is not said as its features say it"]
    >>> wrong_conditions(between([">", 2]), [2, 3], names)
    ["conditions: none says 'b = x'"]
    """
    if any(isinstance(one, str) for one in conditions):
        return []
    if not all(isinstance(one, Mapping) for one in conditions):
        return ["conditions: those of a rule are of columns"]
    # Of names that begin alike the longer one is meant.
    columns = sorted({one["column"] for one in conditions}, key=len, reverse=True)
    own: dict[str, list[_Said]] = {column: [] for column in columns}
    out = []
    for j in features:
        column, said = next(
            ((c, read) for c in own if (read := _read(names[j], c)) is not None), ("", None)
        )
        if said is None:
            out.append(f"conditions: none says {shown(names[j])}")
        else:
            own[column].append(said)
    if out:
        return out
    for column, literals in own.items():
        given = [_of_data(one) for one in conditions if one["column"] == column]
        strict = any(_read(name, column) in _GONE for name in names)
        if None in given or not _alike([one for one in given if one], literals, strict):
            out.append(f"conditions: column {shown(column)} is not said as its features say it")
    return out


_KNOWN = _Said(True)
_GONE = (_Said(False), _KNOWN)


def _alike(given: list[_Said], literals: list[_Said], strict: bool) -> bool:
    """Whether conditions on a column are its literals, or one interval that is all they leave.

    strict: Whether a value may be missing, of which a negation is true and no interval.
    """
    if len(given) == len(literals) and all(
        literals.count(one) == given.count(one) for one in given
    ):
        return True
    literals = [one for one in literals if one != _KNOWN]  # as an interval says, too
    if len(given) != 1 or given[0].negated or any(one.within is None for one in given + literals):
        return False
    if strict and all(one.negated for one in literals):
        return False
    ends = sorted({end for one in given + literals for end in one.within or ()})
    values = [high for _, high in pairwise([-math.inf, *ends, math.inf]) if high > -math.inf]
    return all(given[0].holds(v) == all(one.holds(v) for one in literals) for v in values)


def _of_data(one: Mapping[str, Any]) -> _Said | None:
    negated = bool(one.get("not", False))
    if one.get("now"):
        return None  # of changes
    if "value" in one:
        value = one["value"]
        return _Said(negated, text=None if value is None else _number(value))
    if "one_of" in one:
        return _Said(negated, text=one["one_of"][0]) if len(one["one_of"]) == 1 else None
    if len(one.get("within", ())) != 1:
        return None
    ends = dict(map(tuple, one["within"][0]))
    if not ends or not ends.keys() <= _ENDS.keys() or len(ends) != len(one["within"][0]):
        return None
    low, high = (float(ends.get(sign, far)) for sign, far in _ENDS.items())
    return _Said(negated, (low, high))


def _read(name: str, column: str) -> _Said | None:
    """Read the name of a feature of a column; None where it is of another one."""
    if name.startswith("not (") and name.endswith(")"):
        said = _read(name[5:-1], column)
        return None if said is None or said.negated else _Said(True, said.within, said.text)
    for state, known in ((" is missing", False), (" is known", True)):
        if name == column + state:
            return _Said(known)
    for sign, negated in ((" = ", False), (" != ", True)):
        if name.startswith(column + sign):
            return _Said(negated, text=name[len(column + sign) :])
    low, high, rest = -math.inf, math.inf, name
    if not rest.startswith(column):
        first, less, rest = name.partition(" < ")
        below = _float(first)
        if below is None or not less or not rest.startswith(column):
            return None
        low = below
    rest = rest[len(column) :]
    for sign in (" <= ", " > "):
        end = _float(rest[len(sign) :]) if rest.startswith(sign) else None
        if end is not None:
            low, high = (low, end) if sign == " <= " else (end, high)
            return _Said(False, (low, high))
    return None


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _number(value: float) -> str:
    """Return the shortest text that reads back as the same number, as features are named."""
    whole = float(value).is_integer() and abs(value) < 1e16
    return str(int(value)) if whole else repr(float(value))
