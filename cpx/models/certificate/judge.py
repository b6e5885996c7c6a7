"""Judges answers about minimum certificates: features that leave little of another class."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from cpx.check.claims import (
    broken_by,
    class_name,
    compare_shares,
    names_of,
    wrong_figures,
    wrong_rule,
)
from cpx.models.sufficient_reason import judge_minimum_subset as minimum_subset

KINDS = ("min-certificate",)
"""Kinds of problem that are judged here."""


def judge(instance: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it."""
    rows, parameters = instance["samples"], instance["parameters"]
    weights = instance.get("weights") or [1] * len(rows)
    same = [label == "1" for label in instance["labels"]]
    tolerated: Fraction = Fraction(parameters["epsilon"]) * sum(weights)
    names, called = names_of(instance), class_name(instance)

    def covered(chosen: frozenset[int]) -> list[int]:
        return [i for i, row in enumerate(rows) if all(row[j] == "1" for j in chosen)]

    def enough(chosen: frozenset[int]) -> bool:
        wrong: int = sum(weights[i] for i in covered(chosen) if not same[i])
        return bool(wrong <= tolerated)

    data = minimum_subset.MinimumSubset(
        list(parameters.get("weights") or [1] * len(rows[0])),
        set(parameters.get("required", ())),
        set(parameters.get("forbidden", ())),
        enough,
        broken_by(instance),
    )

    def judged(result: Mapping[str, Any]) -> list[str]:
        out = minimum_subset.violations(data, result)
        found = result["explanation"]
        if found is None or out:
            return out
        inside = covered(frozenset(found["features"]))
        weight = sum(weights[i] for i in inside)
        right = sum(weights[i] for i in inside if same[i])
        precision = Fraction(right, weight) if weight else None
        compare_shares(out, found, precision, Fraction(weight, sum(weights)))
        out += wrong_rule(found, {j: names[j] for j in found["features"]}, called)
        figures = {
            "disagreeing": weight - right,
            "tolerated": math.floor(tolerated),
            "total": sum(weights),
        }
        return out + wrong_figures(found, figures)

    return judged
