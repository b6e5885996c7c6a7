"""Weights of rows: a weight of two is two equal rows, and 0 is none."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from cpx import RuleSetClassifier
from cpx.data import Binarizer
from cpx.errors import DataError, InvalidOption
from cpx.models.rule_set.classifier.weights import RowWeights

RNG = np.random.default_rng(5)
TABLE = pd.DataFrame({"size": RNG.random(50).round(2), "tint": RNG.choice(list("rgb"), 50)})
LABELS = ((TABLE["size"] > 0.6) ^ (RNG.random(50) < 0.15)).to_numpy().astype(int)
WEIGHTS = RNG.integers(0, 4, 50)
REPEATED = np.repeat(np.arange(50), WEIGHTS)


def _model(**more: object) -> RuleSetClassifier:
    return RuleSetClassifier(**{"k": 2, "n_bins": 4, "penalty": 0.01, "time_limit": None, **more})


@pytest.mark.parametrize("more", [{}, {"class_weights": (1, 3)}])
@pytest.mark.parametrize("as_array", [False, True])
def test_a_whole_weight_is_that_many_rows(as_array: bool, more: dict[str, object]) -> None:
    X = TABLE[["size"]].to_numpy() if as_array else TABLE
    rows = X[REPEATED] if as_array else X.iloc[REPEATED]
    weighted = _model(**more).fit(X, LABELS, sample_weight=WEIGHTS)
    repeated = _model(**more).fit(rows, LABELS[REPEATED])
    assert weighted.rules_ == repeated.rules_ != ()
    assert weighted.report_ == repeated.report_
    assert weighted.report_.unit == 1
    assert weighted.rule_set_ == repeated.rule_set_
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-12)
    again = weighted.measure(X, LABELS, sample_weight=WEIGHTS)
    assert again == weighted.rule_set_ != weighted.measure(X, LABELS)
    problem = weighted.problem(X, LABELS, sample_weight=WEIGHTS)
    answer = weighted.answer(problem)
    assert Fraction(answer.objective, problem.scale) == weighted.objective_


def test_weights_change_what_is_learned() -> None:
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 0, 1])
    model = _model(k=1, n_bins=6, penalty="0.05")
    assert model.fit(X, y).rules_ == (("x0 > 2.5",),)
    assert model.fit(X, y, sample_weight=[1, 1, 1, 1, 9, 1]).rules_ == (("x0 > 4.5",),)
    assert model.report_.errors == 1
    assert model.report_.total == 14


def test_bins_are_of_equal_weight() -> None:
    X = np.arange(12.0)[:, None]
    weights = np.array([6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    repeated = Binarizer(3).fit(np.repeat(X, weights, axis=0))
    assert Binarizer(3).fit(X, weights=weights).columns_ == repeated.columns_
    assert Binarizer(3).fit(X).columns_ != repeated.columns_
    holes = np.r_[X, [[np.nan]]]
    found = Binarizer(3).fit(holes, weights=np.r_[weights, 100]).columns_[0]
    assert found.thresholds == repeated.columns_[0].thresholds


def test_parts_of_weights() -> None:
    half = _model().fit(TABLE, LABELS, sample_weight=WEIGHTS / 2)
    whole = _model().fit(TABLE, LABELS, sample_weight=WEIGHTS)
    assert half.rules_ == whole.rules_
    assert half.report_.errors == whole.report_.errors
    assert half.report_.unit == Fraction(1, 2)
    assert "errors are counted in parts of 0.5 of weight" in str(half)
    assert "parts" not in str(whole)
    # Half the weight is half as many rows of each kind, so shares are smoothed more.
    own = whole.classes_.tolist().index(1)
    rows = ~half.covers(TABLE).any(axis=0)
    n, p = (WEIGHTS[rows] / 2).sum(), (WEIGHTS[rows & (LABELS == 1)] / 2).sum()
    np.testing.assert_allclose(half.predict_proba(TABLE)[rows, own], (p + 1) / (n + 2))


def test_weights_without_a_common_unit_are_rounded_and_none_to_nothing() -> None:
    given = np.array([np.pi, 1 / 3, 1e-12, 0.0, 2.0])
    weights = RowWeights.of(given, 5)
    assert weights.kept.tolist() == [True, True, True, False, True]
    assert weights.counts[2] == 1
    np.testing.assert_allclose(weights.numbers, given[weights.kept], atol=2.0**-30 * given.sum())
    assert abs(int(weights.counts.sum()) - 2**30) <= 4


def test_decimal_weights_are_exact() -> None:
    weights = RowWeights.of([0.1, 0.25, 3], 3)
    assert weights.unit == Fraction(1, 20)
    assert weights.counts.tolist() == [2, 5, 60]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0, 2.0], "sample_weight has shape"),
        ([[1.0]] * 50, "sample_weight has shape"),
        ([-1.0] + [1.0] * 49, "sample_weight is -1.0 at 0"),
        ([np.nan] * 50, "sample_weight cannot be used.*NaN"),
        ([0.0] * 50, "zero for every row"),
        ([2.0**41] * 50, "divide the weights"),
        (["much"] * 50, "sample_weight cannot be used"),
        ((LABELS == 0).astype(float), "one class only"),
    ],
)
def test_bad_weights(given: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        _model().fit(TABLE, LABELS, sample_weight=given)


def test_not_with_a_black_box() -> None:
    with pytest.raises(InvalidOption, match="sample_weight is not for a black box"):
        _model(black_box=lambda rows: rows["size"] > 0.5).fit(TABLE, sample_weight=WEIGHTS)


def test_rules_pickled_without_weights_are_read() -> None:
    model = _model().fit(TABLE, LABELS)
    before = model.predict_proba(TABLE)
    state = model._fitted.__dict__
    del state["weights"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(TABLE), before)
