"""Beam search: good sets of features quickly, without a proof."""

from __future__ import annotations

import numpy as np

from cpx.backends.search.bitsets import count
from cpx.backends.search.objective import FAR, Numbers, rank
from cpx.backends.search.root import Root
from cpx.backends.search.side_constraints import Buffers, Side, allowed, buffers, can_follow, look
from cpx.compiled.kernel import Ints, Ints2, Ints3, Words, Words3, kernel
from cpx.compiled.vectors import LANES

_PATIENCE = 4
"""Sizes without a better set after which the search is over."""


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
    costs, parents, added, keys, known = states[0], states[1], states[2], states[3], states[4]
    covered, kept, every = sums[0], sums[1], sums[2]
    width, k, size, filled = costs.size, columns.size, 0, 1
    best = rank(objective, bad, 0)
    if not allowed(side, spare, columns, 0):
        best = FAR
    for p in range(n):
        every[p] = p
    for t in range(k):
        old, new = t & 1, 1 - (t & 1)
        last, filled = filled, 0
        for s in range(last):
            known[s] = keys[s]
        for s in range(last):
            count(
                workspace,
                0,
                stride,
                bad_words,
                words,
                0,
                n,
                n,
                planes,
                covers[old, s],
                covered,
                kept,
            )
            some = 0
            if side.there != 0:
                some = look(side, spare, sets[old, s], t, every, every, n, k - t)
            if some < 0:
                continue
            for p in range(n):
                cost = rank(objective, covered[p], good - kept[p])
                if filled == width and cost >= costs[filled - 1]:
                    continue
                taken = False
                for x in range(t):
                    taken |= sets[old, s, x] == p
                for x in range(t if groups.size else 0):
                    taken |= groups[sets[old, s, x]] == groups[p]
                key = known[s] + marks[p]
                for x in range(filled):
                    taken |= keys[x] == key
                if taken or (some != 0 and not can_follow(side, spare, p, k - t)):
                    continue
                at = min(filled, width - 1)
                filled = min(filled + 1, width)
                while at > 0 and costs[at - 1] > cost:
                    costs[at], parents[at] = costs[at - 1], parents[at - 1]
                    added[at], keys[at] = added[at - 1], keys[at - 1]
                    at -= 1
                costs[at], parents[at], added[at], keys[at] = cost, s, p, key
        if filled == 0:
            break
        for s in range(filled):
            parent, p = parents[s], added[s]
            for w in range(words):
                covers[new, s, w] = covers[old, parent, w] & workspace[w * stride + p]
            for x in range(t):
                sets[new, s, x] = sets[old, parent, x]
            sets[new, s, t] = p
        at = 0
        while at < filled and not allowed(side, spare, sets[new, at], t + 1):
            at += 1
        if at < filled and costs[at] < best:
            best, size = costs[at], t + 1
            for x in range(size):
                found[x] = sets[new, at, x]
        elif best < FAR and t - size >= _PATIENCE:
            break
    return size
