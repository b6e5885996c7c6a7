"""Arguments, evaluation and notes of monomial problems."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cpx import KMonomial, Samples
from cpx.errors import InvalidInstance, UnknownName
from cpx.models import NegativeOnly

SAMPLES = Samples(
    [[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]],
    [1, 1, 0, 1],
    weights=[1, 2, 3, 4],
    features=("a", "b", "c"),
    groups=(0, 0, 1),
    context={"class": "benign"},
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": -1}, "k must be between 0 and the number of features 3, got -1"),
        ({"k": 4}, "got 4"),
        ({"k": 1.5}, "k must be an integer, got 1.5"),
        ({"k": 2.0}, "k must be an integer"),
        ({"k": True}, "k must be an integer, got True"),
        ({"k": "2"}, "k must be an integer, got '2'"),
        ({"k": None}, "k must be an integer"),
        ({"k": 1, "required": (3,)}, "required has the feature 3"),
        ({"k": 1, "forbidden": (-1,)}, "forbidden has the feature -1"),
        ({"k": 1, "forbidden": (0, 0)}, "names a feature twice"),
        ({"k": 1, "required": 1}, "required must be a list"),
        ({"k": 1, "required": "01"}, "required must be a list"),
        ({"k": 1, "required": (0.5,)}, "required must be an integer"),
        ({"k": 1, "one_per_group": "yes"}, "one_per_group must be true or false"),
        ({"k": 1, "name": 3}, "name must be a string"),
    ],
)
def test_wrong_arguments_are_named(arguments, message) -> None:
    with pytest.raises(InvalidInstance, match=message):
        KMonomial(SAMPLES, **arguments)


def test_groups_are_needed_for_one_per_group() -> None:
    with pytest.raises(InvalidInstance, match="one_per_group needs groups"):
        KMonomial(Samples([[1]], [1]), k=1, one_per_group=True)


def test_samples_must_be_samples() -> None:
    with pytest.raises(InvalidInstance, match="samples must be Samples, got ndarray"):
        KMonomial(np.ones((2, 2)), k=1)


def test_unknown_encoding_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'clausal'.*channelling"):
        KMonomial(SAMPLES, k=1).model("clasual")


def test_evaluation_by_hand() -> None:
    problem = KMonomial(SAMPLES, k=2)
    found = problem.evaluate(problem.explanation([1]))
    # Covered: samples 0 (agrees, 1) and 2 (disagrees, 3); lost: 3 covered, 2 + 4 uncovered.
    assert (found.objective, found.covered, found.agreeing_covered) == (9, 4, 1)
    assert (found.precision.exact, found.coverage.exact) == (Fraction(1, 4), Fraction(4, 10))
    only = NegativeOnly(SAMPLES, k=2)
    assert only.evaluate(only.explanation([1])).objective == 3


def test_explanations_read_well() -> None:
    problem = KMonomial(SAMPLES, k=2)
    assert str(problem.explanation([2, 0])) == "a and c => benign"
    assert problem.explanation([0, 2]).precision is None
    numbered = Samples([[1]], [1], context={"class": "1"})
    assert str(KMonomial(numbered, k=1).explanation([])) == "(always) => class 1"


def test_shortened_keeps_the_value_and_the_constraints() -> None:
    samples = Samples([[1, 1, 1], [1, 1, 0], [0, 0, 1]], [1, 1, 0])
    problem = KMonomial(samples, k=3)
    assert problem._shortened(problem.explanation([0, 1])).features == (0,)
    bound = KMonomial(samples, k=3, required=(1,))
    assert bound._shortened(bound.explanation([0, 1])).features == (1,)


@pytest.mark.parametrize(
    ("agreement", "same", "k", "note"),
    [
        ([[1, 0], [0, 1]], [1, 1], 1, "all samples agree"),
        ([[1, 0], [0, 1]], [0, 0], 1, "no sample agrees"),
        ([[1, 0], [0, 1]], [0, 1], 0, "k = 0"),
        ([[1, 0], [0, 1]], [0, 1], 2, "k = d = 2"),
        ([[1, 0], [1, 1]], [0, 1], 1, "constant feature, never excludes a sample: x0"),
        ([[0, 0], [0, 1]], [0, 1], 1, "constant feature, excludes every sample: x0"),
        ([[1, 0], [1, 0], [0, 1]], [0, 0, 1], 1, "identical samples: 3 rows, 2 distinct"),
    ],
)
def test_degenerate_data_are_noted(agreement, same, k, note) -> None:
    notes = KMonomial(Samples(agreement, same), k=k)._notes()
    assert any(text.startswith(note) for text in notes), notes


def test_ordinary_data_have_no_notes() -> None:
    assert KMonomial(Samples([[1, 0], [0, 1], [0, 0]], [1, 0, 1]), k=1)._notes() == ()
