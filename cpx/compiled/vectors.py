"""Vector operations of kernels: on eight 64-bit words at once, and on single words.

Arrays that instructions read or write are given by their address, ``array.ctypes.data``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from cpx.compiled.kernel import subroutine

LANES = 8
"""Words handled at once; arrays that are read so have this much slack at the end."""

F = TypeVar("F", bound=Callable[..., Any])

_ONE, _TWO, _FOUR, _LAST = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
_PAIRS, _NIBBLES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_BYTES, _EACH = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@subroutine
def popcount(word: Any) -> int:
    """Return the number of bits set, in the way that LLVM takes for the processor's own."""
    word = word - ((word >> _ONE) & _PAIRS)
    word = (word & _NIBBLES) + ((word >> _TWO) & _NIBBLES)
    word = (word + (word >> _FOUR)) & _BYTES
    return np.int64((word * _EACH) >> _LAST)  # type: ignore[return-value]


@subroutine
def sum_of_seven(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any) -> int:
    """Return the popcounts of seven words, added up.

    A full adder makes a sum bit and a carry bit of three bits, in all places at once. Four of
    them make the bits of 1, of 2 and of 4 of seven words, so that three popcounts do for seven.
    A popcount of vectors takes about ten instructions, a full adder three where the machine has
    AVX-512, six elsewhere.
    """
    ones, first = a ^ b ^ c, (a & b) | ((a | b) & c)
    ones, second = ones ^ d ^ e, (ones & d) | ((ones | d) & e)
    ones, third = ones ^ f ^ g, (ones & f) | ((ones | f) & g)
    twos, fours = first ^ second ^ third, (first & second) | ((first | second) & third)
    return popcount(ones) + 2 * popcount(twos) + 4 * popcount(fours)


def instruction(function: F) -> F:
    """Mark the name of an instruction that only kernels may call.

    It is made in :mod:`~cpx.compiled.instructions`.
    """
    function.__dict__["instruction"] = True
    return function


@instruction
def scan(
    table: int, height: int, rows: int, x: int, last: int, y: int, mosts: int, limits: int, n: int
) -> int:
    """Look for columns that have few samples in common, in blocks of eight.

    Word r of column y is ``table[(y & -8) * height + 8 * r + (y & 7)]``, r < ``rows``; seven rows
    or more must be a multiple of seven. A pair of columns passes when they have at most
    ``mosts[x]`` and at most ``limits[y]`` in common. The rows of a block are added up, seven at a
    time where there are so many, until all eight have more. Columns x, x + 1, .. below ``last``
    are taken in turn, but for those where ``mosts`` is negative: the first with the blocks y,
    y + 8, .. below n, those after it from the block of the next column on.

    The result is 0 if no pair passes, otherwise ``2^32 x + 2^8 y + bits``: bit b says whether
    the pair of x and y + b does. Pairs of a block whose second column is not after the first may
    be there.
    """
    raise NotImplementedError


@instruction
def prepare(masks: int, w: int, moves: int) -> None:
    """Prepare :func:`squeeze` for masks w .. w + 7.

    Bit i of a squeezed word comes from the i-th set bit of the mask. A bit moves right by the
    number of zeros of the mask below it; ``moves[8 * s + b]`` are the bits that, at step
    s = 0 .. 5, move by 2^s under mask w + b (Hacker's Delight, 7-4).
    """
    raise NotImplementedError


@instruction
def squeeze(
    into: int, to: int, step: int, words: int, at: int, mask: Any, moves: int, which: int,
    shift: int,
) -> None:  # fmt: skip
    """Move the masked bits of eight words to the right end of the word, and shift them left.

    The words are ``words[at + c]``, c = 0 .. 7; the mask is the one of number ``which`` that
    was prepared, and the shift is by 0 to 63. They are added to ``into[to + c]``; what was
    shifted out, or nothing, is written to ``into[to + step + c]``.
    """
    raise NotImplementedError
