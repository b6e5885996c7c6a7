"""Table of the bad samples that each candidate covers, laid out to test pairs eight at a time.

The table has blocks of eight columns, one after the other; a block has its rows of eight words
one after the other. So what is read for eight pairs lies in one piece. ``height`` is the number
of rows that a block has room for: word r of column y is at
``(y & -8) * height + 8 * r + (y & 7)``.
"""

from __future__ import annotations

import numpy as np

from cpx.backends.search.bitsets import gather, stride_of
from cpx.backends.search.stack import FIRST_WORDS, Levels, Scratch
from cpx.compiled.kernel import kernel, subroutine
from cpx.compiled.vectors import LANES, popcount, prepare, squeeze

_ALL = np.uint64(2**64 - 1)
_ONE = np.uint64(1)


@kernel
def enough_words(levels: Levels, scratch: Scratch, t: int, planes: int, spare: float) -> int:
    """Guess how many words tell nearly all pairs off that may cover ``spare`` on average.

    Seven or more are a multiple of seven.
    """
    width, i, total = levels.width[t], levels.position[t], levels.total[t]
    child = samples = levels.covered[t, i]
    if planes != 0:
        samples, stride = 0, stride_of(width, planes)
        for w in range(levels.bad_words[t]):
            samples += popcount(levels.workspace[levels.start[t] + w * stride + i])
    if samples == 0 or child == 0:
        return 1
    # What an ordinary candidate leaves of the level it leaves of the child, in proportion. A
    # pair is expected to cover part^2 of the child's samples, and of their weight.
    part = levels.covered[t, (i + 1 + width) >> 1] / total
    each = part * part * child * 64.0 / samples
    most: int = min((samples + 63) >> 6, FIRST_WORDS)
    wanted = (spare + 1) * 1.25
    if wanted < each * most:
        most = int(wanted / each) + 1
    return most if most < 7 else -(-most // 7) * 7


@kernel
def first_words(
    levels: Levels, scratch: Scratch, t: int, n: int, base: int, planes: int, most: int
) -> tuple[int, int]:
    """Fill the table with n columns on the first bad samples of the current child.

    Column y is the candidate at position ``base + y``, or ``kept[y]`` where ``base`` is negative.
    Behind their blocks is one whose columns have all samples. The room is for ``most`` rows and
    one more. ``cover`` is filled as far as it was needed.

    Returns
    -------
    (int, int)
        The number of samples; 64 for each row, but for the last ones. The number of rows; seven
        or more are a multiple of seven.
    """
    workspace, start, i = levels.workspace, levels.start[t], levels.position[t]
    stride, bad_words = stride_of(levels.width[t], planes), levels.bad_words[t]
    table, cover, height = scratch.first, scratch.cover, most + 1
    _clear(scratch, n, height, 0, 1)
    source = workspace if base >= 0 else scratch.buffer
    filled = w = 0
    while w < bad_words and filled < 64 * most:
        if w & (LANES - 1) == 0:
            for v in range(w, min(w + LANES, bad_words)):
                cover[v] = workspace[start + v * stride + i]
            prepare(cover.ctypes.data, w, scratch.moves.ctypes.data)
        mask, row = cover[w], start + w * stride
        if mask != 0:
            at = row + base
            if base < 0:
                gather(workspace, row, scratch.kept, n, scratch.buffer)
                at = 0
            line = (filled >> 6) * LANES
            for y in range(0, n, LANES):
                squeeze(
                    table.ctypes.data,
                    y * height + line,
                    LANES,
                    source.ctypes.data,
                    at + y,
                    mask,
                    scratch.moves.ctypes.data,
                    w & (LANES - 1),
                    filled & 63,
                )
            filled += popcount(mask)
        w += 1
    filled = min(filled, 64 * most)
    used = max(1, (filled + 63) >> 6)
    rows = used if used < 7 else -(-used // 7) * 7
    _clear(scratch, n, height, used, rows)
    ones = ((n + LANES - 1) & -LANES) * height
    block = table[ones : ones + rows * LANES]
    for at in range(block.size):
        block[at] = _ALL
    return filled, rows


@subroutine
def _clear(scratch: Scratch, n: int, height: int, low: int, high: int) -> None:
    for y in range(0, n, LANES):
        block = scratch.first[y * height + low * LANES : y * height + high * LANES]
        for at in range(block.size):
            block[at] = 0


@kernel
def lightest_of(levels: Levels, scratch: Scratch, t: int, planes: int, filled: int) -> int:
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
            if levels.workspace[row + b] & bit != 0:
                weight += 1 << b
        return weight
    return 1
