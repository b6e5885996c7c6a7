"""Columns of dates: spans of time, months, days of the week and hours, in rules and masks."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cpx
from cpx.data import Binarizer
from cpx.data.condition import Span, from_json, to_json
from cpx.errors import DataError, InvalidOption


def orders(zone: str | None = None) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    start = pd.Timestamp("2023-01-01 06:00")
    when = start + pd.to_timedelta(rng.integers(0, 700 * 24, 500), unit="h")
    table = pd.DataFrame({"signup": pd.Series(when), "age": rng.integers(18, 80, 500)})
    table.loc[rng.random(500) < 0.05, "signup"] = pd.NaT
    if zone:
        table["signup"] = table["signup"].dt.tz_localize(zone, ambiguous=True, nonexistent="NaT")
    return table


WORDS = {"signup": {"label": "first order", "cuts": ["2023-07-01", "2024-03-01"]}}
MODELS: dict[str, Any] = {
    "first order from 2024-03-01 on": lambda t: t.dt.tz_localize(None) >= "2024-03-01",
    "first order before 2023-07-01": lambda t: t.dt.tz_localize(None) < "2023-07-01",
    "first order from 2023-07-01 to 2024-02-29": lambda t: t.dt.tz_localize(None).between(
        "2023-07-01", "2024-03-01", inclusive="left"
    ),
    "month of first order > 6": lambda t: t.dt.month > 6,
    "weekday of first order = Sunday": lambda t: t.dt.day_of_week == 6,
    "hour of first order <= 10": lambda t: t.dt.hour < 11,
}


@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
@pytest.mark.parametrize("told", MODELS)
def test_rules_about_dates(told: str, zone: str | None) -> None:
    table = orders(zone)

    def model(rows: pd.DataFrame) -> Any:
        return MODELS[told](rows["signup"]).to_numpy(dtype=bool)

    place = int(np.flatnonzero(model(table))[0])
    found = cpx.Explainer(model, table, n_bins=2, words=WORDS).rule(place, k=1)
    assert str(found) == f"{told} => True"
    assert float(found.precision or 0) == 1
    covered = found.rule.mask(table)
    assert covered.tolist() == model(table).tolist()
    names: dict[str, Any] = {}
    exec(found.rule.to_python(), names)
    assert [names["covers"](row) for row in table.to_dict("records")] == covered.tolist()
    assert found.rows is not None
    assert len(found.rows.agreeing) == covered.sum()
    assert str(type(found).from_dict(found.to_dict())) == str(found)
    assert found.plot().texts
    if told.startswith("weekday"):
        with pytest.raises(InvalidOption, match="no name in standard SQL"):
            found.rule.to_sql()
    elif told.startswith("first") and zone is None:
        with sqlite3.connect(":memory:") as base:
            table.to_sql("rows", base, index_label="place")
            query = f"SELECT place FROM rows WHERE {found.rule.to_sql()}"
            assert {p for (p,) in base.execute(query)} == {*np.flatnonzero(covered).tolist()}
    else:
        assert told.startswith("first") or found.rule.to_sql().startswith("EXTRACT(")


@pytest.mark.parametrize("distribution", ["product", "perturbed", "mixture"])
def test_parts_of_a_date_are_drawn_together(distribution: str) -> None:
    table, seen = orders(), list[pd.DataFrame]()

    def model(rows: pd.DataFrame) -> Any:
        seen.append(rows)
        return (rows["signup"] >= "2024-03-01").to_numpy()

    explainer = cpx.Explainer(model, table, distribution=distribution)
    place = int(np.flatnonzero(table["signup"] >= "2024-03-01")[0])
    assert explainer.rule(place, k=2, m=200).precision
    known = {*table["signup"].dropna()}
    assert {*pd.concat(seen)["signup"].dropna()} <= known


def test_features_of_dates_are_those_of_their_names() -> None:
    table = orders()
    binarizer = Binarizer(3, dates=True).fit(table)
    bits, names = binarizer.transform(table), binarizer.get_feature_names_out()
    groups = binarizer.groups_
    assert (np.add.reduceat(bits, np.unique(groups, return_index=True)[1], axis=1) == 1).all()
    before = next(j for j, name in enumerate(names) if name.startswith("signup < "))
    cut = names[before].removeprefix("signup < ")
    assert bits[:, before].tolist() == (table["signup"] < cut).tolist()
    with pytest.raises(DataError, match="column 'signup' holds dates, got 'soon'"):
        binarizer.transform(table.assign(signup="soon"))
    with pytest.raises(DataError, match="cuts of column 'signup' must be increasing dates"):
        Binarizer(dates=True, cuts={"signup": [2024]}).fit(table)
    with pytest.raises(DataError, match="holds datetime64"):
        Binarizer().fit(table)
    for one in (Span("a", "2024-01-01", None), Span("a", None, "2024-01-01 10:00", negated=True)):
        assert from_json(to_json(one)) == one
    assert one.words == "not (a before 2024-01-01 10:00)"
