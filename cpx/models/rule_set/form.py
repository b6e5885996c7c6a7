"""The selection of rules as plain arrays: what encodings and searches take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RuleSelection:
    """A problem to select rules, any of which covers a row, as plain arrays.

    Minimise, over sets S of rules that contain ``required`` and avoid ``forbidden``::

        offset + sum of prices[r] over r in S
               + sum of weights[i]  over the rows i with weights[i] > 0 that no rule in S covers
               - sum of weights[i]  over the rows i with weights[i] < 0 that a rule in S covers

    with at most ``max_rules`` rules, ``max_literals`` literals, and ``max_overlap`` weight of
    rows that two rules in S or more cover. What is limited never falls when a rule is added:
    every subset of an allowed set that contains ``required`` is allowed.

    Attributes
    ----------
    covers : ndarray of bool, shape (R, m)
        Whether rule r covers row i.
    weights : ndarray of int64, shape (m,)
        What covering the row saves; negative where it costs.
    prices : ndarray of int64, shape (R,)
        Not negative.
    offset : int
        Cost of every set.
    required, forbidden : tuple of int
        Rules that must, and must not, be selected.
    lengths : ndarray of int64, shape (R,)
        Literals of each rule.
    counted : ndarray of int64, shape (m,)
        Weight of each row in the overlap.
    max_rules, max_literals, max_overlap : int or None
        None where nothing is limited.
    side : SideConstraints
        Further constraints on S; a subset of an allowed set may break them.
    """

    covers: Bools
    weights: Ints
    prices: Ints
    offset: int
    required: tuple[int, ...]
    forbidden: tuple[int, ...]
    lengths: Ints
    counted: Ints
    max_rules: int | None = None
    max_literals: int | None = None
    max_overlap: int | None = None
    side: SideConstraints = NO_SIDE_CONSTRAINTS

    @property
    def shape(self) -> tuple[int, int]:
        """Rules and rows, ``(R, m)``."""
        R, m = self.covers.shape
        return R, m

    def times_covered(self, chosen: Iterable[int]) -> Ints:
        """Return how many of the rules cover each row, shape (m,)."""
        return np.asarray(self.covers[list(chosen)].sum(axis=0), dtype=np.int64)

    def cost(self, chosen: Iterable[int]) -> int:
        """Return the cost of a set of rules, allowed or not."""
        rules = list(chosen)
        saved = int(self.weights[self.covers[rules].any(axis=0)].sum())
        return self._of_none - saved + int(self.prices[rules].sum())

    @cached_property
    def _of_none(self) -> int:
        """The cost of no rules."""
        return self.offset + int(self.weights[self.weights > 0].sum())

    def allows(self, chosen: Iterable[int]) -> bool:
        """Say whether a set keeps the limits and has what it must, and nothing it must not."""
        rules = set(chosen)
        return self.within_limits(rules) and self.side.allow(rules)

    def within_limits(self, chosen: Iterable[int]) -> bool:
        """Say the same but for the side constraints: if not, neither is a set that contains it."""
        rules = set(chosen)
        if not rules.issuperset(self.required) or not rules.isdisjoint(self.forbidden):
            return False
        if self.max_rules is not None and len(rules) > self.max_rules:
            return False
        if self.max_literals is not None:
            literals = int(self.lengths[sorted(rules)].sum())
            if literals > self.max_literals:
                return False
        return self.max_overlap is None or self.overlap(rules) <= self.max_overlap

    def overlap(self, chosen: Iterable[int]) -> int:
        """Return the weight of the rows that two rules or more cover."""
        return int(self.counted[self.times_covered(chosen) > 1].sum())

    @cached_property
    def merged(self) -> RuleSelection:
        """The same problem with the rows of one signature as one row.

        The signature of a row is the set of rules that cover it. Rows of one signature are
        covered together: with P the weight of those that should be covered, and N the cost of
        those that should not, they cost N when they are, P when they are not. This is
        min(P, N) in any case, and, where P > N, another P - N when they are not covered, else
        another N - P when they are. Rows that no rule covers have one case only. All costs and
        all overlaps are the same; rows that matter for neither are left out.
        """
        order, starts = _runs(self.covers)
        columns = self.covers[:, order[starts]]
        saved = np.add.reduceat(np.maximum(self.weights, 0)[order], starts)
        costs = np.add.reduceat(np.maximum(-self.weights, 0)[order], starts)
        counted = np.add.reduceat(self.counted[order], starts)
        weights = saved - costs
        often = columns.sum(axis=0)
        offset = self.offset + int(np.minimum(saved, costs).sum())
        offset += int(np.maximum(weights, 0)[often == 0].sum())
        overlapping = (often > 1) & (self.max_overlap is not None)
        kept = (often > 0) & ((weights != 0) | overlapping)
        return replace(
            self,
            covers=np.ascontiguousarray(columns[:, kept]),
            weights=weights[kept],
            counted=counted[kept],
            offset=offset,
        )


def _runs(covers: Bools) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return an order of the rows in which equal signatures are neighbours, and where runs start.

    The sort is stable: the first row of each run is its first occurrence.
    """
    packed = np.packbits(covers.T, axis=1)
    packed = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    words = np.ascontiguousarray(packed).view(np.uint64)
    order = np.lexsort(words.T)
    ordered = words[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, np.flatnonzero(new)
