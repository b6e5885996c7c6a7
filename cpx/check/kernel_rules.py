"""Answers to rules of kernel machines, from the saved instance alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cpx.check.proof import beaten, compare, proof, wrong_features, wrong_types

__all__ = ["judge"]


def judge(instance: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it."""
    rows, weights, parameters = instance["samples"], instance["weights"], instance["parameters"]
    clauses, literals = parameters["max_clauses"], parameters["max_literals"]
    m, d = len(rows), len(rows[0])
    names = instance.get("features")

    def complaints(result: Mapping[str, Any]) -> list[str]:
        status, found = result["status"], result["explanation"]
        if status == "INFEASIBLE":
            return ["status: INFEASIBLE, but every formula of one feature is allowed"]
        if found is None:
            if status in ("OPTIMAL", "FEASIBLE"):
                return [f"status: {status} without an explanation"]
            return []
        features = found["features"]
        out = wrong_features(features, clauses * d) + wrong_types(result, int)
        if out:
            return out
        rule = [[j % d for j in features if j // d == t] for t in range(clauses)]
        rule = [clause for clause in rule if clause]
        if not rule:
            out.append("features: the rule has no clause")
        if any(len(clause) > literals for clause in rule):
            out.append(f"features: a clause has more than {literals}")
        value = sum(
            weight
            for row, weight in zip(rows, weights, strict=True)
            if any(all(row[j] == "1" for j in clause) for clause in rule)
        )
        compare(out, "objective", result["objective"], value)
        literals_said = found.get("rule", {}).get("literals", [])
        compare(out, "rule", [j for j, _ in literals_said], sorted(features))
        if names is not None:
            for j, text in literals_said:
                compare(out, f"literal {j}", text, names[j % d])
        out += proof(result, value, -1)
        if result["bound"] is not None and m * d * d <= _MOST_PRODUCTS:
            out += beaten(result, *_small_rule(rows, weights, literals), -1)
        return out

    return complaints


_MOST_PRODUCTS = 5 * 10**7
"""Work on refuting a bound: products of bits."""


def _small_rule(rows: list[str], weights: list[int], literals: int) -> tuple[list[int], int]:
    """Return the best rule of one clause of one or two features, and its weight."""
    bits = np.array([[char == "1" for char in row] for row in rows], dtype=np.float64)
    # Sums stay below 2**53: floats are exact.
    worth = (bits.T * np.array(weights, dtype=np.float64)) @ bits
    pairs = np.triu(np.ones_like(worth, dtype=np.bool_)) if literals > 1 else np.eye(len(worth))
    at = np.unravel_index(np.where(pairs, worth, -np.inf).argmax(), worth.shape)
    return sorted({int(j) for j in at}), int(worth[at])
