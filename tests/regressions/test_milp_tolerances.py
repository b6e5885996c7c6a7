"""Bounds of GLPK, CBC and HiGHS that were within their tolerances and beyond the optimum."""

from __future__ import annotations

import shutil
from fractions import Fraction

import numpy as np
import pytest

from cpx import KernelRule, KMonomial, MaxPrecision, Samples, solve
from cpx.answers import Status

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
PRECISION = (
    "000001010000000000100000001100101010100000101100010000000000010100000001001000"
    "010000000000010000000110101010010011101000101001010010100100000000000011000000"
    "001000000111111110011100101000010000010000001001000000111010000000010000001101"
    "100100100000011000100110000101010111000101001000000000010100001100101010000010"
    "000110101010010001011000000100010001011000010010000100000000110110001000101000"
    "001000100110000000000100000010001110000100001000000010010000000000100000000010"
    "001000001001000001000000101100100000000000001010010000001000000000011000100010"
    "100110100010010010000010100011100000010000001010001000000101100001010110010100"
    "000000000000010011001000100100000100001100100001001000000010001000000001001000"
    "011110000011000000011001000100000010000001000000100010100100000111100101110010"
    "100100010000100110110100000000010010000000000001100000000000010110110000000000"
    "110011000100010000000000010001000010111000100000001000011010000010010100110000"
)
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
    bits, same = (np.array(list(text)) == "1" for text in (PRECISION, LABELS))
    groups = (2, 5, 0, 1, 0, 5, 2, 3, 2, 5, 0, 5, 2)
    samples = Samples(bits.reshape(-1, 13), same, WEIGHED, groups=groups)
    problem = MaxPrecision(samples, k=12, min_coverage="11/50", one_per_group=True)
    result = solve(problem, "milp:highs", seed=0, threads=1)
    assert result.status is Status.OPTIMAL, result.warnings
    assert result.objective == solve(problem, "search").objective == Fraction(3974, 8853)
