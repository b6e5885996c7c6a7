"""What every kind of answer must keep: bound, gap, trace, types of values."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

__all__ = ["beaten", "compare", "number", "proof", "wrong_features", "wrong_types"]


def compare(out: list[str], what: str, said: object, given: object) -> None:
    """Add a complaint when the result says something else than the data."""
    if said != given:
        out.append(f"{what}: the result says {said}, the data give {given}")


def number(value: Any) -> Any:
    """Return a saved value: a string is a fraction."""
    return Fraction(value) if isinstance(value, str) else value


def wrong_features(features: list[int], d: int) -> list[str]:
    """Return complaints about features that are no different indices below d."""
    if any(isinstance(j, bool) or not isinstance(j, int) or not 0 <= j < d for j in features):
        return [f"features: {features} are not all indices from 0 to {d - 1}"]
    if len(features) != len(set(features)):
        return [f"features: {features} names a feature twice"]
    return []


def wrong_types(result: Mapping[str, Any], wanted: type) -> list[str]:
    """Return complaints about values that are not of the wanted type, int or str."""
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
    if bound is not None and sign * bound > sign * objective:
        out.append(f"bound: {bound} is beyond the value {objective} of the solution")
    if status == "OPTIMAL" and bound != objective:
        out.append(f"status: OPTIMAL with bound {bound} and value {objective}")
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
