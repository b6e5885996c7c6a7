"""All formulas of small kernels, enumerated: what everything is compared with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

Formula = tuple[tuple[int, ...], ...]


def conjunctions(d: int, sizes: range) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(d), c) for c in sizes))


def dnfs(d: int, clauses: range, literals: range) -> Iterator[Formula]:
    known = conjunctions(d, literals)
    return chain.from_iterable(combinations(known, count) for count in clauses)


def holds(formula: Formula, row: list[int]) -> bool:
    return any(all(row[j] for j in clause) for clause in formula)
