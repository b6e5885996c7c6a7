"""What makes no tree, no model or no saved form is refused by name."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from cpx.errors import ModelError
from cpx.trees import Attribute, Tree, TreeModel
from tests.trees.test_form import MODEL, STUMP


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], [], [], (0,)), "array of n integers"),
        (([0, -1], [0] * 2, [0] * 2, [[1.0]], (0,)), "no tree: it does not end at node 1"),
        (([-1, -1], [0] * 2, [0] * 2, [[1.0]] * 2, (0,)), "no tree: it ends at node 0 of 2"),
        (([0, -1, -1], [0] * 2, [0] * 3, [[1.0]] * 2, (0,)), "split must be an array of 3"),
        (([0, -1, -1], [0.5] * 3, [0] * 3, [[1.0]] * 2, (0,)), "split must be .* integers"),
        (([0, -1, -1], [0] * 3, [2] * 3, [[1.0]] * 2, (0,)), "missing must be 0"),
        (([0, -1, -1], [0] * 3, [0] * 3, [[1.0]], (0,)), r"values must have the shape \(2, 1\)"),
        (([-1], [0], [0], [[float("nan")]], (0,)), "values of leaves must be finite"),
        (([-1], [0], [0], [[1.0, 1.0]], (0, 0)), "outputs must be different"),
        (([-1], [0], [0], [[1.0]], (-2,)), "outputs must be different"),
    ],
)
def test_trees(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Tree(*arguments)


VOTE = Tree([-1], [0], [0], [[0.5, 0.5]], (0, 1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rule": "median"}, "rule must be one of vote, average, sum, got 'median'"),
        ({"decision": "last"}, "decision must be one of"),
        ({"cast": "float16"}, "cast must be one of float32, float64"),
        ({"trees": []}, "the model has no trees"),
        ({"trees": ["oak"]}, r"trees\[0\] must be Tree, got str"),
        ({"attributes": ["a", "b", "c"]}, r"attributes\[0\] must be Attribute, got str"),
        ({"classes": []}, "the model has no classes"),
        ({"classes": ["a", "a"]}, "classes must be different"),
        ({"classes": ["a", None]}, "a class must be .*, got None"),
        ({"classes": [0, float("nan")]}, "a class must be .*, got nan"),
        ({"classes": "abc"}, "the decision positive is for two classes, there are 3"),
        ({"base": [float("inf")]}, "base must have finite numbers"),
        ({"base": [0, 0]}, "base must have 1 numbers with 2 classes"),
        ({"thresholds": [[1.0, 2.0], [5.0, 6.0]]}, "3 attributes and thresholds of 2"),
        ({"thresholds": [[2.0, 1.0], [5.0, 6.0], []]}, "of 'a' must be finite and increasing"),
        ({"thresholds": [[1.0, 2.0], [5.0], []]}, None),
        ({"thresholds": [[], [5.0], []]}, "tree 0 has a split that is out"),
        ({"thresholds": [[0.1, 2], [5, 6], []], "cast": "float32"}, "'a' must be float32"),
        ({"attributes": [Attribute("a")], "thresholds": [[1.0, 2.0]]}, "tests the attribute 1"),
        ({"trees": [Tree([-1], [0], [0], [[0.0]], (1,))]}, "adds to the score 1, there are 1"),
        ({"rule": "vote"}, "tree 0: with the rule vote each leaf has one 1 and zeros"),
        ({"strict": "yes"}, "strict must be true or false"),
    ],
)
def test_models(changes: dict[str, Any], message: str | None) -> None:
    fields = {name: getattr(MODEL, name) for name in MODEL.__dataclass_fields__}
    if message is None:  # a split equal to the number of thresholds sends all values left
        assert TreeModel(**{**fields, **changes, "trees": [STUMP]}).leaves([9, 99, 9])[0, 0] == 0
        return
    with pytest.raises(ModelError, match=message):
        TreeModel(**{**fields, **changes})


def change(path: tuple[Any, ...], value: Any) -> Callable[[dict[str, Any]], None]:
    def apply(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value

    return apply


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), "cpx-instance", "format must be 'cpx-tree-model', got 'cpx-instance'"),
        (("version",), 2, "version 2 is not known; known: 1"),
        (("version",), True, "version True is not known"),
        (("trees",), {}, "trees must be a list, got dict"),
        (("colour",), 1, "a tree model: unknown key 'colour'"),
        (("clases",), 1, r"unknown key 'clases' \(did you mean 'classes'\?\)"),
        (("base",), [0.5], "base: no hexadecimal float"),
        (("thresholds", 0), ["one"], r"thresholds\[0\]: no hexadecimal float"),
        (("trees", 0), 3, "tree 0 must be an object, got int"),
        (("trees", 0, "oak"), 3, "tree 0: unknown key 'oak'"),
        (("trees", 0, "attribute"), [0.5], "tree 0: attribute must be a list of integers"),
        (("trees", 0, "attribute"), [2**40], "tree 0: attribute must be a list of integers"),
        (("trees", 0, "attribute"), [], "tree 0: split must have 0 entries"),
        (("trees", 0, "split"), [0], "tree 0: split must have 3 entries, .* got 1"),
        (("trees", 0, "missing"), "rrx", "tree 0: missing must be a string of l, r and -"),
        (("trees", 0, "missing"), "rr", "tree 0: missing must have 3 entries"),
        (("trees", 0, "values"), ["0x1p+0"], "tree 0: values must have a number per leaf"),
        (("trees", 0, "values"), ["nan"] * 4, "tree 0: values of leaves must be finite"),
        (("trees", 0, "outputs"), [], "tree 0: values must have a number per leaf"),
        (("trees", 0, "outputs"), [5], "tree 0 adds to the score 5"),
    ],
)
def test_saved_forms(path: tuple[Any, ...], value: Any, message: str) -> None:
    data = copy.deepcopy(MODEL.to_dict())
    change(path, value)(data)
    with pytest.raises(ModelError, match=message):
        TreeModel.from_dict(data)


@pytest.mark.parametrize("key", [key for key in MODEL.to_dict() if key != "source"])
def test_saved_forms_without_a_key(key: str) -> None:
    data = MODEL.to_dict()
    del data[key]
    with pytest.raises(ModelError, match=f"the key '{key}' is missing"):
        TreeModel.from_dict(data)


def test_no_object() -> None:
    with pytest.raises(ModelError, match="a tree model must be an object, got list"):
        TreeModel.from_dict([])
