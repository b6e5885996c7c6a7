"""Conditions on columns as data: in words, and read back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cpx.data.condition import (
    Bounds,
    Condition,
    Equals,
    GroupValues,
    OneOf,
    from_json,
    to_json,
    told,
)

HUE = ("hue_red", "hue")


def hue(*values: float) -> GroupValues:
    """Return the values of a group of two columns."""
    return GroupValues("hue", tuple(zip(HUE, values, strict=True)))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("a <= 1", "a <= 1"),
        (("a", "b"), "a and b"),
        ((), "(always)"),
        ((("a", "b"), ("c",)), "(a and b) or c"),
        ((("a", "b"),), "a and b"),
        (Bounds("a", ((("<", 0.1),),)), "a < 0.1"),
        (Bounds("a", (((">=", 0.1), ("<=", 2.0)),)), "0.1 <= a <= 2"),
        (Bounds("a", ((("<", 0.1),), ((">", 2.0),))), "a < 0.1 or a > 2"),
        (Bounds("a", ()), "a is not missing"),
        (OneOf("a", ("p",)), "a = p"),
        (OneOf("a", ("p", "q")), "a is one of 2 (p, q)"),
        (OneOf("a", ()), "a is of another category"),
        (Equals("a", 1e16), "a = 1e+16"),
        (Equals("a", None), "a is missing"),
        (hue(0, 0), "hue = none of its 2 columns"),
        (hue(1, 0), "hue = red"),
        (hue(0, 1), "hue = hue"),
        (hue(2, 1), "hue: hue_red = 2, hue = 1"),
    ],
)
def test_words_and_round_trip(condition: Condition, words: str) -> None:
    assert told(condition) == words
    saved = json.loads(json.dumps(to_json(condition), allow_nan=False))
    assert from_json(saved) == condition


@pytest.mark.parametrize(
    "data",
    [
        None,
        1,
        {"column": "a"},
        {"column": 1, "value": 1.0},
        {"column": "a", "value": 1.0, "more": 1},
        {"column": "a", "value": "x"},
        {"column": "a", "within": [[["=", 1.0]]]},
        {"column": "a", "within": [[["<", 1.0]] * 3]},
        {"column": "a", "within": [[["<"]]]},
        {"column": "a", "values": [1.0]},
    ],
)
def test_what_is_no_condition_is_refused(data: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        from_json(data)
