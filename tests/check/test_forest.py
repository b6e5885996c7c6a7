"""What the checker reads of a saved model: which values its columns can have."""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import numpy as np
import pytest

from cpx.check.forest import Forest

CUTS = [-math.inf, *np.arange(-1, 7, 0.5).tolist(), math.inf]
PAIRS = list(itertools.product(CUTS, CUTS))


def forest_of(attribute: dict[str, Any], x: float | None = None, cast: str = "float64") -> Forest:
    """Return a forest of one column and no trees."""
    model: dict[str, Any] = {"attributes": [attribute], "classes": [0, 1], "thresholds": [[]]}
    model |= {"decision": "positive", "strict": False, "cast": cast, "trees": [], "base": []}
    return Forest(model, [x])


def bounds(lower: float | None, upper: float | None) -> dict[str, str]:
    given = {"lower": lower, "upper": upper}
    return {name: value.hex() for name, value in given.items() if value is not None}


@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        ({"kind": "integer", **bounds(1.5, 4.5)}, [2, 3, 4]),
        ({"kind": "integer", **bounds(2.0, 4.0)}, [2, 3, 4]),
        ({"kind": "integer", **bounds(2.0, None)}, range(2, 20)),
        ({"kind": "integer", **bounds(None, 3.0)}, range(-20, 4)),
        ({"kind": "integer"}, range(-20, 20)),
        ({"kind": "boolean"}, [0, 1]),
        ({"kind": "categorical", "values": [v.hex() for v in (0.0, 2.0, 5.5)]}, [0, 2, 5.5]),
    ],
)
def test_values_that_can_be_counted(attribute: dict[str, Any], values: Any) -> None:
    some = forest_of(attribute).some
    for low, high in PAIRS:
        assert some(0, low, high) == any(low < v <= high for v in values), (low, high)


@pytest.mark.parametrize(("lower", "upper"), [(0.5, 2.5), (1.0, None), (None, 3.0), (2.0, 2.0)])
def test_values_between_bounds(lower: float | None, upper: float | None) -> None:
    some = forest_of(bounds(lower, upper)).some
    least, most = -math.inf if lower is None else lower, math.inf if upper is None else upper
    for low, high in PAIRS:
        assert some(0, low, high) == (low < high and low < most and least <= high), (low, high)


def test_the_value_of_x_is_one_in_any_case() -> None:
    some = forest_of({"kind": "integer", **bounds(2.0, 3.0)}, x=5.5).some
    found = [pair for pair in itertools.pairwise(CUTS) if some(0, *pair)]
    assert found == [(1.5, 2.0), (2.5, 3.0), (5.0, 5.5)]


def test_nothing_is_beyond_the_largest_number() -> None:
    largest = sys.float_info.max
    assert not forest_of({}).some(0, largest, math.inf)
    assert forest_of({}).some(0, -math.inf, -largest)
    assert forest_of({"kind": "integer"}).some(0, 1e300, math.inf)
    # What is beyond the numbers of single precision is read as infinity.
    assert forest_of({}, cast="float32").some(0, largest, math.inf)


def test_reading_is_stopped_at_a_tree_where_no_time_is_left() -> None:
    leaf = {"attribute": [-1], "split": [], "missing": [], "outputs": [0], "values": ["0x0p0"]}
    model: dict[str, Any] = {"attributes": [], "classes": [0, 1], "thresholds": []}
    model |= {"decision": "positive", "strict": False, "cast": "float64", "base": ["0x0p0"]}
    times = iter([None])
    with pytest.raises(StopIteration):
        Forest(model | {"trees": [leaf] * 2}, [], lambda: next(times))
