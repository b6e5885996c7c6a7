"""Decision sets by column generation: literals, exchange, and the estimator."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from cpx.errors import CpxError, InvalidOption
from cpx.models.decision_set import LearnedDecisionSet
from cpx.models.decision_set.exchange import Exchange, climb
from cpx.models.decision_set.learned import literals
from cpx.models.decision_set.sampling import neighbours
from tests.methods.active.tables import box, evidence, mixed, random_mask


def test_literals_have_opposites_and_one_attribute_each() -> None:
    found = evidence()
    domain, masks = found.domain, literals(found)
    names = {mask.tobytes() for mask in masks}
    assert len(names) == len(masks)
    for mask in masks:
        (a,) = domain.constrained(mask).tolist()
        span = domain.span(a)
        opposite = mask.copy()
        opposite[span] = ~mask[span]
        opposite[span.stop - 1] = False
        assert opposite.tobytes() in names
    # Three states and the missing one: each value with its opposite, and two against two.
    state = [mask for mask in masks if domain.constrained(mask).tolist() == [2]]
    assert sorted(int(mask[domain.span(2)].sum()) for mask in state) == [1] * 4 + [2] * 2 + [3] * 4


def test_climbing_ends_where_no_single_condition_helps() -> None:
    found, rng = evidence(40), np.random.default_rng(1)
    domain, gains = found.domain, np.where(found.labels, 1.0, -1.0)

    def value(mask: np.ndarray) -> float:
        return float(gains[found.covered(mask)].sum()) - 0.5 * domain.length(mask)

    for _ in range(5):
        start = random_mask(domain, rng)
        mask, gain = climb(domain, found.cells, gains, start, 4, 0.5, rng)
        assert gain == pytest.approx(value(mask))
        assert gain >= value(start)
        for one in literals(found):
            (a,) = domain.constrained(one).tolist()
            other = mask.copy()
            other[domain.span(a)] = one[domain.span(a)]
            assert value(other) <= gain + 1e-6


def test_climbing_keeps_to_the_number_of_conditions() -> None:
    found, rng = evidence(), np.random.default_rng(2)
    gains = np.where(found.labels, 1.0, -1.0)
    start = found.domain.everything()
    for most in (1, 2):
        mask, _ = climb(found.domain, found.cells, gains, start, most, 0.0, rng)
        assert len(found.domain.constrained(mask)) <= most


def test_the_exchange_finds_the_best_set_of_few_rules() -> None:
    found = evidence(80)
    masks = literals(found)
    covers = np.array([found.covered(mask) for mask in masks])
    best = max(
        float((covers[list(chosen)].any(axis=0) == found.labels).mean())
        - 0.01 * size
        - 0.005 * sum(found.domain.length(masks[i]) for i in chosen)
        for size in (1, 2)
        for chosen in combinations(range(len(masks)), size)
    )
    exchange = Exchange(found, 0.01, 0.005, 2, 1, 10, 5, np.random.default_rng(0))
    chosen = exchange.run([])
    covered = np.logical_or.reduce([found.covered(mask) for mask in chosen])
    price = sum(0.01 + 0.005 * found.domain.length(mask) for mask in chosen)
    value = float((covered == found.labels).mean()) - price
    assert exchange.objective(chosen) == pytest.approx(value)
    # Lists and intervals say more than literals do.
    assert value >= best


def test_the_exchange_never_loses_and_keeps_to_the_number_of_rules() -> None:
    found, rng = evidence(), np.random.default_rng(0)
    start = [random_mask(found.domain, rng) for _ in range(6)]
    free = Exchange(found, 0.01, 0.0, None, 4, 2, 1, rng)
    assert free.objective(free.run(start)) >= free.objective(start)
    few = Exchange(found, 0.0, 0.0, 2, 4, 2, 1, rng)
    assert len(few.run(start)) <= 2


def test_the_exchange_counts_weights() -> None:
    found, rng = evidence(), np.random.default_rng(0)
    found.positive_weight = 3.0
    exchange = Exchange(found, 0.01, 0.0, None, 4, 2, 0, rng)
    chosen = exchange.run([])
    covered = np.logical_or.reduce([found.covered(mask) for mask in chosen])
    weights = [3.0 if label else 1.0 for label in found.labels]
    right = sum(w for w, said, true in zip(weights, covered, found.labels) if said == true)
    assert exchange.objective(chosen) == pytest.approx(right / sum(weights) - 0.01 * len(chosen))


def f1(ours: np.ndarray, theirs: np.ndarray) -> float:
    return 2 * int((ours & theirs).sum()) / (int(ours.sum()) + int(theirs.sum()))


def test_the_f1_score_is_learned_where_few_are_positive() -> None:
    # No rule has the best fidelity: in no cell are most instances positive.
    X = np.repeat(np.arange(4.0), 50)[:, None]
    labels = np.zeros(200, dtype=bool)
    for cell, positives in enumerate((2, 20, 3, 5)):
        labels[50 * cell : 50 * cell + positives] = True
    answers = iter([labels])

    def black_box(rows: np.ndarray) -> np.ndarray:
        # All rows at first, then some of them again.
        return next(answers, np.zeros(len(rows), dtype=bool))

    options: dict[str, Any] = {"penalty": 0.0, "max_queries": 0, "time_limit": 2.0}
    with pytest.warns(UserWarning, match="changed its mind"):
        model = LearnedDecisionSet(**options).fit(X, black_box)
    assert model.rules_ == ()
    answers = iter([labels])
    with pytest.warns(UserWarning, match="changed its mind"):
        model = LearnedDecisionSet(objective="f1", **options).fit(X, black_box)
    best = max(
        f1(np.isin(X[:, 0], cells), labels)
        for n in (1, 2, 3, 4)
        for cells in combinations(range(4), n)
    )
    reached = f1(model.predict(X), labels)
    assert reached == best
    assert model.positive_weight_ == pytest.approx((2 - best) / best)


def test_neighbours_differ_in_few_attributes() -> None:
    found = evidence(30)
    made = neighbours(found, 50, 2, np.random.default_rng(0))
    real = found.values[:30]
    same = (made[:, None] == real) | (np.isnan(made[:, None]) & np.isnan(real))
    assert (same.sum(axis=2).max(axis=1) >= real.shape[1] - 2).all()
    assert same.any(axis=1).all()
    assert not same.all(axis=2).any(axis=1).all()


def test_queries_are_counted_and_rules_are_few() -> None:
    table = mixed(300)
    model = LearnedDecisionSet(0.001, max_rules=2, max_queries=100, n_rows=200, time_limit=2.0)
    assert clone(model).get_params() == model.get_params()
    model.fit(table, box)
    assert model.queries_ == 100
    assert 1 <= len(model.rules_) <= 2
    assert model.score(mixed(500, seed=1), box) > 0.9


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"max_rules": 0}, "max_rules"),
        ({"condition_penalty": -1}, "condition_penalty"),
        ({"objective": "f2"}, "objective must be one of .*'f2'"),
        ({"n_rows": 0}, "n_rows"),
        ({"max_queries": -1}, "max_queries"),
        ({"n_cells": 1}, "n_cells must be an integer of at least 2"),
        ({"time_limit": 0}, "time_limit"),
    ],
)
def test_wrong_parameters_are_named(options: dict[str, Any], told: str) -> None:
    with pytest.raises(CpxError, match=told) as caught:
        LearnedDecisionSet(**options).fit(mixed(50), box)
    assert isinstance(caught.value, InvalidOption)
