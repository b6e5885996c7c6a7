"""Rows of pixels as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import GradientBoostingClassifier

from cpx.answers.rule import Rule
from cpx.errors import InvalidOption
from cpx.models.expected_prediction.answer import ExpectedExplanation
from cpx.models.expected_prediction.explainer import ExpectationExplainer
from cpx.models.expected_prediction.pictures import pixel_places, plot_pixels

figures = pytest.importorskip("matplotlib.figure")


def test_places_of_pixels() -> None:
    names = [f"pixel_{r}_{c}" for c in range(3) for r in range(2)]
    rows, columns = pixel_places(names)
    assert (rows.tolist(), columns.tolist()) == ([0, 1] * 3, [0, 0, 1, 1, 2, 2])
    rows, columns = pixel_places([f"V{j}" for j in (3, 1, 2, 4)])
    assert (rows.tolist(), columns.tolist()) == ([1, 0, 0, 1], [0, 0, 1, 1])


@pytest.mark.parametrize("names", [["a", "b"], ["x0", "x1", "x2"], ["x0", "x0", "x1", "x2"]])
def test_columns_that_are_no_picture(names: list[str]) -> None:
    with pytest.raises(InvalidOption, match="give the shape"):
        pixel_places(names)


@pytest.mark.parametrize("shape", [(3, 3), (4,), 4, (0, 4)])
def test_shapes_that_do_not_fit(shape: object) -> None:
    with pytest.raises(InvalidOption, match="shape"):
        pixel_places(["a", "b", "c", "d"], shape)


def test_known_pixels_have_their_colour_and_others_none() -> None:
    ax = plot_pixels(
        [5, 6, 7, 8], list("abcd"), [1, 2], shape=(2, 2), ax=figures.Figure().subplots()
    )
    shown: Any = ax.images[0].get_array()
    assert shown.mask.tolist() == [[True, False], [False, True]]
    assert shown[0, 1] == 6
    assert shown[1, 0] == 7


def test_a_mistaken_digit_is_drawn() -> None:
    X, y = load_digits(return_X_y=True, as_frame=True)
    X, y = X[y.isin([3, 5])], y[y.isin([3, 5])]
    boosted = GradientBoostingClassifier(n_estimators=3, random_state=0)
    boosted.fit(X.iloc[:100], y.iloc[:100])
    wrong = np.flatnonzero(boosted.predict(X) != y)
    x = X.iloc[wrong[0]]
    explainer = ExpectationExplainer(
        boosted, X.iloc[:100], distribution="factorised", max_states=3, class_names=["3", "5"]
    )
    found = explainer.explain(x, 4)
    ax = found.plot(ax=figures.Figure().subplots())
    shown: Any = ax.images[0].get_array()
    assert shown.shape == (8, 8)
    assert (~shown.mask).sum() == len(found.features)
    for j in found.features:
        assert shown[divmod(j, 8)] == x.iloc[j]
    assert ax.get_title().startswith(f"{found.rule.says}, ")
    assert found.rule.conclusion != str(y.iloc[wrong[0]])
    whole: Any = found.plot(whole=True, ax=figures.Figure().subplots()).images[0].get_array()
    assert np.array_equal(whole, x.to_numpy().reshape(8, 8))


def test_a_saved_explanation_has_no_row_to_draw() -> None:
    with pytest.raises(InvalidOption, match="saved"):
        ExpectedExplanation(Rule((), "yes")).plot()
