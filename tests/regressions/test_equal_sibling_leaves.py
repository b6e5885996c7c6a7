"""A test whose two leaves are equal says nothing, however their parts are rounded."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import cpx
from cpx.data.coding import Coding
from cpx.data.fitted.tree_mixture import ONE, TreeMixture
from cpx.trees import Attribute, Tree, TreeModel
from cpx.trees.descent import Descent


def test_a_column_that_only_equal_leaves_test_is_not_named() -> None:
    """Under a = 1 the column b is tested, and both leaves have the same value."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        v = float(rng.normal() ** 2 + 0.1)
        p, q = (int(x) for x in rng.integers(2**28, 3 * 2**28, 2))
        tree = Tree([0, -1, 1, -1, -1], [0] * 5, [0] * 5, [[-1.0], [v], [v]], (0,))
        columns = [Attribute(name, "boolean") for name in "ab"]
        trees = [tree], [[0.5], [0.5]]
        model = TreeModel(columns, ["no", "yes"], *trees, "sum", "positive", [0.0])
        coding = Coding.fit([[0, 0], [1, 1]], names=["a", "b"], cuts=model.thresholds)
        mixture = TreeMixture([ONE], None, [[[[ONE - p, p]], [[ONE - q, q]]]])
        problem = cpx.MLSE(model, (1, 1), coding, mixture, k=2)
        result = cpx.solve(problem, "search")
        assert result.verified
        assert result.explanation is not None
        assert result.explanation.features == (0,)
        assert problem.scores.expected([0]) == problem.scores.expected([0, 1]) == Fraction(v)


def test_merging_goes_on_upwards_and_changes_no_row() -> None:
    attribute = [0, 1, -1, 2, -1, -1, 1, -1, -1]
    values = [[1.0], [1.0], [1.0], [2.0], [3.0]]
    tree = Tree(attribute, [0] * 9, [0] * 9, values, (0,))
    merged = tree.merged()
    assert merged.attribute.tolist() == [0, -1, 1, -1, -1]
    cells = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=np.int32)
    before = tree.values[tree.leaf[Descent((tree,)).nodes(cells)[:, 0]]]
    assert (before == merged.values[merged.leaf[Descent((merged,)).nodes(cells)[:, 0]]]).all()
    assert merged.merged() is merged
