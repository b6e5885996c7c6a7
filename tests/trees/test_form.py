"""The form by itself: hand-made models, and random ones against a walk down the trees."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpx.errors import DataError, ModelError
from cpx.trees import MISSING, Attribute, Tree, TreeModel
from cpx.trees.descent import Descent

# a <= 1 ? (b <= 5 ? 1/4 : -1) : (a <= 2 ? 1/2 : -2), missing a right, missing b refused
TREE = Tree(
    [0, 1, -1, -1, 0, -1, -1],
    [0, 0, 0, 0, 1, 0, 0],
    [1, -1, 0, 0, 1, 0, 0],
    [[0.25], [-1.0], [0.5], [-2.0]],
    (0,),
)
STUMP = Tree([1, -1, -1], [1, 0, 0], [0, 0, 0], [[0.125], [-0.125]], (0,))
MODEL = TreeModel(
    [Attribute("a"), Attribute("b"), Attribute("c")],
    ["no", "yes"],
    [TREE, STUMP],
    [[1.0, 2.0], [5.0, 6.0], []],
    "sum",
    "positive",
    [-0.375],
)


@pytest.mark.parametrize(
    ("row", "cells", "leaves", "score", "label"),
    [
        ([1, 5, 9], [0, 0, 0], [0, 0], Fraction(0), "no"),  # 1/4 + 1/8 - 3/8: zero is not positive
        ([2, 6, 9], [1, 1, 0], [2, 0], Fraction(1, 4), "yes"),
        ([2, 6.5, 9], [1, 2, 0], [2, 1], Fraction(0), "no"),
        ([2.5, 0, 9], [2, 0, 0], [3, 0], Fraction(-9, 4), "no"),
        ([0, 5.5, -1], [0, 1, 0], [1, 0], Fraction(-5, 4), "no"),
        ([np.nan, 6.5, np.nan], [-1, 2, -1], [3, 1], Fraction(-5, 2), "no"),
        ([1.5, np.nan, 0], [1, -1, 0], [2, 0], Fraction(1, 4), "yes"),
        ([-np.inf, np.inf, 0], [0, 2, 0], [1, 1], Fraction(-3, 2), "no"),
    ],
)
def test_by_hand(
    row: list[float], cells: list[int], leaves: list[int], score: Fraction, label: str
) -> None:
    assert MODEL.cells(row).tolist() == cells
    assert MODEL.leaves(row).tolist() == [leaves]
    assert MODEL.scores(row) == (score,)
    assert MODEL.predict([row]).tolist() == [label]


def test_a_missing_value_that_is_refused() -> None:
    with pytest.raises(DataError, match=r"row 1: b is missing, and tree 0 has no .* its node 1"):
        MODEL.predict([[1, 5, 9], [1, np.nan, 9]])
    assert MODEL.refuses_missing(1)
    assert not MODEL.refuses_missing(0)
    assert not MODEL.refuses_missing(2)
    with pytest.raises(ModelError, match=r"'b' may be missing, but tree 0 has no .* node 1"):
        MODEL.with_attributes([Attribute("a"), Attribute("b", missing=True), Attribute("c")])
    wider = MODEL.with_attributes([Attribute("a", missing=True), Attribute("b"), Attribute("c")])
    assert wider != MODEL


@pytest.mark.parametrize(
    ("decision", "base", "label"),
    [("positive", 0.0, 0), ("nonnegative", 0.0, 1), ("positive", 1e-9, 1)],
)
def test_ties_of_one_score(decision: Any, base: float, label: int) -> None:
    leaf = Tree([-1], [0], [0], [[0.0]], (0,))
    model = TreeModel([Attribute("a")], [0, 1], [leaf], [[]], "sum", decision, [base])
    assert model.predict([[3.0]]).tolist() == [label]


def test_first_of_equal_scores() -> None:
    third = Tree([-1], [0], [0], [[0.1, 0.7, 0.7]], (0, 1, 2))
    model = TreeModel([Attribute("a")], "xyz", [third] * 3, [[]], "average", "first", [0] * 3)
    assert model.predict([[0]]).tolist() == ["y"]
    assert model.scores([0]) == tuple(Fraction(v) for v in (0.1, 0.7, 0.7))


def test_sums_are_exact_where_floats_are_not() -> None:
    # 0.1 + 0.2 - 0.3 is 2**-54 with rounding after each addition, and 2**-55 without.
    leaves = [Tree([-1], [0], [0], [[v]], (0,)) for v in (0.1, 0.2, -0.3)]
    model = TreeModel([Attribute("a")], [0, 1], leaves, [[]], "sum", "positive", [0])
    assert (
        model.scores([0])
        == (Fraction(1, 2**55) * 1,)
        == (Fraction(0.1) + Fraction(0.2) - Fraction(0.3),)
    )
    big = [Tree([-1], [0], [0], [[v]], (0,)) for v in (1e300, 1e-300, -1e300)]
    model = TreeModel([Attribute("a")], [0, 1], big, [[]], "sum", "positive", [0])
    assert model.predict([[0]]).tolist() == [1]
    assert model.scores([0]) == (Fraction(1e-300),)


def test_votes() -> None:
    votes = [Tree([0, -1, -1], [j, 0, 0], [0, 0, 0], [[1, 0], [0, 1]], (0, 1)) for j in range(2)]
    model = TreeModel([Attribute("a")], "ab", votes, [[1.0, 2.0]], "vote", "first", [0, 0])
    assert model.predict([[1], [2], [3]]).tolist() == ["a", "a", "b"]  # one vote each is a tie
    assert model.scores([2]) == (1, 1)


def test_rows_of_another_type() -> None:
    assert MODEL.predict(np.array([[2, 6, 9]])).tolist() == ["yes"]
    assert MODEL.predict([[True, 6, 9]]).tolist() == ["no"]
    assert MODEL.predict(np.array([[2, 6, 9]], dtype=object)).tolist() == ["yes"]
    assert MODEL.predict(np.empty((0, 3))).tolist() == []
    with pytest.raises(DataError, match=r"rows must have 3 values.* shape \(1, 2\)"):
        MODEL.predict([[1, 2]])
    with pytest.raises(DataError, match="rows must be numbers: could not convert"):
        MODEL.predict([["x", "y", "z"]])


def test_float32_models_round_rows_first() -> None:
    t = float(np.float32(0.1))  # above 0.1
    trees = [Tree([0, -1, -1], [0] * 3, [0] * 3, [[1.0], [-1.0]], (0,))]
    fields = ([Attribute("a")], [0, 1], trees, [[t]], "sum", "positive", [0])
    above = np.nextafter(t, 1)
    assert TreeModel(*fields, cast="float64").predict([[above]]).tolist() == [0]
    assert TreeModel(*fields, cast="float32").predict([[above]]).tolist() == [1]
    assert TreeModel(*fields, cast="float32").predict([[1e300], [-1e300]]).tolist() == [0, 1]


def test_classes_of_mixed_types() -> None:
    leaf = Tree([-1], [0], [0], [[0.0, 1.0]], (0, 1))
    model = TreeModel([Attribute("a")], [1, "one"], [leaf], [[]], "average", "first", [0, 0])
    assert model.predict([[0]]).tolist() == ["one"]
    assert TreeModel.from_dict(json.loads(json.dumps(model.to_dict()))) == model


# ------------------------------------------------------------------- boxes


@st.composite
def models(draw: st.DrawFn) -> TreeModel:
    d = draw(st.integers(1, 3))
    sizes = [draw(st.integers(0, 3)) for _ in range(d)]

    def nodes(depth: int) -> list[tuple[int, int, int]]:
        if depth == 0 or draw(st.booleans()):
            return [(-1, 0, 0)]
        a = draw(st.integers(0, d - 1))
        node = (a, draw(st.integers(-1, sizes[a])), draw(st.sampled_from([0, 0, 1, 1, -1])))
        return [node, *nodes(depth - 1), *nodes(depth - 1)]

    trees = []
    for _ in range(draw(st.integers(1, 3))):
        attribute, split, missing = (list(c) for c in zip(*nodes(4)))
        leaves = attribute.count(-1)
        values = draw(
            st.lists(
                st.sampled_from([-1.5, -0.1, 0.0, 0.1, 0.3, 7.0]), min_size=leaves, max_size=leaves
            )
        )
        trees.append(
            Tree(attribute, split, missing, [[v] for v in values], (draw(st.integers(0, 2)),))
        )
    return TreeModel(
        [Attribute(f"x{a}") for a in range(d)],
        ["a", "b", "c"],
        trees,
        [[float(i) for i in range(t)] for t in sizes],
        "sum",
        "first",
        [0.0, 0.1, -0.5],
    )


def walked(model: TreeModel, tree: Tree, row: list[float]) -> int | None:
    """Return the node that is reached, comparing values with thresholds; None where refused."""
    node = 0
    while tree.attribute[node] >= 0:
        a, j = tree.attribute[node], tree.split[node]
        bounds = [-np.inf, *model.thresholds[a].tolist(), np.inf]
        if np.isnan(row[a]):
            if tree.missing[node] == -1:
                return None
            left = tree.missing[node] == 0
        else:
            left = row[a] <= bounds[j + 1]
        node = int(tree.left[node] if left else tree.right[node])
    return node


@settings(deadline=None)
@given(models(), st.data())
def test_leaves_and_boxes(model: TreeModel, data: st.DataObject) -> None:
    value = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, np.nan])
    row = data.draw(st.lists(value, min_size=model.n_attributes, max_size=model.n_attributes))
    cells = model.cells(row)
    for tree, boxes in zip(model.trees, model.boxes):
        node = walked(model, tree, row)
        holding = np.flatnonzero(boxes.holding(cells)).tolist()
        assert holding == ([] if node is None else [int(tree.leaf[node])])
        reached = int(Descent((tree,)).nodes(cells[np.newaxis])[0, 0])
        assert tree.attribute[reached] >= 0 if node is None else reached == node
    ends = [walked(model, tree, row) for tree in model.trees]
    if None in ends:
        with pytest.raises(DataError, match="is missing, and tree"):
            model.totals([row])
        return
    scores = [Fraction(v) for v in model.base]
    for tree, node in zip(model.trees, ends):
        scores[tree.outputs[0]] += Fraction(float(tree.values[tree.leaf[node], 0]))
    assert model.scores(row) == tuple(scores)
    assert model.predict([row]).tolist() == ["abc"[scores.index(max(scores))]]


@settings(deadline=None)
@given(models())
def test_round_trip(model: TreeModel) -> None:
    again = TreeModel.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again == model
    assert hash(again) == hash(model)
    assert again.to_dict() == model.to_dict()
    rows = np.random.default_rng(0).normal(0, 2, (50, model.n_attributes))
    assert again.totals(rows).tolist() == model.totals(rows).tolist()
    assert (again.leaves(rows) == model.leaves(rows)).all()


def test_missing_is_no_cell_of_a_value() -> None:
    assert MISSING == -1
    box = MODEL.boxes[0]
    assert box.low.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0], [2, 0, 0]]
    assert box.high.tolist() == [[0, 0, 0], [0, 2, 0], [1, 2, 0], [2, 2, 0]]
    assert box.missing.tolist() == [
        [False, False, True], [False, False, True], [False, True, True], [True, True, True]
    ]  # fmt: skip


def test_equality_ignores_the_source_only() -> None:
    fields = {name: getattr(MODEL, name) for name in MODEL.__dataclass_fields__}
    assert TreeModel(**{**fields, "source": "elsewhere"}) == MODEL
    assert TreeModel(**{**fields, "base": (-0.25,)}) != MODEL
    assert TreeModel(**{**fields, "strict": True}) != MODEL
    assert MODEL != "model"
