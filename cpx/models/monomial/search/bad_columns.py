"""Table of the bad samples that each candidate covers, laid out to test pairs eight at a time.

The table has blocks of eight columns, one after the other; a block has its rows of eight words
one after the other. So what is read for eight pairs lies in one piece. ``height`` is the number
of rows that a block has room for: word r of column y is at
``(y & -8) * height + 8 * r + (y & 7)``.
"""

from __future__ import annotations

from cpx.compiled.kernel import kernel
from cpx.models.monomial.search.stack import Levels, Scratch


@kernel
def enough_words(levels: Levels, scratch: Scratch, t: int, planes: int, spare: float) -> int:
    """Guess how many words tell nearly all pairs off that may cover ``spare`` on average.

    Seven or more are a multiple of seven.
    """


@kernel
def first_words(
    levels: Levels, scratch: Scratch, t: int, n: int, base: int, planes: int, most: int
) -> tuple[int, int]:
    """Fill the table with n columns on the first bad samples of the current child.

    Column y is the candidate at position ``base + y``, or ``kept[y]`` where ``base`` is negative.
    Behind their blocks is one whose columns have all samples. The room is for ``most`` rows and
    one more. ``cover`` is filled as far as it was needed.

    Returns: The number of samples; 64 for each row, but for the last ones. The number of rows;
        seven or more are a multiple of seven.
    """


@kernel
def lightest_of(levels: Levels, scratch: Scratch, t: int, planes: int, filled: int) -> int:
    """Return the weight of the lightest of the first covered bad samples, the last of them."""
