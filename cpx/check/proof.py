"""What every kind of answer must keep: bound, gap, trace, types of values."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

__all__ = [
    "beaten",
    "compare",
    "compare_shares",
    "nothing_found",
    "number",
    "proof",
    "wrong_features",
    "wrong_types",
]

_LONGEST = 200


def compare(out: list[str], what: str, said: object, given: object) -> None:
    """Add a complaint when the result says something else than the data."""
    if said != given:
        out.append(f"{what}: the result says {_cut(said)}, the data give {_cut(given)}")


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def nothing_found(result: Mapping[str, Any]) -> list[str]:
    """Return complaints about a result that has no solution, whatever its problem is."""
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
    """Return complaints about features that are no different indices below d."""
    if any(isinstance(j, bool) or not isinstance(j, int) or not 0 <= j < d for j in features):
        return [f"features: {_cut(features)} are not all indices from 0 to {d - 1}"]
    if len(features) != len(set(features)):
        return [f"features: {_cut(features)} names a feature twice"]
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
