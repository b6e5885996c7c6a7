"""Monotone formulas in disjunctive normal form, as sets of feature indices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cpx.data.bits import Bits
from cpx.errors import InvalidInstance, shown
from cpx.support.validation import integer

__all__ = ["DNF", "canonical", "in_words", "read_dnf", "true_of"]

DNF = tuple[tuple[int, ...], ...]
"""The clauses, each with its features; both in increasing order, each once."""


def canonical(clauses: Iterable[Iterable[int]]) -> DNF:
    """Return clauses in order, without the same one twice.

    Examples
    --------
    >>> canonical([[2, 1], [0], [1, 2]])
    ((0,), (1, 2))
    """
    return tuple(sorted({tuple(sorted({int(j) for j in clause})) for clause in clauses}))


def read_dnf(name: str, value: object, d: int) -> DNF:
    """Return a formula over d features that someone gave; clauses must not be empty.

    Raises
    ------
    InvalidInstance
        Naming what is no list of lists of indices.
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInstance(f"{name} must be a list of clauses, got {shown(value)}")
    clauses = []
    for clause in value:
        if isinstance(clause, str) or not isinstance(clause, Iterable):
            raise InvalidInstance(
                f"{name}: a clause must be a list of features, got {shown(clause)}"
            )
        features = list(clause)
        if not features or any(integer(j) is None or not 0 <= j < d for j in features):
            raise InvalidInstance(
                f"{name}: a clause has indices from 0 to {d - 1}, got {features}"
            )
        clauses.append(features)
    if not clauses:
        raise InvalidInstance(f"{name} must have a clause")
    return canonical(clauses)


def true_of(clauses: DNF, table: Bits) -> Bits:
    """Return of which rows of a table a formula is true, shape (n,).

    Examples
    --------
    >>> true_of(((0, 1), (2,)), np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=bool)).tolist()
    [True, False, True]
    """
    found = np.zeros(len(table), dtype=np.bool_)
    for clause in clauses:
        found |= table[:, clause].all(axis=1)
    return found


def in_words(clauses: DNF, names: Sequence[str]) -> str:
    """Return a formula as text; conjunctions are in parentheses beside others.

    Examples
    --------
    >>> in_words(((0, 1), (2,)), ["a", "b", "c"]), in_words(((0, 1),), ["a", "b"])
    ('(a and b) or c', 'a and b')
    """
    texts = [" and ".join(names[j] for j in clause) for clause in clauses]
    if len(texts) > 1:
        texts = [f"({t})" if len(c) > 1 else t for t, c in zip(texts, clauses, strict=True)]
    return " or ".join(texts)
