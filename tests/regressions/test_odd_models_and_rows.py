"""Odd models and rows: pipelines that begin with nothing, blank classes, numbers among texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.errors import DataError, InvalidOption

_RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": _RNG.normal(size=60).round(2), "b": _RNG.integers(0, 10, 60)})
Y = np.where(X["a"] + X["b"] / 5 > 1, "yes", "no")
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
_NOTHING = make_pipeline("passthrough", TREE)


@pytest.mark.parametrize(
    "model",
    [
        _NOTHING,
        make_pipeline(make_pipeline("passthrough", None), StandardScaler(), TREE),
        make_pipeline("passthrough", LogisticRegression()),
        VotingClassifier([("a", _NOTHING), ("b", _NOTHING)], voting="soft"),
        GridSearchCV(_NOTHING, {"decisiontreeclassifier__max_depth": [2]}, cv=2),
    ],
)
def test_a_pipeline_may_begin_with_no_step(model: Any) -> None:
    found: Any = cpx.explain(model.fit(X, Y), X, 0, kind="contrast")
    changed = X.iloc[[0]].astype(float).assign(**found.values)
    assert model.predict(changed)[0] != model.predict(X.iloc[[0]])[0]


def test_truth_values_for_names_of_columns_are_no_mask() -> None:
    table = X.set_axis([True, False], axis=1)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(table, Y)
    x = table.iloc[[0], ::-1]
    assert str(cpx.explain(tree, table, x)) == str(cpx.explain(tree, table, 0))


def test_a_blank_class_is_quoted() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(
        X, np.where(Y == "yes", "", " ")
    )
    explainer = cpx.Explainer(tree, X)
    row = int(np.flatnonzero(Y == "yes")[0])
    assert str(explainer.rule(row, k=1)).endswith("=> ''")
    assert str(explainer.contrast(row)).endswith("' ' in place of ''")


def test_a_number_in_a_column_of_texts_is_no_number_of_a_category() -> None:
    table = X.assign(c=np.where(X["b"] > 4, "u", "v"))
    for unknown, value, told in (
        ("ignore", 1, "another category"),
        ("ignore", 1.0, "another category"),
        ("error", 1.0, "none of its 2 categories"),
    ):
        encoder = OneHotEncoder(handle_unknown=unknown)
        model = make_pipeline(make_column_transformer((encoder, ["c"])), TREE).fit(table, Y)
        found = "no error"
        try:
            found = str(cpx.explain(model, table, {"a": 0, "b": 0, "c": value}, kind="contrast"))
        except DataError as error:
            found = str(error)
        assert told in found


@pytest.mark.parametrize("kind", ["rule", "reason", "contrast"])
def test_what_is_no_category_is_refused(kind: str) -> None:
    table = X.assign(c=pd.Categorical(np.where(X["b"] > 4, "u", "v")))
    model = LGBMClassifier(n_estimators=2, verbose=-1, min_child_samples=5).fit(table, Y)
    explainer = cpx.Explainer(model, table)
    for value in (["u"], True):
        with pytest.raises(DataError, match=r"treated|categor|texts"):
            explainer.explain({"a": 0.0, "b": 5, "c": value}, kind=kind)


def test_a_label_with_a_fraction_finds_its_row() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    table = X.set_axis(np.arange(60) / 2)
    found = cpx.Explainer(tree, table)
    assert str(found.reason(1.5)) == str(cpx.Explainer(tree, X).reason(3))
    with pytest.raises(InvalidOption, match="X must be rows"):
        cpx.Explainer(tree, X.to_dict("list"))


def test_a_limit_that_is_no_number_and_classes_with_one_name_are_refused() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    with pytest.raises(InvalidOption, match="'a' must have"):
        cpx.explain(tree, X, 0, kind="contrast", ranges={"a": (np.nan, 1)})
    for names in (["n", "n"], {"no": "yes"}):
        with pytest.raises(InvalidOption, match="each class otherwise"):
            cpx.explain(tree, X, 0, class_names=names)


def test_the_class_of_a_changed_row_stands_beside_its_probability() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    frame = cpx.Explainer(tree, X).contrasts(X.iloc[:5]).to_frame()
    assert [*frame["class"]] == [*tree.predict(X.iloc[:5])]
    assert (frame["target"] != frame["class"]).all()
