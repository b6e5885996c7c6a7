"""GLPK left out branches better by less than 1e-7 of the value, and its bound was reported."""

from __future__ import annotations

import shutil

import pytest

from cpx import KernelRule, solve

ROWS = [
    *("11011111111101111101111", "11111111110011001111111", "11111011111111101111011"),
    *("10111101111111101111110", "00111110111111111101111", "10111111101111111111111"),
    *("11111111011100111111111", "11101111111111111100111", "00110111111111111001111"),
    "11110111111101110111101",
]
WEIGHTS = [
    *(21579705, 64504402, 11586578, 16317524, 853022690, 761698489, 30629046, 340573766141),
    *(18418176, 72205834195580),
]


@pytest.mark.skipif(not shutil.which("glpsol"), reason="glpsol is not installed")
def test_its_bound_allows_for_them() -> None:
    rows = [[bit == "1" for bit in row] for row in ROWS]
    problem = KernelRule(rows, WEIGHTS, 1, 3)
    best, result = solve(problem, "search"), solve(problem, "milp:glpk", time_limit=60)
    assert result.verified, result.warnings
    assert best.objective is not None
    assert result.bound is not None
    assert result.bound >= best.objective
