"""Leaves as tables of integers over sets of chosen attributes, under independent attributes.

Under a fully factorised distribution a leaf l with the value v_l adds to the expected score, when
the attributes S are known::

    v_l  prod_{a tested, in S} [the state of x leads to l]  prod_{a tested, not in S} Pr(M_la)

where M_la are the states of a that lead to l. In units this is rounded, leaf by leaf, so that
the sum is a function of integers whatever tables it is then split into.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.data.fitted.tree_mixture import ONE
from cpx.models.expected_prediction.exact_scores import ExactScores
from cpx.models.expected_prediction.table_layout import TableLayout, by_tree, few_together

MOST_TESTS = 16
"""Leaves with more tests have no table: it would have more than 2**16 entries."""

MOST_ENTRIES = 2**24
"""Entries of all tables together."""


class Term(NamedTuple):
    """A table over the sets of a few attributes: bit i of an index stands for ``features[i]``."""

    features: tuple[int, ...]
    table: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LeafTables:
    """What each leaf adds to the expected score, in units and rounded.

    scores: Under a fully factorised distribution.
    rounding: To the nearest integer, of two the even one; or never up.
    """

    scores: ExactScores
    unit: Fraction
    rounding: Literal["nearest", "down"] = "nearest"

    @cached_property
    def masses(self) -> list[int]:
        """The probability of each mask, over 2**30."""
        return self.scores.numerators()

    @cached_property
    def _scale(self) -> Fraction:
        """What integers of leaves are divided by to become units."""
        return self.scores.leaves.scale * self.unit

    def rounded(self, units: Fraction) -> int:
        """Return a number of units as an integer."""
        return round(units) if self.rounding == "nearest" else floor(units)

    @cached_property
    def base(self) -> int:
        """The base of the model, in units."""
        return self.rounded(self.scores.leaves.base / self._scale)

    def value(self, chosen: Iterable[int]) -> int:
        """Return the base and what all leaves add when these attributes are known."""
        leaves, S = self.scores.leaves, [*{*chosen}]
        reached, unknown = self.scores.reached(S)
        left, mask = np.flatnonzero(reached), leaves.mask
        seen = np.zeros((1, leaves.n_attributes), dtype=np.bool_)
        seen[0, S] = True
        shares = self.scores.evaluator.reached(slice(1), seen)[0, 0, left]
        whole, near = self._in_doubt(self._in_units[left] * shares, self.deepest)
        total: int = self.base + sum(whole[~near].tolist())
        for leaf in left[near].tolist():
            tests = slice(*leaves.starts[leaf : leaf + 2])
            total += self._entry(leaf, mask[tests][unknown[tests]].tolist())
        return total

    @cached_property
    def _in_units(self) -> NDArray[np.float64]:
        """The values of the leaves in units: quotients of integers, rounded once."""
        up, down = self._scale.denominator, self._scale.numerator
        return np.array([int(v) * up / down for v in self.scores.leaves.values.tolist()])

    def _entry(self, leaf: int, unknown: Iterable[int]) -> int:
        """Return what a leaf adds, exactly rounded, when these of its masks are not known."""
        value, power = self.scores.leaves.values[leaf], 1
        for m in unknown:
            value *= self.masses[m]
            power *= ONE
        return self.rounded(value / (self._scale * power))

    def _in_doubt(
        self, units: NDArray[np.float64], factors: int
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return rounded floats, and which of them may be rounded wrongly.

        A float is the rounded product of so many factors, so its relative error is known.
        """
        doubt = np.abs(units) * ((factors + 2) * 2.0**-52) + 2.0**-60
        if self.rounding == "nearest":
            result = np.rint(units)
            near = np.abs(np.abs(units - result) - 0.5) <= doubt
        else:
            result = np.floor(units)
            near = np.abs(units - np.rint(units)) <= doubt
        return result.astype(np.int64), near

    # -------------------------------------------------------------------- tables

    @cached_property
    def deepest(self) -> int:
        """The greatest number of tests of a leaf."""
        return int(np.diff(self.scores.leaves.starts).max(initial=0))

    @cached_property
    def layout(self) -> TableLayout:
        """Which leaves share a table: those of a tree while they test few attributes."""
        return few_together(self.scores.leaves, MOST_TESTS)

    @cached_property
    def by_tree(self) -> TableLayout:
        """All leaves of a tree in one table, however many attributes it tests."""
        return by_tree(self.scores.leaves)

    def terms(self, layout: TableLayout | None = None) -> list[Term]:
        """Return what the leaves add as tables, in :attr:`layout` unless another one is given."""
        layout = layout or self.layout
        agrees = self.scores.agrees
        known = np.where(agrees, 1.0, self._shares)
        alone, some = self._in_units.copy(), np.flatnonzero(np.diff(self.scores.leaves.starts))
        if some.size:
            alone[some] *= np.multiply.reduceat(known, self.scores.leaves.starts[some])
        total = np.zeros(layout.entries, dtype=np.int64)
        for leaves, agree, entries in layout.batches(agrees):
            units = alone[leaves][:, None]
            for share in self._shares[agree].T:
                units = np.hstack([units * share[:, None], units])
            whole = self._whole(leaves, agree, units)
            repeats = entries.shape[1] // whole.shape[1]
            np.add.at(total, entries.reshape(-1), np.tile(whole, (1, repeats)).reshape(-1))
        return _terms(layout, total)

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        """Of each test, the probability of the states that lead on."""
        masses = np.array(self.masses, dtype=np.float64)
        return masses[self.scores.leaves.mask] / ONE

    def _whole(
        self, leaves: NDArray[np.int64], agree: NDArray[np.int64], units: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Round what leaves add, in floats, for all sets of their agreeing tests: exactly."""
        form = self.scores.leaves
        whole, near = self._in_doubt(units, self.deepest)
        for i, index in zip(*(axis.tolist() for axis in np.nonzero(near)), strict=True):
            leaf = int(leaves[i])
            known = {test for bit, test in enumerate(agree[i].tolist()) if index >> bit & 1}
            tests = range(form.starts[leaf], form.starts[leaf + 1])
            unknown = [int(form.mask[test]) for test in tests if test not in known]
            whole[i, index] = self._entry(leaf, unknown)
        return whole

    def maxima(self, factor: Fraction) -> list[Term]:
        """Return a table per tree: the greatest leaf that is reached, times a factor, in units.

        They are rounded like leaves.
        """
        values, ranks = self.scores.ranks
        best = np.full(self.by_tree.entries, -1, dtype=np.int64)
        for leaves, _, entries in self.by_tree.batches(self.scores.agrees):
            own = np.repeat(ranks[leaves], entries.shape[1])
            np.maximum.at(best, entries.reshape(-1), own)
        units = [self.rounded(factor * value / self._scale) for value in values]
        return _terms(self.by_tree, np.array(units, dtype=np.int64)[best])


def _terms(layout: TableLayout, values: NDArray[np.int64]) -> list[Term]:
    return [Term(*pair) for pair in zip(layout.features(), layout.split(values), strict=True)]


# ---------------------------------------------------------------------- reduction


def merged(terms: Iterable[Term]) -> tuple[list[Term], int]:
    """Return as few tables with the same sum, each 0 for the empty set, and the constant.

    Attributes on which a table does not depend are left out, and tables over attributes that all
    belong to another one are added to it.

    >>> pair = Term((0, 3), np.array([1, 1, 4, 9]))
    >>> others = [Term((3,), np.array([2, 0])), Term((5,), np.array([7, 7]))]
    >>> terms, constant = merged([pair, *others])
    >>> [(term.features, term.table.tolist()) for term in terms], constant
    ([((0, 3), [0, 0, 1, 6])], 10)
    """
    constant, found = 0, dict[tuple[int, ...], NDArray[np.int64]]()
    for term in terms:
        constant += int(term.table[0])
        features, table = _needed(term.features, term.table - term.table[0])
        found[features] = found[features] + table if features in found else table
    found.pop((), None)
    largest: list[tuple[frozenset[int], tuple[int, ...]]] = []
    hosts: set[tuple[int, ...]] = set()
    for features in sorted(found, key=lambda fs: (-len(fs), fs)):
        inside = frozenset(features)
        host = next((fs for members, fs in largest if inside <= members), None)
        if host is None:
            largest.append((inside, features))
        else:
            shape = [2 if a in inside else 1 for a in reversed(host)]
            table = found[host].reshape((2,) * len(host)) + found[features].reshape(shape)
            found[host] = table.reshape(-1)
            hosts.add(host)
    reduced = [
        Term(*(_needed(fs, found[fs]) if fs in hosts else (fs, found[fs]))) for _, fs in largest
    ]
    return [term for term in reduced if term.features], constant


def _needed(
    features: tuple[int, ...], table: NDArray[np.int64]
) -> tuple[tuple[int, ...], NDArray[np.int64]]:
    """Return a table without the attributes that it does not depend on."""
    kept: list[int] = []
    for a in features:
        cube = table.reshape(-1, 2, 1 << len(kept))
        if (cube[:, 0] == cube[:, 1]).all():
            table = np.ascontiguousarray(cube[:, 0]).reshape(-1)
        else:
            kept.append(a)
    return tuple(kept), table
