"""The last two features of a set: all pairs of candidates, by their first words.

Where few samples agree no bound helps: almost every set of features has to be looked at, and
a pair must cost next to nothing. The bad samples that a node covers are put side by side, for
each candidate, in a few words; a pair that leaves too many of them covered is done with, often
after one AND and one popcount. Eight pairs are tried at once, and hardly any passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.bits import aligned, first_words, stride_of, weigh_with
from cpx.backends.search.goal import Numbers, cost, most_bad
from cpx.backends.search.jit import LANES, few, kernel, popcount, skip

if TYPE_CHECKING:
    from cpx.backends.search.tree import Levels

__all__ = ["Scratch", "best_pair", "improve", "new_scratch"]

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_ALL = np.uint64(2**64 - 1)
_ONE = np.uint64(1)
_FIRST_WORDS = 256
"""Most words of a candidate that are looked at before a pair is weighed in full."""


class Scratch(NamedTuple):
    """Buffers of one thread; what they hold is void once another node is entered."""

    cover: Words  # samples that the current child covers
    both: Words  # samples that it covers with one more feature
    buffer: Words
    moves: Words
    first: Words  # a matrix: first covered bad samples, kept candidates
    covered: Ints  # by position: bad weight covered with the candidate
    lost: Ints  # by position: good weight excluded with the candidate
    kept: Ints  # positions of the candidates still of use
    top: Ints
    low: Ints
    low_less: Ints
    chosen: Ints  # columns chosen on the way to the current child, and candidates
    sorted: Ints


def new_scratch(words: int, stride: int, k: int) -> Scratch:
    """Return the buffers for a matrix of that shape."""
    long, wide = words + 1, stride + 2 * LANES
    first = (min(words, _FIRST_WORDS) + 2) * wide
    numbers = (wide, wide, wide, k + 2, wide, wide, k + 2, k + 2)
    return Scratch._make(
        [aligned(size) for size in (long, long, wide, 96, first)]
        + [np.zeros(size, dtype=np.int64) for size in numbers]
    )


@kernel
def improve(shared: Ints, found: Ints, value: int, scratch: Scratch, size: int) -> None:
    """Record the chosen columns if they are better, or as good and first by size and index."""
    if value > found[0] or (value == found[0] and size > found[1]):
        return
    for x in range(size):
        column, y = scratch.chosen[x], x
        while y > 0 and scratch.sorted[y - 1] > column:
            scratch.sorted[y] = scratch.sorted[y - 1]
            y -= 1
        scratch.sorted[y] = column
    if value == found[0] and size == found[1]:
        found[-2] += 1
        x = 0
        while x < size and scratch.sorted[x] == found[2 + x]:
            x += 1
        if x == size or scratch.sorted[x] > found[2 + x]:
            return
    found[0], found[1] = value, size
    for x in range(size):
        found[2 + x] = scratch.sorted[x]
    shared[1] = min(shared[1], value)


@kernel
def _lightest(levels: Levels, scratch: Scratch, t: int, planes: int, filled: int) -> int:
    """Return the weight of the lightest of the first covered bad samples, the last of them."""
    n, seen, weight = levels.width[t], 0, 0
    for w in range(levels.bad_words[t]):
        word = scratch.cover[w]
        here = popcount(word)
        if seen + here < filled:
            seen += here
            continue
        while seen + 1 < filled:
            word &= word - _ONE
            seen += 1
        bit = word & (~word + _ONE)
        row = levels.start[t] + w * stride_of(n, planes) + n
        for b in range(planes):
            if levels.arena[row + b] & bit != 0:
                weight += 1 << b
        return weight
    return 1


@kernel
def _enough_words(
    levels: Levels, scratch: Scratch, t: int, n: int, child: int, removed: int, spare: int
) -> int:
    """Guess how many words tell nearly all pairs off, from the average candidate.

    ``removed`` is the sum of the removals, ``spare`` the most that a pair may leave covered.
    """
    samples = 0
    for w in range(levels.bad_words[t]):
        samples += popcount(scratch.cover[w])
    if samples == 0:
        return 1
    most = min((samples + 63) >> 6, _FIRST_WORDS)
    # A pair is expected to cover part^2 of the child's samples, and of their weight.
    part = 1.0 - removed / (n * child)
    each = part * part * child * 64.0 / samples
    if (spare + 1) * 1.25 >= each * most:
        return most
    return int((spare + 1) * 1.25 / each) + 1


@kernel
def best_pair(
    levels: Levels,
    scratch: Scratch,
    t: int,
    n: int,
    planes: int,
    good: int,
    groups: Ints,
    goal: Numbers,
    best: int,
    slack: int,
    shared: Ints,
    found: Ints,
    first: bool,
) -> None:
    """Find the best pair of the n kept candidates under the current child of level t.

    For a pair (a, b), with c the bad weight covered with the pair and h the number of the first
    bad samples that it covers, none lighter than u:

    - it loses at least max(l_a, l_b) by bound (1), which says how much bad weight a pair below
      the limit can cover at most, :func:`~cpx.backends.search.goal.most_bad`. As c >= u h, a
      pair below the limit has u h at most that, which is what is tried first;
    - c >= c_a - d_b by bound (2). So a is done with when c_a - the largest d_b of the later
      candidates is more than that.

    ``best`` is the cost to beat, ``slack`` 1 when sets of equal cost are wanted as well.
    """
    arena, start, width = levels.arena, levels.start[t], levels.width[t]
    stride, bad_words, words = stride_of(width, planes), levels.bad_words[t], levels.words[t]
    kept, lost, table = scratch.kept, scratch.lost, scratch.first
    child = levels.covered[t, levels.position[t]]
    if child == 0 and goal.keep_idle == 0:
        return
    limit = best + slack
    largest = scratch.low
    largest[n] = 0
    removed, least = 0, limit
    for x in range(n - 1, -1, -1):
        p = kept[x]
        here = child - scratch.covered[p]
        removed += here
        largest[x] = max(largest[x + 1], here)
        least = min(least, lost[p])
    rows = _enough_words(levels, scratch, t, n, child, removed, most_bad(goal, limit, least))
    wide = stride_of(n, 0)
    filled = first_words(
        arena,
        start,
        stride,
        bad_words,
        kept,
        n,
        scratch.cover,
        table,
        wide,
        rows,
        scratch.buffer,
        scratch.moves,
    )
    for row in range(rows):
        for at in range(row * wide + n, row * wide + wide):
            table[at] = _ALL  # no candidate, no hit
    lightest = 1
    if planes != 0 and filled != 0:
        lightest = _lightest(levels, scratch, t, planes, filled)

    for x in range(n - 1):
        a = kept[x]
        spare = most_bad(goal, limit, lost[a])
        if scratch.covered[a] - largest[x + 1] > spare:
            continue
        group, loaded = -1, False
        if groups.size:
            group = groups[levels.ids[t, a]]
        most = spare if lightest == 1 else spare // lightest
        begin = (x + 1) & -LANES
        y = skip(table, wide, rows, x, begin, most, n)
        while y < n:
            hits = few(table, wide, rows, x, y, most)
            if y == begin:
                # Lanes up to x are not later than a.
                hits &= -1 << (x + 1 - begin)
            if y + LANES > n:
                hits &= (1 << (n - y)) - 1
            z = y
            while hits != 0:
                if hits & 1 != 0:
                    b = kept[z]
                    allowed = most_bad(goal, limit, max(lost[a], lost[b]))
                    if allowed >= 0 and (group < 0 or groups[levels.ids[t, b]] != group):
                        if not loaded:
                            loaded = True
                            for w in range(words):
                                scratch.both[w] = scratch.cover[w] & arena[start + w * stride + a]
                        bad, kept_good = weigh_with(
                            arena,
                            start,
                            stride,
                            bad_words,
                            words,
                            width,
                            planes,
                            scratch.both,
                            b,
                            allowed,
                        )
                        value = limit
                        if kept_good >= 0:
                            value = cost(goal, bad, good - kept_good)
                        if value < limit:
                            scratch.chosen[t + 1] = levels.ids[t, a]
                            scratch.chosen[t + 2] = levels.ids[t, b]
                            improve(shared, found, value, scratch, t + 3)
                            if first:
                                return
                            best = min(best, value)
                            limit = best + slack
                            spare = most_bad(goal, limit, lost[a])
                            most = spare if lightest == 1 else spare // lightest
                hits >>= 1
                z += 1
            y = skip(table, wide, rows, x, y + LANES, most, n)
