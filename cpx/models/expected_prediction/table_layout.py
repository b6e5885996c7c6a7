"""Where leaves add in tables over the attributes that they test together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.models.expected_prediction.leaves import LeafForm

Ints = NDArray[np.int64]

_MOST_TOGETHER, _ENTRIES_PER_LEAF = 12, 16
"""A tree is one table while it tests no more attributes, or while leaves share its entries."""

_AT_ONCE = 2**18
"""Entries that are added at once."""


def by_tree(leaves: LeafForm) -> TableLayout:
    """Return the layout of one table for each tree."""
    return TableLayout(leaves, np.unique(leaves.tree, return_inverse=True)[1])


def few_together(leaves: LeafForm, most: int) -> TableLayout:
    """Return a layout of tables over few attributes: for each tree one, or several for some.

    most: The greatest number of attributes of a table.
    """
    whole = by_tree(leaves)
    count = np.bincount(whole.table)
    small = whole.sizes <= _MOST_TOGETHER
    shared = (whole.sizes <= most) & (_ENTRIES_PER_LEAF * count >= 2.0**whole.sizes)
    if (small | shared).all():
        return whole
    # Leaves in order, as long as they test few attributes together.
    new = np.diff(whole.table, prepend=-1) > 0
    attributes, starts = leaves.attribute.tolist(), leaves.starts.tolist()
    for tree in np.flatnonzero(~(small | shared)).tolist():
        together: set[int] = set()
        for leaf in np.flatnonzero(whole.table == tree).tolist():
            own = {*attributes[starts[leaf] : starts[leaf + 1]]}
            if len(together | own) > _MOST_TOGETHER:
                together, new[leaf] = own, True
            together |= own
    return TableLayout(leaves, np.cumsum(new) - 1)


def by_tests(leaves: LeafForm, most: int) -> TableLayout:
    """Return a layout of one table for each tree, or for its leaves that test the same attributes.

    most: The greatest number of attributes of a tree that is one table.
    """
    whole = by_tree(leaves)
    large = (whole.sizes > most)[whole.table]
    if not large.any():
        return whole
    attributes, starts = leaves.attribute.tolist(), leaves.starts.tolist()
    number: dict[tuple[int, ...], int] = {}
    table = []
    for leaf, tree in enumerate(whole.table.tolist()):
        tests = attributes[starts[leaf] : starts[leaf + 1]] if large[leaf] else []
        table.append(number.setdefault((tree, *tests), len(number)))
    return TableLayout(leaves, np.array(table, dtype=np.int64))


class TableLayout:
    """Leaves that share tables: the tables one after the other, all of them in one array.

    Bit i of the index of a table says whether its i-th attribute is known.

    table: The table of each leaf; that of a later leaf is the same, one before, or the next one.
    sizes: The number of attributes of each table.
    """

    def __init__(self, leaves: LeafForm, table: Ints) -> None:
        self._leaves, self.table = leaves, table
        count, A = int(table.max()) + 1, leaves.n_attributes
        keys, test = np.unique(table[leaves.leaf] * A + leaves.attribute, return_inverse=True)
        of, self._attributes = np.divmod(keys, A)
        self.sizes = np.bincount(of, minlength=count)
        self._first = np.cumsum(self.sizes) - self.sizes
        # Of each test, the place of its attribute among those of the table.
        self._bit = test - self._first[table[leaves.leaf]]

    @property
    def entries(self) -> int:
        """The number of entries of all tables."""
        return sum(1 << size for size in self.sizes.tolist())

    def features(self) -> list[tuple[int, ...]]:
        """Return the attributes of each table, increasing."""
        ends = zip(self._first.tolist(), self.sizes.tolist())
        return [tuple(self._attributes[first : first + size].tolist()) for first, size in ends]

    def split(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the values of all entries as an array for each table."""
        return np.split(values, self._begin[1:])

    @cached_property
    def _begin(self) -> Ints:
        return np.asarray(np.cumsum(1 << self.sizes) - (1 << self.sizes))

    def batches(self, agrees: NDArray[np.bool_]) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield leaves, their tests that agree with x, and the entries where they add.

        A leaf adds where none of its attributes is known whose state in x leads elsewhere. Bit i
        of a column of entries says whether the i-th of the others is known: first those that the
        leaf tests, which all leaves of a batch have as many of, then the rest of the table.

        agrees: Of each test, whether the state of x leads on.
        """
        leaves = self._leaves
        count = np.diff(leaves.starts)
        own = np.bincount(leaves.leaf[agrees], minlength=len(count))
        size = self.sizes[self.table]
        shape = (size * 64 + own) * 64 + count
        order = np.argsort(shape, kind="stable")
        ends = np.flatnonzero(np.diff(shape[order], append=-1)) + 1
        for first, end in zip([0, *ends.tolist()], ends.tolist()):
            one = order[first]
            step = max(1, _AT_ONCE >> int(size[one] - count[one] + own[one]))
            for at in range(first, end, step):
                group = order[at : min(end, at + step)]
                tests = leaves.starts[group][:, None] + np.arange(count[one])
                agree = tests[agrees[tests]].reshape(len(group), own[one])
                yield group, agree, self._entries(group, tests, agree, int(size[one]))

    def _entries(self, group: Ints, tests: Ints, agree: Ints, size: int) -> Ints:
        free = np.ones((len(group), size), dtype=np.bool_)
        free[np.arange(len(group))[:, None], self._bit[tests]] = False
        rest = np.nonzero(free)[1].reshape(len(group), size - tests.shape[1])
        entries = self._begin[self.table[group]][:, None]
        for bits in (*self._bit[agree].T, *rest.T):
            entries = np.hstack([entries, entries + (1 << bits)[:, None]])
        return entries
