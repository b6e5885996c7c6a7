"""Kernels against the count of all formulas, one by one."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpx.errors import DataError, InvalidOption
from cpx.models.kernel_rule.boolean_kernels import (
    BooleanKernel,
    BoundedDNFKernel,
    MonotoneConjunctiveKernel,
    MonotoneDisjunctiveKernel,
    MonotoneDNFKernel,
)
from cpx.models.kernel_rule.boolean_kernels.base import quotient

from .formulas import dnfs, holds

D = 4
ROWS = [list(row) for row in product((0, 1), repeat=D)]


def one(c: int) -> range:
    return range(c, c + 1)


def disjunctions(d: int, arity: int) -> list[tuple[tuple[int, ...], ...]]:
    return [tuple((j,) for j in chosen) for chosen in combinations(range(d), arity)]


CASES = [
    *((MonotoneConjunctiveKernel(c), list(dnfs(D, one(1), one(c)))) for c in range(1, D + 1)),
    *((MonotoneDisjunctiveKernel(c), disjunctions(D, c)) for c in range(1, D + 1)),
    *(
        (MonotoneDNFKernel(t, c), list(dnfs(D, one(t), one(c))))
        for t, c in ((1, 1), (2, 2), (3, 2), (2, 3), (1, 4))
    ),
    *(
        (BoundedDNFKernel(t, c), list(dnfs(D, range(1, t + 1), range(1, c + 1))))
        for t, c in ((1, 1), (2, 2), (3, 2), (2, 4))
    ),
]


@pytest.mark.parametrize(("kernel", "formulas"), CASES, ids=lambda x: str(x)[:60])
def test_counts_are_those_of_all_formulas(kernel: BooleanKernel, formulas: list) -> None:
    true = np.array([[holds(f, row) for f in formulas] for row in ROWS], dtype=object)
    expected = true.astype(int) @ true.astype(int).T
    assert (kernel.counts(ROWS) == expected).all()
    assert kernel.norm(ROWS) == np.diag(expected).tolist()
    assert (kernel.counts(ROWS[:3], ROWS[2:]) == expected[:3, 2:]).all()
    norms = np.sqrt(np.outer(np.diag(expected), np.diag(expected)).astype(float))
    wanted = np.divide(expected.astype(float), norms, out=np.zeros_like(norms), where=norms > 0)
    np.testing.assert_allclose(kernel(ROWS), wanted, rtol=4e-16, atol=0)
    raw = type(kernel)(**{**vars(kernel), "normalise": False})
    assert (raw(ROWS) == expected).all()


@settings(deadline=None)
@given(st.integers(1, 10**60), st.integers(1, 10**60), st.integers(0, 10**30))
def test_quotient_is_within_a_last_place(x: int, z: int, share: int) -> None:
    count = math.isqrt(share**2 * x * z // 10**60)
    exact_square = Fraction(count * count, x * z)
    found = quotient(count, x, z)
    below, above = (Fraction(math.nextafter(found, side)) for side in (-1, 2))
    assert max(below, 0) ** 2 <= exact_square <= above**2


def test_values_of_many_digits_are_normalised() -> None:
    rng = np.random.default_rng(0)
    X = np.zeros((30, 200), dtype=bool)
    for row in X:
        row[rng.choice(200, 80, replace=False)] = True
    kernel = BoundedDNFKernel(60, 8)
    assert max(kernel.norm(X)) > 10**308
    K = kernel(X)
    assert (np.diag(K) == 1).all()
    assert ((K >= 0) & (K <= 1)).all()
    assert np.linalg.eigvalsh(K).min() > -1e-12
    with pytest.raises(InvalidOption, match="normalise must be True"):
        BoundedDNFKernel(60, 8, normalise=False)(X)


def test_a_row_without_formulas_is_zero() -> None:
    K = MonotoneConjunctiveKernel(2)([[1, 0, 0], [1, 1, 0]])
    assert K.tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ([[0, 2]], "entries must be 0 or 1, got 2 at (0, 1)"),
        ([[0.5, 1]], "entries must be 0 or 1, got 0.5 at (0, 0)"),
        ([[0, float("nan")]], "entries must be 0 or 1, got nan at (0, 1)"),
        ([["a", "b"]], "entries must be 0 or 1, got <U1 such as 'a'"),
        ([0, 1], "2 dimensions expected, got shape (2,)"),
        ([[]], "there are no features (shape (1, 0))"),
        ([[0], [1, 1]], "rows of different lengths"),
    ],
)
def test_tables_that_are_not_boolean_are_refused(table: object, told: str) -> None:
    with pytest.raises(DataError, match=re.escape(f"X: {told}")):
        BoundedDNFKernel(1, 1)(table)


def test_other_widths_are_refused() -> None:
    with pytest.raises(DataError, match="Z must have 2 columns, got 3"):
        BoundedDNFKernel(1, 1)([[0, 1]], [[0, 1, 1]])


@pytest.mark.parametrize("wrong", [0, -1, 1.0, True, "2"])
def test_degrees_below_one_are_refused(wrong: object) -> None:
    for make in (
        lambda: MonotoneConjunctiveKernel(wrong),
        lambda: MonotoneDisjunctiveKernel(wrong),
        lambda: MonotoneDNFKernel(wrong, 1),
        lambda: MonotoneDNFKernel(1, wrong),
        lambda: BoundedDNFKernel(1, wrong),
        lambda: BoundedDNFKernel(wrong, 1),
    ):
        with pytest.raises(InvalidOption, match="must be an integer of at least 1"):
            make()


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        (MonotoneConjunctiveKernel(3), "arity must be at most the number of variables, 2, got 3"),
        (MonotoneDisjunctiveKernel(3), "arity must be at most"),
        (MonotoneDNFKernel(1, 3), "literals must be at most"),
        (MonotoneDNFKernel(3, 1), "clauses must be at most the number of conjunctions, 2, got 3"),
        (BoundedDNFKernel(1, 3), "max_literals must be at most"),
    ],
)
def test_degrees_above_the_variables_are_refused(kernel: BooleanKernel, told: str) -> None:
    with pytest.raises(InvalidOption, match=told):
        kernel([[0, 1]])
