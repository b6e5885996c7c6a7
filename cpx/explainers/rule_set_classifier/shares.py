"""How many of the rows that the same rules cover are of a class."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["smoothed_shares"]

BoolArray = npt.NDArray[np.bool_]


def smoothed_shares(
    covers: BoolArray, covered: BoolArray, same: BoolArray
) -> npt.NDArray[np.float64]:
    """Return for each row the smoothed share of the class among known rows like it, shape (n,).

    Like a row are the known rows that one or more of the rules that cover it cover; like a row
    that no rule covers, those that no rule covers. The share is smoothed by one row of each
    class, the rule of succession of Laplace.

    Parameters
    ----------
    covers : (rules, n) array of bool
        Which rules cover the rows.
    covered : (rules, m) array of bool
        Which rules cover the known rows.
    same : (m,) array of bool
        Which known rows are of the class.

    Examples
    --------
    The two rules cover the known rows 0, 1 and 1, 2; nothing covers 3.

    >>> covered = np.array([[1, 1, 0, 0], [0, 1, 1, 0]], dtype=bool)
    >>> same = np.array([1, 1, 0, 0], dtype=bool)
    >>> covers = np.array([[1, 0, 1, 0], [0, 1, 1, 0]], dtype=bool)
    >>> smoothed_shares(covers, covered, same).round(3)
    array([0.75 , 0.5  , 0.6  , 0.333])
    """
    shares = np.empty(covers.shape[1])
    known: dict[bytes, float] = {}
    for i, rules in enumerate(covers.T):
        key = rules.tobytes()
        if key not in known:
            alike = covered[rules].any(axis=0) if rules.any() else ~covered.any(axis=0)
            known[key] = float((same[alike].sum() + 1) / (alike.sum() + 2))
        shares[i] = known[key]
    return shares
