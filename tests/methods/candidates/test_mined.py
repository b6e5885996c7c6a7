"""Anchors and association rules against all conjunctions there are."""

from __future__ import annotations

import sys
from itertools import combinations
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from cpx.errors import DataError, EngineMissing, InvalidOption
from cpx.models.rule_set.methods.candidates import Literals, anchors, association_rules


@pytest.fixture
def literals() -> Literals:
    features = np.random.default_rng(1).random((80, 5)) < 0.5
    return Literals(features, tuple(text for b in "abcde" for text in (b, f"not {b}")))


@pytest.fixture
def same(literals: Literals) -> np.ndarray:
    a, b, c = literals.features[:, :3].T
    return ((a & b) | c) ^ (np.random.default_rng(2).random(80) < 0.1)


def conjunctions(literals: Literals, k: int) -> dict[tuple[int, ...], np.ndarray]:
    """Return all of at most k literals of different features, and what they cover."""
    return {
        rule: literals.matrix[:, list(rule)].all(axis=1)
        for size in range(k + 1)
        for rule in combinations(range(10), size)
        if len({j // 2 for j in rule}) == size
    }


def test_anchors_are_the_widest_precise_rules(literals: Literals, same: np.ndarray) -> None:
    found = {literals.matrix[:, list(rule)].all(axis=1).tobytes()
             for rule in anchors(literals, same, k=2, min_precision="3/4", n=80)}  # fmt: skip
    widths = []
    for i in np.flatnonzero(same):
        precise = [
            cover for cover in conjunctions(literals, 2).values()
            if cover[i] and 4 * (cover & same).sum() >= 3 * cover.sum()
        ]  # fmt: skip
        if precise:
            widest = max(cover.sum() for cover in precise)
            widths.append(widest)
            assert any(c.tobytes() in found for c in precise if c.sum() == widest)
    assert len(widths) < same.sum()
    assert {np.frombuffer(f, dtype=bool).sum() for f in found} <= set(widths)


def pretended(table: pd.DataFrame, min_support: float, max_len: int) -> pd.DataFrame:
    """Mine by going through all sets."""
    rows = table.to_numpy()
    sets = [
        frozenset(s)
        for size in range(1, max_len + 1)
        for s in combinations(range(rows.shape[1]), size)
        if rows[:, list(s)].all(axis=1).mean() >= min_support
    ]
    return pd.DataFrame({"itemsets": sets})


@pytest.fixture(params=["pretended", "mlxtend"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "mlxtend":
        pytest.importorskip("mlxtend")
        return
    module = ModuleType("mlxtend.frequent_patterns")
    module.fpgrowth = pretended
    monkeypatch.setitem(sys.modules, "mlxtend", ModuleType("mlxtend"))
    monkeypatch.setitem(sys.modules, "mlxtend.frequent_patterns", module)


@pytest.mark.usefixtures("library")
def test_association_rules_are_all_there_are(literals: Literals, same: np.ndarray) -> None:
    expected: dict[bytes, int] = {}
    for rule, cover in conjunctions(literals, 3).items():
        gain = int((cover & same).sum()) - int((cover & ~same).sum())
        if rule and gain > 0 and (cover & same).sum() >= 0.15 * same.sum():
            expected[cover.tobytes()] = gain
    rules = association_rules(literals, same, k=3, min_support=0.15)
    covers = [literals.matrix[:, list(rule)].all(axis=1) for rule in rules]
    assert {cover.tobytes() for cover in covers} == set(expected)
    assert len(rules) == len(expected) > 10
    gains = [expected[cover.tobytes()] for cover in covers]
    assert gains == sorted(gains, reverse=True)
    assert association_rules(literals, same, k=3, min_support=0.15, n=4) == rules[:4]


@pytest.mark.usefixtures("library")
def test_too_many_sets_are_refused() -> None:
    wide = Literals(np.zeros((20, 3000), dtype=bool), tuple(map(str, range(6000))))
    with pytest.raises(DataError, match=r"up to 4.5e\+06 sets of 2 literals"):
        association_rules(wide, np.arange(20) < 10, k=2)


def test_bad_input(literals: Literals, same: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in (0, -1, 1.5, float("nan"), "much"):
        with pytest.raises(InvalidOption, match="min_support"):
            association_rules(literals, same, min_support=wrong)
    with pytest.raises(InvalidOption, match="n must be"):
        anchors(literals, same, n=0)
    monkeypatch.setitem(sys.modules, "mlxtend.frequent_patterns", None)
    with pytest.raises(EngineMissing, match="pip install mlxtend"):
        association_rules(literals, same)
