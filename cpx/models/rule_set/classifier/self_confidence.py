"""How surely rows are of the class that their label says."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from cpx.errors import CheckFailed

__all__ = ["MOST", "PARTS", "SelfConfidence"]

MOST = 2000
"""Of more rows, noise is averaged out, and a fit with confidences takes longer."""

PARTS = 10
"""Parts that a confidence of 1 has."""

_RIDGE = 1.0

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class SelfConfidence:
    r"""The probability of the label of each row, as the other rows have it, in tenths.

    Known as self-confidence where wrong labels are looked for (Northcutt, Jiang, Chuang:
    *Confident learning*, Journal of Artificial Intelligence Research 70, 2021). The probability
    is predicted by kernel ridge regression, by a Laplace kernel of the number of literals in which
    two rows differ, as a share of its median.

    Nothing is fitted twice. With :math:`P` the inverse of the kernel K plus the ridge over the
    weights, and r what the labels of some rows T differ from their mean, the prediction of row
    i by the others of T is :math:`y_i - (P_T r)_i / (P_T)_{ii}`. :math:`P_T` is that of
    these rows alone: with F for the others, :math:`P_{TT} - P_{TF} P_{FF}^{-1} P_{FT}`.

    same: Which rows are of the class; of the other one the confidences are the same.
    weights: How much each row counts, beside the others.

    One row of six is not of the class of the rows like it:

    >>> literals = np.array([[1, 0]] * 6 + [[0, 1]] * 5, dtype=bool)
    >>> same = np.array([1, 1, 1, 1, 1, 0] + [0] * 5, dtype=bool)
    >>> confidence = SelfConfidence(literals, same, np.ones(11, dtype=np.int64))
    >>> confidence(np.ones(11, dtype=bool)).tolist()
    [7, 7, 7, 7, 7, 1, 9, 9, 9, 9, 9]
    >>> confidence(np.arange(11) > 3).tolist()
    [1, 5, 10, 10, 10, 10, 10]
    """

    def __init__(self, literals: BoolArray, same: BoolArray, weights: IntArray) -> None:
        self._literals, self._same = literals, same
        self._counts = weights / weights.mean()

    def __call__(self, rows: BoolArray) -> IntArray:
        """Return those of some rows, from 1 to :data:`PARTS`."""
        same, counts = self._same[rows], self._counts[rows]
        share = float(np.average(same, weights=counts))
        given, left = np.flatnonzero(rows), np.flatnonzero(~rows)
        inverse, rest = self._inverse, same - share
        every = np.zeros(len(rows))
        every[given] = rest
        fitted, own = (inverse @ every)[given], inverse.diagonal()[given]
        if left.size:
            across = inverse[np.ix_(given, left)]
            parts = np.linalg.solve(inverse[np.ix_(left, left)], across.T)
            fitted = fitted - across @ (parts @ rest)
            own = own - np.einsum("tf,ft->t", across, parts)
        predicted = same - fitted / own
        found = np.rint(PARTS * np.where(same, predicted, 1 - predicted))
        confidence: IntArray = np.clip(found, 1, PARTS).astype(np.int64)
        return confidence

    @cached_property
    def _inverse(self) -> Floats:
        bits = self._literals.astype(np.float32)
        ones = bits.sum(axis=1)
        apart = (ones[:, None] + ones - 2 * bits @ bits.T).astype(np.intp)
        times = np.bincount(apart.ravel())
        times[0] = 0
        before, half = np.cumsum(times), int(times.sum()) / 2
        # The median of what is not 0: the mean of the two in the middle.
        middle = np.searchsorted(before, [half, half + 0.5])
        scale = float(middle.mean()) if half else 1.0
        system = np.exp(-np.arange(len(times)) / scale)[apart]
        np.einsum("ii->i", system)[:] += _RIDGE / self._counts
        factor, failed = lapack.dpotrf(system, lower=1)
        lower, singular = lapack.dpotri(factor, lower=1, overwrite_c=1)
        if failed or singular:
            raise CheckFailed("self-confidence: a kernel with a ridge has no inverse")
        inverse: Floats = np.tril(lower) + np.tril(lower, -1).T
        return inverse
