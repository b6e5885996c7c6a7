"""Odd tables: labels that are numbers, tuples or truth values, columns of nothing, lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.errors import CpxError, DataError, InvalidOption
from cpx.explainers.background import TreePredictor
from cpx.explainers.rows import row_of

_RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": _RNG.normal(size=60), "b": _RNG.integers(0, 10, 60)})
Y = np.where(X["a"] + X["b"] / 5 > 1, "yes", "no")
_CITY = X.assign(b=X["b"].astype(str))
_CITIES = make_pipeline(
    make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["b"])),
    DecisionTreeClassifier(max_depth=2, random_state=0),
).fit(_CITY, Y)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)


@pytest.mark.parametrize("labels", [[10, 20], [1, 0]])
def test_columns_with_numbers_for_names_are_called_alike_by_all_doors(labels: list[int]) -> None:
    table = X.set_axis(labels, axis=1)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(table, Y)
    boosted = LGBMClassifier(n_estimators=2, verbose=-1, min_child_samples=3).fit(table, Y)
    names = {f"x{label}" for label in labels}
    for model in (tree, boosted):
        explainer = cpx.Explainer(model, table)
        rule = explainer.rule(0, k=2).rule
        assert rule.mask(table)[0]
        found = [rule, explainer.reason(0).rule, explainer.contrast(0).rule]
        assert {c.column for one in found for c in one.conditions or _means(one)} == names
    # Columns in another order are matched by their names, by rules as by reasons. Those that
    # pandas numbers itself have none.
    if labels == [1, 0]:
        return
    turned = cpx.Explainer(boosted, table[labels[::-1]])
    assert str(turned.reason(0)) == str(explainer.reason(0))
    assert turned.rule(0, k=2).row.probability == explainer.rule(0, k=2).row.probability
    assert turned.rule(0, k=2).precision == explainer.rule(0, k=2).precision


def _means(rule: Any) -> list[Any]:
    return [literal.means for literal in rule.literals]


def test_a_label_of_several_levels_finds_its_row() -> None:
    table = X.assign(c=1.0).set_index(pd.MultiIndex.from_product([range(6), list("abcdefghij")]))
    explainer = cpx.Explainer(DecisionTreeClassifier(max_depth=3).fit(table, Y), table)
    assert str(explainer.reason((1, "b"))) == str(explainer.reason(table.iloc[11]))
    with pytest.raises(DataError, match="no row of X has the label"):
        explainer.reason((1, "z"))
    labelled = X.set_index([X["a"], X["b"]])
    with pytest.raises(DataError, match="a label of X or the values of a row"):
        row_of(labelled, labelled.index[0])
    assert row_of(labelled, (0.5, 77.0)) == (0.5, 77.0)


@pytest.mark.parametrize("dtype", ["bool", "boolean"])
def test_truth_values_stay_truth_values(dtype: Any) -> None:
    table = pd.DataFrame({"f": X["a"] > 0, "g": X["b"] > 4}).astype(dtype)
    for model in (DecisionTreeClassifier(), BernoulliNB()):
        explainer = cpx.Explainer(model.fit(table, table["f"].astype(int)), table)
        f, other = bool(table["f"].iloc[0]), not table["f"].iloc[0]
        assert str(explainer.reason(0)).startswith(f"f = {f} forces")
        found = explainer.contrast(0, ranges={"f": [True, False]})
        assert str(found).startswith(f"f = {other} (now {f})")
        assert found.values["f"] is other


def test_categories_that_are_numbers_are_changed_to_numbers() -> None:
    town = pd.Categorical(np.where(X["a"] > 0, 62000, 59000))
    table = X.assign(town=town)[["town", "b"]]
    model = LGBMClassifier(n_estimators=2, verbose=-1, min_child_samples=3).fit(table, X["a"] > 0)
    found = cpx.Explainer(model, table).contrast(0)
    assert found.values == {"town": 59000 if town[0] == 62000 else 62000}
    changed = table.iloc[[0]].assign(town=pd.Categorical([found.values["town"]], town.categories))
    assert model.predict(changed)[0] != model.predict(table.iloc[[0]])[0]


def test_a_column_without_any_value_is_missing_in_rules() -> None:
    table = X.assign(m=np.nan, d=pd.Series(np.full(60, np.datetime64("NaT", "us"))))
    explainer = cpx.Explainer(lambda rows: rows["a"] > 0, table)
    found = explainer.rule(0, k=3, required=["m is missing", "d is missing"])
    assert found.rule.mask(table).mean() == found.coverage
    assert '"m" IS NULL' in found.rule.to_sql()
    explainer.rule(table.iloc[0].to_dict() | {"m": 1.0}, k=1)  # a value that X has nowhere


def test_a_search_for_changes_names_a_column_of_lists() -> None:
    table = X.assign(w=pd.Series([[1]] * 60, dtype=object))
    with pytest.raises(DataError, match="column 'w' holds list objects"):
        cpx.Explainer(lambda rows: rows["a"] > 0, table).contrast(0)
    mixed = np.array([[1, "a"], ["b", None]] * 5, dtype=object)
    found = cpx.Explainer(lambda rows: np.array([r[0] == 1 for r in rows]), mixed).contrast(0)
    assert found.values == {"x0": "b"}


def test_columns_that_nothing_is_asked_of_may_hold_anything() -> None:
    odd = {
        "w": [[i] for i in range(60)],
        "t": [([],)] * 60,
        "p": pd.period_range("2020", periods=60),
    }
    table = X.assign(f=np.inf, s=pd.to_timedelta(range(60), "D"), **odd)
    front = make_column_transformer(("passthrough", ["a", "b"]))
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    explainer = cpx.Explainer(make_pipeline(front, tree).fit(table, Y), table)
    for kind in ("reason", "contrast", "expectation"):
        one = explainer.explain(3, kind=kind)
        assert str(explainer.explain(table.iloc[3].to_dict(), kind=kind)) == str(one)
        assert str(explainer.explain_many(table.iloc[2:4], kind=kind)[1]) == str(one)


def test_a_class_that_no_row_has_is_told() -> None:
    background, x = X[TREE.predict(X) == "no"], X[TREE.predict(X) == "yes"].iloc[0]
    assert "no sample has the class of x: the precision of every rule is 0" in (
        cpx.Explainer(TREE, background).rule(x, k=1).summary()
    )


def test_many_rows_are_no_position() -> None:
    with pytest.raises(InvalidOption, match="X must be a table of rows"):
        cpx.Explainer(TREE, X).rules(3)


def test_pictures_mark_whole_numbers_and_columns_with_numbers_for_names() -> None:
    table = pd.DataFrame({10: X["b"], 20: X["a"] > 0})
    tree = DecisionTreeClassifier(random_state=0).fit(table, (X["b"] > 4) & (X["a"] > 0))
    row = int(np.flatnonzero(tree.predict(table))[0])
    panels = cpx.Explainer(tree, table).reason(row).panels
    assert [panel.value for panel in panels] == [table.loc[row, 10], "True"]
    assert panels[0].spread is not None
    assert panels[0].spread.edges


def test_a_model_is_asked_for_probabilities_of_all_rows_at_once() -> None:
    calls: list[int] = []
    model: Any = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
    ask = model.predict_proba
    model.predict_proba = lambda rows: calls.append(len(rows)) or ask(rows)
    found = TreePredictor(cpx.read_model(model)).predict_proba(X)
    assert calls == [len(X)]
    assert (found == ask(X)).all()


def test_a_model_that_answers_otherwise_among_other_rows_is_told() -> None:
    def beside(rows: pd.DataFrame) -> Any:
        return np.asarray(rows["b"] > rows["b"].mean())

    high = int(X["b"].argmax())
    for kind in ("rule", "contrast"):
        with pytest.warns(UserWarning, match=r"beside gives (x|a changed row) another class"):
            cpx.explain(beside, X, high, kind=kind)


def test_a_missing_value_is_in_no_interval_of_a_rule() -> None:
    row = pd.DataFrame([[np.nan, 2.0]], columns=[*X])
    rules = cpx.Explainer(TREE, X).of("rule")
    for chosen in ([0, 1], [1, 2], [0, 2], [0]):
        rule = rules.score(chosen, row, compare=False).rule
        assert all(word.startswith("not (") for word in rule.words)
        assert rule.mask(row).all()


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: cpx.explain(TREE, X, [[1.0, 2.0]]), ""),
        (lambda: cpx.Explainer(_CITIES, _CITY).expectation({"a": 1.0, "b": "Oslo"}), "is 'Oslo'"),
        (lambda: cpx.explain(TREE, X.set_axis(["a", "a"], axis=1), 0), "two columns named 'a'"),
        (
            lambda: cpx.Explainer(TREE, X.set_axis(["a", "a"], axis=1)).reason(0),
            "two columns named 'a'",
        ),
        (lambda: cpx.explain(lambda r: np.zeros((len(r), 2)), X, 0), "of several take one"),
    ],
)
def test_odd_rows_and_answers_are_taken_or_named(ask: Any, told: str) -> None:
    found = "no error"
    try:
        found = str(getattr(ask(), "why", ""))
    except CpxError as error:
        found = str(error)
    assert told in found
    assert bool(told) == bool(found)
