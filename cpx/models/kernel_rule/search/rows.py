"""Rows of support vectors, merged and split by sign, and the rows each clause covers, as lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cpx.compiled.kernel import Bools, Ints
from cpx.models.kernel_rule.form import DNFForm


@dataclass(frozen=True, eq=False)
class Rows:
    """The same problem with equal rows merged.

    inside, outside (p, d) and (q, d): Rows of positive and of negative weight, the heaviest first.
    gains, costs (p,) and (q,): Their weights, and the absolute values of them.
    """

    inside: Bools
    outside: Bools
    gains: Ints
    costs: Ints

    @classmethod
    def of(cls, form: DNFForm) -> Rows:
        """Merge equal rows and leave out those whose weights cancel."""
        table, place = np.unique(form.table, axis=0, return_inverse=True)
        weights = np.zeros(len(table), dtype=np.int64)
        np.add.at(weights, place.ravel(), form.weights)
        order = np.argsort(-np.abs(weights), kind="stable")
        table, weights = table[order], weights[order]
        plus, minus = weights > 0, weights < 0
        return cls(table[plus], table[minus], weights[plus], -weights[minus])

    @property
    def greatest(self) -> int:
        """The sum of the positive weights."""
        return int(self.gains.sum())


class Cover(NamedTuple):
    """The rows that clauses are true of: those of clause c are ``rows[ends[c]:ends[c + 1]]``."""

    inside_ends: Ints
    inside: Ints
    outside_ends: Ints
    outside: Ints

    @classmethod
    def of(cls, inside: Bools, outside: Bools) -> Cover:
        """Take the places of what is True, line by line."""
        lines = []
        for table in (inside, outside):
            ends = np.zeros(len(table) + 1, dtype=np.int64)
            np.cumsum(np.count_nonzero(table, axis=1), out=ends[1:])
            lines += [ends, np.ascontiguousarray(np.nonzero(table)[1])]
        return cls(*lines)

    def only(self, clauses: Bools, inside: Bools, outside: Bools) -> Cover:
        """Return some of the clauses, and the rows among some, which are counted anew."""
        return Cover(
            *_only(self.inside_ends, self.inside, clauses, inside),
            *_only(self.outside_ends, self.outside, clauses, outside),
        )

    def tables(self, clauses: Ints, inside: int, outside: int) -> tuple[Bools, Bools]:
        """Return some of the clauses as tables of so many columns."""
        return (
            _table(self.inside_ends, self.inside, clauses, inside),
            _table(self.outside_ends, self.outside, clauses, outside),
        )

    @property
    def counts(self) -> tuple[Ints, Ints]:
        """The numbers of rows of either kind that each clause is true of."""
        return np.diff(self.inside_ends), np.diff(self.outside_ends)

    def sums(self, gains: Ints, costs: Ints) -> tuple[Ints, Ints]:
        """Return what the rows of each clause weigh."""
        return _sums(gains[self.inside], self.inside_ends), _sums(
            costs[self.outside], self.outside_ends
        )


def _only(ends: Ints, rows: Ints, clauses: Bools, kept: Bools) -> tuple[Ints, Ints]:
    stays = kept[rows]
    left = np.zeros_like(ends)
    np.cumsum(np.where(clauses, _sums(stays, ends), 0), out=left[1:])
    if not clauses.all():
        stays &= np.repeat(clauses, np.diff(ends))
        left = left[np.append(True, clauses)]
    return left, (np.cumsum(kept) - 1)[rows[stays]]


def _table(ends: Ints, rows: Ints, clauses: Ints, columns: int) -> Bools:
    first, counts = ends[clauses], ends[clauses + 1] - ends[clauses]
    before = np.cumsum(counts) - counts
    places = np.arange(counts.sum()) + np.repeat(first - before, counts)
    found = np.zeros((len(clauses), columns), dtype=np.bool_)
    found[np.repeat(np.arange(len(clauses)), counts), rows[places]] = True
    return found


def _sums(values: Ints | Bools, ends: Ints) -> Ints:
    """Add up the values between each end and the next."""
    sums = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=sums[1:])
    return np.asarray(sums[ends[1:]] - sums[ends[:-1]])
