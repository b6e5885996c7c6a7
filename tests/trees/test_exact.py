from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cpx.trees.exact import common_exponent, joined, limbs, scaled

floats = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(floats, min_size=1, max_size=20))
def test_scaled_values_are_the_values(values: list[float]) -> None:
    exponent = common_exponent(values)
    integers = scaled(np.array(values), exponent).tolist()
    assert [Fraction(v, 2**exponent) for v in integers] == [Fraction(v) for v in values]
    assert exponent == 0 or any(v % 2 for v in integers)


@given(st.lists(st.lists(st.integers(-(2**200), 2**200), min_size=2, max_size=2), min_size=1))
def test_sums_of_limbs_are_the_sums(pairs: list[list[int]]) -> None:
    numbers = np.array(pairs, dtype=object)
    parts = limbs(numbers)
    assert joined(parts).tolist() == pairs
    assert joined(parts.sum(axis=1)).tolist() == numbers.sum(axis=0).tolist()


def test_sums_do_not_overflow() -> None:
    numbers = np.array([2**32 - 1, -(2**32)] * 1000, dtype=object)
    assert joined(limbs(numbers).sum(axis=1, keepdims=True)).tolist() == [-1000]
