"""Minimum subsets that are enough: what their checks share, and that of certificates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cpx.check.claims import (
    UNDECIDED,
    broken_by,
    class_name,
    compare,
    compare_shares,
    having,
    kept_words,
    names_of,
    nothing_found,
    percent,
    plural,
    proof,
    wrong_features,
    wrong_rule,
    wrong_sentences,
    wrong_types,
)


@dataclass(frozen=True)
class MinimumSubset:
    """What an answer is judged by.

    Attributes
    ----------
    weights : list of n integers
    required, forbidden : set of int
    side : callable
        Says of a set which side constraints it breaks.
    enough : callable
        Says of a set whether it is enough; None when that could not be decided.
    """

    weights: list[int]
    required: set[int]
    forbidden: set[int]
    enough: Callable[[frozenset[int]], bool | None]
    side: Callable[[Iterable[int]], list[str]]


def violations(data: MinimumSubset, result: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a result, apart from its words."""
    status, found = result["status"], result["explanation"]
    out: list[str] = []
    if status == "INFEASIBLE":
        most = frozenset(range(len(data.weights))) - data.forbidden
        if not data.required & data.forbidden and not data.side(most):
            # Every set that is enough is contained in this one, which then is so too.
            out += _sufficiency(data.enough(most), wanted=False)
    if found is None:
        return out + nothing_found(result)
    out += _broken(data, found["features"]) + wrong_types(result, int)
    if out:
        return out
    chosen = frozenset(found["features"])
    objective = sum(data.weights[j] for j in chosen)
    compare(out, "objective", result["objective"], objective)
    out += _sufficiency(data.enough(chosen), wanted=True)
    if status == "OPTIMAL" and not out:
        idle = [
            j
            for j in sorted(chosen - data.required)
            if not data.side(chosen - {j}) and data.enough(chosen - {j})
        ]
        if idle:
            out.append(f"status: OPTIMAL, but the feature {idle[0]} can be left out")
    return out + proof(result, objective, 1)


def _broken(data: MinimumSubset, features: list[int]) -> list[str]:
    if out := wrong_features(features, len(data.weights)):
        return out
    if missing := sorted(data.required - {*features}):
        out.append(f"features: the required {missing} are not chosen")
    if present := sorted(data.forbidden & {*features}):
        out.append(f"features: the forbidden {present} are chosen")
    return out + data.side(features)


def _sufficiency(enough: bool | None, wanted: bool) -> list[str]:
    if enough is None:
        return [UNDECIDED]
    if enough == wanted:
        return []
    if wanted:
        return ["sufficiency: the features are not enough"]
    return ["status: INFEASIBLE, but all features that are allowed are enough together"]


def of_least_weight(
    instance: Mapping[str, Any], result: Mapping[str, Any], what: str, unit: str
) -> str:
    """Return what was proved of a minimum subset: what it is called, and what its features are."""
    parameters, size = instance["parameters"], len(result["explanation"]["features"])
    parts = ["has what is required"] * bool(parameters.get("required"))
    parts += ["has nothing forbidden"] * bool(parameters.get("forbidden"))
    parts += kept_words(instance)
    rival, weighted = having(what, parts), bool(parameters.get("weights"))
    told = plural(size, unit) + f" of weight {result['objective']}" * weighted
    if result["status"] == "OPTIMAL":
        return f"{told}, minimum: no {rival} is {'lighter' if weighted else 'smaller'}"
    if result["bound"] is None:
        return f"{told}, without a bound"
    measure = "weight" if weighted else "size"
    least = f"every {rival} has at least {measure} {result['bound']}"
    return f"{told}, not proved minimum: {least}"


KINDS = ("min-certificate",)
"""Kinds of problem that are judged here."""


def judge(instance: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it."""
    rows, parameters = instance["samples"], instance["parameters"]
    weights = instance.get("weights") or [1] * len(rows)
    same = [label == "1" for label in instance["labels"]]
    tolerated: Fraction = Fraction(parameters["epsilon"]) * sum(weights)
    names, called = names_of(instance), class_name(instance, "same class as x")
    share = percent(Fraction(parameters["epsilon"]))
    what = f"certificate on these samples with at most {share} disagreeing"

    def covered(chosen: frozenset[int]) -> list[int]:
        return [i for i, row in enumerate(rows) if all(row[j] == "1" for j in chosen)]

    def enough(chosen: frozenset[int]) -> bool:
        wrong: int = sum(weights[i] for i in covered(chosen) if not same[i])
        return bool(wrong <= tolerated)

    data = MinimumSubset(
        list(parameters.get("weights") or [1] * len(rows[0])),
        set(parameters.get("required", ())),
        set(parameters.get("forbidden", ())),
        enough,
        broken_by(instance),
    )

    def judged(result: Mapping[str, Any]) -> list[str]:
        out = violations(data, result)
        found = result["explanation"]
        if found is None or out:
            return out
        inside = covered(frozenset(found["features"]))
        weight = sum(weights[i] for i in inside)
        right = sum(weights[i] for i in inside if same[i])
        precision = Fraction(right, weight) if weight else None
        compare_shares(out, found, precision, Fraction(weight, sum(weights)))
        out += wrong_rule(found, {j: names[j] for j in found["features"]}, called)
        proved = of_least_weight(instance, result, what, "condition")
        note = (
            f"on the samples: {weight - right} of {sum(weights)} are covered and have another "
            f"class, {math.floor(tolerated)} tolerated; nothing is said of other rows"
        )
        return out + wrong_sentences(found, [proved], [note])

    return judged
