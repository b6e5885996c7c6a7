"""Rows of bits as strings of 0 and 1, the form of saved instances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cpx.errors import InvalidInstance, shown

__all__ = ["bits_of", "matrix_of", "string_of", "strings_of"]


def string_of(bits: NDArray[np.bool_]) -> str:
    """Return a vector of bits as a string.

    Examples
    --------
    >>> string_of(np.array([True, False, True]))
    '101'
    """
    return (bits.astype(np.uint8) + ord("0")).tobytes().decode("ascii")


def strings_of(matrix: NDArray[np.bool_]) -> list[str]:
    """Return each row of an ``(m, d)`` matrix of bits as a string."""
    m, d = matrix.shape
    text = np.add(matrix, np.uint8(ord("0")), dtype=np.uint8, order="C").tobytes().decode("ascii")
    return [text[i : i + d] for i in range(0, m * d, d)]


def bits_of(text: object, what: str) -> NDArray[np.bool_]:
    """Read a string of 0 and 1, ``what`` naming it in the error.

    Raises
    ------
    InvalidInstance
        When it is no string or has another character.
    """
    if not isinstance(text, str):
        raise InvalidInstance(f"{what} must be a string of 0 and 1, got {type(text).__name__}")
    stray = text.strip("01") and next(c for c in text if c not in "01")
    if stray:
        raise InvalidInstance(
            f"{what} has the character {shown(stray)} at position {text.index(stray)}; "
            "only 0 and 1"
        )
    codes = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    return np.asarray(codes == ord("1"), dtype=np.bool_)


def matrix_of(rows: object, what: str = "samples") -> NDArray[np.bool_]:
    """Read a list of equally long strings as an ``(m, d)`` matrix of bits.

    Raises
    ------
    InvalidInstance
        Naming the first row of another length or with another character.
    """
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise InvalidInstance(f"{what} must be a list of strings, got {type(rows).__name__}")
    if not rows:
        raise InvalidInstance(f"{what} must not be empty")
    width = len(rows[0]) if isinstance(rows[0], str) else -1
    if all(type(row) is str and len(row) == width for row in rows):
        codes = np.frombuffer("".join(rows).encode("ascii", "replace"), dtype=np.uint8)
        # 0 and 1 are neighbours, and below them unsigned numbers begin anew.
        if codes.size == len(rows) * width and not (codes - np.uint8(ord("0")) > 1).any():
            return np.asarray(codes == ord("1")).reshape(len(rows), width)
    # Something is wrong: the first row that is, in words.
    for i, row in enumerate(rows):
        bits_of(row, f"{what}[{i}]")
        if len(row) != width:
            raise InvalidInstance(
                f"{what}[{i}] has length {len(row)}, {what}[0] has length {width}"
            )
    raise AssertionError("rows of equal length, all of 0 and 1")
