"""Dominance between clauses: those with one feature less, and which clauses they dominate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cpx.data.bits import packed_rows, row_hashes
from cpx.models.kernel_rule.search.candidates import Candidates
from cpx.models.kernel_rule.search.restriction import Restriction
from cpx.models.kernel_rule.search.rows import Rows
from cpx.models.kernel_rule.search.terms import Terms

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def parents_of(candidates: Candidates, rows: Rows, terms: Terms) -> Ints:
    """Return for each clause those which are what it is without a feature: in rows and terms.

    Shape (k, c), with -1 where there is none among the candidates. Each is true of all rows of
    the clause and holds no other terms; in one of both it differs.
    """
    k, width = candidates.clauses.shape
    having = packed_rows(rows.inside.T, rows.outside.T, ~terms.having)
    everything = np.full((1, having.shape[1]), ~np.uint64(0))
    # Feature -1, which fills clauses up, is one that every row has.
    having = np.vstack([having, everything])
    covers = packed_rows(candidates.inside, candidates.outside, ~candidates.terms)
    hashes = row_hashes(covers)
    order = np.argsort(hashes, kind="stable")
    found = np.full((k, width), -1, dtype=np.int64)
    for left_out in range(width):
        cover = np.repeat(everything, k, axis=0)
        for other in range(width):
            if other != left_out:
                cover &= having[candidates.clauses[:, other]]
        at = np.searchsorted(hashes, row_hashes(cover), sorter=order)
        at = order[np.minimum(at, k - 1)]
        # Equal hashes are looked at: they may be a coincidence.
        same = (covers[at] == cover).all(axis=1) & (cover != covers).any(axis=1)
        found[same, left_out] = at[same]
    return found


def dominated(part: Restriction, parents: Ints, wanted: Bools, avoided: Bools) -> Bools:
    """Return which clauses another one dominates, of those that are kin.

    That is, another one which is true of all positive rows of a clause and of no negative row
    besides those of it, and the same of terms. What is chosen already counts no more, so that
    this happens again and again.

    parents (k, c): For each of all clauses, by number, some that are true of all its rows, or -1.
    wanted, avoided (k, n): Terms of side constraints that each clause of the part holds, and that
        still count.
    """
    place = np.full(len(parents) + 1, -1)
    place[part.numbers] = np.arange(len(part))
    above = place[parents[part.numbers]]
    known = above >= 0
    inside, outside = part.cover.counts
    missed = (wanted[:, None] & ~wanted[above]).any(axis=2)
    narrow = known & (outside[above] == outside[:, None]) & ~missed
    # Where both cover the same, the one of fewer features stays.
    more = (avoided[:, None] & ~avoided[above]).any(axis=2)
    wide = known & (inside[above] == inside[:, None]) & ~more & ~narrow
    found: Bools = narrow.any(axis=1)
    found[above[wide]] = True
    return found
