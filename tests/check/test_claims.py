"""The sentences that the checker writes a second time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from cpx.check.claims import (
    broken_by,
    class_name,
    having,
    names_of,
    percent,
    plural,
    wrong_features,
    wrong_rule,
    wrong_sentences,
    wrong_types,
)
from cpx.models.sufficient_reason import judge_minimum_subset as minimum_subset


def test_parts_of_sentences() -> None:
    assert [plural(n, "rule") for n in (0, 1, 2)] == ["0 rules", "1 rule", "2 rules"]
    assert having("set", []) == "set"
    assert having("set", ["is red", "is blue"]) == "set that is red and is blue"
    shares = (Fraction(1, 20), Fraction(1, 3), Fraction(1), Fraction(1, 10**7))
    assert [percent(share) for share in shares] == ["5 %", "1/3", "100 %", "1e-05 %"]


@pytest.mark.parametrize(
    ("name", "called"),
    [("red", "red"), (1, "class 1"), (-2, "class -2"), (1.5, "class 1.5"), ("1.2.3", "1.2.3")],
)
def test_a_number_is_called_a_class(name: Any, called: str) -> None:
    assert class_name({"context": {"class": name}}, "unnamed") == called
    assert class_name({}, name) == called


def test_features_without_names_are_numbered() -> None:
    assert names_of({"samples": ["101", "011"]}) == ["x0", "x1", "x2"]
    assert names_of({"samples": ["10"], "features": ["a", "b"]}) == ["a", "b"]


@pytest.mark.parametrize(
    ("parameters", "changes", "sentence"),
    [
        ({}, {}, "2 rows, minimum: no box is smaller"),
        (
            {"weights": [2, 3], "required": [0], "forbidden": [1]}, {},
            "2 rows of weight 5, minimum: no box that has what is required and has nothing "
            "forbidden is lighter",
        ),
        ({"required": [0]}, {"status": "FEASIBLE", "bound": None}, "2 rows, without a bound"),
        (
            {"forbidden": [1]}, {"status": "FEASIBLE", "bound": 1},
            "2 rows, not proved minimum: every box that has nothing forbidden has at least size 1",
        ),
        (
            {"where": [{"text": "a", "means": []}]}, {},
            "2 rows, minimum: no box that keeps the side constraints is smaller",
        ),
        (
            {"weights": [2, 3]}, {"status": "FEASIBLE", "bound": 4},
            "2 rows of weight 5, not proved minimum: every box has at least weight 4",
        ),
    ],
)  # fmt: skip
def test_what_was_proved_of_a_smallest_set(
    parameters: dict[str, Any], changes: dict[str, Any], sentence: str
) -> None:
    result = {"status": "OPTIMAL", "objective": 5, "bound": 5, "explanation": {"features": [0, 1]}}
    instance = {"parameters": parameters, "where": parameters.get("where")}
    told = minimum_subset.of_least_weight(instance, result | changes, "box", "row")
    assert told == sentence


NAMES = {2: "c", 0: "a"}
RULE: dict[str, Any] = {"literals": [[0, "a"], [2, "c"]], "conclusion": "yes"}


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({}, []),
        ({"literals": [[2, "c"], [0, "a"]]}, ["rule"]),
        ({"literals": [[0, "a"]]}, ["rule"]),
        ({"conclusion": "no"}, ["conclusion"]),
        ({"figures": []}, ["figures"]),
        ({"conditions": ["a or more"]}, ["conditions", "text"]),
    ],
)
def test_wrong_words_of_a_rule_are_told(changes: dict[str, Any], fields: list[str]) -> None:
    found = {"rule": RULE | changes, "text": "a and c => yes"}
    told = wrong_rule(found, NAMES, "yes", ["a", "c"])
    assert [words.partition(":")[0] for words in told] == fields
    # Of a set, figures are right here, and the text is that of its rules.
    both = found | {"text": "a or c => yes"}
    told = wrong_rule(both, NAMES, "yes", ["a", "c"], several=["a", "c"])
    rest = [field for field in fields if field not in ("figures", "text")]
    assert [words.partition(":")[0] for words in told] == rest


def test_words_that_are_free_or_missing() -> None:
    other = {"rule": RULE | {"conditions": ["d"]}, "text": "d => yes"}
    assert wrong_rule(other, NAMES, "yes", None) == []
    empty: dict[str, Any] = {"literals": []}
    assert wrong_rule({"rule": empty, "text": "(always) => yes"}, {}, "yes") == []
    assert wrong_rule({"rule": empty, "text": "(never) => yes"}, {}, "yes", several=[]) == []
    assert wrong_rule({"rule": empty}, {}, "yes") == []


def test_wrong_sentences_are_told() -> None:
    right = {"proved": "b", "notes": ["n"], "guarantee": "g"}
    assert wrong_sentences(right, ["a", "b"], ["n"], "g") == []
    assert wrong_sentences({}, ["a"], ["n"], "g") == []
    assert wrong_sentences({"notes": ["x"], "guarantee": "y"}, ["a"], None, None) == []
    wrong = wrong_sentences({"proved": "c", "notes": ["m"], "guarantee": "h"}, ["a", "b"])
    assert wrong == [
        "proved: the result says c, the data give a",
        "notes: the result says ['m'], the data give []",
        "guarantee: the result says h, the data give ",
    ]


def test_values_of_the_trace_have_the_type_of_the_objective() -> None:
    result = {
        "objective": 1,
        "bound": None,
        "trace": [[0.1, "x", 1], [0.2, 1, 1.5], [0.3, 1, True]],
    }
    assert wrong_types(result, int) == [
        "trace: 'x' is no integer",
        "trace: 1.5 is no integer",
        "trace: True is no integer",
    ]
    assert wrong_types({"objective": "1/2", "bound": 1, "trace": [[0.5, "1", None]]}, str) == [
        "bound: 1 is no fraction"
    ]


def test_features_are_different_indices() -> None:
    assert wrong_features([0, 2], 3) == []
    for features in ([3], [-1], [True], [0.0]):
        told = f"features: {features} are not all indices from 0 to 2"
        assert wrong_features(features, 3) == [told]


def test_side_constraints_are_sums_over_what_is_chosen() -> None:
    """A term counts once however many of its features there are; all sums must be reached."""
    means = [
        {"terms": [[2, [0, 1]], [-1, [2]], [1, [3]]], "at_least": 2},
        {"terms": [[-1, [4]]], "at_least": 0},
    ]
    broken = broken_by({"where": [{"text": "t", "means": means}, {"text": "u", "means": []}]})
    wrong = ["where: 't' does not hold"]
    for chosen, told in (
        ([0], []), ([0, 1, 2], wrong), ([0, 2], wrong), ([0, 2, 3], []), ([3], wrong),
        ([], wrong), ([0, 4], wrong), ([4], wrong),
    ):  # fmt: skip
        assert broken(chosen) == told, chosen
    # Of one that is known by its text nothing is known.
    assert broken_by({"where": [{"text": "t"}]})([0]) == wrong
    assert broken_by({})([0]) == broken_by({"where": None})([0]) == []
