"""Beam search: good sets of features quickly, without a proof."""

from __future__ import annotations

import numpy as np

from cpx.backends.search.side_constraints import Buffers, Side, buffers
from cpx.compiled.kernel import LANES, Ints, Ints2, Ints3, Words, Words3, kernel
from cpx.models.monomial.search.objective import Numbers
from cpx.models.monomial.search.root import Root


def beam_columns(root: Root, width: int) -> list[int]:
    """Add columns to the ``width`` best sets of each size; return the best set met.

    Where no set met is within the limits, it is one that is nearly so.
    """
    words, stride = root.bits.shape
    marks = np.random.default_rng(0).integers(0, 2**62, root.n)
    workspace = np.append(root.bits.ravel(), np.zeros(LANES, dtype=np.uint64))
    covers = np.full((2, width, words), 2**64 - 1, dtype=np.uint64)
    sets = np.zeros((2, width, root.k), dtype=np.int64)
    sums = np.zeros((3, root.n + LANES), dtype=np.int64)
    states = np.zeros((5, width), dtype=np.int64)
    columns, found = (np.zeros(root.k, dtype=np.int64) for _ in range(2))
    size = _beam(
        workspace,
        stride,
        root.bad_words,
        words,
        root.planes,
        root.n,
        root.good,
        root.covered_bad,
        root.groups,
        root.numbers,
        marks,
        covers,
        sets,
        sums,
        states,
        columns,
        found,
        root.side,
        buffers(root.side),
    )
    return [int(column) for column in found[:size]]


@kernel
def _beam(
    workspace: Words,
    stride: int,
    bad_words: int,
    words: int,
    planes: int,
    n: int,
    good: int,
    bad: int,
    groups: Ints,
    objective: Numbers,
    marks: Ints,
    covers: Words3,
    sets: Ints3,
    sums: Ints2,
    states: Ints2,
    columns: Ints,
    found: Ints,
    side: Side,
    spare: Buffers,
) -> int:
    """Fill ``found`` with the best set met; return its size.

    ``covers`` and ``sets`` hold the sets of the last size and of the next. A set is told from
    others by the sum of its features' random marks; should two sets have the same sum, one of
    them is lost, which a heuristic may do.
    """
