"""Rows of bits as words of 64, which are compared, hashed and counted at once."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["bits_of_words", "mixed", "surely_distinct", "words_of"]


def words_of(*columns: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return each row of a table as words.

    Parameters
    ----------
    *columns : ndarray of bool, shape (m, n) or (m,)
        Tables or single columns, side by side.

    Returns
    -------
    ndarray of uint64, shape (m, words)
        Behind the bits of a row come zeros. The first bit is the highest one of the first byte.

    Examples
    --------
    >>> table = np.array([[True, False, True], [False, False, True]])
    >>> words_of(table).shape, words_of(table, table[:, 0])[:, 0].view(np.uint8)[::8].tolist()
    ((2, 1), [176, 32])
    """
    tables = [column if column.ndim == 2 else column[:, None] for column in columns]
    m, n = tables[0].shape[0], sum(table.shape[1] for table in tables)
    # Bits that lie side by side are packed several times faster than row by row.
    padded = np.zeros((m, -(-n // 64) * 64), dtype=np.bool_)
    at = 0
    for table in tables:
        padded[:, at : at + table.shape[1]] = table
        at += table.shape[1]
    return np.packbits(padded.ravel()).view(np.uint64).reshape(m, padded.shape[1] // 64)


def bits_of_words(row: NDArray[np.uint64], n: int) -> NDArray[np.bool_]:
    """Return the first n bits of a row that :func:`words_of` made.

    Examples
    --------
    >>> bits_of_words(words_of(np.array([[True, False, True]]))[0], 3)
    array([ True, False,  True])
    """
    return np.unpackbits(row.view(np.uint8), count=n).view(np.bool_)


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a number of each row, shape (m,): rows of different numbers are different.

    Examples
    --------
    >>> numbers = mixed(words_of(np.array([[True], [False], [True]])))
    >>> bool(numbers[0] == numbers[2]), bool(numbers[0] == numbers[1])
    (True, False)
    """
    return (words ^ (words >> np.uint64(29))) @ _factors(words.shape[1])


def surely_distinct(words: NDArray[np.uint64]) -> bool:
    """Whether no two rows have one number, so that no two are equal; found out by sorting.

    Examples
    --------
    >>> surely_distinct(words_of(np.array([[True, True], [True, False]])))
    True
    """
    numbers = np.sort(mixed(words))
    return bool((numbers[1:] != numbers[:-1]).all())


@cache
def _factors(width: int) -> NDArray[np.uint64]:
    """Return odd numbers, one for each word of a row."""
    return 2 * np.random.default_rng(0).integers(0, 2**63, width, dtype=np.uint64) + 1
