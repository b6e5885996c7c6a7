from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpx.data.condition import bound, value_text
from cpx.errors import ModelError
from cpx.trees import Attribute

thresholds = st.lists(st.integers(-40, 40).map(lambda v: v / 4), unique=True, max_size=8).map(
    sorted
)


def cell(value: float, cuts: list[float]) -> int:
    return sum(value > t for t in cuts)


@given(thresholds, st.integers(-12, 12), st.integers(0, 8))
def test_possible_cells_of_integers(cuts: list[float], low: int, length: int) -> None:
    attribute = Attribute("a", "integer", lower=low, upper=low + length)
    wanted = {cell(v, cuts) for v in range(low, low + length + 1)}
    assert set(np.flatnonzero(attribute.possible(np.array(cuts)))) == wanted


@given(thresholds, st.integers(-48, 48), st.integers(0, 20))
def test_possible_cells_of_reals(cuts: list[float], low: int, length: int) -> None:
    first, last = low / 4, (low + length) / 4
    wanted = {cell(first + i / 16, cuts) for i in range(4 * length + 1)}
    found = Attribute("a", lower=first, upper=last).possible(np.array(cuts))
    assert set(np.flatnonzero(found)) == wanted
    assert last == first + length / 4


@given(thresholds)
def test_possible_cells_without_bounds(cuts: list[float]) -> None:
    assert Attribute("a").possible(np.array(cuts)).all()
    whole = {cell(v / 2, cuts) for v in range(-100, 100, 2)}
    assert set(np.flatnonzero(Attribute("a", "integer").possible(np.array(cuts)))) == whole


def test_possible_cells_of_listed_values() -> None:
    cuts = np.array([-1.0, 0.5, 0.75, 3.0])
    assert Attribute("a", "boolean").possible(cuts).tolist() == [False, True, False, True, False]
    listed = Attribute("a", "categorical", values=(0.5, 4.0))
    assert listed.possible(cuts).tolist() == [False, True, False, False, True]


def test_bounds_are_rounded_as_rows_are() -> None:
    # 0.1 in float32 is above 0.1 in float64.
    cuts = np.array([0.1])
    assert Attribute("a", upper=0.1).possible(cuts).tolist() == [True, False]
    single = np.array([float(np.float32(0.1))])
    attribute = Attribute("a", lower=math.nextafter(single[0], 1.0))
    assert attribute.possible(single).tolist() == [False, True]
    assert attribute.possible(single, np.float32).tolist() == [True, True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": 3}, "name of an attribute must be a string, got 3"),
        ({"kind": "ordinal"}, "kind must be one of real, .*, got 'ordinal'"),
        ({"missing": 1}, "missing must be true or false, got 1"),
        ({"lower": math.inf}, "lower must be finite numbers, got inf"),
        ({"upper": "3"}, "upper must be finite numbers, got '3'"),
        ({"lower": 2, "upper": 1}, "no value lies between 2.0 and 1.0"),
        ({"kind": "integer", "lower": 1.25, "upper": 1.5}, "no value lies between"),
        ({"kind": "boolean", "lower": 0}, "bounds are for real and integer"),
        ({"kind": "boolean", "values": (0, 1)}, "leave values out"),
        ({"kind": "categorical"}, "needs its values"),
        ({"values": ()}, "increasing and at least one"),
        ({"values": (1, 1)}, "increasing and at least one"),
        ({"values": (0,), "lower": 0}, "without values"),
        ({"kind": "integer", "values": (0.5,)}, "values must be integers"),
    ],
)
def test_what_is_wrong_is_said(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Attribute(**{"name": "age", **arguments})


@pytest.mark.parametrize(
    "attribute",
    [
        Attribute("a"),
        Attribute("b", "integer", lower=-3, upper=7, missing=True),
        Attribute("c", "boolean"),
        Attribute("d", "categorical", values=(1, 2.5)),
        Attribute("e", lower=0.1),
    ],
)
def test_round_trip(attribute: Attribute) -> None:
    assert Attribute.from_dict(attribute.to_dict()) == attribute


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "must be an object with a name"),
        ({"kind": "real"}, "must be an object with a name"),
        ({"name": "a", "colour": 1}, "'a': unknown key 'colour'"),
        ({"name": "a", "lower": 1}, "'a': no exact number"),
        ({"name": "a", "values": ["0x1p+0", "x"]}, "'a': no exact number"),
        ({"name": "a", "upper": "0x1p+99999"}, "'a': no exact number"),
    ],
)
def test_wrong_saved_forms(data: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Attribute.from_dict(data)


def test_a_cut_is_printed_in_few_digits_and_parts_the_same_values() -> None:
    rng = np.random.default_rng(0)
    short = [float(np.float32(112.99999)), 0.7730999886989594, 38.5, -0.1, 0.0, 1e-9, 2.0**60]
    assert bound(short[0], False, False, "float32") == (">=", 113.0)
    for cast in (np.float32, np.float64):
        for threshold in [*short, *rng.normal(size=300).tolist(), *rng.integers(0, 99, 50)]:
            t = cast(threshold)
            below, above = (np.nextafter(t, cast(s * np.inf)) for s in (-1, 1))
            values = [below, t, above, np.nextafter(above, cast(np.inf))]
            for holds, strict in itertools.product((True, False), repeat=2):
                sign, number = bound(float(t), holds, strict, cast.__name__)
                compare = {"<": np.less, "<=": np.less_equal, ">": np.greater}
                told = compare.get(sign, np.greater_equal)(values, cast(number))
                assert told.tolist() == [(v <= t) == holds for v in values]


@pytest.mark.parametrize("value", [1234567.0, 0.123456789, 98101.25, 1e300, -0.0, 3.0])
def test_a_value_is_printed_with_the_digits_it_has(value: float) -> None:
    assert float(value_text(value)) == value
    assert value_text(float(np.float32(0.1))) == "0.1"
