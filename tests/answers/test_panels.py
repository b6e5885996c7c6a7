"""Pictures of columns, and what explanations of many rows say together."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.answers.explanations import Explanations
from cpx.answers.panels import Panel, Spread, plot_panels
from cpx.errors import InvalidOption

DATA = load_iris(as_frame=True)
NAMES = ["setosa", "versicolor", "virginica"]


@pytest.fixture(scope="module")
def found() -> Explanations:
    table = DATA.data.assign(place=np.where(DATA.data.iloc[:, 0] > 6, "far", "near"))
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(DATA.data, DATA.target)
    explainer = cpx.Explainer(
        lambda rows: tree.predict(rows.iloc[:, :4]), table, class_names=NAMES
    )
    rules: Explanations = explainer.rules(table.iloc[::3], k=2)
    return rules


def test_a_picture_shows_the_interval_and_the_row(found: Explanations) -> None:
    one = next(one for one in found if any(p.spans for p in one.panels))
    assert [panel.name for panel in one.panels] == [name for name, _ in one.row.values]
    for panel in one.panels:
        if panel.spans:
            assert any(
                (a is None or panel.value > a) and (b is None or panel.value <= b)
                for a, b in panel.spans
            )
            assert sum(panel.spread.counts) == len(DATA.data)
        else:
            assert (panel.value in panel.named) == panel.within
    ax = one.plot(ax=Figure().subplots())
    texts = [text.get_text() for text in ax.texts]
    for words, panel in zip(one.rule.words, one.panels):
        assert words in texts
        told = panel.value if isinstance(panel.value, str) else f"{panel.value:g}"
        assert told in texts
    assert ax.get_title(loc="left") == f"=> {one.rule.says}"


def test_bars_are_those_of_the_interval() -> None:
    spread = Spread(np.arange(101.0), True)
    panel = Panel("a", "a > 50", 75.0, ((50.0, None),), spread=spread)
    named = [panel.says(a, b) for a, b in zip(spread.edges, spread.edges[1:])]
    assert named == [False] * 20 + [True] * 20
    narrow = Panel("a", "a <= 1.5", 1.0, ((None, 1.5),), spread=spread)
    assert [narrow.says(*ends) for ends in zip(spread.edges, spread.edges[1:])].count(True) == 1
    assert Spread([3, 3, None], True).counts[20] == 2
    assert Spread([float("nan")], True).counts == ()


def test_names_in_pictures_are_no_mathematics_and_missing_values_are_said() -> None:
    panels = [
        Panel("$a$", "$a$ is missing", None, spread=Spread([1.0, 2.0], True)),
        Panel("b_", "b_ = $x^2$", "$x^2$", (), ("$x^2$",), spread=Spread(["$x^2$", "y"], False)),
        Panel("c", "c = 1", 1.0),
    ]
    ax = plot_panels(panels, "$t$", ax=Figure().subplots())
    assert not any(text.get_parse_math() for text in ax.texts)
    assert {"$a$ is missing", "b_ = $x^2$", "$x^2$", "c = 1"} <= {t.get_text() for t in ax.texts}


def test_what_was_saved_has_no_picture(found: Explanations) -> None:
    saved = cpx.answers.explanation.Explanation.from_dict(found[0].to_dict())
    with pytest.raises(InvalidOption, match="no column to draw"):
        saved.plot()
    assert pickle.loads(pickle.dumps(found)).explanations[0].panels == found[0].panels


def _covered(found: Explanations, rules: Any) -> int:
    """Rows that some rule covers and whose class it names."""
    covered = np.zeros(len(found), dtype=bool)
    classes = np.array([one.rule.conclusion for one in found])
    for rule in rules:
        covered |= rule.mask(found.rows) & (classes == rule.conclusion)
    return int(covered.sum())


def test_the_fewest_rules_explain_enough_rows(found: Explanations) -> None:
    """Held against all sets of rules."""
    told = found.overview(min_precision="0.9", enough=1)
    good = {one.rule.text: one.rule for one in found if one.precision >= Fraction(9, 10)}
    best = {
        k: max(_covered(found, some) for some in combinations(good.values(), k))
        for k in range(1, len(told.steps) + 1)
    }
    assert {step.rules: step.rows for step in told.steps} == best
    assert all(step.most == step.rows for step in told.steps)
    assert told.fewest
    assert all(result.verified for result in told.results)
    chosen = [one.explanation.rule for one in told.rules]
    assert _covered(found, chosen) == told.explained == _covered(found, good.values())
    assert [one.new for one in told.rules] == sorted((o.new for o in told.rules), reverse=True)
    assert sum(one.new for one in told.rules) == told.explained
    assert len(told.unexplained) == len(found) - told.explained
    few = found.overview(min_precision="0.9", enough="0.5")
    assert len(few.rules) <= len(told.rules)
    assert few.explained >= told.explained / 2


def test_an_overview_counts_columns_and_names_rows(found: Explanations) -> None:
    told = found.overview(min_precision=1)
    counted = pd.Series([name for one in found for name, _ in one.row.values]).value_counts()
    assert dict(told.columns) == counted.to_dict()
    text = str(told)
    assert f"explain{'s' * (len(told.rules) == 1)} {told.explained} of {len(found)} rows" in text
    assert "proved: no" in text
    if told.unexplained:
        assert f"explained by no good rule: rows {told.unexplained[0]}" in text
    for what in ("rules", "columns", "rows"):
        assert told.plot(what, ax=Figure().subplots()).get_xlabel()
    with pytest.raises(InvalidOption, match="what must be one of rules"):
        told.plot("pie")


def test_an_overview_of_no_good_rule_and_of_other_kinds(found: Explanations) -> None:
    none = found[:0].overview()
    assert (none.rules, none.steps, none.unexplained) == ((), (), ())
    assert str(none) == "0 explanations name 0 columns"
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(DATA.data, DATA.target)
    reasons = cpx.Explainer(tree, DATA.data).reasons(DATA.data.iloc[::30])
    told = reasons.overview()
    assert (told.rules, told.unexplained) == ((), ())
    assert "name" in told.headline()
    assert sum(told.columns.values()) == sum(len(one.features) for one in reasons)


def test_all_kinds_are_drawn() -> None:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(DATA.data, DATA.target)
    explainer = cpx.Explainer(tree, DATA.data, class_names=NAMES)
    x = DATA.data.iloc[70]
    for kind in ("reason", "contrast", "expectation"):
        one = getattr(explainer, kind)(70)
        assert one.panels, kind
        for panel in one.panels:
            assert panel.value == x[panel.name]
            assert sum(panel.spread.counts) == len(DATA.data)
            if kind != "contrast":
                ((low, high),) = panel.spans
                assert low is None or panel.value > low
                assert high is None or panel.value <= high
        texts = {text.get_text() for text in one.plot(ax=Figure().subplots()).texts}
        assert {panel.text for panel in one.panels} <= texts
        many = getattr(explainer, f"{kind}s")(DATA.data.iloc[[70]])
        assert many[0].panels == one.panels
    nameless = cpx.Explainer(tree, class_names=NAMES).reason(DATA.data.iloc[[70]])
    assert [panel.spread for panel in nameless.panels] == [None] * len(nameless.panels)
