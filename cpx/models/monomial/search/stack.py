"""Arrays of the depth-first search: the nodes on the way to the current one, and its buffers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpx.backends.search.bitsets import aligned
from cpx.backends.search.remaining_constraints import NOWHERE
from cpx.backends.search.side_constraints import Buffers, Side, buffers
from cpx.compiled.kernel import LANES, Ints, Ints2, Shorts2, Words
from cpx.models.monomial.search.objective import Numbers

FIRST_WORDS = 252
"""Most words of a candidate that are looked at before a pair is weighed in full."""


class Levels(NamedTuple):
    """The stack of one thread; row t of each array belongs to level t."""

    workspace: Words
    start: Ints  # where the matrix begins in the workspace; start[t + 1] is where it ends
    width: Ints  # candidates
    bad_words: Ints
    words: Ints
    total: Ints  # bad weight covered by what was chosen before the level
    position: Ints
    ids: Ints2  # (level, position) -> column of the reduced problem
    covered: Ints2  # (level, position) -> bad weight covered with the candidate
    lost: Ints2  # (level, position) -> good weight excluded with the candidate
    bound: Ints2  # (level, position) -> lower bound on the cost in the child's subtree
    at: Ints  # the current level; the work so far, in blocks of eight words


class Params(NamedTuple):
    """What is the same in all nodes."""

    k: int  # features to choose at most
    planes: int  # bit slices of the weights
    good: int  # weight of all good samples
    groups: Ints  # at most one column of equal number is chosen; empty without groups
    objective: Numbers
    side: Side
    shared: Shorts2  # good weight that two columns both exclude, at most; empty where unknown


class Scratch(NamedTuple):
    """Buffers of one thread; what they hold is void once another node is entered."""

    cover: Words  # samples that the current child covers
    both: Words  # samples that it covers with one more feature
    buffer: Words
    moves: Words
    first: Words  # the table: first covered bad samples of the candidates
    covered: Ints  # by position: bad weight covered with the candidate
    lost: Ints  # by position: good weight excluded with the candidate
    kept: Ints  # positions of the candidates still of use
    limits: Ints  # by column of the table: most samples that a better pair covers, -1: of no use
    mosts: Ints  # the same for pairs with later columns
    top: Ints
    low: Ints
    low_less: Ints
    chosen: Ints  # columns chosen on the way to the current child, and candidates
    sorted: Ints
    side: Buffers


def new_levels(
    matrix: Words,
    bad_words: int,
    total: int,
    ids: Ints,
    covered: Ints,
    lost: Ints,
    bound: Ints,
    k: int,
    side: Side = NOWHERE,
) -> tuple[Levels, Scratch]:
    """Return the stack of a thread with the root at level 0."""
    n, (words, stride) = ids.size, matrix.shape
    depth = max(1, k - 2) + 1
    workspace = aligned(matrix.size + max((words + 1) * stride, 1 << 12) + LANES)
    workspace[: matrix.size] = matrix.ravel()
    row, rows = (depth + 1,), (depth, n + LANES)
    shapes: list[tuple[int, ...]] = [*[row] * 6, *[rows] * 4, (2,)]
    levels = Levels._make([workspace, *(np.zeros(shape, dtype=np.int64) for shape in shapes)])
    levels.start[1] = matrix.size
    levels.width[0], levels.bad_words[0], levels.words[0] = n, bad_words, words
    levels.total[0] = total
    for array, values in zip(levels[7:11], (ids, covered, lost, bound), strict=True):
        array[0, :n] = values
    return levels, _new_scratch(words, stride, k, side)


def _new_scratch(words: int, stride: int, k: int, side: Side) -> Scratch:
    """Return the buffers for a matrix of that shape."""
    long, wide = words + 2 * LANES, stride + 3 * LANES
    first = (min(words, FIRST_WORDS) + LANES) * wide
    numbers = (wide, wide, wide, wide, wide, k + 2, wide, wide, k + 2, k + 2)
    return Scratch._make(
        [aligned(size) for size in (long, long, wide, 6 * LANES, first)]
        + [np.zeros(size, dtype=np.int64) for size in numbers]
        + [buffers(side)]
    )


def grown(levels: Levels) -> Levels:
    """Return the same stack with twice the workspace."""
    workspace = aligned(2 * levels.workspace.size)
    workspace[: levels.workspace.size] = levels.workspace
    return levels._replace(workspace=workspace)
