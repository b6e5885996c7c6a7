"""Checks shared by all kinds of answers: bound, trace, rule text, sentences, side constraints.

Each sentence is written here a second time, from the instance and from what it means. One that is
left out says nothing wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from cpx.check.result_fields import shown

KEEPS = "keeps the side constraints"

UNDECIDED = "not decided within the time the checker has"
"""What is said where the checker gives up: neither a confirmation nor a failure."""

_LONGEST = 200


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
    guarantee: str | Sequence[str] | None = "",
) -> list[str]:
    """Return violations about the sentences of an explanation.

    Parameters
    ----------
    found : dict
        The explanation.
    proved : sequence of str
        Sentences of which any is right.
    notes : sequence of str, optional
        None for any.
    guarantee : str or sequence of str, optional
        Sentences of which any is right; None for any.
    """
    out: list[str] = []
    if found.get("proved") and found["proved"] not in proved:
        compare(out, "proved", found["proved"], proved[0])
    if found.get("notes") and notes is not None:
        compare(out, "notes", found["notes"], [*notes])
    right = [guarantee] if isinstance(guarantee, str) else guarantee
    if found.get("guarantee") and right is not None and found["guarantee"] not in right:
        compare(out, "guarantee", found["guarantee"], right[0])
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


def significant(value: Fraction | float, digits: int) -> str:
    """Return a number in some digits, or more where it would read as an integer and is none."""
    text = f"{float(value):.{digits}g}"
    while digits < 17 and float(text).is_integer() and float(text) != value:
        digits += 1
        text = f"{float(value):.{digits}g}"
    return text


def at_most(value: Fraction, digits: int) -> str:
    """Return a number in some digits that is no less."""
    up = Context(prec=digits, rounding=ROUND_CEILING)
    return f"{float(up.divide(Decimal(value.numerator), Decimal(value.denominator))):.{digits}g}"


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
