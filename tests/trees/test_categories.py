"""Tests of models over columns of categories: what is said in words, and what is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cpx
from benchmarks.readers import frame
from cpx import check
from cpx.errors import DataError, UnsupportedModel
from cpx.modelling import instances
from cpx.modelling.row import table_in
from cpx.trees import read_model
from cpx.trees.categories import Categories, outside, whole_numbers


def histogram() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = frame(600)
    return HistGradientBoostingClassifier(max_iter=6, random_state=0).fit(X, y > 0)


def lightgbm() -> Any:
    library = pytest.importorskip("lightgbm")
    X, y = frame(600)
    return library.LGBMClassifier(n_estimators=6, verbose=-1, n_jobs=1).fit(X, y > 0)


def xgboost() -> Any:
    library = pytest.importorskip("xgboost")
    X, y = frame(600)
    options = {"max_depth": 4, "enable_categorical": True, "max_cat_to_onehot": 1}
    return library.XGBClassifier(n_estimators=6, n_jobs=1, **options).fit(X, y > 0)


@pytest.fixture(scope="module", params=[histogram, lightgbm, xgboost])
def classifier(request: Any) -> Any:
    return request.param()


def test_a_frame_is_explained_in_its_words(classifier: Any) -> None:
    X, _ = frame(600)
    explainer = cpx.Explainer(classifier, X)
    words = set()
    for i in range(5):
        problem = explainer.problem(i, kind="reason")
        result = cpx.solve(problem)
        assert (result.proved, result.verified) == (True, True)
        assert check.violations(problem.to_dict(), result.to_dict()) == []
        again = instances.from_dict(problem.to_dict())
        assert again.to_dict() == problem.to_dict()
        words |= {*map(str, result.explanation.rule.words)}
        explainer.contrast(i)  # is held against predict
    told = " ".join(words)
    assert any(
        f"{name} {sign} " in told for name in ("city", "code") for sign in ("=", "is one of")
    )


def test_what_forces_the_class_does(classifier: Any) -> None:
    """Rows that agree with x in the columns of a reason have its class by ``predict``."""
    X, _ = frame(600)
    explainer, rng = cpx.Explainer(classifier, X), np.random.default_rng(0)
    for i in range(4):
        kept = explainer.reason(i).features
        rows = pd.DataFrame(
            {
                name: X[name]
                .iloc[[i] * 200 if c in kept else rng.integers(len(X), size=200)]
                .reset_index(drop=True)
                for c, name in enumerate(X.columns)
            }
        )
        assert {*classifier.predict(rows)} == {*classifier.predict(X.iloc[[i]])}


def test_rows_by_label_and_by_value(classifier: Any) -> None:
    X, _ = frame(600)
    read = read_model(classifier)
    row = {"size": 0.5, "weight": 1.0, "city": "Lens", "code": 59}
    by_label = cpx.models.SufficientReason(read, row)
    assert by_label.x == (0.5, 1.0, 4.0, 59.0)
    assert by_label.x == cpx.models.SufficientReason(read, [0.5, 1.0, 4, 59]).x
    with pytest.raises(DataError, match=r"'city' is 'Lense', none of its 8.*mean 'Lens'"):
        cpx.models.SufficientReason(read, {**row, "city": "Lense"})
    with pytest.raises(DataError, match="'code' is 60, no value of the attribute"):
        cpx.models.SufficientReason(read, {**row, "code": 60})
    with pytest.raises(DataError, match="'code' is 'x', none of its 6 categories"):
        cpx.models.SufficientReason(read, {**row, "code": "x"})
    numbers, _ = table_in(read, X.head(3), "rows")
    assert numbers[1:, 2].tolist() == [read.attributes[2].labels.index(v) for v in X.city[1:3]]


def test_altered_conditions_are_refused() -> None:
    X, _ = frame(600)
    explainer = cpx.Explainer(histogram(), X)
    for i in range(40):
        problem = explainer.problem(i, kind="reason")
        result = cpx.solve(problem).to_dict()
        words = result["explanation"]["rule"]["conditions"]
        place = next((j for j, said in enumerate(words) if said["column"] == "city"), None)
        if place is None or "one_of" not in words[place]:
            continue
        every = explainer.of("reason").model.attributes[2].labels
        for said in ({"one_of": ["Atlantis"]}, {"one_of": [*every]}, {"value": None}):
            wrong = copy.deepcopy(result)
            wrong["explanation"]["rule"]["conditions"][place] = {"column": "city", **said}
            assert any("conditions" in told for told in check.violations(problem.to_dict(), wrong))
        return
    raise AssertionError("no reason has the city")


def test_a_frame_that_is_not_told() -> None:
    library = pytest.importorskip("lightgbm")
    X, y = frame(300)
    X["order"] = pd.Categorical(np.arange(300) % 5, ordered=True)
    model = library.LGBMClassifier(n_estimators=2, verbose=-1).fit(X, y > 0)
    with pytest.raises(UnsupportedModel, match="3 columns of categories and LightGBM took 2"):
        read_model(model)


def test_texts_that_are_not_stored() -> None:
    library = pytest.importorskip("xgboost")
    X = pd.DataFrame({"a": pd.Categorical(["été", "fin", "nuit"] * 50)})
    model = library.XGBClassifier(n_estimators=1, enable_categorical=True)
    model.fit(X, np.arange(150) % 3)
    with pytest.raises(UnsupportedModel, match="categories of 'a' are not all in ASCII"):
        read_model(model)


def test_categories() -> None:
    texts = Categories.of(["b", "a", None], "t")
    assert (texts.values, texts.labels, texts.numeric) == ((0.0, 1.0), ("b", "a"), False)
    numbers = Categories.of(np.array([10, 3, np.nan]), "n")
    attribute = numbers.attribute("n", True)
    assert (attribute.values, attribute.labels) == ((3.0, 10.0), ("3", "10"))
    below = float(np.nextafter(10, 0))
    assert numbers.ranges([0, 7]) == [(below, 10.0)]
    assert outside([(below, 10.0)]) == [(-np.inf, below), (10.0, np.inf)]
    assert numbers.column(np.array([3.0, np.nan, 4.0])).codes.tolist() == [1, -1, -1]
    assert whole_numbers([0]) == [(-1.0, float(np.nextafter(1, 0)))]
    with pytest.raises(UnsupportedModel, match="two categories of 'm' are written alike"):
        Categories.of(["1", 1], "m")  # of both kinds
    with pytest.raises(UnsupportedModel, match="float32 does not tell apart"):
        Categories.of([2**24, 2**24 + 1], "m").ranges([0], np.float32)


def test_labels_are_kept_in_files(classifier: Any) -> None:
    read = read_model(classifier)
    assert type(read).from_dict(json.loads(json.dumps(read.to_dict()))) == read
