"""Figures of rule sets, counted one by one; leaves of a tree are where it predicts the class."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from cpx.errors import DataError, InvalidInstance, InvalidOption
from cpx.models.rule_set.methods.candidates import Literals
from cpx.models.rule_set.methods.rule_learners import FoundRules, cart_rules, comparison

Rules = list[tuple[int, ...]]


def times_covered(literals: Literals, rules: Rules) -> list[int]:
    """Count the rules that cover each sample, literal by literal."""
    return [
        sum(all(row[j // 2] == (j % 2 == 0) for j in rule) for rule in rules)
        for row in literals.features
    ]


def test_both_losses(literals: Literals, same: np.ndarray, rules: Rules) -> None:
    found = FoundRules.of("x", literals, same, rules, "1/50")
    times = times_covered(literals, rules)
    errors = sum((t > 0) != bool(s) for t, s in zip(times, same, strict=True))
    hamming = sum((t == 0) if s else t for t, s in zip(times, same, strict=True))
    price = Fraction(60, 50) * len(set(rules))
    assert (found.errors, found.objective) == (errors, errors + price)
    assert found.hamming == hamming + price
    assert found.literals == sum(map(len, found.rules))
    assert found.measured.covered == sum(t > 0 for t in times)


def test_equal_rules_count_once_and_none_is_a_set(literals: Literals, same: np.ndarray) -> None:
    assert FoundRules.of("x", literals, same, [(2, 0), (0, 2, 2)], "0").rules == ((0, 2),)
    nothing = FoundRules.of("nothing", literals, same, [], "1/2")
    assert nothing.objective == nothing.hamming == int(same.sum())
    line = comparison([nothing]).splitlines()[1].split()
    assert line == ["nothing", "0", "0", *[f"{same.sum()}"] * 3, "none", "0.000", "0.00"]


def test_penalty_is_refused(literals: Literals, same: np.ndarray) -> None:
    with pytest.raises(InvalidInstance, match="penalty"):
        FoundRules.of("x", literals, same, [(0,)], "2")


@pytest.mark.parametrize("k", [1, 2, 4])
def test_leaves_cover_what_the_tree_predicts(literals: Literals, same: np.ndarray, k: int) -> None:
    found = cart_rules(literals, same, k=k, seed=1)
    features = literals.features.astype(np.float32)
    tree = DecisionTreeClassifier(max_depth=k, random_state=1).fit(features, same)
    times = times_covered(literals, list(found.rules))
    assert times == tree.predict(features).astype(int).tolist()
    assert max(map(len, found.rules)) <= k


def test_a_tree_that_is_one_leaf() -> None:
    literals = Literals(np.zeros((3, 1), dtype=bool), ("a", "not a"))
    assert cart_rules(literals, [1, 1, 0]).rules == ((),)
    assert cart_rules(literals, [1, 0, 0]).rules == ()


def test_bad_input(literals: Literals, same: np.ndarray) -> None:
    with pytest.raises(DataError, match="one kind"):
        cart_rules(literals, np.ones(60))
    with pytest.raises(InvalidOption, match="k must be"):
        cart_rules(literals, same, k=0)
