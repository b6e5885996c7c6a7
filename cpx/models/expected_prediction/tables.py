"""Leaves as tables of integers over sets of chosen attributes, under independent attributes.

Under a fully factorised distribution a leaf l with the value v_l adds to the expected score, when
the attributes S are known::

    v_l  prod_{a tested, in S} [the state of x leads to l]  prod_{a tested, not in S} Pr(M_la)

where M_la are the states of a that lead to l. In units this is rounded, leaf by leaf, so that
the sum is a function of integers whatever tables it is then split into.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.data.tree_mixture import ONE
from cpx.models.expected_prediction.exact import ExactScores

__all__ = ["MOST_TESTS", "LeafTables", "Term", "merged"]

MOST_TESTS = 16
"""Leaves with more tests have no table: it would have more than 2**16 entries."""

_MOST_TOGETHER = 12
"""Leaves of a tree share a table while they test no more attributes."""


class Term(NamedTuple):
    """A table over the sets of a few attributes: bit i of an index stands for ``features[i]``."""

    features: tuple[int, ...]
    table: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LeafTables:
    """What each leaf adds to the expected score, in units and rounded.

    Parameters
    ----------
    scores : ExactScores
        Under a fully factorised distribution.
    unit : Fraction
    rounding : {"nearest", "down"}
        To the nearest integer, of two the even one; or never up.
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
        shares = self.scores.evaluator.reached(0, seen)[0, left]
        whole, near = self._in_doubt(self._in_units[left] * shares, self.deepest)
        total = self.base + sum(whole[~near].tolist())
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
    def of_leaves(self) -> list[NDArray[np.int64]]:
        """For each leaf, a table over those of its attributes whose state in x leads there.

        An attribute whose state leads elsewhere is not known: known, the leaf adds nothing.
        """
        tests = self.scores.tests
        groups: dict[int, list[int]] = {}
        for leaf, row in enumerate(tests):
            groups.setdefault(sum(agrees for _, _, agrees in row), []).append(leaf)
        found: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)] * len(tests)
        for size, group in groups.items():
            start = np.array([self._alone(leaf) for leaf in group])
            shares = [
                [self.masses[m] / ONE for _, m, agrees in tests[leaf] if agrees] for leaf in group
            ]
            tables = self._tables(group, start, np.array(shares).reshape(len(group), size))
            for leaf, table in zip(group, tables, strict=True):
                found[leaf] = table
        return found

    def _alone(self, leaf: int) -> float:
        """Return what a leaf adds, in units, when all its tests that agree with x are known."""
        value, power = self.scores.leaves.values[leaf], 1
        for _, m, agrees in self.scores.tests[leaf]:
            if not agrees:
                value *= self.masses[m]
                power *= ONE
        # The quotient of two integers is correctly rounded.
        return float(value * self._scale.denominator / (self._scale.numerator * power))

    def _tables(
        self, group: list[int], start: NDArray[np.float64], shares: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the tables of leaves with as many agreeing tests."""
        tables = start[:, None]
        for share in shares.T:
            tables = np.hstack([tables * share[:, None], tables])
        integers, near = self._in_doubt(tables, shares.shape[1])
        for i, index in zip(*(axis.tolist() for axis in np.nonzero(near)), strict=True):
            leaf = group[i]
            row = self.scores.tests[leaf]
            places = {test[0]: bit for bit, test in enumerate(t for t in row if t[2])}
            unknown = [m for a, m, agrees in row if not (agrees and index >> places[a] & 1)]
            integers[i, index] = self._entry(leaf, unknown)
        return integers

    def terms(self, whole_trees: bool = False) -> list[Term]:
        """Return the leaves as tables, those of a tree together while they test few attributes.

        Parameters
        ----------
        whole_trees : bool
            Whether all leaves of a tree must share a table, however many attributes it tests.
        """
        found = []
        for leaves, features in self.pieces(whole_trees):
            total = np.zeros((2,) * len(features), dtype=np.int64)
            for leaf in leaves:
                part, shape = self._place(leaf, features)
                total[part] += self.of_leaves[leaf].reshape(shape)
            found.append(Term(features, total.reshape(-1)))
        return found

    def pieces(self, whole_trees: bool = False) -> Iterator[tuple[list[int], tuple[int, ...]]]:
        """Yield leaves that share a table, and their attributes in increasing order."""
        tree = self.scores.leaves.tree
        waiting: list[int] = []
        features: set[int] = set()
        for leaf, tests in enumerate(self.scores.tests):
            more = features | {a for a, _, _ in tests}
            full = len(more) > _MOST_TOGETHER and not whole_trees
            if waiting and (tree[leaf] != tree[waiting[-1]] or full):
                yield waiting, tuple(sorted(features))
                waiting, more = [], {a for a, _, _ in tests}
            waiting, features = [*waiting, leaf], more
        if waiting:
            yield waiting, tuple(sorted(features))

    def _place(self, leaf: int, features: tuple[int, ...]) -> tuple[tuple[Any, ...], list[int]]:
        """Return where a leaf adds in a table with an axis per feature, the last one first."""
        agrees = {a: agree for a, _, agree in self.scores.tests[leaf]}
        part = tuple(slice(None) if agrees.get(a, True) else 0 for a in reversed(features))
        shape = [2 if a in agrees else 1 for a in reversed(features) if agrees.get(a, True)]
        return part, shape

    def maxima(self, factor: Fraction) -> list[Term]:
        """Return a table per tree: the greatest leaf that is reached, times a factor, in units.

        They are rounded like leaves.
        """
        found = []
        values = self.scores.leaves.values
        for leaves, features in self.pieces(whole_trees=True):
            different = sorted({values[leaf] for leaf in leaves})
            best = np.full((2,) * len(features), -1, dtype=np.int64)
            for leaf in leaves:
                part, _ = self._place(leaf, features)
                best[part] = np.maximum(best[part], different.index(values[leaf]))
            units = [self.rounded(factor * v / self._scale) for v in different]
            found.append(Term(features, np.array(units, dtype=np.int64)[best.reshape(-1)]))
        return found


# ---------------------------------------------------------------------- reduction


def merged(terms: Iterable[Term]) -> tuple[list[Term], int]:
    """Return as few tables with the same sum, each 0 for the empty set, and the constant.

    Attributes on which a table does not depend are left out, and tables over attributes that all
    belong to another one are added to it.

    Examples
    --------
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
