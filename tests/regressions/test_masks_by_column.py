"""Bit slices of weights that all lay in memory by column were refused by the compiled search."""

from __future__ import annotations

import numpy as np

from cpx import Samples, solve
from cpx.answers import Status
from cpx.models.rule_set.selection import RuleSetSelection


def test_rule_sets_of_many_rows_of_many_weights_under_a_limited_overlap() -> None:
    rng = np.random.default_rng(5)
    table = rng.random((300, 9)) < 0.6
    samples = Samples(table, table[:, 2] ^ (rng.random(300) < 0.3), rng.integers(1, 50, 300))
    rules = [[0], [1, 2], [2], [3, 4], [2, 5], [6], [7, 8]]
    problem = RuleSetSelection(samples, rules, max_overlap=2000)
    found, other = solve(problem, "search"), solve(problem, "cpsat")
    assert found.status is other.status is Status.OPTIMAL, found.error
    assert found.objective == other.objective
