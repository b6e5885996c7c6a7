"""What the leaves of a model do to the class of x, exactly: margins by rival class."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.models.minimum_subset.form import ceiling
from cpx.trees.form import TreeModel

__all__ = ["Requirement", "class_of_leaves", "requirements", "votes_needed"]


@dataclass(frozen=True, eq=False)
class Requirement:
    """The class of x beats a rival class when margins of the reached leaves add up to ``need``.

    Attributes
    ----------
    rival : int
        Index of the rival class.
    margins : tuple of T arrays of Python int, shape (L_t,)
        What each leaf adds to the class of x minus what it adds to the rival, times
        2**exact.exponent of the model.
    need : int
        In the same unit; ties are decided by it.
    """

    rival: int
    margins: tuple[NDArray[Any], ...]
    need: int


def requirements(model: TreeModel, label: int) -> tuple[Requirement, ...]:
    """Return one requirement per rival class; together they say "the class is ``label``".

    Examples
    --------
    >>> from cpx.trees import Attribute, Tree
    >>> stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> model = TreeModel([Attribute("a")], [0, 1], [stump], [[2.5]], "sum", "positive", [0])
    >>> [(q.rival, q.margins[0].tolist(), q.need) for q in requirements(model, 1)]
    [(0, [-2, 1], 1)]
    """
    exact = model.exact
    if model.decision != "first":
        sign = 1 if label == 1 else -1
        # A score of 0 is class 1 only where the decision says so.
        strict = (label == 1) == (model.decision == "positive")
        margins = tuple(sign * values[:, 0] for values in exact.leaf_values)
        return (Requirement(1 - label, margins, int(strict) - sign * exact.base_values[0]),)
    found = []
    for rival in range(len(model.classes)):
        if rival == label:
            continue
        margins = tuple(
            _column(tree.outputs, values, label) - _column(tree.outputs, values, rival)
            for tree, values in zip(model.trees, exact.leaf_values)
        )
        lead = exact.base_values[label] - exact.base_values[rival]
        # The first of equal classes wins.
        found.append(Requirement(rival, margins, int(rival < label) - lead))
    return tuple(found)


def _column(outputs: tuple[int, ...], values: NDArray[Any], score: int) -> NDArray[Any]:
    if score in outputs:
        return np.asarray(values[:, outputs.index(score)])
    return np.zeros(len(values), dtype=object)


def class_of_leaves(model: TreeModel) -> NDArray[np.int64]:
    """Return the class that each leaf of a model of one tree gives, shape (L,)."""
    leaves = np.arange(model.trees[0].n_leaves, dtype=np.int32)
    return model.decide(model.exact.add(leaves.reshape(-1, 1)))


def votes_needed(model: TreeModel, label: int) -> int:
    """Return the least number of votes that win whatever the other trees vote for.

    With k votes for the class, a rival gets at most T - k; the first of equal classes wins.
    """
    count, base = len(model.trees), [Fraction(v) for v in model.base]
    least = [0]
    for rival, start in enumerate(base):
        if rival != label:
            lead = start - base[label]
            # 2 k >= count + lead, and more than that where the rival wins ties
            twice = count + lead
            half = ceiling(twice.numerator, 2 * twice.denominator)
            least.append(half + (rival < label and 2 * half == twice))
    return max(least)
