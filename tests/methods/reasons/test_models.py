"""Minimum reasons of models fitted to real tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from cpx import SufficientReason, solve
from cpx.models.sufficient_reason.methods import SufficiencyOracle
from cpx.trees import TreeModel, read_model, read_sklearn
from tests.methods.reasons.ensembles import minimum_reason
from tests.processor_time import processor_seconds


@pytest.fixture(scope="module")
def cancer() -> tuple[np.ndarray, np.ndarray]:
    return load_breast_cancer(return_X_y=True)


def forest(cancer, trees: int, rule: str = "vote", depth: int | None = 6) -> TreeModel:
    X, y = cancer
    fitted = RandomForestClassifier(trees, max_depth=depth, random_state=0).fit(X[::2], y[::2])
    return read_sklearn(fitted, rule=rule)


def holds(model: TreeModel, x: np.ndarray, reason, n: int = 2000) -> bool:
    """Say whether no random completion, its values at or beside thresholds, is refuted."""
    rng = np.random.default_rng(0)
    rows = np.column_stack(
        [rng.choice([*t, x[a], 1e30], n) for a, t in enumerate(model.thresholds)]
    )
    rows[:, list(reason)] = x[list(reason)]
    return bool((model.predict(rows) == model.predict(x)).all())


@pytest.mark.parametrize("rule", ["vote", "average"])
def test_forests(cancer, rule: str) -> None:
    model = forest(cancer, 25, rule)
    for x in cancer[0][1:12:4]:
        found = minimum_reason(model, x, time_limit=60)
        quick = solve(SufficientReason(model, x, definition="sufficient"), "best-of-orders:3")
        assert found.proved
        assert found.upper <= quick.objective
        oracle = SufficiencyOracle(model, model.cells(x))
        for reason in (found.attributes, quick.explanation.features):
            assert holds(model, x, reason)
            assert oracle.counterexample(reason) is None
            for a in reason:
                other = oracle.counterexample(set(reason) - {a})
                assert oracle.differs(other)


def test_no_smaller_reason_of_a_forest(cancer) -> None:
    """All sets one smaller have a counterexample, each a real row of another class."""
    model = forest(cancer, 9, depth=4)
    x = cancer[0][1]
    found = minimum_reason(model, x)
    assert 2 <= found.upper <= 6
    oracle = SufficiencyOracle(model, model.cells(x))
    for fixed in itertools.combinations(model.used, found.upper - 1):
        other = oracle.counterexample(fixed)
        assert (other[list(fixed)] == oracle.cells[list(fixed)]).all()
        assert oracle.differs(other)


def test_a_single_tree_follows_from_its_paths(cancer) -> None:
    """The minimum hitting set over the leaves of other classes, all sets tried."""
    X, y = load_wine(return_X_y=True)
    model = read_sklearn(DecisionTreeClassifier(random_state=0).fit(X, y))
    boxes, own = model.boxes[0], model.predict_index(X)
    winners = model.trees[0].values.argmax(axis=1)
    for x, cells, c in zip(X[::20], model.cells(X)[::20], own[::20]):
        violated = [
            {int(a) for a in np.flatnonzero((cells < low) | (cells > high))}
            for low, high, winner in zip(boxes.low, boxes.high, winners)
            if winner != c
        ]
        size = next(
            k
            for k in range(len(model.used) + 1)
            if any(
                all(v & set(s) for v in violated) for s in itertools.combinations(model.used, k)
            )
        )
        found = minimum_reason(model, x)
        assert (found.lower, found.upper) == (size, size)
        assert all(v & set(found.attributes) for v in violated)


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob"])
def test_boosted_trees(objective: str, cancer) -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y = cancer if objective.startswith("binary") else load_wine(return_X_y=True)
    fitted = xgboost.XGBClassifier(n_estimators=20, max_depth=3, random_state=0).fit(X, y)
    model = read_model(fitted)
    for x in X[::60]:
        found = minimum_reason(model, x, time_limit=60)
        assert found.proved
        assert holds(model, x, found.attributes)
        oracle = SufficiencyOracle(model, model.cells(x))
        for a in found.attributes:
            assert oracle.differs(oracle.counterexample(set(found.attributes) - {a}))


def test_what_is_too_hard_gives_an_interval_in_time() -> None:
    X, y = make_classification(1000, 60, n_informative=25, random_state=0)
    model = read_sklearn(RandomForestClassifier(60, random_state=0).fit(X[:900], y[:900]))
    # On a busy machine the first limit may be over before there is a bound.
    for limit in (0.8, 4, 24):
        start = processor_seconds()
        found = minimum_reason(model, X[900], time_limit=limit)
        assert processor_seconds() - start < limit + 20
        if found.lower:
            break
    assert not found.proved
    assert 0 < found.lower < found.upper == len(found.attributes) < 60
    assert holds(model, X[900], found.attributes)


@pytest.mark.slow
@pytest.mark.parametrize(("trees", "limit"), [(25, 1.0), (50, 2.0), (100, 5.0)])
def test_forests_are_fast(cancer, trees: int, limit: float) -> None:
    model = forest(cancer, trees)
    rows = cancer[0][1:41:2]
    seconds = [minimum_reason(model, x, time_limit=60).seconds for x in rows]
    # Twice the aim, for machines that do other things as well.
    assert np.median(seconds) < 2 * limit
