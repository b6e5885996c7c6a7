"""Columns of dates behind transformers: parts of them, in reasons and contrasts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.errors import DataError, UnsupportedModel

_N = 150
_DAYS = pd.date_range("2023-11-20", periods=_N, freq="3D")
X = pd.DataFrame({"pay": np.random.default_rng(0).normal(size=_N), "day": _DAYS})


def _parts(days: Any) -> Any:
    """Return month and day of the week of a column, which go up and down, and what rises."""
    return np.c_[days.dt.month, days.dt.day_of_week, days.dt.year * 366 + days.dt.day_of_year]


def _fitted(front: Any, column: Any, table: Any, classes: Any) -> Any:
    steps = make_column_transformer((front, column), remainder="passthrough")
    tree = DecisionTreeClassifier(max_depth=5, random_state=0)
    return make_pipeline(steps, tree).fit(table, classes)


_FRONTS = {
    "function": FunctionTransformer(_parts),
    "encoded": make_pipeline(
        FunctionTransformer(_parts),
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), [0]),
            (KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf"), [2]),
            remainder="passthrough",
        ),
    ),
}


@pytest.mark.parametrize(("front", "zone"), [("function", None), ("encoded", "Europe/Paris")])
def test_trees_of_parts_of_dates_agree_on_all_days(front: str, zone: str | None) -> None:
    table = X.assign(day=X["day"].dt.tz_localize(zone))
    classes = np.where((table["day"].dt.month > 6) | (table["day"].dt.day_of_week == 2), "b", "a")
    model = _fitted(_FRONTS[front], "day", table, classes)
    trees = cpx.read_model(model, rows=table)
    days = pd.Series(pd.date_range(_DAYS[0], _DAYS[-1]).tz_localize(zone), name="day")
    assert trees.attributes[1].labels is not None
    number = {label: float(i) for i, label in enumerate(trees.attributes[1].labels)}
    assert len(number) == len(days)
    codes = [number[f"{day:%Y-%m-%d}"] for day in days]
    for pay in (-1.0, 0.5):
        every = pd.DataFrame({"pay": pay, "day": days})
        ours = trees.predict(np.column_stack([np.full(len(days), pay), codes]))
        assert (ours == model.predict(every)).all()


def test_reasons_and_contrasts_speak_of_days() -> None:
    model = _fitted(
        _FRONTS["function"], "day", X, np.where(X["day"].dt.month > 6, "late", "early")
    )
    explainer = cpx.Explainer(model, X)
    reason = explainer.reason({"pay": 0.0, "day": "2024-03-01"})
    assert str(reason).startswith(
        "day is from 2024-01-01 to 2024-06-30 or from 2025-01-01 to 2025-02-09 forces early"
    )
    (panel,) = explainer.reason(34).panels
    assert (panel.value, panel.spans[0]) == (
        pytest.approx(2024.16, abs=0.01),
        pytest.approx((2024, 2024.5), abs=0.01),
    )
    assert "day may be any day from 2023-11-20 to 2025-02-09, as in X" in reason.summary()
    found = explainer.contrast(50)
    assert isinstance(found.values["day"], pd.Timestamp)
    assert model.predict(X.iloc[[50]].assign(**found.values)).tolist() == ["late"]
    assert found.to_dict()["values"] == {"day": str(found.values["day"])}
    for day in ("2031-01-01", pd.Timestamp("2024-03-01 10:00")):
        with pytest.raises(DataError, match="X has the days from 2023-11-20 to 2025-02-09"):
            explainer.reason({"pay": 0.0, "day": day})


def test_dates_that_cannot_be_listed_are_refused() -> None:
    model = _fitted(_FRONTS["function"], "day", X, X["pay"] > 0)
    with pytest.raises(UnsupportedModel, match="any function of one column of dates of X"):
        cpx.Explainer(model).reason(X.iloc[0])
    with pytest.raises(UnsupportedModel, match="'day' has times of day: give the hour"):
        cpx.Explainer(model, X.assign(day=X["day"] + pd.Timedelta("3h"))).reason(0)
    ranks = FunctionTransformer(lambda days: days.rank().to_frame())
    with pytest.raises(UnsupportedModel, match="depends on the other days"):
        cpx.Explainer(_fitted(ranks, "day", X, X["pay"] > 0), X).reason(0)
    with pytest.raises(UnsupportedModel, match="'day' has more than 5,000 days"):
        cpx.Explainer(model, X.assign(day=[_DAYS[0] - pd.Timedelta("5000D"), *_DAYS[1:]])).reason(
            0
        )
