"""The estimator: what it learns, what it asks, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from cpx.errors import ClassifierError, CpxError, DataError, InvalidOption
from cpx.models.decision_set import ActiveDecisionSet, ExactDecisionSet, LearnedDecisionSet
from tests.methods.active.tables import box, holds, mixed


def square(rows: np.ndarray) -> np.ndarray:
    return (rows[:, 0] > 0.7) | ((rows[:, 1] < 0.2) & (rows[:, 2] > 0.43))


def learn(**options: Any) -> ActiveDecisionSet:
    X = np.random.default_rng(0).random((60, 4))
    given = {"max_iterations": 15, "max_queries": 60, "batch_size": 2, **options}
    return ActiveDecisionSet(**given).fit(X, square)


def test_queries_help_and_are_counted() -> None:
    asked: list[int] = []

    def counting(rows: np.ndarray) -> np.ndarray:
        asked.append(len(rows))
        return square(rows)

    X = np.random.default_rng(0).random((60, 4))
    fresh = np.random.default_rng(1).random((5000, 4))
    scores = []
    for budget in (0, 200):
        asked.clear()
        model = ActiveDecisionSet(max_iterations=40, max_queries=budget, batch_size=2)
        model.fit(X, counting)
        # The table first, then queries with a known row each time, and a last check.
        assert asked[0] == 60
        assert sum(asked) == 60 + model.queries_ + model.rechecked_
        assert model.queries_ == budget == model.history_[-1].queries
        scores.append(model.score(fresh, square))
    assert scores[1] > 0.97 > scores[0]


def test_the_same_seed_gives_the_same_rules() -> None:
    first, again, other = learn(), learn(), learn(seed=1)
    assert (first.rules_, first.history_) == (again.rules_, again.history_)
    assert first.history_ != other.history_
    assert clone(first).get_params() == first.get_params()


def test_steps_say_whether_bounds_were_separated() -> None:
    def spent(model: ActiveDecisionSet) -> list[int]:
        return np.diff([0, *(step.queries for step in model.history_)]).tolist()

    passive = learn(beta=0.0)
    assert all(step.separated for step in passive.history_)
    assert passive.queries_ == 0
    wide = learn(beta=10.0, max_queries=40, queries_per_iteration=20)
    assert not any(step.separated for step in wide.history_)
    assert spent(wide)[:3] == [20, 20, 0]
    narrow = learn(beta=0.001, max_queries=10_000, queries_per_iteration=20)
    for step, queries in zip(narrow.history_, spent(narrow), strict=True):
        assert step.separated or queries == 20
    assert {step.separated for step in narrow.history_} == {True, False}


def test_figures_are_those_of_the_rules() -> None:
    table = mixed(300)
    model = ActiveDecisionSet(max_iterations=30, max_queries=60, batch_size=5).fit(table, box)
    assert model.classes_.tolist() == ["no", "yes"]
    said = box(table) == "yes"
    covers = np.array(
        [[holds(rule, row) for _, row in table.iterrows()] for rule in model.rules_], dtype=bool
    )
    assert (covers == model.covers(table)).all()
    predicted = covers.any(axis=0)
    assert (model.predict(table) == np.where(predicted, "yes", "no")).all()
    fidelity = (predicted == said).mean()
    assert fidelity > 0.9
    assert model.fidelity_ == model.score(table, box) == pytest.approx(fidelity)
    errors = (predicted != said).sum()
    for i, row in enumerate(model.rule_set_.figures):
        assert (row.literals, row.covered) == (len(model.rules_[i]), covers[i].sum())
        assert (row.covered, row.agreeing) == (covers[i].sum(), (covers[i] & said).sum())
        without = np.delete(covers, i, axis=0).any(axis=0)
        assert row.marginal == (without != said).sum() - errors
    assert str(model).splitlines()[0].startswith(f"{len(model.rules_)} rules for the class yes")
    assert len(str(model).splitlines()) == 2 + len(model.rules_)
    # The first class of the two can be described as well.
    model = ActiveDecisionSet(max_iterations=3, max_queries=0, positive="no").fit(table, box)
    assert model.classes_.tolist() == ["yes", "no"]


def test_no_penalty_and_noise_still_end() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((50, 1))
    labels = rng.random(50) < 0.5
    model = ActiveDecisionSet(penalty=0, max_queries=0, max_iterations=20)
    model.fit(X, lambda rows: labels[np.argmin(np.abs(rows - X.T), axis=1)])
    assert 0.5 < model.fidelity_ <= 1
    assert len(model.history_) <= 20


def test_a_black_box_that_changes_its_mind_is_named() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((100, 2))
    with pytest.warns(UserWarning, match=r"changed its mind: \d+ of \d+ rows"):
        model = ActiveDecisionSet(max_queries=20, max_iterations=3).fit(
            X, lambda rows: rng.random(len(rows)) < 0.5
        )
    assert 0 < model.changed_ <= model.rechecked_


def test_with_weights_no_positive_instance_is_left_out() -> None:
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    labels = np.arange(100) % 50 < np.repeat([0, 20], 50)
    options: dict[str, Any] = {"max_queries": 0, "max_iterations": 3}
    for weight, rules in ((1.0, 0), (1.4, 0), (1.6, 1)):
        # What most rows of the cell have is worth 20 weights, and costs 30.
        model = ActiveDecisionSet(penalty=0.0, positive_weight=weight, **options)
        answers = iter([labels])
        with pytest.warns(UserWarning, match="changed its mind"):
            model.fit(X, lambda rows, told=answers: next(told, np.zeros(len(rows), bool)))
        assert len(model.rules_) == rules


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"penalty": -0.1}, "penalty must be a finite number of at least 0, got -0.1"),
        ({"penalty": float("nan")}, "penalty"),
        ({"beta": float("inf")}, "beta"),
        ({"epsilon": 1.5}, "epsilon must be a finite number of at least 0 and at most 1"),
        ({"positive_weight": 0}, "positive_weight must be greater than 0, got 0"),
        ({"max_queries": -1}, "max_queries must be an integer of at least 0, got -1"),
        ({"max_queries": 1.5}, "max_queries"),
        ({"max_iterations": 0}, "max_iterations must be an integer of at least 1"),
        ({"n_cells": 1}, "n_cells must be an integer of at least 2"),
        ({"seed": -1}, "seed"),
        ({"positive": "blue"}, r"positive must be one of the labels \[False, True\]"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidOption, match=told):
        learn(**options)


@pytest.mark.parametrize("learner", [ActiveDecisionSet, ExactDecisionSet, LearnedDecisionSet])
def test_every_declared_parameter_is_checked_before_the_black_box_is_asked(learner: Any) -> None:
    unchecked = {"backend", "categorical", "positive", "time_limit", "max_categories"}
    parameters = learner().get_params()
    for name in {*parameters} - unchecked:
        with pytest.raises(InvalidOption, match=f"^{name} must be "):
            learner(**{name: -1}).fit(np.eye(4), lambda rows: 1 / 0)
    for name, value in parameters.items():
        assert getattr(clone(learner(**{name: value})), name) is value


def test_wrong_black_boxes_and_tables_are_named() -> None:
    X = np.arange(12.0).reshape(6, 2)
    model = ActiveDecisionSet(max_iterations=3)
    cases: list[tuple[Any, type[CpxError], str]] = [
        (lambda rows: np.zeros(len(rows), int), DataError, "gives all 6 rows the label 0"),
        (lambda rows: rows[:, 0].astype(int), DataError, "has 6 classes"),
        (lambda rows: rows, ClassifierError, "shape"),
        (None, ClassifierError, "must have a method predict or be callable"),
        (
            lambda rows: np.where(np.isin(rows[:, 0], X[:, 0]), rows[:, 0] > 4, 7),
            DataError,
            "gave a query the label 7",
        ),
    ]
    for f, error, told in cases:
        with pytest.raises(error, match=told):
            model.fit(X, f)
    with pytest.raises(DataError, match="infinite"):
        model.fit(np.full((4, 2), np.inf), square)
    with pytest.raises(DataError, match="not fitted"):
        ActiveDecisionSet().predict(X)
    fitted = learn()
    with pytest.raises(DataError, match="expecting 4 features"):
        fitted.predict(X)
    with pytest.raises(DataError, match="6 labels expected"):
        fitted.score(np.zeros((6, 4)), [True])


def test_a_frame_is_asked_as_a_frame() -> None:
    table = mixed(80)
    seen: list[pd.DataFrame] = []

    def f(rows: pd.DataFrame) -> np.ndarray:
        seen.append(rows)
        return box(rows)

    ActiveDecisionSet(max_iterations=5, max_queries=40).fit(table, f)
    assert all((rows.dtypes == table.dtypes).all() for rows in seen)
    assert all(list(rows.columns) == list(table.columns) for rows in seen)
    assert len(seen) > 2
