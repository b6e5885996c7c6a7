"""Judges answers about certificates of a given error: few features, a precise rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from cpx.check.claims import (
    beaten,
    broken_by,
    class_name,
    compare,
    compare_shares,
    names_of,
    nothing_found,
    proof,
    wrong_features,
    wrong_figures,
    wrong_rule,
    wrong_types,
)

_MOST_TRIED = 10**8
"""Cells of the table that are looked at for a smaller certificate."""


def judge(instance: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it."""
    rows, parameters = instance["samples"], instance["parameters"]
    agrees = np.array([[bit == "1" for bit in row] for row in rows], dtype=bool)
    m, d = agrees.shape
    weights = np.array(instance.get("weights") or [1] * m, dtype=object)
    same = np.array([label == "1" for label in instance["labels"]], dtype=bool)
    epsilon = Fraction(parameters["epsilon"])
    required = set(parameters.get("required", ()))
    forbidden = set(parameters.get("forbidden", ()))
    side, names, called = broken_by(instance), names_of(instance), class_name(instance)

    def sums(features: list[int]) -> tuple[int, int]:
        covered = agrees[:, features].all(axis=1)
        return int(weights[covered].sum()), int(weights[covered & ~same].sum())

    def broken(features: list[int]) -> list[str]:
        out = list[str]()
        if missing := sorted(required - {*features}):
            out.append(f"features: the required {missing} are not chosen")
        if present := sorted(forbidden & {*features}):
            out.append(f"features: the forbidden {present} are chosen")
        out += side(features)
        weight, wrong = sums(features)
        if weight == 0:
            out.append("coverage: nothing is covered")
        elif wrong > epsilon * weight:
            out.append(f"error: {wrong} of {weight}, at most {epsilon} wanted")
        return out

    def smaller(size: int) -> list[int] | None:
        """Return a certificate of fewer features, of at most two free ones, or all of them."""
        free = [j for j in range(d) if j not in required | forbidden]
        tried = 0
        for more in range(3):
            if len(required) + more >= size:
                return None
            for some in combinations(free, more):
                if not broken(chosen := sorted({*required, *some})):
                    return chosen
                if (tried := tried + m * max(len(chosen), 1)) > _MOST_TRIED:
                    return None
        return None

    def judged(result: Mapping[str, Any]) -> list[str]:
        found = result["explanation"]
        out = list[str]()
        if result["status"] == "INFEASIBLE":
            every = [j for j in range(d) if j not in forbidden]
            if not broken(every) or smaller(d + 1) is not None:
                out.append("status: INFEASIBLE, but the constraints have a solution")
        if found is None:
            return out + nothing_found(result)
        if out := out + (wrong_features(found["features"], d) or broken(found["features"])):
            return out
        if out := wrong_types(result, int):
            return out
        features = found["features"]
        compare(out, "objective", result["objective"], len(features))
        out += proof(result, len(features), 1)
        if result["bound"] is not None and (rival := smaller(len(features))) is not None:
            out += beaten(result, rival, len(rival), 1)
        weight, wrong = sums(features)
        total = int(weights.sum())
        compare_shares(out, found, Fraction(weight - wrong, weight), Fraction(weight, total))
        out += wrong_rule(found, {j: names[j] for j in features}, called)
        return out + wrong_figures(
            found, {"covered": weight, "disagreeing": wrong, "total": total}
        )

    return judged
