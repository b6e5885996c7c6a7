"""A rule used on rows: as a mask, behind WHERE in SQLite, and as a function in Python."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cpx
from cpx.answers.rule import Rule
from cpx.errors import DataError, InvalidOption
from tests.seeds import each


def table(seed: int, n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    found = pd.DataFrame(
        {
            "size": rng.normal(10, 3, n).round(2),
            'we"ight': rng.normal(5, 1, n),
            "tint": rng.choice(["red", "it's blue", "green"], n),
            "code": rng.integers(0, 4, n),
            "same": np.full(n, 7.0),
            "gap": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        }
    )
    found["mark"] = pd.Series(rng.choice(["u", "v", None], n), dtype=object)
    return found


def by_sql(rule: Rule, X: pd.DataFrame) -> list[bool]:
    with sqlite3.connect(":memory:") as base:
        X.reset_index(drop=True).to_sql("rows", base, index_label="place")
        query = f"SELECT place FROM rows WHERE {rule.to_sql()}"
        covered = {place for (place,) in base.execute(query)}
    return [place in covered for place in range(len(X))]


def by_python(rule: Rule, X: pd.DataFrame) -> list[bool]:
    names: dict[str, Any] = {}
    exec(rule.to_python(), names)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    return [names["covers"](row) for row in rows]


def require_alike(rule: Rule, X: pd.DataFrame) -> np.ndarray:
    covered = rule.mask(X)
    assert by_sql(rule, X) == covered.tolist(), rule.to_sql()
    assert by_python(rule, X) == covered.tolist(), rule.to_python()
    return covered


@each(range(8), 3)
def test_a_rule_covers_the_rows_that_its_figures_count(seed: int) -> None:
    X = table(seed)
    rng = np.random.default_rng(seed)

    def model(rows: pd.DataFrame) -> np.ndarray:
        return ((rows["size"] > 9) & (rows["tint"] != "red")) | rows["gap"].isna().to_numpy()

    explainer = cpx.Explainer(model, X, categorical=["code"], n_bins=4)
    rules = explainer.of("rule")
    other = table(seed + 100)
    for place in rng.integers(0, len(X), 4):
        found = explainer.rule(int(place), k=3, objective="loss")
        assert require_alike(found.rule, X).mean() == float(found.coverage)
        require_alike(found.rule, other)
        # Any conditions, not the best ones only.
        literals = rules.conditions(X.iloc[place]).literals
        chosen = rng.choice(len(literals), 3, replace=False).tolist()
        scored = rules.score(chosen, X.iloc[place], compare=False)
        assert require_alike(scored.rule, X).mean() == float(scored.coverage)
        assert scored.rule.mask(X.iloc[[place]]).all()
        require_alike(scored.rule, other)


@each(range(4), 2)
def test_a_set_of_rules_covers_what_its_classifier_says(seed: int) -> None:
    X = table(seed)
    y = (X["size"] > 9) & (X["tint"] == "red") | (X["gap"].isna())
    learner = cpx.RuleSetClassifier(penalty=0.01, time_limit=None).fit(X, y)
    for rows in (X, table(seed + 50)):
        covered = require_alike(learner.rule_set_, rows)
        assert (covered == learner.covers(rows).any(axis=0)).all()


def test_missing_values_where_there_were_none() -> None:
    X = table(0).drop(columns=["gap", "mark"])
    gone = X.astype(object)
    gone.iloc[::3, 0], gone.iloc[1::3, 2] = None, None
    explainer = cpx.Explainer(lambda rows: np.asarray(rows["size"] > 9), X)
    for place in range(0, 40, 8):
        rule = explainer.rule(place, k=2).rule
        assert not require_alike(rule, gone)[::3].any()  # a missing size is in no interval


@pytest.mark.parametrize("labels", [[10, 20], [1.5, ("a", "b")], ["select", "[\n'\"\\"], [0, 1]])
def test_rules_ask_for_columns_by_the_labels_of_the_table(labels: list[Any]) -> None:
    X = table(0)[["size", "code"]].set_axis(pd.Index(labels, dtype=object), axis=1)
    y = np.where((X.iloc[:, 0] > 9) & (X.iloc[:, 1] > 1), "y", "n")
    require_alike(cpx.RuleSetClassifier(time_limit=None).fit(X, y).rule_set_, X)
    found = cpx.explain(lambda rows: np.asarray(rows.iloc[:, 0] > 9), X, 0, k=2)
    assert len(found.rule)
    require_alike(found.rule, X)
    dated = cpx.explain(
        lambda rows: np.asarray(rows.iloc[:, 0] > 9), X.set_axis(pd.to_datetime([1, 2]), axis=1), 0
    )
    with pytest.raises(InvalidOption, match="a Timestamp for its name"):
        dated.rule.to_python()


def test_what_has_no_columns_is_refused() -> None:
    X = table(0)
    rule = cpx.explain(lambda rows: np.asarray(rows["size"] > 9), X, 0, k=1).rule
    with pytest.raises(InvalidOption, match="no test of a table"):
        Rule.from_dict(rule.to_dict()).mask(X)
    with pytest.raises(DataError, match="X has no column 'size'"):
        rule.mask(X.drop(columns="size"))
    # By position where columns have no names, and in any order where they have.
    numbers = X[["size", "code"]].to_numpy()
    plain = cpx.explain(lambda rows: rows[:, 0] > 9, numbers, 0, k=1).rule
    assert (plain.mask(numbers) == rule.mask(X)).all()
    assert (rule.mask(X[X.columns[::-1]]) == rule.mask(X)).all()
    assert cpx.explain(lambda rows: rows[:, 0] > -99, numbers, 0, k=1).rule.to_sql() == "TRUE"
