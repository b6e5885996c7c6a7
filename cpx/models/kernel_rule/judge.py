"""The check of rules of kernel machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from cpx.support.one_thread import one_thread

KINDS = ("kernel-rule",)
"""Kinds of problem that are judged here."""


def judge(instance: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it."""
    rows, weights, parameters = instance["samples"], instance["weights"], instance["parameters"]
    clauses, literals = parameters["max_clauses"], parameters["max_literals"]
    m, d = len(rows), len(rows[0])
    names, called = names_of(instance), class_name(instance, "positive")
    most = sum(weight for weight in weights if weight > 0)
    side = broken_by(instance)

    def counts(covered: list[bool], sign: int) -> list[int]:
        side = [held for held, w in zip(covered, weights, strict=True) if w * sign > 0]
        return [sum(side), len(side)]

    def violations(result: Mapping[str, Any]) -> list[str]:
        status, found = result["status"], result["explanation"]
        if status == "INFEASIBLE" and any(not side([j]) for j in range(d)):
            return ["status: INFEASIBLE, but a formula of one feature is allowed"]
        if found is None:
            return nothing_found(result)
        features = found["features"]
        out = wrong_features(features, clauses * d) + wrong_types(result, int)
        if out:
            return out
        slots = [tuple(j % d for j in sorted(features) if j // d == t) for t in range(clauses)]
        rule = sorted({clause for clause in slots if clause})
        if not rule:
            return ["features: the rule has no clause"]
        if any(len(clause) > literals for clause in rule):
            out.append(f"features: a clause has more than {literals}")
        out += side(features)
        covered = [any(all(row[j] == "1" for j in clause) for clause in rule) for row in rows]
        value = sum(weight for inside, weight in zip(covered, weights, strict=True) if inside)
        compare(out, "objective", result["objective"], value)
        out += proof(result, value, -1)
        if result["bound"] is not None and value == most and status != "OPTIMAL":
            out.append(f"status: {status}, but no rule has more than {most}")
        if result["bound"] is not None and m * d * d <= _MOST_PRODUCTS:
            other, weight = _small_rule(rows, weights, literals)
            out += [] if side(other) else beaten(result, other, weight, -1)
        compare_shares(out, found, None, None)
        named = [[names[j] for j in clause] for clause in rule]
        if not found["rule"].get("conditions"):
            out.append("conditions: missing, without them the clauses are joined by 'and'")
        out += wrong_rule(found, {j: names[j % d] for j in features}, called, [named])
        figures = {"positive": counts(covered, 1), "negative": counts(covered, -1), "most": most}
        return out + wrong_figures(found, figures)

    return violations


_MOST_PRODUCTS = 5 * 10**7
"""Work on refuting a bound: products of bits."""


def _small_rule(rows: list[str], weights: list[int], literals: int) -> tuple[list[int], int]:
    """Return the best rule of one clause of one or two features, and its weight."""
    bits = np.array([[char == "1" for char in row] for row in rows], dtype=np.float64)
    # Sums stay below 2**53: floats are exact.
    with one_thread():
        worth = (bits.T * np.array(weights, dtype=np.float64)) @ bits
    pairs = np.triu(np.ones_like(worth, dtype=np.bool_)) if literals > 1 else np.eye(len(worth))
    at = np.unravel_index(np.where(pairs, worth, -np.inf).argmax(), worth.shape)
    return sorted({int(j) for j in at}), int(worth[at])
