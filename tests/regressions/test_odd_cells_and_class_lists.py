"""Cells that hid their value, spans of time, lists without an order, models of one class."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from xgboost import XGBClassifier

import cpx
from cpx.data.other_frames import as_pandas
from cpx.errors import DataError, ModelError, UnsupportedModel

X, Y = load_iris(return_X_y=True)
NAMES = ["a", "b", "c", "d"]
FRAME = pd.DataFrame(X, columns=NAMES)
HIDDEN = np.zeros(X.shape, dtype=bool)
HIDDEN[::5, 3] = True


@pytest.fixture(scope="module")
def model() -> Any:
    with_gaps = np.where(HIDDEN, np.nan, X)
    return HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(with_gaps, Y)


def reason(model: Any, x: Any, rows: Any = None, **options: Any) -> str:
    return str(cpx.explain(model, rows, x, kind="reason", isolate=False, **options))


def test_what_a_mask_hides_is_missing(model: Any) -> None:
    x = np.ma.array(X[70], mask=[False, False, False, True])
    gone = np.where(x.mask, np.nan, X[70])
    assert reason(model, x) == reason(model, gone) != reason(model, X[70])
    assert reason(model, [*X[70][:3], np.ma.masked]) == reason(model, gone)
    rows, same = np.ma.array(X, mask=HIDDEN), np.where(HIDDEN, np.nan, X)
    other = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, Y)
    assert reason(other, X[70], rows) == reason(other, X[70], same)
    assert str(cpx.explain(model, rows, x, isolate=False)) == str(
        cpx.explain(model, same, gone, isolate=False)
    )


def test_hidden_texts_are_missing() -> None:
    rows = np.ma.array([["u"], ["v"], ["w"]], mask=[[False], [False], [True]])
    assert as_pandas(rows).tolist() == [["u"], ["v"], [None]]


def test_hidden_integers_stay_exact() -> None:
    rows = np.ma.array([[2**53 + 1, 1], [2, 3]] * 5, mask=[[False, True], [False, False]] * 5)
    with pytest.raises(DataError, match="9007199254740993, which no float holds"):
        cpx.data.Binarizer().fit(rows)


@pytest.mark.parametrize("span", [np.timedelta64(3, "D"), np.timedelta64(3, "ns")])
def test_a_span_of_time_is_no_number(model: Any, span: Any) -> None:
    with pytest.raises(DataError, match="must be a finite number or missing, got"):
        reason(model, [*X[70][:3], span])
    x = [*X[70][:3], span]
    whole = FRAME.round().astype(int)
    for background, row in ((FRAME, dict(zip(NAMES, x))), (whole, x), (X, x)):
        with pytest.raises(DataError, match="a number expected"):
            cpx.explain(model, background, row, isolate=False)


def test_a_frame_of_decimal_numbers_is_a_row(model: Any) -> None:
    x = FRAME.iloc[[70]].map(lambda v: Decimal(repr(v)))
    given = [cpx.explain(model, FRAME, row, isolate=False) for row in (x, FRAME.iloc[70])]
    assert str(given[0]) == str(given[1])


@pytest.mark.parametrize("classes", [{"u", "v", "w"}, {0: "u", 1: "v", 2: "w"}])
def test_classes_are_a_list_in_their_order(model: Any, classes: Any) -> None:
    with pytest.raises(ModelError, match="a list of labels in their order"):
        reason(model, X[70], classes=classes)
    with pytest.raises(ModelError, match="attributes must be a list"):
        reason(model, X[70], attributes={*NAMES})


@pytest.mark.parametrize(
    "kind",
    [
        HistGradientBoostingClassifier(max_iter=2),
        XGBClassifier(n_estimators=2),
        LGBMClassifier(n_estimators=2, verbose=-1),
    ],
)
def test_a_model_of_one_class_is_refused_in_words(kind: Any) -> None:
    with pytest.raises(UnsupportedModel, match="trained on rows of one class, '0'"):
        reason(kind.fit(X, np.zeros(len(X), dtype=int)), X[70])
