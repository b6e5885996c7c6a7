"""Stops at random moments: never INFEASIBLE, never a wrong OPTIMAL."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from cpx import KMonomial, Samples, Status
from cpx.backends import backend as find_backend
from cpx.backends.base import Progress
from cpx.options import SolveOptions
from cpx.solving import conclude
from cpx.testing.brute import brute_force
from tests.engines import ENGINES


def _problem() -> tuple[KMonomial, int]:
    rng = np.random.default_rng(5)
    agreement = rng.random((150, 14)) < 0.6
    same = agreement[:, :3].all(axis=1) ^ (rng.random(150) < 0.1)
    problem = KMonomial(Samples(agreement, same, rng.integers(1, 4, 150)), k=3)
    best = brute_force(problem)
    assert best is not None
    return problem, best[0]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_two_hundred_interrupts(engine: str) -> None:
    _interrupt(engine, 200)


@pytest.mark.parametrize("engine", ENGINES)
def test_some_interrupts(engine: str) -> None:
    _interrupt(engine, 8)


def _interrupt(engine: str, rounds: int) -> None:
    problem, optimum = _problem()
    instance = find_backend(engine)
    whole = Progress(problem, SolveOptions())
    instance.solve(problem, whole.options, whole)
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        progress = Progress(problem, SolveOptions())
        timer = threading.Timer(rng.uniform(0, 1.2 * whole.elapsed), progress.stop)
        timer.start()
        outcome = instance.solve(problem, progress.options, progress)
        timer.cancel()
        result = conclude(progress, outcome, instance, problem.encoding(), (), 0.0)
        assert result.status in (Status.OPTIMAL, Status.FEASIBLE, Status.UNKNOWN), result
        if result.status is Status.OPTIMAL:
            assert result.objective == optimum, result
        if result.bound is not None:
            assert result.bound <= optimum, result
        if result.objective is not None:
            assert result.objective >= optimum, result
