"""What judges share: claims, rules, features, types of values, side constraints."""

from __future__ import annotations

from typing import Any

import pytest

from cpx.check.claims import (
    broken_by,
    class_name,
    competing,
    names_of,
    wrong_claim,
    wrong_features,
    wrong_figures,
    wrong_rule,
    wrong_types,
)


def test_a_class_is_called_as_the_instance_says() -> None:
    assert class_name({"context": {"class": 1.5}}, "unnamed") == "1.5"
    assert (class_name({}, -2), class_name({})) == ("-2", "")


def test_features_without_names_are_numbered() -> None:
    assert names_of({"samples": ["101", "011"]}) == ["x0", "x1", "x2"]
    assert names_of({"samples": ["10"], "features": ["a", "b"]}) == ["a", "b"]


def test_what_competes_is_what_was_given_and_lists_are_counted() -> None:
    parameters = {"k": 0, "required": [3, 5], "forbidden": [], "one_per_group": False, "unit": "0"}
    instance = {"parameters": parameters, "where": [{"text": "a"}]}
    assert competing(instance) == {"k": 0, "required": 2, "unit": "0", "where": 1}


CLAIM: dict[str, Any] = {"problem": "p", "over": {"k": 2}, "figures": {"total": 9}}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, []),
        ({"problem": "q"}, ["problem"]),
        ({"over": {"k": 3}}, ["over"]),
        ({"over": {}}, ["over"]),
        ({"best_of_ties": False, "beyond": {}}, []),
        ({"best_of_ties": True}, ["best_of_ties"]),
        ({"beyond": {"precision": 1}}, ["beyond"]),
        ({"optimal": True, "value": 3, "bound": 3, "statement": {}}, []),
        ({"optimal": False}, ["optimal"]),
        ({"value": 2}, ["value"]),
        ({"bound": None}, ["bound"]),
        ({"statement": {"encoding": "mine"}}, ["statement"]),
    ],
)
def test_each_part_of_a_claim_is_compared(changes: dict[str, Any], told: list[str]) -> None:
    found: dict[str, Any] = {"status": "OPTIMAL", "objective": 3, "bound": 3}
    found["explanation"] = {"claim": CLAIM | changes}
    instance = {"problem": "p", "parameters": {"k": 2}}
    wrong = wrong_claim(instance, found, [])
    assert [text.removeprefix("claim: ").split()[0].rstrip(":") for text in wrong] == told
    # Of some kinds more can be claimed, but of an optimum only.
    more = wrong_claim(instance, found, ["best_of_ties", "beyond"])
    assert more == [text for text in wrong if "of this kind" not in text]
    open_one = wrong_claim(instance, found | {"status": "FEASIBLE"}, ["best_of_ties"])
    of_optima = "claim: best_of_ties is said of an optimum only" in open_one
    assert of_optima == bool(changes.get("best_of_ties"))


def test_figures_are_those_of_the_data() -> None:
    for said, told in (
        ({"total": 9}, []), ({}, ["total"]), ({"total": 8}, ["total"]),
        ({"total": 9, "more": 1}, ["more"]),
    ):  # fmt: skip
        wrong = wrong_figures({"claim": {"figures": said}}, {"total": 9})
        assert [text.removeprefix("claim: ").split(":")[0] for text in wrong] == told


def test_an_explanation_without_a_claim_claims_nothing() -> None:
    assert wrong_claim({"problem": "p", "parameters": {}}, {"explanation": {}}, []) == []
    assert wrong_figures({}, {"total": 9}) == []


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
        ({"conditions": ["a or more"]}, ["conditions"]),
    ],
)
def test_wrong_words_of_a_rule_are_told(changes: dict[str, Any], fields: list[str]) -> None:
    # Its text is made of these, and is for people.
    found = {"features": [2, 0], "rule": RULE | changes, "text": "whatever"}
    told = wrong_rule(found, NAMES, "yes", ["a", "c"])
    assert [words.partition(":")[0] for words in told] == fields
    told = wrong_rule(found, NAMES, "yes", ["a", "c"], a_set=True)
    assert [words.partition(":")[0] for words in told] == [f for f in fields if f != "figures"]


def test_words_of_earlier_versions_are_not_looked_at_where_there_are_data_now() -> None:
    names: dict[int, object] = {0: ["a", "b"], 2: "c"}
    old = {"features": [0, 2], "rule": {"literals": [[0, "whatever"], [2, "c"]]}}
    assert wrong_rule(old, names, "yes") == []
    assert wrong_rule(old, {**names, 2: "d"}, "yes") != []
    assert wrong_rule(old, lambda j, said: False, "yes") == []
    new = {**old, "rule": {"literals": [[0, ["a"]], [2, "c"]]}}
    assert wrong_rule(new, names, "yes") != []


def test_words_that_are_free_or_missing() -> None:
    other = {"features": [0, 2], "rule": RULE | {"conditions": ["d"]}}
    assert wrong_rule(other, NAMES, "yes", None) == []
    assert wrong_rule({"features": [], "rule": {"literals": []}}, {}, "yes") == []


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
