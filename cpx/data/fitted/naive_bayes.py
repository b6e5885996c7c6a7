"""Naive Bayes: a mixture with one component for each class, whose attributes are independent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cpx.data.fitted.mixture_fit import checked_codes, fit_mixture, quantised
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.errors import DataError


def fit_naive_bayes(
    codes: npt.ArrayLike,
    cardinalities: Sequence[int],
    labels: npt.ArrayLike,
    *,
    smoothing: float = 1.0,
) -> TreeMixture:
    """Fit a distribution under which attributes are independent given the class of a row.

    Nothing is searched for: weights are the shares of the classes, and the tables of a component
    those of the rows of its class.

    Parameters
    ----------
    codes : (n, A) array of int
        Rows, as :meth:`Coding.codes` returns them.
    cardinalities : sequence of A int
        Number of states of each attribute.
    labels : (n,) array
        The class of each row.
    smoothing : float
        As for :func:`fit_mixture`, for each class: what it says of all rows is of those of the
        class.

    Returns
    -------
    TreeMixture
        With one component for each class that occurs, in increasing order.

    Raises
    ------
    DataError
        When codes are no rows with these states, or labels are not one for each, or missing.
    InvalidOption
        For a smoothing of 0 or less.

    Examples
    --------
    >>> rows, labels = [[0, 0], [0, 1], [1, 1], [1, 1]], ["no", "no", "yes", "yes"]
    >>> fitted = fit_naive_bayes(rows, [2, 2], labels)
    >>> fitted
    <TreeMixture: mixture, 2 components, 2 attributes>
    >>> fitted.posterior([1, 1], [[True, True]]).round(2).tolist()
    [[0.05, 0.95]]
    """
    rows, given = checked_codes(codes, cardinalities), np.asarray(labels)
    if given.shape != rows.shape[:1]:
        raise DataError(f"labels must have the shape {rows.shape[:1]}, got {given.shape}")
    if any(label is None or label != label for label in given.tolist()):
        raise DataError("labels must not be missing")
    classes, counts = np.unique(given, return_counts=True)
    parts = [
        fit_mixture(
            rows[given == label], cardinalities, structure="factorised", smoothing=smoothing
        )
        for label in classes
    ]
    weights = quantised((counts / counts.sum())[None, :])[0]
    return TreeMixture(
        weights,
        np.full((len(parts), len(cardinalities)), -1, dtype=np.int32),
        tuple(part.tables[0] for part in parts),
    )
