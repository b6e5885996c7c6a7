"""Which fields of a result are what they must be."""

from __future__ import annotations

from typing import Any

import pytest

from cpx.check.result_fields import _counts, _estimate, malformed

ESTIMATE = {"agreeing": 3, "drawn": 4, "low": 0.19, "high": 0.994, "confidence": 0.95}
RESULT: dict[str, Any] = {
    "status": "FEASIBLE", "objective": 1, "bound": None, "gap": None, "trace": [[0.1, 2, None]],
    "explanation": {"features": [0], "rule": {"literals": [[0, "a"]]}},
}  # fmt: skip


def fields(**changes: Any) -> list[str]:
    """Return the fields that are complained about in a changed explanation."""
    found = RESULT["explanation"] | changes
    return [told.partition(":")[0] for told in malformed(RESULT | {"explanation": found})]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"low": 0, "high": 1},
        {"agreeing": 0, "low": 0.0},
        {"drawn": 1, "agreeing": 1, "low": 0.02, "high": 1.0},
    ],
)
def test_right_estimates_pass(changes: dict[str, Any]) -> None:
    assert fields(fresh=ESTIMATE | changes) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"drawn": 0, "agreeing": 0},
        {"low": 0.2},
        {"high": 0.99},
        {"low": 0.75, "high": 0.75},
        {"agreeing": 2},
        {"agreeing": 4},
        {"agreeing": -1, "low": -0.5},
        {"agreeing": 3.0},
        {"drawn": True, "agreeing": 1, "high": 1},
        {"low": -0.01},
        {"high": 1.01},
        {"low": "0"},
        {"confidence": 0},
        {"confidence": 1},
        {"confidence": None},
        {"more": 1},
    ],
)
def test_wrong_estimates_are_told(changes: dict[str, Any]) -> None:
    assert fields(fresh=ESTIMATE | changes) == ["fresh"]
    assert fields(fresh={"agreeing": 3, "drawn": 4}) == ["fresh"]
    assert fields(fresh=[3, 4]) == ["fresh"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("trace", [[0.1, 2]]),
        ("trace", [[0.1, 2, None, None]]),
        ("trace", [[0.1, 2.5, None]]),
        ("trace", [(0.1, 2, None)]),
        ("trace", [{}]),
        ("times", {"solve": "long"}),
        ("times", {"solve": 1.0, "total": "long"}),
        ("times", {"solve": 2**64}),
        ("times", {"solve": -(2**64)}),
        ("times", [1.0]),
        ("versions", {"cpx": 1}),
        ("objective", 2**64),
        ("objective", True),
        ("gap", float("inf")),
        ("memory", -1),
        ("version", 2),
        ("version", True),
    ],
)
def test_wrong_fields_are_told(field: str, value: Any) -> None:
    assert malformed(RESULT | {"times": {"solve": 1.0}, "memory": 0}) == []
    told = malformed(RESULT | {field: value})
    assert [words.partition(":")[0] for words in told] == [field]


@pytest.mark.parametrize(
    ("change", "right"),
    [
        ({"drawn": 1, "agreeing": 1, "low": 0.02, "high": 1.0}, True),
        ({"confidence": 1, "drawn": 1, "agreeing": 1, "low": 1.0, "high": 1.0}, True),
        ({"drawn": 0, "agreeing": 0}, False),
        ({"confidence": 1, "drawn": 0, "agreeing": 0}, False),
        ({"confidence": 1.1}, False),
        ({"confidence": 1, "drawn": 0, "agreeing": 0, "low": 0.5, "high": 0.5}, False),
        ({"confidence": 1, "agreeing": 20, "low": 2.0, "high": 2.0}, False),
    ],
)
def test_of_one_sample_there_is_a_precision_and_of_none_there_is_not(change, right) -> None:
    said = {"agreeing": 5, "drawn": 10, "low": 0.1, "high": 0.9, "confidence": 0.95}
    assert _estimate({**said, **change}) is right


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ({"agreeing": 1, "covered": 2, "total": 3}, True),
        ({"agreeing": 1, "covered": 1, "total": 1}, True),
        ({"agreeing": 0, "covered": 0, "total": 1}, True),
        ({"agreeing": 0, "covered": 0, "total": 0}, False),
        ({"agreeing": 3, "covered": 2, "total": 3}, False),
        ({"agreeing": 1, "covered": 4, "total": 3}, False),
        ({"agreeing": 1.0, "covered": 2, "total": 3}, False),
        ({"agreeing": -1, "covered": 2, "total": 3}, False),
        ({"agreeing": 1, "covered": 2}, False),
        ({"agreeing": 1, "covered": 2, "total": 3, "more": 4}, False),
        ([1, 2, 3], False),
        (None, False),
    ],
)
def test_counts_on_unseen_samples_are_in_order(said, right) -> None:
    assert _counts(said) is right
