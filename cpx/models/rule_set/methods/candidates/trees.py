"""Candidate rules from the paths of scikit-learn's trees and forests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cpx.errors import DataError, InvalidOption, UnsupportedModel, shown
from cpx.models.rule_set.methods.candidates.literals import Literals
from cpx.support.validation import positive_integer, valid_seed

__all__ = ["as_literals", "forest_paths", "model_paths", "tree_paths"]

Path = tuple[tuple[int, float, bool], ...]
"""Tests of a path: column, threshold, and whether the value is above it."""


def forest_paths(
    literals: Literals, same: Any, *, k: int = 4, trees: int = 50, seed: int = 0
) -> tuple[tuple[int, ...], ...]:
    """Fit a random forest to the samples and return its paths as rules.

    Parameters
    ----------
    literals : Literals
    same : array of bool, shape (m,)
        Which samples are of the class; both kinds must occur.
    k : int
        Maximum number of literals of a rule, the depth of the trees.
    trees, seed : int
        Of the forest.

    Returns
    -------
    tuple of tuples of int
        Each path from a root to a node, inner or leaf, where most samples of the tree are of
        the class, as literals; each set of literals once.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": range(8)})
    >>> literals = Literals.of_table(table, n_bins=4)
    >>> rules = forest_paths(literals, [0, 0, 0, 0, 1, 1, 1, 1], k=1, trees=5)
    >>> sorted(literals.names[j] for (j,) in rules)
    ['a <= 5.5', 'a > 1.5', 'a > 3.5', 'a > 5.5']
    """
    from sklearn.ensemble import RandomForestClassifier

    labels = literals.labels(same)
    forest = RandomForestClassifier(
        positive_integer("trees", trees),
        max_depth=min(positive_integer("k", k), literals.features.shape[1]),
        random_state=valid_seed(seed),
    )
    forest.fit(literals.features.astype(np.float32), labels)
    rules: dict[tuple[int, ...], None] = {}
    for tree in forest.estimators_:
        for path in tree_paths(tree.tree_, 1):
            rules[as_literals(path)] = None
    return tuple(rules)


def model_paths(
    model: Any, X: Any, label: Any, names: Sequence[str] | None = None
) -> tuple[Literals, tuple[tuple[int, ...], ...]]:
    """Return the tests of a fitted tree or forest as literals, and its paths as rules.

    Parameters
    ----------
    model : DecisionTreeClassifier, RandomForestClassifier or ExtraTreesClassifier
        Of scikit-learn, fitted.
    X : data frame or (m, columns) array of numbers
        The samples; no value may be missing.
    label : label of a class
        Paths to nodes where most training samples were of this class are rules.
    names : sequence of str, optional
        Names of the columns; those of the frame, or x0, x1, ..., when not given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    >>> literals, rules = model_paths(tree, X, 0)
    >>> [literals.names[j] for j in rules[0]]
    ['petal width (cm) <= 0.8']
    """
    found = getattr(model, "estimators_", None)
    trees = [model] if found is None else list(np.ravel(np.asarray(found, dtype=object)))
    if not all(hasattr(tree, "tree_") and hasattr(tree, "classes_") for tree in trees):
        raise UnsupportedModel(
            f"a fitted tree or forest of scikit-learn expected, got {type(model).__name__}"
        )
    classes = list(model.classes_)
    if label not in classes:
        raise InvalidOption(f"label must be one of {classes}, got {shown(label)}")
    paths = [path for tree in trees for path in tree_paths(tree.tree_, classes.index(label))]
    tests = sorted({(a, t) for path in paths for a, t, _ in path})
    if not tests:
        raise DataError(f"the model has no path to the class {shown(label)} that tests anything")
    if names is None:
        names = [str(c) for c in X.columns] if hasattr(X, "columns") else []
    # As scikit-learn compares: values of 32 bits with thresholds of 64.
    values = np.asarray(X, dtype=np.float32)
    if np.isnan(values).any():
        raise DataError("X has missing values: a path would not say where they go")
    called = list(names) or [f"x{a}" for a in range(values.shape[1])]
    features = np.column_stack([values[:, a] <= t for a, t in tests])
    # Thresholds are printed with the digits that 32 bits have.
    texts = [f"{called[a]} {sign} {np.float32(t)!s}" for a, t in tests for sign in ("<=", ">")]
    place = {test: b for b, test in enumerate(tests)}
    rules = {
        tuple(sorted({2 * place[a, t] + above for a, t, above in path})): None for path in paths
    }
    return Literals(features, tuple(texts)), tuple(rules)


def tree_paths(tree: Any, c: int, leaves: bool = False) -> Iterator[Path]:
    """Yield the paths to the nodes where class c has the majority, the root left out.

    With ``leaves`` only those to leaves, be it the root.
    """
    open_nodes: list[tuple[int, Path]] = [(0, ())]
    while open_nodes:
        node, path = open_nodes.pop()
        shares = tree.value[node][0]
        inner = tree.children_left[node] >= 0
        if (not inner if leaves else path) and shares[c] > shares.sum() / 2:
            yield path
        if inner:
            test = int(tree.feature[node]), float(tree.threshold[node])
            # The last one is visited first: left before right.
            open_nodes.append((int(tree.children_right[node]), (*path, (*test, True))))
            open_nodes.append((int(tree.children_left[node]), (*path, (*test, False))))


def as_literals(path: Path) -> tuple[int, ...]:
    """Return the path of a tree over Boolean features as literals."""
    # A feature is above its threshold where it is true, which is literal 2 b.
    return tuple(sorted({2 * b + (not above) for b, _, above in path}))
