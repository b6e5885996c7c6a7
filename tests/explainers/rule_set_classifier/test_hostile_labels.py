"""Labels in the types that pandas has, and labels that are wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cpx import RuleSetClassifier
from cpx.errors import DataError, InvalidOption

X = pd.DataFrame({"a": [0.0, 1, 2, 3] * 3, "b": [1.0, 5, 2, 8] * 3})
TRUTH = [False, False, True, True] * 3


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(TRUTH, dtype="boolean"),
        np.array(TRUTH, dtype=object),
        pd.Series(TRUTH, dtype=object),
        TRUTH,
    ],
    ids=["nullable", "objects", "series of objects", "list"],
)
def test_truth_values_stay_truth_values(labels) -> None:
    model = RuleSetClassifier(k=1, time_limit=1).fit(X, labels)
    assert model.predict(X).tolist() == TRUTH
    assert model.predict(X).dtype == bool
    assert model.positive_ is True
    assert model.score(X, labels) == 1
    assert model.measure(X, labels).figures[0].agreeing == 6


@pytest.mark.parametrize(
    "labels",
    [pd.Series([3, 3, 7, 7] * 3, dtype="Int64"), np.array([3, 3, 7, 7] * 3, dtype=object)],
)
def test_integers_stay_integers(labels) -> None:
    model = RuleSetClassifier(k=1, time_limit=1).fit(X, labels)
    assert model.classes_.tolist() == [3, 7]
    assert str(model.rule_set_).endswith("class 7")


def test_a_missing_label_is_named() -> None:
    labels = np.array(["no", "no", "yes", None] * 3, dtype=object)
    with pytest.raises(DataError, match="y has a missing label, None at 3"):
        RuleSetClassifier().fit(X, labels)


def test_labels_of_another_length_are_refused_everywhere() -> None:
    model = RuleSetClassifier(k=1, time_limit=1).fit(X, TRUTH)
    for ask in (model.score, model.measure):
        with pytest.raises(DataError, match="y has 2 labels, X has 12 rows"):
            ask(X, TRUTH[:2])


def test_parameters_are_checked_without_a_black_box() -> None:
    with pytest.raises(InvalidOption, match="loop must be one of active, exact, learned, got 'x'"):
        RuleSetClassifier(loop="x").fit(X, TRUTH)
    with pytest.raises(DataError, match="categorical must be a list of column names, got 0"):
        RuleSetClassifier(categorical=0).fit(X, TRUTH)
