"""Answers to smallest certificates on samples, from the saved instance alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from cpx.check import minimum_subset as smallest
from cpx.check.proof import compare

__all__ = ["judge"]


def judge(instance: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it."""
    rows, parameters = instance["samples"], instance["parameters"]
    weights = instance.get("weights") or [1] * len(rows)
    same = [label == "1" for label in instance["labels"]]
    tolerated: Fraction = Fraction(parameters["epsilon"]) * sum(weights)
    names = instance.get("features")

    def covered(chosen: frozenset[int]) -> list[int]:
        return [i for i, row in enumerate(rows) if all(row[j] == "1" for j in chosen)]

    def enough(chosen: frozenset[int]) -> bool:
        wrong: int = sum(weights[i] for i in covered(chosen) if not same[i])
        return bool(wrong <= tolerated)

    data = smallest.Smallest(
        list(parameters.get("weights") or [1] * len(rows[0])),
        set(parameters.get("required", ())),
        set(parameters.get("forbidden", ())),
        enough,
    )

    def complaints(result: Mapping[str, Any]) -> list[str]:
        out = smallest.complaints(data, result)
        found = result["explanation"]
        if found is None or out:
            return out
        inside = covered(frozenset(found["features"]))
        weight = sum(weights[i] for i in inside)
        right = sum(weights[i] for i in inside if same[i])
        figures = {
            "precision": Fraction(right, weight) if weight else None,
            "coverage": Fraction(weight, sum(weights)),
        }
        for what, given in figures.items():
            said = found.get(what)
            compare(out, what, None if said is None else Fraction(said), given)
        for j, text in found["rule"]["literals"]:
            if names:
                compare(out, f"literal {j}", text, names[j])
        return out

    return complaints
