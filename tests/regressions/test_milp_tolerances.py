"""Bounds of GLPK and CBC that were within their tolerances and beyond the optimum."""

from __future__ import annotations

import shutil

import pytest

from cpx import KernelRule, KMonomial, Samples, Status, solve

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


@pytest.mark.parametrize("encoding", ["clausal", "pairs"])
def test_cbc_claims_no_bound_beyond_the_optimum(encoding: str) -> None:
    """Its best value was worse than the optimum by 1.4e-9 of it."""
    rows = ["101111", "011011", "011010", "110101", "011000", "101001"]
    weights = [28833, 69, 85, 1, 11283545238, 81113]
    samples = Samples([[bit == "1" for bit in row] for row in rows], [0, 0, 1, 1, 1, 0], weights)
    problem = KMonomial(samples, k=5, required=[4])
    best = solve(problem, "search").objective
    result = solve(problem, "milp:cbc", encoding=encoding)
    assert result.status is not Status.ERROR, result.warnings
    assert result.bound <= best


@pytest.mark.skipif(not shutil.which("glpsol"), reason="glpsol is not installed")
def test_its_bound_allows_for_them() -> None:
    rows = [[bit == "1" for bit in row] for row in ROWS]
    problem = KernelRule(rows, WEIGHTS, 1, 3)
    best, result = solve(problem, "search"), solve(problem, "milp:glpk", time_limit=60)
    assert result.verified, result.warnings
    assert best.objective is not None
    assert result.bound is not None
    assert result.bound >= best.objective
