"""The level of conditions: every test of a model as a free Boolean attribute."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cpx.trees.attribute import Attribute
from cpx.trees.form import TreeModel
from cpx.trees.tree import Tree

__all__ = ["conditional", "conditions"]


def conditions(model: TreeModel) -> tuple[tuple[int, int], ...]:
    """Return the tests of the trees, ``(a, j)`` for "the cell of attribute a is at most j".

    Tests that send all values the same way are left out.
    """
    found: set[tuple[int, int]] = set()
    for tree in model.trees:
        tests = np.flatnonzero(_tests(model, tree))
        found.update(zip(tree.attribute[tests].tolist(), tree.split[tests].tolist()))
    return tuple(sorted(found))


def conditional(model: TreeModel) -> TreeModel:
    """Return the model over its conditions: attribute i is Boolean, 0 where condition i holds.

    Every test becomes "the cell of its condition is at most 0". Nothing ties conditions of one
    column to each other, so rows of the new model need not be rows of the old one.

    Examples
    --------
    >>> tree = Tree([0, 0, -1, -1, -1], [1, 0, 0, 0, 0], [0] * 5, [[0.0], [1.0], [2.0]], (0,))
    >>> model = TreeModel([Attribute("a")], [0, 1], [tree], [[1, 2]], "sum", "positive", [-1])
    >>> conditions(model), conditional(model).trees[0].attribute.tolist()
    (((0, 0), (0, 1)), [1, 0, -1, -1, -1])
    """
    numbers = {test: i for i, test in enumerate(conditions(model))}
    return replace(
        model,
        attributes=tuple(Attribute(model.condition(a, j), "boolean") for a, j in numbers),
        trees=tuple(_free(model, tree, numbers) for tree in model.trees),
        thresholds=tuple(np.array([0.5]) for _ in numbers),
    )


def _tests(model: TreeModel, tree: Tree) -> NDArray[np.bool_]:
    """Say of each node whether it has a test that values can go both ways at."""
    inner = tree.attribute >= 0
    sizes = model.sizes[tree.attribute] if model.n_attributes else np.zeros(len(inner))
    return np.asarray(inner & (tree.split >= 0) & (tree.split < sizes))


def _free(model: TreeModel, tree: Tree, numbers: dict[tuple[int, int], int]) -> Tree:
    tests = _tests(model, tree)
    attribute, leaves, waiting = [], [], [0]
    while waiting:
        node = waiting.pop()
        while tree.attribute[node] >= 0 and not tests[node]:
            node = int(tree.right[node] if tree.split[node] < 0 else node + 1)
        if tests[node]:
            attribute.append(numbers[int(tree.attribute[node]), int(tree.split[node])])
            waiting += [int(tree.right[node]), node + 1]
        else:
            attribute.append(-1)
            leaves.append(int(tree.leaf[node]))
    zeros = np.zeros(len(attribute), dtype=np.int32)
    return Tree(np.array(attribute), zeros, zeros, tree.values[leaves], tree.outputs)
