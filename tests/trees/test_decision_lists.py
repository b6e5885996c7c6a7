"""Decision lists, read as sums of trees: held against predict, reasons and changes by force."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cpx
from cpx.errors import ModelError, UnsupportedModel
from cpx.trees import DecisionList, agreement, read_model
from tests.trees.rows import held_on_grid

CHOICES = [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, np.nan], ["Lens", "Lille", "Nice", None]
GRID = pd.DataFrame(list(product(*CHOICES)), columns=["size", "my age", "city"])
RULES = [
    ("size >= 2 and city == 'Lens'", "red"),
    ("not (`my age` < 1 or city in ['Lens', 'Nice']) and 1 <= size", "blue"),
    ("`my age` != 2 and size not in [0, 3]", "red"),
    ("0 == size and (city != 'Lille' or not `my age` > 1)", "green"),
]


def test_by_force() -> None:
    model = DecisionList(RULES, "blue", GRID)
    said = model.predict(GRID)
    first = [(c, t) for t, c in RULES]
    by_hand = [next((c for c, t in first if GRID.eval(t)[i]), "blue") for i in range(len(GRID))]
    assert said.tolist() == by_hand
    assert {*said} == {"red", "blue", "green"}
    held_on_grid(model, cpx.Explainer(model, GRID), GRID, (0, 7, 20, 33, 47, 63))


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("size = 2", "rule 1, 'size = 2': cannot be read"),
        ("sze > 2", r"no column 'sze' .did you mean 'size'"),
        ("size > `my age`", "does not compare a column with a constant"),
        ("size + 1 > 2", "does not compare"),
        ("size > 'a'", "size has numbers, 'a' is a text"),
        ("city > 'Lens'", "without an order"),
        ("city == 'Lenz'", "no category 'Lenz' .did you mean 'Lens'"),
        ("city in 'Lens'", "in takes a list"),
        ("size", "no comparison"),
        ("(size > 1) & (size < 2)", "join comparisons by and, or, not"),
        (" and ".join(["(size > 1 or city == 'Lens')"] * 11), "write it as several rules"),
    ],
)
def test_what_is_refused(rule: str, told: str) -> None:
    with pytest.raises(ModelError, match=told):
        DecisionList([(rule, 1)], 0, GRID)


def test_long_lists() -> None:
    rows = pd.DataFrame({"a": np.arange(300.0)})
    rules = [(f"a < {i}", i % 2) for i in range(300)]
    with pytest.raises(UnsupportedModel, match="changes its class too often"):
        read_model(DecisionList(rules, 0, rows))
    model = DecisionList(rules[:50], 2, rows)
    assert read_model(model).predict(rows.to_numpy()).tolist() == model.predict(rows).tolist()


LISTS = "GreedyRuleListClassifier", "OneRClassifier", "FastFrugalTreeClassifier"


@pytest.mark.parametrize("name", [*LISTS, "BayesianRuleListClassifier"])
def test_lists_of_imodels(name: str) -> None:
    imodels: Any = pytest.importorskip("imodels")
    rng = np.random.default_rng(0)
    bayesian = name.startswith("Bayesian")
    rows = pd.DataFrame(rng.integers(0, 2 if bayesian else 9, (10_000, 5)).astype(float))
    rows.columns = [*"abcde"]
    truth = (rows["a"] + rows["b"] * rows["c"] > rows.max().max()) | (rows["d"] == 0)
    labels = np.where(truth ^ (rng.random(10_000) < 0.1), "yes", "no")
    options = {"max_iter": 2000, "n_chains": 2} if bayesian else {}
    model = getattr(imodels, name)(**options).fit(rows[:500], labels[:500])
    found = read_model(model)
    assert [a.name for a in found.attributes] == [*"abcde"]
    assert len({*model.predict(rows)}) == 2
    assert not agreement(found, model, rows).differing
    assert cpx.explain(model, rows[:500], 0, kind="reason").minimum
