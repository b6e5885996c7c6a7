"""Random small tree models and rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.trees.attribute import Attribute
from cpx.trees.form import TreeModel
from cpx.trees.tree import LEFT, REFUSED, RIGHT, Tree


def random_tree_model(seed: int, most_attributes: int = 4, most_trees: int = 4) -> TreeModel:
    """Return a random model: all rules and decisions, ties, missing values, unused columns.

    Leaves are small multiples of 1/4, so that scores are often equal.

    >>> random_tree_model(3) == random_tree_model(3)
    True
    """
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, most_attributes + 1))
    thresholds = [np.sort(rng.choice(6, int(rng.integers(0, 4)), replace=False)) for _ in range(d)]
    attributes = [_attribute(rng, a) for a in range(d)]
    rule = str(rng.choice(["vote", "average", "sum"]))
    classes = int(rng.integers(2, 4)) if rule != "sum" else int(rng.choice([2, 2, 3]))
    decision = "first"
    if rule == "sum" and classes == 2:
        decision = str(rng.choice(["positive", "nonnegative"]))
    scores = classes if decision == "first" else 1
    trees = [
        _tree(rng, attributes, thresholds, rule, scores)
        for _ in range(int(rng.integers(1, most_trees + 1)))
    ]
    base = [0.0] * scores if rule != "sum" else (rng.integers(-2, 3, scores) / 4).tolist()
    make: Callable[..., TreeModel] = TreeModel
    trees, sets = _with_sets(np.random.default_rng([seed, 1]), trees, thresholds)
    labels = [f"c{k}" for k in range(classes)]
    return make(attributes, labels, trees, thresholds, rule, decision, base, sets=sets)


def _with_sets(
    rng: np.random.Generator, trees: list[Tree], thresholds: list[NDArray[Any]]
) -> tuple[list[Tree], list[NDArray[np.bool_]]]:
    """Replace thresholds of some attributes by sets, now and then."""
    sets = [np.zeros((0, len(t) + 1), dtype=np.bool_) for t in thresholds]
    if rng.random() < 0.7:
        return trees, sets
    for a, t in enumerate(thresholds):
        if len(t) and rng.random() < 0.7:
            sets[a] = rng.random((int(rng.integers(1, 4)), len(t) + 1)) < 0.5
            sets[a][:, 0] = ~sets[a][:, 1]  # neither all nor none
    made = []
    for tree in trees:
        split = tree.split.copy()
        for i in np.flatnonzero(tree.attribute >= 0).tolist():
            count = len(sets[tree.attribute[i]])
            if count and rng.random() < 0.6:
                split[i] = len(thresholds[tree.attribute[i]]) + 1 + int(rng.integers(count))
        made.append(replace(tree, split=split))
    return made, sets


def _attribute(rng: np.random.Generator, a: int) -> Attribute:
    kind = rng.choice(["real", "real", "integer", "boolean", "categorical"])
    missing = bool(rng.random() < 0.3)
    if kind == "categorical":
        labels = ("red", "green", "blue") if a % 2 else None
        return Attribute(f"a{a}", "categorical", None, None, (0.0, 2.0, 5.0), missing, labels)
    if kind == "boolean":
        return Attribute(f"a{a}", "boolean", missing=missing)
    low, high = (0.5, 4.5) if rng.random() < 0.5 else (None, None)
    return Attribute(f"a{a}", kind, low, high, missing=missing)


def _tree(
    rng: np.random.Generator,
    attributes: list[Attribute],
    thresholds: list[NDArray[Any]],
    rule: str,
    scores: int,
) -> Tree:
    nodes: list[tuple[int, int, int]] = []

    def grow(depth: int) -> None:
        tested = [a for a, t in enumerate(thresholds) if len(t)]
        if depth == 0 or not tested or rng.random() < 0.2:
            nodes.append((-1, 0, 0))
            return
        a = int(rng.choice(tested))
        ways = (LEFT, RIGHT) if attributes[a].missing else (LEFT, RIGHT, REFUSED)
        # Now and then a test that sends all values one way.
        split = int(rng.integers(0, len(thresholds[a]))) if rng.random() < 0.95 else -1
        nodes.append((a, split, int(rng.choice(ways))))
        grow(depth - 1)
        grow(depth - 1)

    grow(int(rng.integers(0, 4)))
    attribute, split, missing = np.array(nodes, dtype=np.int32).T
    leaves = int((attribute < 0).sum())
    outputs = tuple(range(scores))
    if rule == "vote":
        values = np.eye(scores)[rng.integers(0, scores, leaves)]
    else:
        if rule == "sum" and scores > 1 and rng.random() < 0.5:
            outputs = (int(rng.integers(scores)),)
        values = rng.integers(-3, 4, (leaves, len(outputs))) / 4
    return Tree(attribute, split, missing, values, outputs)


def random_row(model: TreeModel, seed: int) -> tuple[float, ...]:
    """Return a row that the attributes allow, missing values included."""
    rng = np.random.default_rng(seed)
    row = []
    for a, attribute in enumerate(model.attributes):
        values = [v for v in _values(attribute) if v == v]
        may_miss = attribute.missing and not model.refuses_missing(a)
        row.append(float("nan") if may_miss and rng.random() < 0.2 else float(rng.choice(values)))
    return tuple(row)


def _values(attribute: Attribute) -> list[float]:
    """Return values that stand for all cells of the random thresholds, NaN included."""
    if attribute.kind == "boolean":
        listed = [0.0, 1.0]
    elif attribute.values is not None:
        listed = list(attribute.values)
    else:
        low, high = attribute.interval
        step = 1.0 if attribute.kind == "integer" else 0.5
        listed = [v for v in np.arange(-1, 7, step).tolist() if low <= v <= high]
    return [*listed, float("nan")] if attribute.missing else listed


def completions(model: TreeModel, x: tuple[float, ...], S: tuple[int, ...]) -> NDArray[Any]:
    """Return rows that stand for all that agree with x on S, shape (n, d)."""
    columns = [
        [value] if a in S else _values(attribute)
        for a, (attribute, value) in enumerate(zip(model.attributes, x, strict=True))
    ]
    return np.stack([g.ravel() for g in np.meshgrid(*columns, indexing="ij")], axis=1)
