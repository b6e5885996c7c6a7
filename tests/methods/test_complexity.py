"""Certificate and decision tree complexities against brute force by their definitions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from cpx.errors import CpxError
from cpx.models.certificate.methods import (
    certificate_complexity,
    decision_tree_complexity,
    global_certificate_complexity,
    tree_errors,
)
from cpx.models.certificate.methods.complexity import cube
from tests.seeds import each


def _values(seed: int, d: int, classes: int = 2) -> tuple[list[int], list[int]]:
    """Labels and weights of the vectors of d bits."""
    rng = np.random.default_rng(seed)
    weights = [1] * 2**d if seed % 2 else rng.integers(0, 4, 2**d).tolist()
    weights[0] += 1
    return rng.integers(0, classes, 2**d).tolist(), weights


@each(range(12))
def test_certificates_by_the_definition(seed: int) -> None:
    d = 1 + seed % 4
    values, weights = _values(seed, d, 3)
    epsilon = Fraction(seed % 5, 7)
    rows = [tuple(row) for row in cube(d).tolist()]
    found = certificate_complexity(lambda _: np.array(values), d, epsilon, weights=weights)
    for x, label, size in zip(rows, values, found.sizes.tolist(), strict=True):
        precise = []
        for k in range(d + 1):
            for chosen in combinations(range(d), k):
                agreeing = [
                    (w, v)
                    for y, w, v in zip(rows, weights, values, strict=True)
                    if all(y[j] == x[j] for j in chosen)
                ]
                wrong = sum(w for w, v in agreeing if v != label)
                if wrong <= epsilon * sum(w for w, _ in agreeing):
                    precise.append(k)
        assert size == min(precise)
    mean = Fraction(int(found.sizes @ np.array(weights)), sum(weights))
    assert found.mean == mean
    huge = certificate_complexity(
        lambda _: np.array(values), d, Fraction(seed % 5, 7) + Fraction(1, 10**30), weights=weights
    )
    assert (huge.sizes == found.sizes).all()


def _least_error(values: list[int], weights: list[int], d: int, depth: int) -> int:
    """The least error of a tree, by trying each query; a node is what its path fixes."""
    rows = cube(d).tolist()

    @cache
    def best(node: tuple[int | None, ...], depth: int) -> int:
        inside = [
            i
            for i, row in enumerate(rows)
            if all(bit in (None, own) for bit, own in zip(node, row, strict=True))
        ]
        mass: dict[int, int] = {}
        for i in inside:
            mass[values[i]] = mass.get(values[i], 0) + weights[i]
        errors = [sum(mass.values()) - max(mass.values())]
        for j in [j for j, bit in enumerate(node) if bit is None and depth]:
            children = [(*node[:j], bit, *node[j + 1 :]) for bit in (0, 1)]
            errors.append(sum(best(child, depth - 1) for child in children))
        return min(errors)

    return best((None,) * d, depth)


@each(range(10))
def test_trees_by_trying_every_query(seed: int) -> None:
    d = 1 + seed % 4
    values, weights = _values(seed, d, 2 + seed % 2)
    errors = tree_errors(lambda _: np.array(values), d, weights=weights)
    expected = [Fraction(_least_error(values, weights, d, k), sum(weights)) for k in range(d + 1)]
    assert list(errors) == expected
    for epsilon in (0, "1/10", "1/3"):
        depth = decision_tree_complexity(lambda _: np.array(values), d, epsilon, weights=weights)
        assert depth == next(k for k, e in enumerate(expected) if e <= Fraction(epsilon))


def _unions(d: int, k: int) -> set[int]:
    """All sets of vectors that a collection of certificates of k features covers, as bits."""
    rows, terms = cube(d).tolist(), set[int]()
    for chosen in combinations(range(d), k):
        for own in rows:
            inside = (i for i, row in enumerate(rows) if all(row[j] == own[j] for j in chosen))
            terms.add(sum(1 << i for i in inside))
    found = {0}
    for term in terms:
        found |= {some | term for some in found}
    return found


@each(range(8))
def test_collections_by_trying_all_pairs(seed: int) -> None:
    d = 2 + seed % 2
    values, weights = _values(seed, d)
    epsilon = Fraction(seed % 4, 12)

    def f(_: object) -> np.ndarray:
        return np.array(values)

    found = global_certificate_complexity(f, d, epsilon, weights=weights, time_limit=None)
    assert found.proved
    ones = sum(1 << i for i, value in enumerate(values) if value == max(values))

    def right(one: int, other: int) -> int:
        good = (one & ~other & ones) | (other & ~one & ~ones)
        return sum(w for i, w in enumerate(weights) if good >> i & 1)

    def enough(k: int) -> bool:
        unions = _unions(d, k)
        best = max(right(one, other) for one in unions for other in unions)
        return sum(weights) - best <= epsilon * sum(weights)

    assert found.high == next(k for k in range(d + 1) if enough(k))
    assert found.high <= decision_tree_complexity(f, d, epsilon, weights=weights)


def test_an_address_needs_deep_trees_and_small_certificates() -> None:
    def f(z: np.ndarray) -> np.ndarray:
        return np.asarray((z[:, 0] & z[:, 1]) | (z[:, 2] & z[:, 3]))

    assert global_certificate_complexity(f, 4, 0).high == 2
    assert decision_tree_complexity(f, 4, 0) == 4
    cut = global_certificate_complexity(
        lambda z: z.sum(axis=1) * 7 % 5 % 2, 7, "1/20", time_limit=1e-9
    )
    assert not cut.proved
    assert cut.low < cut.high
    assert str(cut) == f"{cut.low} to {cut.high}"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"d": 13}, "d"),
        ({"epsilon": -1}, "epsilon"),
        ({"f": lambda z: z}, "f must map 4 rows to as many labels"),
        ({"weights": [1, 2]}, "weights must be 4 integers"),
        ({"weights": [0] * 4}, "weights must add up"),
        ({"weights": [1, 1, 1, -1]}, "weights must be 4 integers"),
    ],
)
def test_bad_input(asked: dict[str, Any], told: str) -> None:
    usual: dict[str, Any] = {"f": lambda z: z[:, 0], "d": 2, "epsilon": 0}
    with pytest.raises(CpxError, match=told):
        certificate_complexity(**(usual | asked))
    with pytest.raises(CpxError, match=told):
        global_certificate_complexity(**(usual | asked))


def test_collections_are_of_two_classes() -> None:
    with pytest.raises(CpxError, match="f must have two classes, it has 4"):
        global_certificate_complexity(lambda z: z[:, 0] + 2 * z[:, 1], 2, 0)
