"""Comparison of a model that was read with the library's own predictions, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.data.oracle import labels
from cpx.trees.form import TreeModel


@dataclass(frozen=True)
class Agreement:
    """Where a read model and the library answer alike.

    Attributes
    ----------
    rows : int
        Number of rows compared.
    differing : tuple of int
        Rows where the classes differ.
    near_ties : tuple of int
        Those of them that rounding explains: the library adds floats, we add exactly, and the
        best two scores are closer than what its rounding can change.
    """

    rows: int
    differing: tuple[int, ...]
    near_ties: tuple[int, ...]

    @property
    def explained(self) -> bool:
        """Whether rounding explains all differences."""
        return self.differing == self.near_ties


def agreement(model: TreeModel, classifier: Any, X: ArrayLike) -> Agreement:
    """Compare the predictions of a read model with those of a classifier.

    Parameters
    ----------
    model : TreeModel
    classifier : object with ``predict``, or callable
        Answers with labels.
    X : (n, d) array of numbers

    Raises
    ------
    ClassifierError
        When the classifier answers with something that is no label per row.

    Examples
    --------
    >>> from cpx.trees import Attribute, Tree
    >>> stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> model = TreeModel([Attribute("a")], [0, 1], [stump], [[2.5]], "sum", "positive", [0])
    >>> agreement(model, lambda X: (X[:, 0] > 2).astype(int), np.array([[1.0], [2.2], [3.0]]))
    Agreement(rows=3, differing=(1,), near_ties=())
    """
    theirs = labels(classifier, X)
    ours = model.predict(X)
    differing = np.flatnonzero([a != b for a, b in zip(ours.tolist(), theirs.tolist())])
    near = differing[near_ties(model, np.asarray(X)[differing])] if differing.size else differing
    return Agreement(len(theirs), tuple(differing.tolist()), tuple(near.tolist()))


def near_ties(model: TreeModel, X: ArrayLike) -> NDArray[np.bool_]:
    """Say of each row whether rounding in the library may decide its class; shape (n,)."""
    totals = model.totals(X)
    if model.decision == "first" and len(model.base) > 1:
        ordered = np.sort(totals, axis=1)
        gaps = ordered[:, -1] - ordered[:, -2]
    else:
        gaps = abs(totals[:, 0])
    bound = rounding(model)
    return np.array([gap <= bound for gap in gaps.tolist()], dtype=bool)


def rounding(model: TreeModel) -> Fraction:
    """Return what rounding in the library can change of the difference of two totals, at most.

    The error of a float sum of n terms is at most (n - 1) u times the sum of their sizes, to
    first order, u being half the distance of 1 to the next number (Higham, Accuracy and
    Stability of Numerical Algorithms, section 4.2). Twice that for the difference of two sums;
    8 more terms, and sizes of 1, are for the probabilities that libraries compute from scores.
    """
    size: Fraction = Fraction(1) + sum((abs(Fraction(v)) for v in model.base), Fraction(0))
    size += sum((Fraction(float(np.abs(t.values).max())) for t in model.trees), Fraction(0))
    unit = Fraction(1, 2 ** (24 if model.sums == "float32" else 53))
    return 2 * (len(model.trees) + 8) * unit * size * Fraction(2) ** model.exact.exponent
