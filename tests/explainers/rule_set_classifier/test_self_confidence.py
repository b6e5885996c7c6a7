"""How surely rows have their label, by the other rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cpx import RuleSetClassifier
from cpx.models.rule_set.classifier.self_confidence import PARTS, SelfConfidence


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return literals, the class by two of them, and which labels are to be turned around."""
    rng = np.random.default_rng(seed)
    literals = rng.random((n, 12)) < 0.5
    return literals, literals[:, 0] & literals[:, 1], rng.random(n) < 0.1


def self_confidence(literals: np.ndarray, same: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return SelfConfidence(literals, same, weights)(np.ones(len(same), dtype=bool))


@pytest.mark.parametrize("seed", range(4))
def test_each_row_is_predicted_by_a_fit_without_it(seed: int) -> None:
    literals, same, turned = rows(40, seed)
    literals = np.repeat(literals, [1] * 11 + [25], axis=1)  # mean and median are far apart
    same = same ^ turned
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 5, 40)
    apart = (literals[:, None] != literals).sum(axis=2)
    kernel = np.exp(-apart / np.median(apart[apart > 0]))
    counts, confidence = weights / weights.mean(), SelfConfidence(literals, same, weights)
    for given in (np.ones(40, dtype=bool), rng.random(40) < 0.8):
        found = dict(zip(np.flatnonzero(given).tolist(), confidence(given), strict=True))
        share = counts[given] @ same[given] / counts[given].sum()
        for i, one in found.items():
            left = given & (np.arange(40) != i)
            system = kernel[np.ix_(left, left)] + np.diag(1 / counts[left])
            predicted = share + kernel[i, left] @ np.linalg.solve(system, same[left] - share)
            expected = PARTS * (predicted if same[i] else 1 - predicted)
            assert abs(np.clip(expected, 1, PARTS) - one) <= 0.5 + 1e-6


@pytest.mark.parametrize("n", [200, 900])
def test_labels_that_were_turned_around_are_unsure(n: int) -> None:
    literals, same, turned = rows(n, 1)
    given, ones = same ^ turned, np.ones(n, dtype=np.int64)
    found = self_confidence(literals, given, ones)
    assert found.min() >= 1
    assert found.max() <= PARTS
    assert found[turned].mean() < 5 < 7 < found[~turned].mean()
    # The two classes are alike, and so is a multiple of all weights.
    assert (found == self_confidence(literals, ~given, ones)).all()
    assert (found == self_confidence(literals, given, 7 * ones)).all()


def test_rows_that_cannot_be_told_apart_have_the_share_of_the_class() -> None:
    same = np.arange(100) < 80
    for literals in (np.zeros((100, 0), dtype=bool), np.ones((100, 3), dtype=bool)):
        found = self_confidence(literals, same, np.ones(100, dtype=np.int64))
        assert found.tolist() == [8] * 80 + [2] * 20


def table(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    literals, same, turned = rows(n, seed)
    return pd.DataFrame(literals, columns=list("abcdefghijkl")), same ^ turned, same


def test_errors_weigh_by_it_where_the_penalty_is_chosen() -> None:
    X, y, truth = table(150, 2)
    model = RuleSetClassifier(k=2, positive=1, time_limit=None).fit(X, y.astype(int))
    report, problem = model.report_, model.problem(X, y)
    assert model.choice_.self_confidence
    assert model.choice_.chosen.self_confidence
    confidence = model._fitted.confidence
    wrong = model.predict(X) != y
    assert report.counted == (wrong.sum(), 150)
    assert (report.errors, report.total) == (confidence[wrong].sum(), confidence.sum())
    assert report.price == model.penalty_ * report.total
    assert problem.samples.total == report.total
    assert f"wrong      {wrong.sum()} of 150" in str(model)
    shown = f"errors     {report.errors / 10:g} of {report.total / 10:g} by self-confidence"
    assert shown in str(report)
    # Figures of rules and probabilities count rows.
    figures = model.rule_set_.figures[0]
    covered = model.covers(X)[0]
    assert (figures.covered, figures.agreeing) == (covered.sum(), (covered & (y == 1)).sum())
    assert model.score(X, truth) == 1
    for other in (
        RuleSetClassifier(k=2, penalty=model.penalty_).fit(X, y),
        RuleSetClassifier(k=2, class_weights=(1, 2)).fit(X, y),
    ):
        assert other._fitted.confidence is None
        assert other.report_.counted is None
        assert other.problem(X, y).samples.total == 150


def test_it_is_not_chosen_where_all_labels_are_right() -> None:
    """Exceptions are no noise where longer rules say them; rows of few like them are unsure."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (400, 6)), columns=list("abcdef"))
    y = ((X == 0).sum(axis=1) == 2).to_numpy()
    model = RuleSetClassifier(time_limit=None).fit(X, y)
    assert not model.choice_.self_confidence
    assert {one.self_confidence for one in model.choice_.validated} == {False, True}
    assert "self-confidence" not in str(model.report_)


def test_many_rows_weigh_the_same() -> None:
    X, y, _ = table(2001, 3)
    model = RuleSetClassifier(k=2, time_limit=None).fit(X, y)
    assert not model.choice_.self_confidence
    heavy = RuleSetClassifier(k=2).fit(X[:200], y[:200], np.full(200, 2**32))
    assert not heavy.choice_.self_confidence
    assert not any(one.self_confidence for one in heavy.choice_.validated)
