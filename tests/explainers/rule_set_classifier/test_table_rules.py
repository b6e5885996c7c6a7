"""Rules over columns: the words mean what is covered."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cpx
from cpx.data import Binarizer
from cpx.errors import InvalidOption, UnsupportedModel
from cpx.models.rule_set.classifier.table_rules import TableRules
from cpx.models.rule_set.methods.candidates import Literals

TABLE = pd.DataFrame(
    {
        "a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "b": [1.0, np.nan, 2.0, 3.0, np.nan, 4.0],
        "c": list("xyzxyz"),
    }
)
FRESH = pd.DataFrame(
    {
        "a": [0.5, 2.5, np.nan, 3.5, 9.0, 4.0],
        "b": [np.nan, 2.5, 0.0, 9.0, 1.0, np.nan],
        "c": ["x", "y", "new", "z", None, "x"],
    }
)
FITTED = Binarizer(4).fit(TABLE)
LITERALS = Literals.of_bits(FITTED.transform(TABLE), FITTED)


def _holds(condition: str, row: pd.Series) -> bool:
    """Say whether a condition holds of a row, as a person would read it."""
    if condition.startswith("not ("):
        return not _holds(condition[5:-1], row)
    if condition.endswith((" is missing", " is known")):
        return bool(pd.isna(row[condition[0]])) == condition.endswith("missing")
    if found := re.fullmatch(r"(\w) (=|!=) (\w+)", condition):
        return bool((row[found[1]] == found[3]) == (found[2] == "="))
    found = re.fullmatch(r"(?:(\S+) < )?(\w)(?: (<=|>) (\S+))?", condition)
    assert found, condition
    value = row[found[2]]
    above = found[1] is None or value > float(found[1])
    if found[3] == ">":
        return bool(above and value > float(found[4]))
    return bool(above and value <= float(found[4]))


@given(st.sets(st.integers(0, len(LITERALS.names) - 1), min_size=1, max_size=4))
def test_words_mean_what_the_rule_covers(chosen: set[int]) -> None:
    rules = TableRules(FITTED, (tuple(sorted(chosen)),))
    # A rule that no value can satisfy has no words of its own.
    if rules.covers(TABLE).any():
        (conditions,) = rules.conditions
        for table in (TABLE, FRESH):
            wanted = [all(_holds(c, row) for c in conditions) for _, row in table.iterrows()]
            assert rules.covers(table)[0].tolist() == wanted, conditions


def test_limits_of_a_column_are_joined() -> None:
    fine = Binarizer(6).fit(TABLE[["a"]])
    names = Literals.of_bits(fine.transform(TABLE[["a"]]), fine).names
    rule = tuple(names.index(name) for name in ("a > 1.5", "a <= 5.5", "a > 3.5", "a <= 4.5"))
    assert TableRules(fine, (rule,)).conditions == (("3.5 < a <= 4.5",),)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["not (b <= 2.5)"], "not (b <= 2.5)"),
        (["not (b <= 2.5)", "b is known"], "b > 2.5"),
        (["not (b <= 1.5)", "b <= 2.5"], "1.5 < b <= 2.5"),
        (["b is known"], "b is known"),
        (["b is missing"], "b is missing"),
    ],
)
def test_missing_values_in_words(names: list[str], words: str) -> None:
    rule = tuple(LITERALS.names.index(name) for name in names)
    assert TableRules(FITTED, (rule,)).conditions == ((words,),)


def test_a_number_that_is_missing_satisfies_no_limit() -> None:
    column = [j for j, name in enumerate(LITERALS.names) if name.startswith("a ")]
    rules = TableRules(FITTED, tuple((j,) for j in column))
    missing = pd.DataFrame({"a": [np.nan], "b": [1.0], "c": ["x"]})
    assert not rules.covers(missing).any()


def test_shortened_covers_the_same_rows_with_no_literal_to_spare() -> None:
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(LITERALS.names), (50, 4)).tolist()
    rules = TableRules(FITTED, tuple(tuple(sorted(set(rule))) for rule in drawn))
    short = rules.shortened(LITERALS)
    covered = rules.covers(TABLE)
    np.testing.assert_array_equal(short.covers(TABLE), covered)
    for rule, row in zip(short.rules, covered, strict=True):
        for j in rule:
            rest = TableRules(FITTED, (tuple(i for i in rule if i != j),))
            assert (rest.covers(TABLE)[0] != row).any()
    assert sum(map(len, short.rules)) < sum(map(len, rules.rules))


def test_of_two_categories_the_one_that_is_meant_is_named() -> None:
    for values, words in ((list("aabb"), ["b = b", "b = a"]), (list("aabc"), None)):
        table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": values})
        binarizer = Binarizer(4).fit(table)
        literals = Literals.of_bits(binarizer.transform(table), binarizer)
        names = ("b != a", "b != b")
        rules = TableRules(binarizer, tuple((literals.names.index(name),) for name in names))
        short = rules.shortened(literals)
        assert short.conditions == tuple((name,) for name in words or names)
        np.testing.assert_array_equal(short.covers(table), rules.covers(table))


def test_the_rule_without_conditions_covers_everything() -> None:
    rules = TableRules(FITTED, ((),))
    assert rules.conditions == ((),)
    assert rules.covers(FRESH).all()


def test_rules_have_the_words_of_columns() -> None:
    table = pd.DataFrame({"pay": np.arange(40) * 1500.0, "city": ["Ulm", "Kiel"] * 20})
    same = np.where((table.pay > 20000) & (table.city == "Ulm"), "yes", "no")
    words = {"pay": {"label": "yearly pay", "unit": "EUR", "cuts": [20000, 40000]}, "city": "town"}
    model = cpx.RuleSetClassifier(words=words, penalty=0.01).fit(table, same)
    assert model.rules_ == (("yearly pay > 20,000 EUR", "town = Ulm"),)
    assert '"pay" > 20000.0' in model.rule_set_.to_sql()
    assert (model.predict(table) == same).all()
    table.attrs["words"] = words
    assert cpx.RuleSetClassifier(penalty=0.01).fit(table, same).rules_ == model.rules_
    plain = cpx.RuleSetClassifier(words={}, penalty=0.01).fit(table, same)
    assert "city = Ulm" in plain.rules_[0]
    with pytest.raises(InvalidOption, match="words: 'pai' is no column"):
        cpx.RuleSetClassifier(words={"pai": "x"}).fit(table, same)
    asked = cpx.RuleSetClassifier(words=words, black_box=lambda rows: rows.pay > 1)
    with pytest.raises(InvalidOption, match="'pay' has cuts, which are for labels"):
        asked.fit(table)


def test_rules_of_dates() -> None:
    days = pd.Series(pd.date_range("2021-01-01", periods=400, freq="5D"))
    table = pd.DataFrame({"signup": days, "paid": np.arange(400) * 7 % 20})
    late = (days >= "2023-01-01") & (table.paid > 9)
    same = np.where(late | (days.dt.month == 3), "yes", "no")
    words = {"signup": {"label": "first order", "cuts": ["2022-01-01", "2023-01-01"]}}
    model = cpx.RuleSetClassifier(words=words, k=2, penalty=0.01, time_limit=None)
    model.fit(table, same)
    assert {*model.rules_} == {
        ("first order from 2023-01-01 on", "paid > 9.5"),
        ("2 < month of first order <= 3",),
    }
    assert (model.predict(table) == same).all()
    assert (model.rule_set_.mask(table) == (same == "yes")).all()
    assert "\"signup\" >= '2023-01-01'" in model.rule_set_.to_sql()
    plain = cpx.RuleSetClassifier(words={}, k=2, penalty=0.01, time_limit=None).fit(table, same)
    assert any(text.startswith("signup >= 20") for rule in plain.rules_ for text in rule)
    with pytest.raises(UnsupportedModel, match="learned from dates in 'signup'"):
        cpx.Explainer(model, table).reason(0)
