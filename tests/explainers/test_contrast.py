"""Smallest changes to another class, against all changes of all columns."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.models.sufficient_reason.methods import smallest_change
from cpx.models.sufficient_reason.sufficiency.oracle import Stopped

ROWS, Y = load_iris(return_X_y=True)
TREE = DecisionTreeClassifier(random_state=0).fit(ROWS, Y)
CUTS = {
    j: sorted({t for f, t in zip(TREE.tree_.feature, TREE.tree_.threshold) if f == j})
    for j in range(4)
}
# One value below, between and above all thresholds of a column.
VALUES = {
    j: [c - 0.01 for c in cuts] + [cuts[-1] + 0.01] if cuts else [0.0] for j, cuts in CUTS.items()
}


def least(row: np.ndarray, weights: list[int], frozen: set[int]) -> int | None:
    """Return the least weight of columns whose change gives another class, trying all."""
    own = TREE.predict(row[None, :])[0]
    costs = []
    for size in range(1, 5):
        for columns in combinations(sorted({0, 1, 2, 3} - frozen), size):
            changed = np.array(
                [
                    [dict(zip(columns, new)).get(j, row[j]) for j in range(4)]
                    for new in product(*(VALUES[j] for j in columns))
                ]
            )
            if (TREE.predict(changed) != own).any():
                costs.append(sum(weights[j] for j in columns))
    return min(costs, default=None)


@pytest.mark.parametrize("seed", range(6))
def test_no_cheaper_change_gives_another_class(seed: int) -> None:
    rng = np.random.default_rng(seed)
    explainer = cpx.Explainer(TREE, ROWS)
    for i in rng.choice(len(ROWS), 3, replace=False):
        weights = rng.integers(1, 4, 4).tolist()
        frozen = {int(j) for j in rng.choice(4, rng.integers(0, 3), replace=False)}
        optimum = least(ROWS[i], weights, frozen)
        asked = {"weights": weights, "frozen": sorted(frozen)}
        if optimum is None:
            none = explainer.contrast(ROWS[i], **asked)
            assert "no change of the columns that may change" in none.why
            continue
        found = explainer.contrast(ROWS[i], **asked)
        assert found.result.objective == optimum
        assert found.result.proved
        assert found.result.verified
        assert found.bound_checked
        assert "the value, recomputed from the data, and the bound" in str(found.result)
        assert not {literal.feature for literal in found.rule.literals} & frozen


@pytest.mark.parametrize("asked", [{}, {"target": 2}, {"frozen": [2], "weights": {0: 3}}], ids=str)
def test_a_change_from_the_table_where_the_search_has_no_time(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any]
) -> None:
    def stopped(search: object) -> None:
        raise Stopped

    explainer = cpx.Explainer(TREE, ROWS)
    for i in (3, 60, 77):
        optimum = explainer.contrast(ROWS[i], **asked).result.objective
        with monkeypatch.context() as patched:
            # As in a forest of half a million leaves, which takes the limit to prepare.
            patched.setattr(smallest_change, "_MANY_LEAVES", 0)
            patched.setattr(smallest_change._Search, "run", stopped)
            found = explainer.contrast(ROWS[i], **asked)
        assert found.result.status == "FEASIBLE"
        assert found.result.bound <= optimum <= found.result.objective
        assert found.result.objective == sum(
            asked.get("weights", {}).get(j, 1) for j in found.features
        )
        row = ROWS[i].copy()
        for j in found.features:
            row[j] = found.values[f"x{j}"]
        given = TREE.predict(row[None])[0]
        assert given != TREE.predict(ROWS[i : i + 1])[0]
        assert given == asked.get("target", given)
        assert not {*asked.get("frozen", ())} & {*found.features}
