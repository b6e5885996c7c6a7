"""Conditions on columns as the checker words them, and the cells that they stand for."""

from __future__ import annotations

from typing import Any

import pytest

from cpx.check.forest import Forest
from cpx.check.intervals import Intervals


def forest_of(x: float | None, **attribute: Any) -> Forest:
    """Return a forest of one column, a, with a tree that tests it at 1.5 and at 2.5."""
    values = [value.hex() for value in (0.0, 1.0, 0.0)]
    tree = {"outputs": [0], "attribute": [0, -1, 0, -1, -1], "split": [0, 1], "missing": "ll"}
    model = {
        "attributes": [{"name": "a", **attribute}],
        "classes": [0, 1],
        "thresholds": [[(1.5).hex(), (2.5).hex()]],
        "trees": [{**tree, "values": values}],
        "base": [(0.0).hex()],
        **{"decision": "positive", "strict": False, "cast": "float64"},
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
    assert Intervals(forest_of(x)).own(0) == (cell, cell)


@pytest.mark.parametrize(
    ("x", "cells", "words"),
    [
        (1.0, (0, 0), "a <= 1.5"),
        (2.0, (0, 1), "a <= 2.5"),
        (2.0, (1, 1), "1.5 < a <= 2.5"),
        (2.0, (1, 2), "a > 1.5"),
        (9.0, (2, 2), "a > 2.5"),
        (9.0, (0, 2), "a = 9"),
        (None, (3, 3), "a is missing"),
    ],
)
def test_words_of_cells(x: float | None, cells: tuple[int, int], words: str) -> None:
    intervals = Intervals(forest_of(x))
    assert intervals.text(0, *cells) == words
    if cells != (0, 2):
        assert intervals.range_of(0, words) == cells


def test_the_only_listed_value_of_some_cells_is_named() -> None:
    # 1.5 is in the first cell, as a test at 1.5 holds of it, and 2.5 in the second.
    listed = [value.hex() for value in (1.5, 2.5, 3.0, 4.0)]
    for x, cells, words in (
        (1.5, (0, 0), "a = 1.5"),
        (2.5, (1, 1), "a = 2.5"),
        (3.0, (2, 2), "a > 2.5"),
        (1.5, (0, 1), "a <= 2.5"),
        (2.5, (1, 2), "a > 1.5"),
    ):
        intervals = Intervals(forest_of(x, kind="categorical", values=listed))
        assert intervals.text(0, *cells) == words
