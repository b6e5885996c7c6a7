"""How surely rows are of the class that their label says."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cpx.support.validation import valid_seed

__all__ = ["MOST", "PARTS", "self_confidence"]

MOST = 2000
"""Of more rows, noise is averaged out, and a fit with confidences takes longer."""

PARTS = 10
"""Parts that a confidence of 1 has."""

_LANDMARKS = 500
_RIDGE = 1.0

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


def self_confidence(
    literals: BoolArray, same: BoolArray, weights: IntArray, *, seed: int = 0
) -> IntArray:
    r"""Return the probability of the label of each row, as the other rows have it, in tenths.

    Known as self-confidence where wrong labels are looked for (Northcutt, Jiang, Chuang:
    *Confident learning*, Journal of Artificial Intelligence Research 70, 2021). The probability
    is predicted by kernel ridge regression, by a Laplace kernel of the number of literals in which
    two rows differ, as a share of its median. With :math:`h_i` the weight that row i has in its
    own prediction :math:`f_i`, that without the row is :math:`(f_i - h_i y_i) / (1 - h_i)`, so
    that nothing is fitted twice. Of more than 500 rows, 500 drawn ones stand for all of them in
    the kernel (the method of Nystroem).

    same: Which rows are of the class; of the other one the confidences are the same.
    weights: How much each row counts, beside the others.
    Returns: From 1 to :data:`PARTS`.

    One row of six is not of the class of the rows like it:

    >>> literals = np.array([[1, 0]] * 6 + [[0, 1]] * 5, dtype=bool)
    >>> same = np.array([1, 1, 1, 1, 1, 0] + [0] * 5, dtype=bool)
    >>> self_confidence(literals, same, np.ones(11, dtype=np.int64)).tolist()
    [7, 7, 7, 7, 7, 1, 9, 9, 9, 9, 9]
    """
    n = len(same)
    at = np.arange(n)
    if n > _LANDMARKS:
        rng = np.random.default_rng(valid_seed(seed))
        at = np.sort(rng.choice(n, _LANDMARKS, replace=False))
    bits = literals.astype(np.float32)
    known, ones = bits[at], bits.sum(axis=1)
    apart = (ones[:, None] + ones[at] - 2 * bits @ known.T).astype(np.float64)
    scale = np.median(apart[apart > 0]) if (apart > 0).any() else 1.0
    kernel = np.exp(-apart / scale)
    counts = weights / weights.mean()
    share = float(np.average(same, weights=counts))
    weighed = kernel.T * counts
    system = weighed @ kernel + _RIDGE * kernel[at] + 1e-9 * np.eye(len(at))
    parts = np.linalg.solve(system, weighed)
    own = np.minimum((kernel * parts.T).sum(axis=1), 1 - 1e-6)
    predicted = share + (kernel @ (parts @ (same - share)) - own * (same - share)) / (1 - own)
    found = np.rint(PARTS * np.where(same, predicted, 1 - predicted))
    confidence: IntArray = np.clip(found, 1, PARTS).astype(np.int64)
    return confidence
