"""Checks shared by all kinds of answers: bound, trace, rule, what is claimed, side constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from cpx.check.result_fields import shown

UNDECIDED = "not decided within the time the checker has"
"""What is said where the checker gives up: neither a confirmation nor a failure."""

_LONGEST = 200


def compare(out: list[str], what: str, said: object, given: object) -> None:
    """Add a violation when the result says something else than the data."""
    if said != given:
        out.append(f"{what}: the result says {_cut(said)}, the data give {_cut(given)}")


def _cut(value: object) -> str:
    try:
        text = str(value)
    except (RecursionError, ValueError):
        return shown(value)
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
    means: Mapping[int, object] | Callable[[int, Any], bool],
    conclusion: str,
    conditions: Sequence[object] | None = (),
    a_set: bool = False,
) -> list[str]:
    """Return violations about the rule of an explanation.

    Words of files of earlier versions, where there are data now, are not looked at.

    found: The explanation.
    means: What each of its features is, or what says whether a condition is that of a feature.
    conditions: Its conditions where they are not its features; None for any.
    a_set: Whether it is a set of rules, which has figures of each.
    """
    rule, out = found["rule"], list[str]()
    chosen, said = sorted(found["features"]), rule["literals"]
    if [j for j, _ in said] != chosen:
        compare(out, "rule", said, chosen)
    for j, condition in said if not out else ():
        if callable(means):
            if not isinstance(condition, str) and not means(j, condition):
                out.append(f"rule: {shown(condition)} is not what feature {j} says")
        elif _differ(condition, means[j]):
            compare(out, "rule", [j, condition], [j, means[j]])
    given = rule.get("conditions")
    if (
        given
        and conditions is not None
        and (len(given) != len(conditions) or any(map(_differ, given, conditions)))
    ):
        compare(out, "conditions", given, [*conditions])
    if "conclusion" in rule:
        compare(out, "conclusion", rule["conclusion"], conclusion)
    if "figures" in rule and not a_set:
        out.append("figures: only a set of rules has them")
    return out


def _differ(said: object, meant: object) -> bool:
    """Whether a condition is another one; of words where there are data now, nothing is known."""
    return said != meant and not (isinstance(said, str) and not isinstance(meant, str))


def wrong_claim(
    instance: Mapping[str, Any], result: Mapping[str, Any], more: Sequence[str]
) -> list[str]:
    """Return violations about what is claimed of an explanation, but for its figures.

    more: What can be claimed of such answers besides: ``best_of_ties``, ``beyond``.
    """
    claim, out = result["explanation"].get("claim"), list[str]()
    if claim is None:
        return out
    compare(out, "claim: problem", claim["problem"], instance["problem"])
    compare(out, "claim: over", claim["over"], competing(instance))
    # Which the result says, and a claim that is part of none.
    shared = {
        "optimal": result["status"] == "OPTIMAL",
        "value": result["objective"],
        "bound": result["bound"],
        "statement": result.get("statement") or {},
    }
    for name in shared.keys() & claim.keys():
        compare(out, f"claim: {name}", claim[name], shared[name])
    if claim.get("best_of_ties") and result["status"] != "OPTIMAL":
        out.append("claim: best_of_ties is said of an optimum only")
    unknown = [name for name in ("best_of_ties", "beyond") if claim.get(name) and name not in more]
    return out + [f"claim: {name} says nothing of this kind of problem" for name in unknown]


def wrong_figures(found: Mapping[str, Any], figures: Mapping[str, Any]) -> list[str]:
    """Return violations about the figures of a claim, which are these by the data."""
    out, said = list[str](), (found.get("claim") or {"figures": figures})["figures"]
    for name in {**figures, **said}:
        compare(out, f"claim: {name}", said.get(name), figures.get(name))
    return out


def competing(instance: Mapping[str, Any]) -> dict[str, Any]:
    """Return which answers compete: parameters that say something, lists as their lengths."""
    given = {**instance["parameters"], "where": instance.get("where") or []}
    return {
        name: len(value) if isinstance(value, list) else value
        for name, value in given.items()
        if value not in (None, []) and value is not False
    }


def names_of(instance: Mapping[str, Any]) -> list[str]:
    """Return the names of the features of samples."""
    return list(instance.get("features") or map("x{}".format, range(len(instance["samples"][0]))))


def class_name(instance: Mapping[str, Any], unnamed: object = "") -> str:
    """Return what the class is called; empty where nothing says it."""
    return str(instance.get("context", {}).get("class", unnamed))


def significant(value: Fraction | float, digits: int) -> str:
    """Return a number in some digits, or more where it would read as an integer and is none."""
    text = f"{float(value):.{digits}g}"
    while digits < 17 and float(text).is_integer() and float(text) != value:
        digits += 1
        text = f"{float(value):.{digits}g}"
    return text


def broken_by(instance: Mapping[str, Any]) -> Callable[[Iterable[int]], list[str]]:
    """Return what says of a set which side constraints of an instance it breaks.

    One of which only the text is known, as in a file written by hand that was not saved again,
    is not taken to hold.

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


def _holds(linear: Mapping[str, Any], there: set[int]) -> bool:
    total = 0
    for factor, any_of in linear["terms"]:
        if not there.isdisjoint(any_of):
            total += factor
    return bool(total >= linear["at_least"])
