"""Rules of a kernel machine from a table, against brute force over all clauses."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cpx.errors import CpxError
from cpx.models.kernel_rule.boolean_kernels import extract_rules

_ROWS = 40


def _table(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"size": rng.integers(0, 6, _ROWS), "tint": rng.choice(list("rgb"), _ROWS)})
    y = ((X["size"] > 3) & (X["tint"] != "g")) ^ (rng.random(_ROWS) < 0.25)
    return X, np.where(y, "in", "out")


def _truth(name: str, X: pd.DataFrame) -> np.ndarray:
    """Which rows a literal is true of, read from its words."""
    column, sign, value = name.split()
    if column == "tint":
        return np.asarray((X["tint"] == value) == (sign == "="))
    return np.asarray((X["size"] <= float(value)) == (sign == "<="))


@pytest.mark.parametrize("seed", range(4))
def test_each_rule_weighs_the_most_at_its_turn(seed: int) -> None:
    X, y = _table(seed)
    found = extract_rules(X, y, n_rules=3, max_clauses=1, max_literals=2, positive="in")
    truth = np.column_stack([_truth(name, X) for name in found.features])
    assert (truth.sum(axis=1) == truth.shape[1] / 2).all(), "each row has as many true literals"
    called = found.machine_predicts(X)
    rows, weights = found.machine.rows, found.machine.weights
    left, uncovered = set(range(len(rows))), np.ones(_ROWS, dtype=bool)
    pairs = [c for r in (1, 2) for c in combinations(range(len(found.features)), r)]
    for turn in range(3):
        sums = {c: sum((weights[i] for i in left if rows[i, c].all()), Fraction(0)) for c in pairs}
        most = {"in": max(sums.values()), "out": -min(sums.values())}
        if turn == len(found.rules):
            assert _no_other(most, sums, truth, called, uncovered)
            break
        rule = found.rules[turn]
        assert rule.found.proved
        # Weights are rounded for the engine; the weight itself is exact.
        assert most[rule.label] - rule.found.weight < Fraction(1, 10**5)
        (clause,) = rule.found.rule
        assert rule.found.weight == sums[clause] * (1 if rule.label == "in" else -1)
        if turn == 0:
            assert rule.found.weight >= max(most.values()) - Fraction(1, 10**5)
        own = truth[:, clause].all(axis=1) & uncovered
        assert (rule.covered, rule.agreeing) == (own.sum(), (called[own] == rule.label).sum())
        left -= {i for i in left if rows[i, clause].all()}
        uncovered &= ~own
    expected = np.full(_ROWS, found.otherwise, dtype=object)
    for rule in reversed(found.rules):
        expected[truth[:, rule.found.rule[0]].all(axis=1)] = rule.label
    assert (found.predict(X) == expected).all()
    assert found.fidelity(X) == (expected == called).mean()


def _no_other(
    most: dict[str, Fraction],
    sums: dict[tuple[int, ...], Fraction],
    truth: np.ndarray,
    called: np.ndarray,
    uncovered: np.ndarray,
) -> bool:
    """Whether the rules of maximum weight have none, or mislead."""
    for label, weight in most.items():
        sign = 1 if label == "in" else -1
        tied = [c for c, value in sums.items() if weight - sign * value < Fraction(1, 10**5)]
        rows = [called[truth[:, c].all(axis=1) & uncovered] == label for c in tied]
        if weight > 0 and all(2 * own.sum() > len(own) for own in rows):
            return False
    return True


def test_one_rule_is_for_the_positive_class() -> None:
    X, y = _table(0)
    found = extract_rules(X, y, max_clauses=2, max_literals=2, positive="out")
    assert [rule.label for rule in found.rules] == ["out"]
    assert found.otherwise == "in"
    assert str(found).splitlines()[-1] == "otherwise in"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"n_rules": 0}, "n_rules"),
        ({"cost": 0}, "cost must be greater than 0"),
        ({"max_literals": 0}, "max_literals"),
        ({"positive": "on"}, "positive must be one of"),
        ({"y": ["a"] * _ROWS}, "y must have two classes, it has 1"),
        ({"y": ["a"]}, "y must have 40 labels"),
        ({"time_limit": 0}, "time_limit"),
        ({"X": np.zeros((10_001, 1)), "y": [0, *[1] * 10_000]}, "at most 10000 rows"),
    ],
)
def test_bad_input(more: dict[str, Any], message: str) -> None:
    X, y = _table(0)
    asked: dict[str, Any] = {"X": X, "y": y} | more
    with pytest.raises(CpxError, match=message):
        extract_rules(**asked)
