"""Checks shared by all kinds of answers: fields and their types, bound, trace, rule and sentences.

Each sentence is written here a second time, from the instance and from what it means. One that is
left out says nothing wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = [
    "KEEPS",
    "UNDECIDED",
    "beaten",
    "broken_by",
    "class_name",
    "compare",
    "compare_shares",
    "having",
    "kept_words",
    "malformed",
    "names_of",
    "nothing_found",
    "number",
    "percent",
    "plain",
    "plural",
    "proof",
    "shown",
    "wrong_features",
    "wrong_rule",
    "wrong_sentences",
    "wrong_types",
]

KEEPS = "keeps the side constraints"

UNDECIDED = "not decided within the time the checker has"
"""What is said where the checker gives up: neither a confirmation nor a failure."""

_LONGEST = 200

# ------------------------------------------------------------------ fields and types

_Test = Callable[[Any], bool]

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
    inside = drawn > 0 and low <= Fraction(agreeing, drawn) <= high
    return bool(inside and low >= 0 and high <= 1 and 0 < confidence < 1)


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
    "backend": ("a string", _text),
    "solver": ("a string", _text),
    "encoding": ("a string", _text),
    "versions": ("an object of strings", _values(_text)),
    "options": ("an object", _object),
    "warnings": ("a list of strings", _all(_text)),
    "memory": ("an integer", _or_none(_count)),
    "verified": ("true or false", _truth),
    "error?": ("a string", _text),
}
_EXPLANATION: dict[str, tuple[str, _Test]] = {
    "features*": ("a list of integers", _all(_integer)),
    "rule*": ("an object", _object),
    "text": ("a string", _text),
    "precision": ("a fraction", _or_none(_fraction)),
    "coverage": ("a fraction", _or_none(_fraction)),
    "fresh": ("counts and limits around their ratio", _or_none(_estimate)),
    "proved": ("a string", _text),
    "guarantee?": ("a string", _text),
    "notes?": ("a list of strings", _all(_text)),
    "unseen?": ("counts of agreeing, covered and all samples", _counts),
}
_RULE: dict[str, tuple[str, _Test]] = {
    "literals*": ("a list of numbers and texts", _all(_row(_integer, _text))),
    "conclusion": ("a string", _text),
    "conditions": ("a list of strings", _all(_text)),
    "figures?": ("a list of four integers each", _all(_row(*[_integer] * 4))),
    "total?": ("an integer", _count),
    "price?": ("a fraction", _fraction),
}


def malformed(result: object) -> list[str]:
    """Return which fields of a result are missing, or are not what they must be.

    Parameters
    ----------
    result : object
        What a JSON file has. Without a format it may lack what is not judged.
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
    return _wrong(_RULE, found["rule"], saved)


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


# ------------------------------------------------------------------ figures and bounds


def compare(out: list[str], what: str, said: object, given: object) -> None:
    """Add a violation when the result says something else than the data."""
    if said != given:
        out.append(f"{what}: the result says {_cut(said)}, the data give {_cut(given)}")


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def nothing_found(result: Mapping[str, Any]) -> list[str]:
    """Return violations about a result that has no solution, whatever its problem is."""
    status = result["status"]
    out = [f"status: {status} without an explanation"] * (status in ("OPTIMAL", "FEASIBLE"))
    for name in ("objective", "gap"):
        if result[name] is not None:
            out.append(f"{name}: {result[name]} without an explanation")
    return out


def compare_shares(
    out: list[str], found: Mapping[str, Any], precision: Fraction | None, coverage: Fraction | None
) -> None:
    """Compare precision and coverage, where the result has them."""
    for what, given in (("precision", precision), ("coverage", coverage)):
        if what in found:
            compare(out, what, number(found[what]), given)


def number(value: Any) -> Any:
    """Return a saved value: a string is a fraction."""
    return Fraction(value) if isinstance(value, str) else value


def wrong_features(features: list[int], d: int) -> list[str]:
    """Return violations about features that are no different indices below d."""
    if any(isinstance(j, bool) or not isinstance(j, int) or not 0 <= j < d for j in features):
        return [f"features: {_cut(features)} are not all indices from 0 to {d - 1}"]
    if len(features) != len(set(features)):
        return [f"features: {_cut(features)} names a feature twice"]
    return []


def wrong_types(result: Mapping[str, Any], wanted: type) -> list[str]:
    """Return violations about values that are not of the wanted type, int or str."""
    values = [("objective", result["objective"]), ("bound", result["bound"])]
    values += [("trace", value) for point in result["trace"] for value in point[1:]]
    return [
        f"{name}: {value!r} is no {'fraction' if wanted is str else 'integer'}"
        for name, value in values
        if value is not None and (isinstance(value, bool) or not isinstance(value, wanted))
    ]


def beaten(
    result: Mapping[str, Any], features: list[int], value: int | Fraction, sign: int
) -> list[str]:
    """Complain where a known solution is better than the bound says any is."""
    bound = number(result["bound"])
    if bound is None or sign * bound <= sign * value:
        return []
    return [f"bound: {bound} is beyond the value {value} of the features {features}"]


def proof(result: Mapping[str, Any], objective: int | Fraction, sign: int) -> list[str]:
    """Check bound, gap and trace; ``sign`` is 1 where less is better, and else -1."""
    out: list[str] = []
    status, bound = result["status"], number(result["bound"])
    if status == "INFEASIBLE":
        out.append("explanation: an infeasible problem has none")
    if status == "UNKNOWN":
        out.append(f"status: UNKNOWN with a solution of value {objective}")
    if bound is not None and sign * bound > sign * objective:
        out.append(f"bound: {bound} is beyond the value {objective} of the solution")
    if status == "OPTIMAL" and bound != objective:
        out.append(f"status: OPTIMAL with bound {bound} and value {objective}")
    if status == "FEASIBLE" and bound == objective:
        out.append(f"status: FEASIBLE, but the bound {bound} is the value: that is OPTIMAL")
    gap = None
    if bound is not None:
        gap = float(Fraction(abs(objective - bound)) / max(Fraction(1), abs(Fraction(objective))))
    if not out:
        compare(out, "gap", result["gap"], gap)
    points = [(number(value), number(limit)) for _, value, limit in result["trace"]]
    values = [sign * value for value, _ in points if value is not None]
    bounds = [sign * limit for _, limit in points if limit is not None]
    if values != sorted(values, reverse=True) or bounds != sorted(bounds):
        out.append("trace: values must get better and bounds come closer")
    if values and values[-1] < sign * objective:
        out.append(f"trace: ends beyond the value {objective} of the solution")
    return out


# ------------------------------------------------------------------ rules and sentences


def wrong_rule(
    found: Mapping[str, Any],
    names: Mapping[int, str],
    conclusion: str,
    conditions: Sequence[str] | None = (),
    several: Sequence[str] | None = None,
) -> list[str]:
    """Return violations about the rule of an explanation and its text.

    Parameters
    ----------
    found : dict
        The explanation.
    names : dict of int to str
        What each of its features is.
    conclusion : str
    conditions : sequence of str, optional
        The words of the rule where they are not those of its features; None for any.
    several : sequence of str, optional
        Of a set of rules, each one as it is printed.
    """
    rule, out = found["rule"], list[str]()
    compare(out, "rule", rule["literals"], [[j, names[j]] for j in sorted(names)])
    said = rule.get("conditions")
    if said and conditions is not None:
        compare(out, "conditions", said, [*conditions])
    if "conclusion" in rule:
        compare(out, "conclusion", rule["conclusion"], conclusion)
    if several is None:
        if "figures" in rule:
            out.append("figures: only a set of rules has them")
        text = " and ".join(said or (names[j] for j in sorted(names))) or "(always)"
    else:
        text = " or ".join(several) or "(never)"
    if "text" in found:
        compare(out, "text", found["text"], f"{text} => {conclusion}")
    return out


def wrong_sentences(
    found: Mapping[str, Any],
    proved: Sequence[str],
    notes: Sequence[str] | None = (),
    guarantee: str | None = "",
) -> list[str]:
    """Return violations about the sentences of an explanation.

    Parameters
    ----------
    found : dict
        The explanation.
    proved : sequence of str
        Sentences of which any is right.
    notes, guarantee : sequence of str, and str; optional
        None for any.
    """
    out: list[str] = []
    if found.get("proved") and found["proved"] not in proved:
        compare(out, "proved", found["proved"], proved[0])
    if found.get("notes") and notes is not None:
        compare(out, "notes", found["notes"], [*notes])
    if found.get("guarantee") and guarantee is not None:
        compare(out, "guarantee", found["guarantee"], guarantee)
    return out


def names_of(instance: Mapping[str, Any]) -> list[str]:
    """Return the names of the features of samples."""
    return list(instance.get("features") or map("x{}".format, range(len(instance["samples"][0]))))


def class_name(instance: Mapping[str, Any], unnamed: object) -> str:
    """Return what the class is called; one that is a number is called a class."""
    name = str(instance.get("context", {}).get("class", unnamed))
    digits = name.lstrip("-").replace(".", "", 1)
    return f"class {name}" if digits.isdigit() else name


def percent(share: Fraction) -> str:
    """Return a share in percent where few digits are enough, else as a fraction."""
    text = f"{float(100 * share):g}"
    return f"{text} %" if Fraction(text) == 100 * share else str(share)


def plural(n: int, what: str) -> str:
    """Return a number of things."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def having(what: str, parts: Sequence[str]) -> str:
    """Return what has all of these properties."""
    return f"{what} that {' and '.join(parts)}" if parts else what


def broken_by(instance: Mapping[str, Any]) -> Callable[[Iterable[int]], list[str]]:
    """Return what says of a set which side constraints of an instance it breaks.

    One of which only the text is known, as in a file written by hand that was not saved again,
    is not taken to hold.

    Examples
    --------
    >>> either = {"terms": [[1, [0]], [1, [1, 2]]], "at_least": 1}
    >>> broken = broken_by({"where": [{"text": "a or b", "means": [either]}]})
    >>> broken([2]), broken([3])
    ([], ["where: 'a or b' does not hold"])
    """
    constraints = instance.get("where") or []

    def broken(chosen: Iterable[int]) -> list[str]:
        there = set(chosen)
        return [
            f"where: {shown(constraint['text'])} does not hold"
            for constraint in constraints
            if "means" not in constraint
            or not all(_holds(linear, there) for linear in constraint["means"])
        ]

    return broken


def kept_words(instance: Mapping[str, Any]) -> list[str]:
    """Return what is said of the answers that compete: nothing without side constraints."""
    return [KEEPS] if instance.get("where") else []


def _holds(linear: Mapping[str, Any], there: set[int]) -> bool:
    total = 0
    for factor, any_of in linear["terms"]:
        if not there.isdisjoint(any_of):
            total += factor
    return bool(total >= linear["at_least"])
