"""The fields that a saved result must have, and what each of them must be."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from cpx.check.binomial import is_above, is_below

_Test = Callable[[Any], bool]

_LONGEST = 200
# No engine has a value beyond 64 bits; a fraction has two of them.
_MOST = 2**64
_FRACTION = re.compile(r"-?[0-9]{1,40}(/[0-9]{0,39}[1-9][0-9]{0,39})?")
_STATUSES = ("OPTIMAL", "FEASIBLE", "INFEASIBLE", "UNKNOWN", "ERROR")
_TERMINATIONS = ("COMPLETED", "TIME_LIMIT", "MEMORY_LIMIT", "INTERRUPTED", "SOLVER_ERROR")


def shown(value: object) -> str:
    """Return a value as text, of a long one the beginning."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested deeply, or an integer of too many digits
        return f"a {type(value).__name__} that is too large"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    return _integer(value) and value >= 0


def _count_or_counts(value: Any) -> bool:
    return _count(value) or _all(_count)(value)


def _number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return _integer(value) and abs(value) < _MOST


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _fraction(value: Any) -> bool:
    return _text(value) and _FRACTION.fullmatch(value) is not None


def _value(value: Any) -> bool:
    return _fraction(value) or (_integer(value) and abs(value) < _MOST)


def _truth(value: Any) -> bool:
    return isinstance(value, bool)


def _object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _one_of(known: tuple[object, ...]) -> _Test:
    return lambda value: any(type(value) is type(one) and value == one for one in known)


def _or_none(test: _Test) -> _Test:
    return lambda value: value is None or test(value)


def _all(test: _Test) -> _Test:
    return lambda value: isinstance(value, list) and all(map(test, value))


def _row(*tests: _Test) -> _Test:
    def right(value: Any) -> bool:
        if not isinstance(value, list) or len(value) != len(tests):
            return False
        return all(test(part) for test, part in zip(tests, value, strict=True))

    return right


def _values(test: _Test) -> _Test:
    return lambda value: _object(value) and all(map(test, value.values()))


def _estimate(value: Any) -> bool:
    """Say whether a value is a precision on fresh samples: counts, and limits around them."""
    keys = ("agreeing", "drawn", "low", "high", "confidence")
    if not _object(value) or {*value} != {*keys}:
        return False
    agreeing, drawn, low, high, confidence = (value[key] for key in keys)
    if not (_count(agreeing) and _count(drawn) and all(map(_number, (low, high, confidence)))):
        return False
    if confidence == 1:  # known, not estimated
        return bool(drawn > 0 and low == high == agreeing / drawn <= 1)
    inside = drawn > 0 and 0 <= low <= Fraction(agreeing, drawn) <= high <= 1
    if not inside or not 0 < confidence < 1:
        return False
    tail = math.log((1 - confidence) / 2)
    return is_below(low, agreeing, drawn, tail) and is_above(high, agreeing, drawn, tail)


def _condition(value: Any) -> bool:
    """Say whether a value is a name, names, lists of names, or what a column is."""
    if not _object(value):
        return _text(value) or _all(_text)(value) or _all(_all(_text))(value)
    if not _text(value.get("column")) or not _text(value.get("label", "")):
        return False
    texts = _text(value.get("unit", "")) and _text(value.get("now", ""))
    said = value.keys() - {"column", "label", "unit", "now", "not"}
    if not texts or not isinstance(value.get("not", False), bool) or len(said) != 1:
        return False
    sign = _one_of(("<", "<=", ">", ">="))
    known = {
        "within": _all(_all(_row(sign, _number))),
        "one_of": _all(_text),
        "value": _or_none(_number),
        "values": _all(_row(_text, _number)),
        "dates": _row(_or_none(_text), _or_none(_text)),
    }
    return any(name in value and test(value[name]) for name, test in known.items())


def _counts(value: Any) -> bool:
    """Say whether a value has the counts of a rule on unseen samples."""
    names = ("agreeing", "covered", "total")
    if not _object(value) or {*value} != {*names} or not all(map(_count, value.values())):
        return False
    agreeing, covered, total = (value[name] for name in names)
    return bool(agreeing <= covered <= total and total > 0)


# What a field must be; with a star when nothing can be judged without it. Of the others a saved
# result has all but those with a question mark.
_RESULT: dict[str, tuple[str, _Test]] = {
    "format?": ("'cpx-result'", _one_of(("cpx-result",))),
    "version?": ("1", _one_of((1,))),
    "status*": (f"one of {', '.join(_STATUSES)}", _one_of(_STATUSES)),
    "termination": (f"one of {', '.join(_TERMINATIONS)}", _one_of(_TERMINATIONS)),
    "raw_status": ("a string", _text),
    "objective*": ("an integer or a fraction", _or_none(_value)),
    "bound*": ("an integer or a fraction", _or_none(_value)),
    "gap*": ("a number", _or_none(_number)),
    "explanation*": ("an object", _or_none(_object)),
    "trace*": (
        "a list of seconds, value and bound",
        _all(_row(_number, _or_none(_value), _or_none(_value))),
    ),
    "times": ("an object of numbers", _values(_number)),
    "sizes": ("an object of numbers", _values(_number)),
    "statistics?": ("an object of counts", _values(_count_or_counts)),
    "backend": ("a string", _text),
    "solver": ("a string", _text),
    "encoding": ("a string", _text),
    "versions": ("an object of strings", _values(_text)),
    "options": ("an object", _object),
    "warnings": ("a list of strings", _all(_text)),
    "memory": ("an integer", _or_none(_count)),
    "verified": ("true or false", _truth),
    "error?": ("a string", _text),
    "start?": ("an object", _object),
    "prediction?": ("an object", _object),
    "statement?": ("an object", _object),
}
_EXPLANATION: dict[str, tuple[str, _Test]] = {
    "features*": ("a list of integers", _all(_integer)),
    "rule*": ("an object", _object),
    "precision": ("a fraction", _or_none(_fraction)),
    "coverage": ("a fraction", _or_none(_fraction)),
    "fresh": ("counts and limits around their ratio", _or_none(_estimate)),
    "claim?": ("an object", _object),
    "remarks?": ("a list of strings", _all(_text)),
    "unseen?": ("counts of agreeing, covered and all samples", _counts),
}
_CLAIM: dict[str, tuple[str, _Test]] = {
    "problem*": ("a string", _text),
    "over*": ("an object", _object),
    "figures*": ("an object", _object),
    "best_of_ties?": ("true or false", _truth),
    "beyond?": ("an object", _object),
    "optimal?": ("true or false", _truth),
    "value?": ("an integer or a fraction", _value),
    "bound?": ("an integer or a fraction", _value),
    "statement?": ("an object", _object),
}
_RULE: dict[str, tuple[str, _Test]] = {
    "literals*": ("a list of numbers and conditions", _all(_row(_integer, _condition))),
    "conclusion": ("a string", _text),
    "conditions": ("a list of conditions", _all(_condition)),
    "figures?": ("a list of four integers each", _all(_row(*[_integer] * 4))),
    "total?": ("an integer", _count),
    "price?": ("a fraction", _fraction),
}


def malformed(result: object) -> list[str]:
    """Return which fields of a result are missing, or are not what they must be.

    result: What a JSON file has. Without a format it may lack what is not judged.
    """
    if not isinstance(result, Mapping):
        return [f"a result must be an object, got {shown(result)}"]
    saved = "format" in result
    out = _wrong(_RESULT, result, saved)
    found = result.get("explanation")
    if out or found is None:
        return out
    if out := _wrong(_EXPLANATION, found, saved):
        return out
    claim = found.get("claim")
    if claim is not None:
        known = {name.rstrip("*?") for name in _CLAIM}
        out = [f"claim: {name} is not known" for name in claim if name not in known]
        out += [f"claim: {told}" for told in _wrong(_CLAIM, claim, saved)]
    return out + _wrong(_RULE, found["rule"], saved)


def _wrong(
    fields: dict[str, tuple[str, _Test]], data: Mapping[str, Any], saved: bool
) -> list[str]:
    out = []
    for field, (what, test) in fields.items():
        name = field.rstrip("*?")
        if name in data:
            if not test(data[name]):
                out.append(f"{name}: must be {what}, got {shown(data[name])}")
        elif field.endswith("*") or (saved and not field.endswith("?")):
            out.append(f"{name}: is missing")
    return out


def plain(instance: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an instance as it is saved: samples as strings."""
    rows = instance.get("samples")
    if not isinstance(rows, np.ndarray):
        return instance
    digits = np.where(rows, "1", "0").tolist()
    return {**instance, "samples": ["".join(row) for row in digits]}
