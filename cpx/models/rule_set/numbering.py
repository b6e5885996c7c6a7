"""Numbers of conjunctions: smaller ones first, those of one size in lexicographic order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

__all__ = ["conjunction", "conjunctions", "how_many", "number_of"]


def how_many(d: int, most: int) -> int:
    """Return how many conjunctions of at most so many of d literals there are.

    Examples
    --------
    >>> how_many(3, 2), how_many(540, 4)
    (7, 3529951966)
    """
    return sum(comb(d, size) for size in range(min(most, d) + 1))


def conjunctions(d: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield them in the order of their numbers.

    Examples
    --------
    >>> list(conjunctions(3, 2))
    [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    """
    for size in range(min(most, d) + 1):
        yield from combinations(range(d), size)


def number_of(literals: Sequence[int], d: int) -> int:
    """Return the number of a conjunction of increasing literals, of d.

    Before it are the smaller ones, and, for each place, those that have the same literals before
    and a lower one there.

    Examples
    --------
    >>> [number_of(literals, 3) for literals in [(), (0,), (2,), (0, 1), (1, 2)]]
    [0, 1, 3, 4, 6]
    """
    size = len(literals)
    number = how_many(d, size - 1)
    lowest = 0
    for place, literal in enumerate(literals):
        left = size - place - 1
        number += sum(comb(d - j - 1, left) for j in range(lowest, literal))
        lowest = literal + 1
    return number


def conjunction(number: int, d: int) -> tuple[int, ...]:
    """Return the literals of the conjunction of a number, which :func:`number_of` gives back.

    Examples
    --------
    >>> [conjunction(number, 3) for number in (0, 1, 3, 4, 6)]
    [(), (0,), (2,), (0, 1), (1, 2)]
    """
    size = 0
    while number >= comb(d, size):
        number -= comb(d, size)
        size += 1
    literals: list[int] = []
    j = 0
    while len(literals) < size:
        beginning = comb(d - j - 1, size - len(literals) - 1)
        if number < beginning:
            literals.append(j)
        else:
            number -= beginning
        j += 1
    return tuple(literals)
