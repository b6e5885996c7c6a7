"""Minimum subsets that are enough: what their judges share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cpx.check.claims import (
    UNDECIDED,
    compare,
    nothing_found,
    proof,
    wrong_features,
    wrong_types,
)


@dataclass(frozen=True)
class MinimumSubset:
    """What an answer is judged by.

    side: Says of a set which side constraints it breaks.
    enough: Says of a set whether it is enough; None when that could not be decided.
    """

    weights: list[int]
    required: set[int]
    forbidden: set[int]
    enough: Callable[[frozenset[int]], bool | None]
    side: Callable[[Iterable[int]], list[str]]


def violations(data: MinimumSubset, result: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a result, apart from its rule and what is claimed of it."""
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
