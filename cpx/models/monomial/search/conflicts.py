"""Features, pairs and triples that no better rule contains, by the bounds of the search.

Let v be the cost of a known rule. A rule is irreducible where it costs more without any one of its
features. For a set R of up to three features, the bounds of
:mod:`~cpx.models.monomial.search.bounds` say which others are in no irreducible rule that contains
R and costs less than v: R and such a feature are in conflict, and R itself is where no other is
left. So every irreducible rule that costs less than v remains, and with it a best one.

Sets are looked at by size: what is known of features makes the bounds of pairs sharper, and pairs
those of triples. Features that none of these rules has are left out before pairs are looked at.

With k = 5, what two more exclude together is counted for each triple. All sets of five are looked
at before that, each once: by its first three features. A triple of no set that may be better is in
conflict, and little is left to look at by itself, where other triples of a set lose more.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.bitsets import aligned
from cpx.compiled.kernel import LANES, Bytes2, Ints, Words, kernel
from cpx.models.monomial.search.objective import Numbers
from cpx.models.monomial.search.root import Root

_ROUNDS = 5
"""How often features, and triples, are looked at, as long as something new follows."""

MOST_FEATURES = 400
"""With more left, triples are not looked at: a table of them is too large."""

WORK_PER_SECOND = 10**9
"""Words that are counted in a second of a slow machine: three times as many in one of 2024."""

MOST_SECONDS = 5.0


class Conflicts(NamedTuple):
    """What is left of the columns of a root.

    columns (n,): Those that a better set may have.
    pairs (n, n): Which two of these may be together; the diagonal is true.
    triples (n, n, n): Which three may, at places in any order; None where nobody looked.
    better: A set that costs less than was known, where one was met; then the rest is void.
    """

    columns: NDArray[np.int64]
    pairs: NDArray[np.bool_]
    triples: NDArray[np.bool_] | None
    better: list[int] | None


def conflicts(root: Root, limit: int, seconds: float = math.inf) -> Conflicts:
    """Look for the conflicts of sets that cost less than ``limit``, about so many seconds.

    All sets of one or two columns are looked at; what of the larger ones is not has no conflicts.
    Nothing else may restrict the choice than groups; with fewer than 4 columns nothing is found.
    """
    pairs = np.ones((root.n, root.n), dtype=np.uint8)
    if root.k < 4:
        return Conflicts(np.arange(root.n), pairs > 0, None, None)
    if root.groups.size:
        pairs[root.groups[:, None] == root.groups[None, :]] = 0
        np.fill_diagonal(pairs, 1)
    looking = _Looking(root, limit, int(WORK_PER_SECOND * min(seconds, MOST_SECONDS)))
    columns, none = np.arange(root.n), np.zeros((0, 0), dtype=np.uint8)
    for _ in range(_ROUNDS):
        before = int(pairs.sum())
        if (better := looking.at(columns, 1, pairs, none)) is not None:
            return Conflicts(columns, pairs > 0, None, better)
        kept = np.diag(pairs) > 0
        columns, pairs = columns[kept], np.ascontiguousarray(pairs[np.ix_(kept, kept)])
        if int(pairs.sum()) == before:
            break
    n, triples = columns.size, None
    if n <= MOST_FEATURES:
        three = pairs[:, :, None] & pairs[:, None, :] & pairs[None, :, :]
        table = three.reshape(n * n, n)
        # Sets of five are faster to look at than all of three, which then leave fewer.
        for size in (2, *(5,) * (root.k == 5), *(3,) * _ROUNDS):
            before = int(table.sum())
            if (better := looking.at(columns, size, pairs, table)) is not None:
                return Conflicts(columns, pairs > 0, None, better)
            if size == 3 and int(table.sum()) == before:
                break
        triples = three > 0
        pairs &= three.any(axis=0) | np.eye(n, dtype=np.bool_)
    return Conflicts(columns, pairs > 0, triples, None)


class _Looking:
    """Looks at the sets of some columns, as long as there is work left."""

    def __init__(self, root: Root, limit: int, left: int) -> None:
        self.root, self.limit, self.left = root, limit, left

    def at(
        self,
        columns: NDArray[np.int64],
        size: int,
        pairs: NDArray[np.uint8],
        triples: NDArray[np.uint8],
    ) -> list[int] | None:
        """Look at all sets of a size, 1, 2, 3 or 5; return a better one if it is met."""
        root, bits = self.root, self.root.take(columns)
        words, stride = bits.shape
        workspace = aligned(bits.size + 2 * (words + LANES) * stride + LANES)
        workspace[: bits.size] = bits.ravel()
        masks = [aligned(size) for size in (words + 2 * LANES, stride + 3 * LANES, 64)]
        numbers = np.zeros((6, max(stride, root.k) + 2 * LANES), dtype=np.int64)
        found = np.zeros(root.k + 2, dtype=np.int64)
        marks = np.zeros_like(triples) if size == 5 else triples[:0]
        shape = root.bad_words, words, root.planes, columns.size, root.k, root.good
        tables = pairs, triples, marks, workspace, *masks, *numbers, found
        for first in range(columns.size):  # a call is not cut when the time is over
            if size > 1 and self.left <= 0:
                break
            left = max(0, self.left)
            self.left -= look(*shape, root.numbers, self.limit, min(size, 3), first, left, *tables)
            if found[0]:
                return [int(columns[j]) for j in found[1 : 1 + found[0]]]
        return None


@kernel
def look(
    bad_words: int,
    words: int,
    planes: int,
    n: int,
    k: int,
    good: int,
    objective: Numbers,
    limit: int,
    size: int,
    first: int,
    most: int,
    pairs: Bytes2,
    triples: Bytes2,
    marks: Bytes2,
    workspace: Words,
    cover: Words,
    buffer: Words,
    moves: Words,
    covered: Ints,
    lost: Ints,
    kept: Ints,
    top: Ints,
    lows: Ints,
    lows_with: Ints,
    found: Ints,
) -> int:
    """Look at the sets of 1, 2 or 3 columns of which the first is given; return the work done.

    pairs (n, n): 1 where two may be together. At size 1 what a column excludes becomes 0, at size
        2 the pairs that are in no better set.
    triples (n * n, n): The same of three: of j, l and p at row j n + l, column p, in all orders.
    marks (n * n, n): With k = 5 and size 3, zeros at first, to look at sets of five, each once:
        by its first three columns. Those of three columns j < l < p are marked in what may be
        better. The first columns are to be given in order: once one was looked at whole, sets of
        three with it that are not marked are in no better set.
    most: Work after which sets of two or three are left as they are.
    workspace: The matrix, and room for two more with eight rows more each.
    found: The size of a set below the limit and its columns, where one is met: then the call ends.
    """
