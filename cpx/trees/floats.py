"""Floats by their number in the order of all of them, so that halfway is halfway between two."""

from __future__ import annotations

import numpy as np


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
