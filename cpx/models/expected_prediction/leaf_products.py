"""How probable leaves are where attributes are independent: products, for many sets at once.

Given z, a leaf has one factor for each attribute that it tests: the probability p of the states
that lead on, or whether the state of x does (e, 0 or 1) where that is known. There are two ways to
multiply them. *By test*: the factors of all tests, multiplied leaf by leaf. *By pattern*, where
few attributes are tested by many leaves: the products over six attributes at a time are tabulated
for all 64 patterns of what is known, and a set takes one line of each table. One attribute j more
changes a product by e / p, so that the means of all sets with one more come from a product of two
matrices. Of two tables or one, and many sets, the product of the tables has the means of *all*
sets, which are looked up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cpx.data.fitted.tree_mixture import ONE, TreeMixture
from cpx.models.expected_prediction.leaves import LeafForm

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_TOGETHER = 6
"""Attributes whose patterns are tabulated together."""

_MOST_TABULATED = 2**21
"""Numbers in all tables: 16 MB."""

_MANY = 8
"""Sets for which tables are made; there, they are used for fewer."""

_ONE_THREAD = 2**18
"""Multiplications that a library of linear algebra does not share among threads."""


@dataclass(frozen=True, eq=False)
class LeafProducts:
    """The probability of each leaf, given the states of x in some attributes.

    distribution: Those of its components are asked about that have no edges.
    codes: The states of x.
    values: The values of the leaves.
    """

    leaves: LeafForm
    distribution: TreeMixture
    codes: NDArray[np.int32]
    values: Floats

    def given(self, some: slice, seen: Bools) -> Floats:
        """Return P_c of each leaf given each of N sets, (N, A) to (C, N, L), for some components.

        A factor is exact, so that the product for a leaf has one rounding less than it has tests.
        """
        if self._by_pattern(len(seen)):
            used, lines = list(self.leaves.used), list[Floats]()
            for place, tables in zip(range(0, len(used), _TOGETHER), self._patterns):
                part = seen[:, used[place : place + _TOGETHER]]
                lines.append(tables[some].take(part @ (1 << np.arange(part.shape[1])), axis=1))
            for line in lines[1:]:
                lines[0] *= line
            return lines[0]
        leaves = self.leaves
        shares = self._shares[some, None]
        factors = np.where(seen[:, leaves.attribute], self._agrees, shares)
        result = np.ones((len(shares), len(seen), len(leaves.values)))
        tested, first = self._tested
        if tested.size:
            result[..., tested] = np.multiply.reduceat(factors, first, axis=2)
        return result

    def extended(self, some: slice, seen: Bools) -> tuple[Floats, Floats]:
        """Return the means of the leaves' values given N sets, and with each attribute more.

        some: The components.
        Returns: For each component, set and attribute; where the attribute is in the set, the
            mean of the set itself.
        """
        used = self.leaves.used
        if self._by_all_means(len(seen)):
            bits = 1 << np.arange(len(used))
            place, means = seen[:, used] @ bits, self._all_means[some]
            mean, with_used = means[:, place], means[:, place[:, None] | bits]
        elif self._by_pattern(len(seen)):
            given, matrices = self.given(some, seen), self._matrices[some]
            at_once = max(1, _ONE_THREAD // matrices[0].size)
            parts = [given[:, n : n + at_once] for n in range(0, len(seen), at_once)]
            sums = np.concatenate([part @ matrices for part in parts], axis=1)
            mean, with_used = sums[..., -1], sums[..., :-1]
        else:
            given = self.given(some, seen) * self.values
            mean = with_used = given.sum(axis=2)
            order, first = self._by_attribute
            if order.size:
                changes = given[..., self.leaves.leaf[order]] * self._changes[some, None]
                with_used = mean[..., None] + np.add.reduceat(changes, first, axis=2)
        more = np.repeat(mean[..., None], seen.shape[1], axis=2)
        if used:
            more[..., used] = with_used
        return mean, np.where(seen, mean[..., None], more)

    # ------------------------------------------------------------------ factors

    @cached_property
    def _agrees(self) -> Floats:
        """Of each test, 1 where the state of x leads on."""
        return self.leaves.masks.having(self.codes)[self.leaves.mask].astype(np.float64)

    @cached_property
    def _shares(self) -> Floats:
        """Of each component and test, the probability that it leads on."""
        masks = self.leaves.masks
        sums = [masks.sums(np.concatenate([t[0] for t in c])) for c in self.distribution.tables]
        return np.asarray((np.array(sums) / ONE)[:, self.leaves.mask])

    @cached_property
    def _tested(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Leaves with tests, and where the tests of each begin."""
        starts = self.leaves.starts
        some = np.flatnonzero(np.diff(starts))
        return some, starts[:-1][some]

    @cached_property
    def _by_attribute(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The tests sorted by attribute, and where each attribute begins."""
        order = np.argsort(self.leaves.attribute, kind="stable")
        return order, np.unique(self.leaves.attribute[order], return_index=True)[1]

    @cached_property
    def _changes(self) -> Floats:
        """Of each test, sorted by attribute, by what part of itself its leaf grows when known."""
        order = self._by_attribute[0]
        return np.asarray(self._agrees[order] / self._shares[:, order] - 1)

    # ------------------------------------------------------------------ by pattern

    def _by_pattern(self, n: int) -> bool:
        """Whether patterns are cheaper than tests for n sets: tables are worth being made."""
        return (n >= _MANY or "_patterns" in self.__dict__) and self._fits

    @cached_property
    def _fits(self) -> bool:
        """Whether few attributes are tested by many leaves, and the tables are small."""
        leaves, used = len(self.leaves.values), len(self.leaves.used)
        groups = -(-used // _TOGETHER)
        few = 2 * groups + used / 8 < 6 * len(self.leaves.leaf) / max(1, leaves)
        numbers = self.distribution.n_components * leaves * groups << _TOGETHER
        return used > 0 and few and numbers <= _MOST_TABULATED

    def _columns(self, of_tests: Floats) -> Floats:
        """Return values of all tests as matrices of attributes and leaves, 1 without a test."""
        leaves, used = self.leaves, np.array(self.leaves.used)
        matrices = np.ones((len(of_tests), used.size, len(leaves.values)))
        matrices[:, np.searchsorted(used, leaves.attribute), leaves.leaf] = of_tests
        return matrices

    @cached_property
    def _matrices(self) -> Floats:
        """What leaves add to the mean with each attribute more, and to that without: (C, L, .)."""
        ratios = self._columns(self._agrees / self._shares)
        added = np.concatenate([ratios, np.ones_like(ratios[:, :1])], axis=1) * self.values
        return np.ascontiguousarray(added.transpose(0, 2, 1))

    @cached_property
    def _patterns(self) -> list[Floats]:
        """Of six attributes each, the products of all patterns of what is known, (C, 64, L)."""
        unknown, known = self._columns(self._shares), self._columns(self._agrees[None])
        found = []
        for first in range(0, unknown.shape[1], _TOGETHER):
            last = min(first + _TOGETHER, unknown.shape[1])
            table = np.ones((len(unknown), 1 << last - first, unknown.shape[2]))
            for bit, j in enumerate(range(first, last)):
                lower, upper = table[:, : 1 << bit], table[:, 1 << bit : 2 << bit]
                np.multiply(lower, known[:, j : j + 1], out=upper)
                lower *= unknown[:, j : j + 1]
            found.append(table)
        return found

    def _by_all_means(self, n: int) -> bool:
        """Whether the means of all sets are cheaper than those of n sets with one more each."""
        used = len(self.leaves.used)
        few = used <= 2 * _TOGETHER and 1 << used <= 4 * n * used
        return self._by_pattern(n) and (few or "_all_means" in self.__dict__)

    @cached_property
    def _all_means(self) -> Floats:
        """Of each component, the means of all sets of the attributes that leaves test."""
        first, *more = self._patterns
        if not more:
            return first @ self.values
        weighted, turned = more[0] * self.values, first.transpose(0, 2, 1)
        size = max(1, _ONE_THREAD // turned[0].size)
        parts = [weighted[:, n : n + size] @ turned for n in range(0, weighted.shape[1], size)]
        return np.concatenate(parts, axis=1).reshape(len(first), -1)
