"""A set of rules, read as trees: held against predict, reasons and changes by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

import cpx
from cpx.errors import DataError, UnsupportedModel
from cpx.trees import agreement, read_model
from tests.trees.rows import held_on_grid

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "size": RNG.integers(0, 4, 200).astype(float),
        "age": RNG.integers(0, 3, 200).astype(float),
        "city": RNG.choice(["Lens", "Lille", "Nice"], 200),
    }
)
Y = np.where((X["size"] > 1) & (X["city"] != "Nice") | (X["age"] == 1), "yes", "no")
X.loc[::17, "age"] = np.nan
CHOICES = [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, np.nan], ["Lens", "Lille", "Nice"]
GRID = pd.DataFrame(list(product(*CHOICES)), columns=X.columns)


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_by_force(positive: str) -> None:
    model = cpx.RuleSetClassifier(k=2, penalty=0.005, positive=positive).fit(X, Y)
    assert len(model.rules_) > 1
    held_on_grid(model, cpx.Explainer(model, X), GRID, (0, 7, 20, 33, 47))


def test_numbers() -> None:
    rows = RNG.normal(size=(150, 3))
    model = cpx.RuleSetClassifier(k=3, penalty=0.01).fit(rows, rows[:, 0] * rows[:, 1] > 0)
    more = RNG.normal(size=(500, 3))
    assert not agreement(read_model(model), model, more).differing


def test_what_is_refused() -> None:
    with pytest.raises(DataError, match="fit"):
        read_model(cpx.RuleSetClassifier())
    objects = cpx.RuleSetClassifier(k=1, penalty=0.02).fit(X[["size", "city"]].to_numpy(), Y)
    with pytest.raises(UnsupportedModel, match="fit it on a frame"):
        read_model(objects)
