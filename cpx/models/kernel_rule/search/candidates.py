"""Enumeration of the clauses that a maximum-weight formula may need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpx.models.kernel_rule.search.rows import Rows
from cpx.models.kernel_rule.search.terms import Terms

__all__ = ["Candidates", "enumerate_clauses"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_MOST_PAIRS = 3000
"""Clauses up to which pairs are compared."""

_BLOCK = 4096
"""Sets of rows that are weighed at once."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Clauses and what they cover.

    clauses (k, c): The features of each, filled up with -1 on the left.
    inside, outside (k, p) and (k, q): The rows of positive and of negative weight that each is
        true of.
    terms (k, n): The terms of side constraints that each holds.
    """

    clauses: Ints
    inside: Bools
    outside: Bools
    terms: Bools

    def __len__(self) -> int:
        return len(self.clauses)

    def clause(self, c: int) -> tuple[int, ...]:
        """Return the features of a clause."""
        return tuple(int(j) for j in self.clauses[c] if j >= 0)

    def only(self, kept: Bools | Ints) -> Candidates:
        """Return some of them."""
        return Candidates(
            self.clauses[kept], self.inside[kept], self.outside[kept], self.terms[kept]
        )


def enumerate_clauses(
    rows: Rows, terms: Terms, literals: int, loss: int, most: int, stop: Callable[[], bool]
) -> Candidates | None:
    """Return the clauses that a formula which loses less than ``loss`` may need.

    Each is true of a row of positive weight or holds a wanted term, and the rows of negative
    weight that it is true of weigh less than ``loss``: without the other clauses a formula is
    worth no less. It must keep one, though: where all clauses of a formula are others, each of
    them alone is worth as much, so no clause may lose less than ``loss`` by itself. Of clauses
    that are true of the same rows, and hold the same terms, there is one of the smallest. Clauses
    that another one dominates, being true of all their positive rows and of no other negative
    ones, and holding all their wanted terms and no other avoided ones, are left out where that is
    seen at once, or they are few.

    terms: Features of wanted terms come before all others.
    literals: Most features of a clause.
    loss: At most what the best allowed formula of one clause loses: the positive weight that it is
        not true of, and the negative weight that it is true of.
    most: None is returned when more monomials would have to be looked at.
    stop: Asked now and then; None is returned when it says so.
    """
    (p, d), q, n = rows.inside.shape, len(rows.outside), len(terms)
    # A line per feature: positive rows first, the parts beginning with a byte of their own; then
    # the terms that it does not hold.
    tables = rows.inside.T, rows.outside.T, ~terms.having
    having = np.column_stack([_packed(table) for table in tables])
    width, end = -(-p // 8), -(-p // 8) + -(-q // 8)
    wanted = _packed(terms.wanted[None])[0]
    clauses = np.empty((1, 0), dtype=np.int64)
    covers = np.full((1, having.shape[1]), 255, dtype=np.uint8)
    found: list[tuple[Ints, NDArray[np.uint8]]] = []
    looked = 0
    for size in range(1, literals + 1):
        parts = []
        for j in range(d):
            before = np.flatnonzero((clauses < j).all(axis=1))
            looked += before.size
            if looked > most or stop():
                return None
            joined = covers[before] & having[j]
            # No feature after one without wanted terms has some.
            kept = joined[:, :width].any(axis=1) | (~joined[:, end:] & wanted).any(axis=1)
            if size > 1:
                # A feature that excludes no negative row, and holds no more, only loses rows.
                changed = joined ^ covers[before]
                kept &= changed[:, width:end].any(axis=1) | (changed[:, end:] & wanted).any(axis=1)
            grown = np.column_stack([clauses[before[kept]], np.full(int(kept.sum()), j)])
            parts.append((grown, joined[kept]))
        clauses = np.concatenate([part for part, _ in parts])
        covers = np.concatenate([part for _, part in parts])
        cheap = _weigh(covers[:, width:end], rows.costs) < loss
        found.append((clauses[cheap], covers[cheap]))
        if not wanted.any():
            # What no negative row satisfies only loses rows by more features.
            impure = covers[:, width:end].any(axis=1)
            clauses, covers = clauses[impure], covers[impure]
    padded = np.concatenate(
        [np.column_stack([np.full((len(c), literals - c.shape[1]), -1), c]) for c, _ in found]
    )
    covers = np.concatenate([cover for _, cover in found])
    seen: dict[bytes, int] = {}
    for at, cover in enumerate(covers):
        seen.setdefault(cover.tobytes(), at)
    first = np.fromiter(seen.values(), dtype=np.int64, count=len(seen))
    candidates = Candidates(
        padded[first],
        _unpacked(covers[first, :width], p),
        _unpacked(covers[first, width:end], q),
        ~_unpacked(covers[first, end:], n),
    )
    more = np.column_stack([candidates.inside, candidates.terms[:, terms.wanted]])
    less = np.column_stack([candidates.outside, candidates.terms[:, terms.avoided]])
    return candidates.only(undominated(more, less))


def _weigh(packed: NDArray[np.uint8], weights: Ints) -> NDArray[np.float64]:
    """Return the weight of each set of rows."""
    exact = weights.astype(np.float64)
    parts = [
        _unpacked(packed[at : at + _BLOCK], len(weights)) @ exact
        for at in range(0, len(packed), _BLOCK)
    ]
    return np.concatenate([np.zeros(0), *parts])


def _unpacked(packed: NDArray[np.uint8], count: int) -> Bools:
    return np.unpackbits(packed, axis=1, count=count, bitorder="little").astype(np.bool_)


def undominated(inside: Bools, outside: Bools) -> Ints:
    """Return the clauses that no other one dominates; all, where they are many."""
    k = len(inside)
    if k > _MOST_PAIRS:
        return np.arange(k)
    # beyond[a, b]: positive rows, or wanted terms, of a that b lacks, and what b has to pay for.
    a, b = inside.astype(np.float32), outside.astype(np.float32)
    beyond = a @ (1 - a).T + ((1 - b) @ b.T)
    above = beyond == 0
    # Equal ones dominate each other: the first stays.
    above &= ~above.T | (np.arange(k)[:, None] > np.arange(k))
    return np.flatnonzero(~above.any(axis=1))


def _packed(rows: Bools) -> NDArray[np.uint8]:
    return np.packbits(rows, axis=1, bitorder="little")
