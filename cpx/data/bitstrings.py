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
    # As characters of four bytes, of which NumPy makes all strings at once.
    codes = np.add(matrix, np.uint32(ord("0")), dtype=np.uint32, order="C")
    strings: list[str] = codes.view(f"<U{matrix.shape[1]}").ravel().tolist()
    return strings


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
    vectors = [bits_of(row, f"{what}[{i}]") for i, row in enumerate(rows)]
    width = len(vectors[0])
    for i, vector in enumerate(vectors):
        if len(vector) != width:
            raise InvalidInstance(
                f"{what}[{i}] has length {len(vector)}, {what}[0] has length {width}"
            )
    return np.stack(vectors)
