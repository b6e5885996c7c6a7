"""Tiny rules of kernel machines with known optimum, some under side constraints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cpx.models.kernel_rule.problem import KernelRule


def cases() -> Iterator[tuple[str, KernelRule, int | None]]:
    """Yield name, problem and optimum."""
    # x0 and x1: 3, x2: 2, x1: 2, x0: -1; all positive rows and no other: 5.
    rows = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]], dtype=np.bool_)
    weights, apart = (3, 2, -4, -1), np.eye(2, dtype=np.bool_)
    both = KernelRule(rows, weights, 2, 2)
    yield from (
        ("kernel_all_positive", both, 5),
        ("kernel_one_clause", KernelRule(rows, weights, 1, 2), 3),
        ("kernel_one_feature", KernelRule(rows, weights, 1, 1), 2),
        ("kernel_two_of_one_feature", KernelRule(rows, weights, 2, 1), 4),
        ("kernel_a_clause_is_not_empty", KernelRule(apart, (-2, -3), 1, 1), -2),
        ("kernel_true_of_nothing", KernelRule(apart, (-2, -3), 1, 2), 0),
        ("kernel_nothing_weighs", KernelRule(apart, (0, 0), 1, 1), 0),
        ("kernel_equal_rows", KernelRule(np.ones((3, 1), dtype=np.bool_), (4, -3, 1), 3, 1), 2),
        ("kernel_rule_excludes", both.where("not x2"), 3),
        ("kernel_rule_has", both.where("x0", "not x1"), 2),
        ("kernel_rule_infeasible", both.where("x0", "not x0"), None),
    )


def probes() -> Iterator[KernelRule]:
    """Yield a problem of optimum 1: the feature that only the positive row has."""
    yield KernelRule(np.eye(2, dtype=np.bool_), (1, -1), 1, 1)
