"""Samples in rounds: what is guaranteed holds, budgets are kept, and few calls are enough."""

from __future__ import annotations

import time
from itertools import count

import numpy as np
import pytest

import cpx
from cpx.errors import InvalidOption
from cpx.models.monomial.explainers.adaptive import Rounds
from cpx.models.monomial.explainers.question import Question
from cpx.models.monomial.explainers.rule import RuleExplainer
from tests.processor_time import processor_seconds

from .worlds import WORLDS, World, ask, broken, said, world


@pytest.mark.parametrize("kind", WORLDS)
def test_the_guarantee_holds_and_epsilon_is_reached(kind):
    known = world(kind)
    wrong = []
    for seed in range(3):
        found, _ = ask(known, seed, epsilon=0.15)
        assert said(found)[1] <= 0.15 + 1e-9
        assert not found.notes
        wrong.append(broken(known, found, 0.1))
    assert sum(wrong) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", WORLDS)
def test_the_guarantee_holds_in_many_runs(kind):
    known = world(kind, 8, 3)
    wrong = [broken(known, ask(known, seed)[0], 0.1) for seed in range(250)]
    assert sum(wrong) <= 0.2 * 250


def test_conditions_that_all_better_rules_have_are_sampled_given():
    """x is in a small corner, where all agree: what does not have its conditions is left out."""
    known = world("needle", 7, 3)
    question = Question(k=3, epsilon=0.01, delta=0.1)
    rounds = Rounds(*_asked(known), question, 0, str, 1, 60.0)
    answer = rounds.run()
    assert set(rounds.common) <= {0, 1, 2}
    assert rounds.common
    assert answer.result.explanation.features == (0, 1, 2)
    assert answer.high - answer.low <= 0.01
    assert not answer.stopped


def _explainer(known: World) -> RuleExplainer:
    rows = known.cube.astype(np.int8)
    return RuleExplainer(known.classifier, rows, distribution=known.distribution)


def _asked(known: World):
    explainer = _explainer(known)
    x = np.ones(known.cube.shape[1])
    return explainer.oracle(x), lambda: explainer.conditions(x)


@pytest.mark.parametrize("most", [50, 700, 1300, 3000])
def test_a_budget_is_kept_and_the_gap_so_far_is_told(most):
    found, queries = ask(world("skewed", 8, 3), 0, epsilon=0.001, max_queries=most, fresh=20)
    assert sum(queries) <= most
    assert f"epsilon = 0.001 was not reached: max_queries = {most}" in found.notes[-1]
    low, more = said(found)
    assert more > 0.001
    assert low + more <= 1 + 1e-9


def test_a_slow_classifier_is_asked_in_small_batches_and_stops_in_time():
    known = world("skewed", 8, 3)
    sizes = []

    def slow(rows):
        sizes.append(len(rows))
        time.sleep(0.01 * len(rows))
        return known.classifier(rows)

    explainer = RuleExplainer(slow, known.cube.astype(np.int8), distribution=known.distribution)
    started = processor_seconds()
    x = np.ones(known.cube.shape[1])
    found = explainer.explain(x, 3, epsilon=0.001, delta=0.1, time_limit=1.5, fresh=1)
    assert processor_seconds() - started < 30
    assert max(sizes) <= 150
    assert "was not reached: the time limit" in found.notes[-1]


def test_more_calls_never_leave_a_wider_gap_and_a_fixed_sample_needs_more():
    known = world("uniform", 8, 3)
    found, queries = ask(known, 0, epsilon=0.05, delta=0.05)
    fixed, _ = ask(known, 0, epsilon=None, delta=None, m=sum(queries), fresh=1)
    (low, more), (low_fixed, more_fixed) = said(found), said(fixed)
    assert more <= 0.05
    assert low + 1e-9 >= low_fixed or more <= more_fixed


def test_the_seed_decides():
    known = world("skewed", 8, 3)
    assert ask(known, 3)[0] == ask(known, 3)[0]
    guarantees = {ask(known, seed)[0].guarantee for seed in range(4)}
    assert len(guarantees) > 1


def test_wrong_questions_about_rounds():
    known = world("uniform")
    with pytest.raises(InvalidOption, match="max_queries is for epsilon and delta"):
        ask(known, 0, epsilon=None, delta=None, max_queries=100)
    with pytest.raises(InvalidOption, match="max_queries is for epsilon and delta"):
        ask(known, 0, objective="loss", max_queries=100)
    with pytest.raises(InvalidOption, match="max_queries must be an integer of at least 1"):
        ask(known, 0, max_queries=0)
    with pytest.raises(InvalidOption, match="leaves none: x and 99 fresh samples are asked"):
        ask(known, 0, max_queries=100, fresh=99)
    with pytest.raises(InvalidOption, match="a problem has all of its samples from the start"):
        _explainer(known).problem(np.ones(6), 2, epsilon=0.1, delta=0.1, max_queries=9)
    with pytest.raises(InvalidOption, match="k must be between 0"):
        ask(known, 0, k=99)


def test_rows_that_are_all_there_are_not_sampled_where_that_is_cheaper():
    rows = (np.arange(64)[:, None] >> np.arange(6) & 1).astype(np.int8)
    asked = count()
    queries = []

    def classifier(table):
        next(asked)
        queries.append(len(table))
        return table[:, 0]

    found = cpx.explain(classifier, rows, rows[-1], 2, epsilon=0.05, delta=0.1)
    assert queries == [1, 64]
    assert found.fresh.exact
    queries.clear()
    cpx.explain(classifier, rows, rows[-1], 2, epsilon=0.05, delta=0.1, max_queries=50, fresh=5)
    assert sum(queries) <= 50
