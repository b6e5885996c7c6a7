"""Which of many sets have no other one within them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cpx.data.packed_bits import words_of

__all__ = ["minimal_sets"]


def minimal_sets(
    sets: NDArray[np.bool_], worth: NDArray[np.int64] | None = None
) -> NDArray[np.intp]:
    """Return the sets without another one within them that is worth as much, in order.

    Parameters
    ----------
    sets : (N, n) array of bool
        Of equal sets the first one is kept.
    worth : (R, N) array of int, optional
        By each of R measures; not given, a set counts whatever it is worth.

    Returns
    -------
    ndarray of int
        Their indices, increasing.

    Examples
    --------
    >>> sets = np.array([[1, 1, 0], [0, 1, 0], [0, 1, 0], [1, 0, 1]], dtype=bool)
    >>> minimal_sets(sets), minimal_sets(sets, np.array([[2, 1, 1, 1]]))
    (array([1, 3]), array([0, 1, 3]))
    """
    n = len(sets)
    worths = np.zeros((0, n), dtype=np.int64) if worth is None else worth
    # A set comes after those within it, and of equal ones the most valuable is first.
    order = np.lexsort((np.arange(n), -worths.sum(axis=0), sets.sum(axis=1)))
    without = ~words_of(sets[order])
    worths = worths[:, order]
    kept, waiting = [], np.arange(n)
    while waiting.size:
        first, rest = waiting[0], waiting[1:]
        kept.append(order[first])
        more = (~without[first] & without[rest]).any(axis=1)
        more |= (worths[:, rest] > worths[:, first, np.newaxis]).any(axis=0)
        waiting = rest[more]
    return np.sort(np.array(kept, dtype=np.intp))
