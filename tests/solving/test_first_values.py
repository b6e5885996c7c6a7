"""Every solve of a rule has a value and a bound, whatever becomes of the engine."""

from __future__ import annotations

import numpy as np
import pytest

import cpx
from cpx import KMonomial, Samples, solve
from cpx.answers.result import Status
from cpx.backends.base import Progress
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.search import optimise
from cpx.options import SolveOptions
from cpx.testing.brute import brute_force
from tests.seeds import each

ENGINES = ("cpsat", "maxsat:rc2", "milp:highs")
NO_TIME = 1e-9


@each(range(60), 30)
def test_a_limit_that_is_over_leaves_a_true_value_and_bound(seed: int) -> None:
    problem = random_problem(seed)
    optimum, _ = brute_force(problem) or (None, ())
    result = solve(problem, ENGINES[seed % 3], time_limit=NO_TIME)
    sign = 1 if problem.sense == "min" else -1
    assert result.status is not Status.ERROR
    if optimum is None:
        assert result.status in (Status.UNKNOWN, Status.INFEASIBLE)
        return
    assert result.bound is not None
    assert sign * result.bound <= sign * optimum
    if result.objective is not None:
        assert problem.evaluate(result.explanation).feasible
        assert sign * optimum <= sign * result.objective
        assert (result.status is Status.OPTIMAL) == (result.objective == result.bound)


@pytest.mark.parametrize("hint", [None, (0, 1), (5,)])
@each(range(24), 12)
def test_the_start_changes_no_optimum(seed: int, hint: tuple[int, ...] | None) -> None:
    problem = random_problem(seed, max_samples=15, max_features=6)
    if hint is not None and max(hint) >= problem.n_features:
        hint = None
    optimum, _ = brute_force(problem) or (None, ())
    result = solve(problem, ENGINES[seed % 3], hint=hint)
    wanted = Status.INFEASIBLE if optimum is None else Status.OPTIMAL
    assert (result.status, result.objective) == (wanted, optimum)


@each(range(80), 40)
def test_the_bound_that_large_tables_begin_with_is_true(seed: int, monkeypatch) -> None:
    monkeypatch.setattr(optimise, "_LARGE", 0)
    problem = random_problem(seed)
    optimum, _ = brute_force(problem) or (None, ())
    progress = Progress(problem, SolveOptions())
    optimise.begin(problem, problem.form(), progress)
    assert (progress.objective is None) == (optimum is None)
    if optimum is not None:
        sign = 1 if problem.sense == "min" else -1
        assert sign * progress.best_bound <= sign * optimum <= sign * progress.objective


def _covering(share: str) -> cpx.MaxCoverage:
    rng = np.random.default_rng(0)
    agreement = rng.random((300, 12)) < 0.5
    same = agreement[:, :3].all(axis=1) ^ (rng.random(300) < 0.05)
    return cpx.MaxCoverage(Samples(agreement, same), k=3, min_precision=share)


def test_a_rule_within_limits_is_there_before_the_statement(monkeypatch) -> None:
    def stated(*_: object) -> None:
        raise MemoryError

    problem = _covering("4/5")
    monkeypatch.setattr(cpx.MaxCoverage, "model", stated)
    result = solve(problem, "cpsat")
    assert (result.status, result.explanation.features) == (Status.FEASIBLE, (0, 1, 2))
    assert result.verified
    assert result.bound == problem.samples.agreeing * 5 // 4
    assert result.start["method"] == "beam search"

    def cut(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as cutting:
        cutting.setattr(optimise, "_approach", cut)
        cutting.setattr(optimise, "beam_columns", cut)
        begun = solve(KMonomial(problem.samples, k=3), "cpsat", time_limit=1)
    assert begun.start["method"] == "required features"
    assert any("the engine found nothing better" in text for text in result.warnings)
    with monkeypatch.context() as missing:
        missing.setattr(optimise, "beam_columns", lambda *_: [])
        assert solve(problem, "cpsat").start["method"] == "search"
    alone = solve(problem, "cpsat", warm_start=False)
    assert (alone.status, alone.objective, alone.bound) == (Status.UNKNOWN, None, None)
    assert alone.start is None


def test_weights_that_an_engine_declines_leave_the_value_of_the_start() -> None:
    rng = np.random.default_rng(1)
    weights = rng.integers(2**24, 2**26, 40)
    samples = Samples(rng.random((40, 6)) < 0.6, rng.random(40) < 0.5, weights)
    problem = KMonomial(samples, k=2, min_coverage="1/3")
    result = solve(problem, "milp:highs")
    assert result.status is Status.FEASIBLE
    assert result.objective >= solve(problem, "search").objective
    assert any("is too large: not solved" in text for text in result.warnings)
