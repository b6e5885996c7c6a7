"""Bounds of GLPK, CBC and HiGHS that were within their tolerances and beyond the optimum."""

from __future__ import annotations

import shutil
from fractions import Fraction

import numpy as np
import pytest

from cpx import KernelRule, KMonomial, MaxPrecision, Samples, Status, solve

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

# Weights of the steps of this precision add up to 4.5e8.
PRECISION = [
    "0000010100000",
    "0000010000000",
    "1100101010100",
    "0001011000100",
    "0000000001010",
    "0000001001000",
    "0100000000000",
    "1000000011010",
    "1010010011101",
    "0001010010100",
    "1010010000000",
    "0000011000000",
    "0010000001111",
    "1111001110010",
    "1000010000010",
    "0000010010000",
    "0011101000000",
    "0010000001101",
    "1001001000000",
    "1100010011000",
    "0101010111000",
    "1010010000000",
    "0001010000110",
    "0101010000010",
    "0001101010100",
    "1000101100000",
    "0100010001011",
    "0000100100001",
    "0000000011011",
    "0001000101000",
    "0010001001100",
    "0000000010000",
    "0010001110000",
    "1000010000000",
    "1001000000000",
    "0100000000010",
    "0010000010010",
    "0000100000010",
    "1100100000000",
    "0000010100100",
    "0000100000000",
    "0011000100010",
    "1001101000100",
    "1001000001010",
    "0011100000010",
    "0000010100010",
    "0000010110000",
    "1010110010100",
    "0000000000000",
    "1001100100010",
    "0100000100001",
    "1001000010010",
    "0000001000100",
    "0000001001000",
    "0111100000110",
    "0000001100100",
    "0100000010000",
    "0010000001000",
    "1010010000011",
    "1100101110010",
    "1001000100001",
    "0011011010000",
    "0000010010000",
    "0000000011000",
    "0000000001011",
    "0110000000000",
    "1100110001000",
    "1000000000001",
    "0001000010111",
    "0001000000010",
    "0001101000001",
    "0010100110000",
]
LABELS = "000010000000100001011000100100101100000010110100100100111001000100101001"
WEIGHED = [
    *(239, 883, 131, 643, 894, 322, 363, 784, 19, 236, 160, 358, 261, 378, 638, 257, 954, 443),
    *(726, 87, 566, 227, 387, 550, 177, 385, 483, 740, 148, 504, 667, 882, 149, 370, 615, 174),
    *(665, 406, 852, 739, 422, 125, 22, 37, 7, 738, 989, 207, 184, 38, 469, 623, 282, 798),
    *(845, 281, 405, 848, 554, 352, 909, 657, 63, 378, 973, 719, 641, 556, 373, 216, 863, 53),
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


def test_highs_rounds_no_bound_to_an_integer_beyond_the_optimum() -> None:
    """A bound of 181431986.00000006 was reported as 181431987: a right answer was an error."""
    bits, same = ([[bit == "1" for bit in row] for row in rows] for rows in (PRECISION, LABELS))
    samples = Samples(
        bits, np.ravel(same), WEIGHED, groups=(2, 5, 0, 1, 0, 5, 2, 3, 2, 5, 0, 5, 2)
    )
    problem = MaxPrecision(samples, k=12, min_coverage="11/50", one_per_group=True)
    result = solve(problem, "milp:highs", seed=0, threads=1)
    assert result.status is Status.OPTIMAL, result.warnings
    assert result.objective == solve(problem, "search").objective == Fraction(3974, 8853)
