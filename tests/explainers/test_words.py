"""What columns are called: labels, units and cut points, in all kinds, files and the shell."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.answers.result import Result
from cpx.data.condition import Bounds, OneOf
from cpx.data.words import read_words
from cpx.errors import CpxError, DataError, InvalidOption

X, Y = load_iris(return_X_y=True, as_frame=True)
X.columns = ["sl", "sw", "pl", "pw"]
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
WORDS = {"pl": {"label": "petal length", "unit": "cm", "cuts": [2.5, 4.75]}, "pw": "petal width"}
KINDS = ["rule", "reason", "contrast", "expectation"]


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_rendered_and_data_stay(kind: str) -> None:
    plain, worded = cpx.Explainer(TREE, X), cpx.Explainer(TREE, X, words=WORDS)
    asked: dict[str, Any] = {"k": 2} if kind in ("rule", "expectation") else {}
    attrs = X.copy()
    attrs.attrs["words"] = WORDS
    for row in (0, 60, 120):
        found = worded.explain(row, kind=kind, **asked)
        same = cpx.Explainer(TREE, attrs).explain(row, kind=kind, **asked)
        assert str(same) == str(found)
        told = str(found) + found.summary()
        assert not {"pl", "pw"} & {*told.replace("(", " ").split()}, told
        if kind != "rule":  # whose cuts are others
            before = plain.explain(row, kind=kind, **asked)
            assert found.features == before.features
            assert (found.precision, found.status) == (before.precision, before.status)
        saved = json.loads(json.dumps(found.to_dict()))
        assert str(type(found).from_dict(saved)) == str(found)
        for panel in found.panels:
            assert panel.name in X.columns
            assert panel.text.count("petal") == panel.name.startswith("p")


def test_own_cuts_are_the_cuts() -> None:
    explainer = cpx.Explainer(TREE, X, words=WORDS)
    by = explainer.of("rule")
    assert by.binarizer.columns_[2].thresholds == (2.5, 4.75)
    assert read_words({"pl": {"cuts": iter([1, 2])}}, ["pl"])["pl"].cuts == (1, 2)
    found = explainer.rule(60, k=1)
    assert str(found) == "2.5 < petal length <= 4.75 cm => class 1"
    assert found.row is not None
    assert found.row.values == (("petal length", "3.5 cm"),)
    assert found.rule.to_sql() == '("pl" > 2.5 AND "pl" <= 4.75)'
    # What is printed is read, and so is the name of the data.
    told = "2.5 < petal length <= 4.75 cm", "2.5 < pl <= 4.75"
    for text in told:
        (j,) = by.conditions(60).features(text)
        assert by.conditions(60).literals[j] == told[1]
        assert explainer.rule(60, k=2, required=text).rule.mask(X).any()


@pytest.mark.parametrize(
    ("words", "error", "told"),
    [
        ({"plas": "x"}, InvalidOption, "words: 'plas' is no column.*did you mean 'pl'"),
        ({"pl": "pw"}, InvalidOption, "'pl' and 'pw' would both be called 'pw'"),
        ({"pl": "a", "sl": "a"}, InvalidOption, "'sl' and 'pl' would both be called 'a'"),
        ({"pl": {"labels": "a"}}, InvalidOption, "has no 'labels' .did you mean 'label'"),
        ({"pl": {"unit": 3}}, InvalidOption, "words.'pl'.: unit must be a text, got 3"),
        ({"pl": {"label": " "}}, InvalidOption, "label must be a text, got ' '"),
        ({"pl": 3}, InvalidOption, "must be a label, or have label, unit or cuts, got 3"),
        ({"pl": {"cuts": "12"}}, InvalidOption, "cuts must be a list of numbers, got '12'"),
        ({"pl": {"cuts": [2, 1]}}, DataError, "cuts of column 'pl' must be increasing numbers"),
        ({"pl": {"cuts": [1, np.inf]}}, DataError, "must be increasing numbers, got"),
        ({"pl": {"cuts": ["a"]}}, DataError, "must be increasing numbers, got .'a'"),
        ({"tint": {"cuts": [1]}}, DataError, "column 'tint' has categories, which have no cuts"),
        (["pl"], InvalidOption, "words must map columns to what they are called"),
    ],
)
def test_wrong_words_are_named(words: Any, error: type[CpxError], told: str) -> None:
    table = X.assign(tint="red")
    with pytest.raises(error, match=told):
        cpx.Explainer(lambda rows: rows["pl"] > 2, table, words=words).rule(0)


def test_a_model_of_arrays_and_no_background() -> None:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X.to_numpy(), Y)
    by_place = cpx.Explainer(tree, X.to_numpy(), words={2: "petal length", "x3": "width"})
    assert "petal length" in str(by_place.rule(60)) + str(by_place.reason(60))
    assert "width" in str(by_place.reason(120))
    alone = cpx.Explainer(tree, words={"pw": {"label": "width", "unit": "cm"}})
    assert "width" in str(alone.reason(X.iloc[120]))
    with pytest.raises(InvalidOption, match="'px' is no column"):
        cpx.Explainer(tree, words={"px": "width"}).reason(X.iloc[120])


def test_control_characters_are_cleaned() -> None:
    found = cpx.Explainer(TREE, X, words={"pl": "petal\x1b[31m\nlength"}).reason(60)
    assert "petal\ufffd[31m length" in found.rule.words[0]


def test_a_forged_label_is_refused() -> None:
    explainer = cpx.Explainer(TREE, X, words=WORDS)
    problem, result = explainer.problem(60, kind="reason"), explainer.solve(60, kind="reason")
    saved = Result.from_dict(json.loads(json.dumps(result.to_dict())))
    assert cpx.check.violations(problem.to_dict(), saved.to_dict()) == []
    told = json.dumps(saved.to_dict())
    assert '"label": "petal length"' in told
    forged = json.loads(told.replace('"label": "petal length"', '"label": "sepal length"'))
    assert any("conditions" in v for v in cpx.check.violations(problem.to_dict(), forged))


def test_long_lists_and_numbers() -> None:
    rng = np.random.default_rng(0)
    cities = [f"city {i:02}" for i in range(12)]
    table = pd.DataFrame(
        {"pay": rng.integers(10_000, 99_000, 400), "town": rng.choice(cities, 400)}
    )
    y = (table["pay"] > 50_000) & (table["town"] < "city 09")

    def model(rows: pd.DataFrame) -> Any:
        return (rows["pay"] > 50_000) & (rows["town"] < "city 09")

    words = {"pay": {"unit": "EUR", "cuts": [50_000]}}
    place = int(np.flatnonzero(y)[0])
    found = cpx.Explainer(model, table, words=words).rule(place, k=1)
    assert str(found) == "pay > 50,000 EUR => True"
    assert found.row is not None
    assert found.row.values[0][1].endswith(" EUR")
    many = OneOf("town", tuple(cities))
    assert many.words.endswith("(city 00, city 01, city 02, city 03, city 04 and 7 more)")
    assert str(many).endswith("city 11)")
    assert Bounds("year", (((">", 1994.0),),)).words == "year > 1994"


def test_covered_rows_are_those_of_the_figures() -> None:
    table, y = load_breast_cancer(return_X_y=True, as_frame=True)
    table.index = [f"p{i}" for i in range(len(table))]
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(table, y)
    explainer = cpx.Explainer(tree, table)
    said = pd.Series(tree.predict(table), table.index)
    for found in (explainer.rule("p0", k=2, min_coverage=0.4), *explainer.rules(table.iloc[:3])):
        rows, covered = found.rows, found.rule.mask(table)
        assert rows is not None
        assert {*rows.agreeing, *rows.disagreeing} == {*table.index[covered]}
        assert found.precision is not None
        assert found.precision.exact == Fraction(len(rows.agreeing), int(covered.sum()))
        assert {*said[[*rows.agreeing]]} == {int(found.rule.conclusion)}
        frame = rows.to_frame()
        assert [*frame.index] == [*rows.agreeing, *rows.disagreeing, *rows.near]
        assert frame["class"].tolist() == [str(said[i]) for i in frame.index]
        fails = frame["fails"][frame["rows"] == "near miss"]
        assert {*fails} <= {*found.rule.words}
        # One condition is dropped: the rows that are covered then, and were not, are near misses.
        one = found.rule.cases[0]
        for k, text in enumerate(found.rule.words):
            rest = np.all([t.holds(table[t.column.name]) for t in one[:k] + one[k + 1 :]], axis=0)
            assert {*fails.index[fails == text]} == {*table.index[rest & ~covered]}
        assert f"covers {len(rows.agreeing)} rows" in found.summary(rows=True)
        assert "of another one" in found._repr_html_()
        assert "of another one" not in found.summary()


def test_covered_rows_of_reasons_are_of_the_class() -> None:
    explainer = cpx.Explainer(TREE, X)
    by_levels = [explainer.reason(60, level=level) for level in ("intervals", "conditions")]
    for found in (*explainer.reasons(X.iloc[::40]), *by_levels):
        rows = found.rows
        assert rows is not None
        assert rows.disagreeing == ()
        assert rows.agreeing
        assert not {*rows.agreeing} & {*rows.near}
    assert cpx.Explainer(TREE).reason(X.iloc[0]).rows is None
    assert explainer.contrast(0).rows is None
