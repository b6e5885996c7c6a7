"""Tests of sets of cells, as categorical splits are: built, walked, saved, put into words."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

from cpx.errors import ModelError
from cpx.trees import Attribute, Tree, TreeModel
from cpx.trees.building import Nodes, assemble
from cpx.trees.descent import Descent
from cpx.trees.tree import LEFT, RIGHT

CITIES = ("Arras", "Bavay", "Cassel", "Douai", "Lens")


def nodes(**changed: Any) -> Nodes:
    """Return ``city in {Bavay, Douai, Lens} ? 1 : (size <= 2.5 ? 2 : 4)``."""
    fields: dict[str, Any] = {
        "attribute": np.array([0, -1, 1, -1, -1]),
        "threshold": np.array([np.nan, 0, 2.5, 0, 0]),
        "left": np.array([1, -1, 3, -1, -1]),
        "right": np.array([2, -1, 4, -1, -1]),
        "missing": np.array([RIGHT, -1, LEFT, -1, -1]),
        "values": np.array([[0.0], [1], [0], [2], [4]]),
        "outputs": (0,),
        "sets": {0: [(0.5, 1.5), (2.5, np.inf)]},
        **changed,
    }
    return Nodes(**fields)


def model(trees: list[Nodes] | None = None, **changed: Any) -> TreeModel:
    values = tuple(map(float, range(len(CITIES))))
    city = Attribute("city", "categorical", values=values, labels=CITIES, missing=True)
    fields: dict[str, Any] = {
        "classes": (0, 1),
        "rule": "sum",
        "decision": "positive",
        "base": (-1.5,),
        **changed,
    }
    return assemble(trees or [nodes()], [city, Attribute("size")], **fields)


def test_a_set_is_walked_as_it_says() -> None:
    read = model()
    for city, size in itertools.product([*range(5), np.nan], [1, 3]):
        leaf = 1 if city in (1, 3, 4) else 2 if size == 1 else 4
        assert float(read.scores([city, size])[0]) == leaf - 1.5
        held = read.boxes[0].holding(read.cells([city, size]))
        assert np.flatnonzero(held).tolist() == [{1: 0, 2: 1, 4: 2}[leaf]]


def test_what_ranges_say_becomes_a_threshold_or_a_set() -> None:
    inf = np.inf
    prefix, none, every = [(-inf, 0.5)], [], [(-inf, inf)]
    gap, rest = [(0.5, 1.5), (1.5, 2.5)], [(-inf, 0.5), (2.5, inf)]
    asked = [prefix, none, every, gap, rest, gap]
    trees = [nodes(sets={0: pairs}) for pairs in asked]
    read = model(trees)
    assert read.thresholds[0].tolist() == [0.5, 1.5, 2.5]
    assert [int(tree.split[0]) for tree in read.trees] == [0, -1, 3, 4, 5, 4]
    assert read.sets[0].tolist() == [[False, True, True, False], [True, False, False, True]]
    assert not read.has_sets(1)


def test_words() -> None:
    read = model()
    test = int(read.trees[0].split[0])
    assert str(read.condition(0, test)) == "city is one of 3 (Bavay, Douai, Lens)"
    assert str(read.condition(0, test, holds=False)) == "city is one of 2 (Arras, Cassel)"
    assert str(read.condition(0, 0)) == "city = Arras"
    plain = read.with_attributes([Attribute("city"), Attribute("size")])
    assert str(plain.condition(0, test)) == "0.5 < city <= 1.5 or city > 2.5"
    assert str(plain.condition(0, test, holds=False)) == "city <= 0.5 or 1.5 < city <= 2.5"


def test_saved() -> None:
    read = model()
    data = json.loads(json.dumps(read.to_dict()))
    assert data["sets"] == [[[1, 3]], []]
    assert TreeModel.from_dict(data) == read
    assert "sets" not in model([nodes(sets={0: []})]).to_dict()
    other = TreeModel.from_dict({**data, "sets": [[[0, 3]], []]})
    assert other != read


@pytest.mark.parametrize(
    ("sets", "told"),
    [
        ([[[1, 4]], []], "sets\\[0\\]\\[0\\] must have cells from 0 to 3"),
        ([[[1, 3]]], "thresholds of 2 attributes, sets of 1"),
        ([[[0, 1, 2, 3]], []], "must have some cells, and not all"),
        ([[[]], []], "must have some cells, and not all"),
        ([[], []], "out of the thresholds and sets"),
        ({"city": []}, "sets must be a list"),
    ],
)
def test_wrong_sets_are_refused(sets: Any, told: str) -> None:
    with pytest.raises(ModelError, match=told):
        TreeModel.from_dict({**model().to_dict(), "sets": sets})


@pytest.mark.parametrize(
    "labels", [("a", "b"), ("a", "b", "b"), ("a", "b", 3)], ids=["few", "twice", "number"]
)
def test_wrong_labels_are_refused(labels: Any) -> None:
    with pytest.raises(ModelError, match="labels must be different strings, one for each value"):
        Attribute("city", "categorical", values=(0.0, 1.0, 2.0), labels=labels)


def test_labels_are_saved() -> None:
    city = model().attributes[0]
    assert Attribute.from_dict(city.to_dict()) == city
    with pytest.raises(ModelError, match="labels must be a list"):
        Attribute.from_dict({**city.to_dict(), "labels": "abc"})


def test_set_tests_of_a_tree_alone() -> None:
    tree = Tree([0, -1, -1], [3, 0, 0], [1, 0, 0], [[1.0], [2.0]], (0,))
    cells = np.array([[0], [1], [2], [-1]], dtype=np.int32)
    assert Descent((tree,), [np.array([[True, False, True]])]).nodes(cells)[:, 0].tolist() == [
        1,
        2,
        1,
        2,
    ]
