"""Column generation as an engine: values and bounds against brute force, limits, interrupts."""

from __future__ import annotations

import threading
from fractions import Fraction

import numpy as np
import pytest

from cpx import Samples, solve
from cpx.answers.result import Termination
from cpx.backends import backend
from cpx.backends.base import Progress
from cpx.models import RuleSetLearning
from cpx.models.rule_set import learning as rule_set_learning
from cpx.models.rule_set.cases import best_learned, random_learning
from cpx.models.rule_set.methods.column_generation.table import Table
from cpx.models.rule_set.methods.column_generation.zero_one import (
    by_number_of_rules,
    least_of_all,
    unavoidable,
)
from cpx.options import SolveOptions
from cpx.testing import conformance
from tests.engines import solve_alone
from tests.processor_time import processor_seconds
from tests.seeds import each

ENGINE = "column-generation"


@each(range(12), 6)
def test_brute_force_agrees(seed: int) -> None:
    problem = random_learning(seed)
    best = best_learned(problem)
    for engine in (ENGINE, "search"):
        conformance.check_result(solve(problem, engine), problem, best, closed=True)


@pytest.mark.parametrize("engine", ["cpsat", "maxsat:rc2", "milp:highs"])
def test_statements_agree_with_brute_force(engine: str) -> None:
    for seed in range(30, 38):
        problem = random_learning(seed)
        conformance.check_result(
            solve(problem, engine), problem, best_learned(problem), closed=True
        )


@each(range(40, 50))
def test_bounds_of_rules_that_are_not_listed(seed: int, monkeypatch) -> None:
    problem = random_learning(seed)
    best = best_learned(problem)
    monkeypatch.setattr(rule_set_learning, "MOST_STATED", 1)
    result = solve(problem, ENGINE)
    conformance.check_result(result, problem, best)
    assert result.bound is not None
    if problem.loss == "zero-one":
        assert any("no bound of the zero-one loss" in text for text in result.warnings)
    else:
        assert result.proved


def drawn(seed: int, m: int, d: int, rules: int) -> Samples:
    """Return samples of a class that is such a number of pairs of literals."""
    rng = np.random.default_rng(seed)
    bits = rng.random((m, d)) < 0.4
    same = np.any([bits[:, 2 * r : 2 * r + 2].all(axis=1) for r in range(rules)], axis=0)
    return Samples(bits, same)


def test_bound_by_the_number_of_rules_is_valid_and_not_trivial(monkeypatch) -> None:
    problem = RuleSetLearning(drawn(0, 200, 10, 3), 2, "0.02")
    optimum = solve(problem, ENGINE)
    assert optimum.proved
    monkeypatch.setattr(rule_set_learning, "MOST_STATED", 1)
    result = solve(problem, ENGINE)
    assert optimum.objective == result.objective
    # Two rules at least: one of them covers too little.
    assert 2 * problem.price <= result.bound <= result.objective
    bounds = [point.bound for point in result.trace if point.bound is not None]
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("seed", range(5))
def test_errors_that_no_set_avoids_are_those_of_the_best_answer_for_each_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bits, same = rng.random((60, 3)) < 0.5, rng.random(60) < 0.5
    weights = rng.integers(1, 9, 60)
    least = 0
    for row in np.unique(bits, axis=0):
        there = (bits == row).all(axis=1)
        least += min(int(weights[there & same].sum()), int(weights[there & ~same].sum()))
    assert least
    assert unavoidable(Table(bits, same, weights)) == least
    # No two rows are alike: no error need be made.
    apart = np.eye(60, dtype=bool)
    assert unavoidable(Table(apart, same, weights)) == 0


def test_errors_that_no_set_avoids() -> None:
    bits = np.array([[1, 0], [1, 0], [1, 1], [0, 0]], dtype=bool)
    table = Table(bits, np.array([True, False, True, False]), np.array([3, 2, 1, 4]))
    assert unavoidable(table) == 2
    told: list[Fraction] = []
    by_number_of_rules(
        table,
        2,
        Fraction(1, 2),
        Fraction(3),
        [],
        seed=0,
        threads=1,
        seconds=60,
        stop=lambda: False,
        proved=told.append,
    )
    # One rule, a, makes two errors.
    assert least_of_all(table, Fraction(1, 2)) == Fraction(5, 2) >= max(told, default=0)
    assert least_of_all(table, Fraction(0)) == 2
    # No rule at all makes four.
    assert least_of_all(table, Fraction(3)) == 4


def test_the_bound_of_the_hamming_loss_is_its_own() -> None:
    # The sample of the other class has both literals: it counts twice, or once.
    samples = Samples([[1, 1], [1, 0], [0, 1], [0, 0]], [0, 1, 1, 0], [1, 5, 5, 1])
    hamming = solve(RuleSetLearning(samples, 1, 0, "hamming"), ENGINE)
    plain = solve(RuleSetLearning(samples, 1, 0), ENGINE)
    assert (hamming.objective, hamming.bound) == (2, 2)
    assert (plain.objective, plain.bound) == (1, 1)


def test_a_hint_is_kept() -> None:
    problem = RuleSetLearning(drawn(1, 300, 12, 3), 2, "0.01")
    best = solve(problem, ENGINE)
    again = solve(problem, ENGINE, hint=best.explanation, time_limit=0.01)
    assert again.objective == best.objective
    assert again.explanation == best.explanation or not again.proved


def test_equal_seeds_give_equal_rules() -> None:
    problem = RuleSetLearning(drawn(2, 150, 9, 2), 2, "0.01")
    first, second = (solve(problem, ENGINE, seed=3) for _ in range(2))
    assert first.explanation == second.explanation


def hard() -> RuleSetLearning:
    rng = np.random.default_rng(0)
    samples = Samples(rng.random((3000, 60)) < 0.5, rng.random(3000) < 0.4)
    return RuleSetLearning(samples, 4, "0.001")


@pytest.mark.parametrize("loss", ["zero-one", "hamming"])
def test_a_limit_is_kept(loss) -> None:
    problem = hard().with_loss(loss)
    backend(ENGINE)._preload()
    started = processor_seconds()
    result = solve(problem, ENGINE, time_limit=1.0)
    assert processor_seconds() - started < 40
    assert result.verified
    assert (result.status, result.termination) == ("FEASIBLE", "TIME_LIMIT")
    assert 0 < result.bound <= result.objective


def test_it_stops_when_told() -> None:
    problem = hard()
    progress = Progress(problem, SolveOptions())
    timer = threading.Timer(0.6, progress.stop)
    timer.start()
    started = processor_seconds()
    outcome = solve_alone(backend(ENGINE), problem, progress)
    assert processor_seconds() - started < 40
    assert outcome.termination is Termination.INTERRUPTED
    assert not outcome.proved
    assert progress.objective is not None


@pytest.mark.slow
def test_isolated_solves_say_the_same() -> None:
    problem = RuleSetLearning(drawn(3, 60, 6, 2), 2, "0.02")
    here, there = solve(problem, ENGINE), solve(problem, ENGINE, isolate=True, time_limit=60)
    assert here.proved
    assert (here.objective, here.bound, here.explanation) == (
        there.objective,
        there.bound,
        there.explanation,
    )
