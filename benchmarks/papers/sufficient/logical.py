"""Minimum sufficient reasons over attributes of several columns: each state as one number."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.coding import Coding
from cpx.errors import DataError
from cpx.trees import Attribute, Tree, TreeModel

__all__ = ["over_states"]


def over_states(model: TreeModel, coding: Coding) -> TreeModel:
    """Return the same model over the numbers of states, one column for each attribute.

    All combinations of states are rows of it, and no other: a reason of it holds whatever the
    states of the other attributes are.

    Examples
    --------
    >>> tree = Tree([1, -1, -1], [0] * 3, [0] * 3, [[-1.0], [1.0]], (0,))
    >>> model = TreeModel([Attribute("red"), Attribute("blue")], [0, 1], [tree], [[], [0.5]],
    ...                   "sum", "positive", [0.0])
    >>> coding = Coding.fit([[1, 0], [0, 1]], names=["red", "blue"], cuts=[[], [0.5]],
    ...                     groups={"colour": ["red", "blue"]})
    >>> over_states(model, coding).predict([[0], [1]]).tolist(), coding.codes([[1, 0]]).tolist()
    ([1, 0], [[1]])
    """
    trees = tuple(_over_states(tree, model, coding) for tree in model.trees)
    sizes = coding.cardinalities
    attributes = tuple(
        Attribute(name, values=tuple(map(float, range(size))))
        for name, size in zip(coding.names, sizes, strict=True)
    )
    return TreeModel(
        attributes,
        model.classes,
        trees,
        tuple(np.arange(0.5, size - 1) for size in sizes),
        model.rule,
        model.decision,
        model.base,
        source=model.source,
    )


def _over_states(tree: Tree, model: TreeModel, coding: Coding) -> Tree:
    owner = {c: (a, i) for a, group in enumerate(coding.columns) for i, c in enumerate(group)}
    attribute: list[int] = []
    split: list[int] = []
    values: list[npt.NDArray[np.float64]] = []

    def grow(node: int, allowed: dict[int, tuple[int, ...]]) -> None:
        """Write the subtree for the states that are left, in preorder."""
        column = int(tree.attribute[node])
        if column < 0:
            attribute.append(-1)
            split.append(0)
            values.append(tree.values[int(tree.leaf[node])])
            return
        a, i = owner[column]
        cells = coding.states[a][:, i]
        if (cells < 0).any():
            raise DataError("columns with missing values have no order of states")
        threshold = model.thresholds[column][int(tree.split[node])]
        left = cells <= np.searchsorted(coding.cuts[column], threshold)
        states = allowed.get(a, tuple(range(len(cells))))
        sides = [bool(left[s]) for s in states]
        # Runs of states on the same side follow each other: one test between two runs.
        ends = [p for p in range(1, len(states)) if sides[p] != sides[p - 1]]
        for first, last in zip([0, *ends], [*ends, len(states)], strict=True):
            if last < len(states):
                attribute.append(a)
                split.append(states[last - 1])
            child = int(tree.left[node] if sides[first] else tree.right[node])
            grow(child, {**allowed, a: states[first:last]})

    grow(0, {})
    tests: Any = (attribute, split, [0] * len(attribute))
    return Tree(tests[0], tests[1], tests[2], np.array(values), tree.outputs)
