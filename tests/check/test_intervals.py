"""Conditions on columns in saved answers, and the cells that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cpx.check.forest import Forest
from cpx.check.intervals import Intervals


def forest_of(x: float | None, cast: str = "float64", **attribute: Any) -> Forest:
    """Return a forest of one column, a, with a tree that tests it at 1.5 and at 2.5.

    Where values are cast to single precision, it tests 0.1, which is no such number, in place of
    1.5.
    """
    first = 1.5 if cast == "float64" else 0.1
    values = [value.hex() for value in (0.0, 1.0, 0.0)]
    tree = {"outputs": [0], "attribute": [0, -1, 0, -1, -1], "split": [0, 1], "missing": "ll"}
    model = {
        "attributes": [{"name": "a", **attribute}],
        "classes": [0, 1],
        "thresholds": [[first.hex(), (2.5).hex()]],
        "trees": [{**tree, "values": values}],
        "base": [(0.0).hex()],
        **{"decision": "positive", "strict": False, "cast": cast},
    }
    return Forest(model, [x])


def test_x_passes_a_test_at_its_own_value() -> None:
    assert forest_of(1.5).holds(0, 0)
    assert not forest_of(1.6).holds(0, 0)


@pytest.mark.parametrize(
    ("x", "cell"), [(1.0, 0), (1.5, 0), (2.0, 1), (2.5, 1), (9.0, 2), (None, 3)]
)
def test_cells_of_values_are_numbered_from_the_least_and_end_with_a_missing_one(
    x: float | None, cell: int
) -> None:
    assert Intervals(forest_of(x)).own(0) == cell


def test_values_of_single_precision_are_on_the_side_of_their_rounded_number() -> None:
    # The nearest number to 0.1 is above it, and so 0.1 fails the test at 0.1.
    below = float(np.nextafter(np.float32(0.1), np.float32(0)))
    assert Intervals(forest_of(0.1, "float32")).own(0) == 1
    assert Intervals(forest_of(below, "float32")).own(0) == 0


NAMED = {"column": "a"}


def bounds(*each: tuple[str, float]) -> dict[str, Any]:
    """Return the condition that the column is in an interval, or has any value."""
    return {**NAMED, "within": [[[*bound] for bound in each]] if each else []}


@pytest.mark.parametrize(
    ("x", "said", "cells"),
    [
        (1.0, bounds(("<=", 1.5)), (0,)),
        (2.0, bounds(("<=", 2.5)), (0, 1)),
        (2.0, bounds((">", 1.5), ("<=", 2.5)), (1,)),
        (2.0, bounds((">", 1.5)), (1, 2)),
        (9.0, bounds((">", 2.5)), (2,)),
        (9.0, bounds((">=", float(np.nextafter(2.5, 3)))), (2,)),
        (9.0, bounds(), (0, 1, 2)),
        (None, {**NAMED, "value": None}, (3,)),
    ],
)
def test_a_condition_stands_for_cells(
    x: float | None, said: dict[str, Any], cells: tuple[int, ...]
) -> None:
    assert Intervals(forest_of(x)).cells(0, said) == {*cells}


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (1.0, bounds(("<=", 1.6))),  # no threshold
        (1.0, bounds(("<", 1.5))),  # one number short of it
        (1.0, bounds((">", 1.5))),  # not true of x
        (2.0, bounds(("<=", 2.5), (">", 1.5))),  # would be printed the wrong way round
        (2.0, bounds((">", 1.5), (">", 1.5))),
        (2.0, bounds((">", 1.6))),  # not even where all above it is meant
        (2.0, bounds((">", 1.6), ("<=", 2.5))),
        (1.0, {**NAMED, "within": [[["<=", 1.5]], [[">", 1.5]]]}),  # nothing between them
        (1.0, {**bounds(("<=", 1.5)), "not": True}),
        (2.0, {"column": "b", "within": [[[">", 1.5]]]}),
        (2.0, {**NAMED, "value": 2.0}),  # its cell has other values
        (2.0, {**NAMED, "value": None}),
        (2.0, {**NAMED, "values": [["a", 2.0]]}),
        (2.0, "a > 1.5"),
        (2.0, ["a > 1.5"]),
        (None, bounds()),
        (None, bounds(("<=", 1.5))),
        (None, {**NAMED, "value": 1.0}),
    ],
)
def test_other_conditions_are_none_of_a_model(x: float | None, said: object) -> None:
    assert Intervals(forest_of(x)).cells(0, said) is None


def test_a_test_of_the_model_is_told_by_its_bound() -> None:
    intervals = Intervals(forest_of(2.0))
    for place, holds, said in ((0, False, (">", 1.5)), (1, True, ("<=", 2.5))):
        for at in (0, 1):
            for way in (True, False):
                same = (at, way) == (place, holds)
                assert intervals.is_test(bounds(said), 0, at, way) == same
    assert not intervals.is_test(bounds((">", 1.5), ("<=", 2.5)), 0, 0, False)
    assert not intervals.is_test({**NAMED, "value": 2.0}, 0, 0, False)


def test_the_only_listed_value_of_a_cell_may_be_named() -> None:
    # 1.5 is in the first cell, as a test at 1.5 holds of it, and 2.5 in the second.
    listed = [value.hex() for value in (1.5, 2.5, 3.0, 4.0)]
    for x, cells in ((1.5, {0}), (2.5, {1}), (3.0, None)):
        intervals = Intervals(forest_of(x, kind="categorical", values=listed))
        assert intervals.cells(0, {**NAMED, "value": x}) == cells
        assert intervals.cells(0, {**NAMED, "value": 4.0}) is None


def test_categories_stand_for_the_cells_of_their_values() -> None:
    listed, labels = [value.hex() for value in (1.0, 2.0, 3.0, 4.0)], ["p", "q", "r", "s"]
    intervals = Intervals(forest_of(2.0, kind="categorical", values=listed, labels=labels))
    for said, cells in (
        (["q"], {1}),
        (["p", "q"], {0, 1}),
        (["q", "r", "s"], {1, 2}),
        (["q", "r"], None),  # not all of the last cell
        (["q", "p"], None),
        (["p"], None),  # not true of x
        (["q", "other"], None),
        ([], None),
    ):
        assert intervals.cells(0, {**NAMED, "one_of": said}) == cells
    assert intervals.is_test({**NAMED, "one_of": ["p", "q"]}, 0, 1, True)
    assert not intervals.is_test({**NAMED, "one_of": ["p"]}, 0, 1, True)
    unknown = Intervals(forest_of(9.0, kind="categorical", values=listed[:2], labels=labels[:2]))
    assert unknown.cells(0, {**NAMED, "one_of": []}) == {2}
