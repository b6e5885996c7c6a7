"""Floats by their number in the order of all of them, so that halfway is halfway between two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def float_key(value: float) -> int:
    """Return the number of a float.

    >>> float_key(0.0), float_key(-0.0), float_key(5e-324), float_key(-5e-324)
    (0, 0, 1, -1)
    """
    bits = int(np.float64(value).view(np.int64))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def key_float(key: int) -> float:
    """Return the float of a number.

    >>> [key_float(float_key(v)) for v in (-2.5, 1e300)]
    [-2.5, 1e+300]
    """
    size = float(np.int64(abs(key)).view(np.float64))
    return size if key >= 0 else -size


def float_keys(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the numbers of floats.

    >>> float_keys(np.array([0.0, -0.0, -5e-324])).tolist()
    [0, 0, -1]
    """
    bits = np.asarray(values, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, -(bits & np.int64(2**63 - 1)))


def key_floats(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the floats of numbers.

    >>> key_floats(np.array([1, -1])).tolist()
    [5e-324, -5e-324]
    """
    sizes = np.abs(keys).view(np.float64)
    return np.where(keys >= 0, sizes, -sizes)


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers, shape (n,), once each and increasing.

    ``np.unique`` of NumPy 2.4 hashes integers, which takes fifty times as long as sorting them.

    >>> distinct(np.array([3, 1, 3])).tolist(), distinct(np.array([], dtype=int)).tolist()
    ([1, 3], [])
    """
    some: NDArray[np.int64] = np.sort(numbers)
    first: NDArray[np.bool_] = np.append(True, some[1:] != some[:-1])[: len(some)]
    return np.asarray(some[first])
