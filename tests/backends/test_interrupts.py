"""Stops at random moments: never INFEASIBLE, never a wrong OPTIMAL."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from cpx import KMonomial, Samples, Status, SufficientReason, solve
from cpx.backends import backend as find_backend
from cpx.backends.base import Progress
from cpx.options import SolveOptions
from cpx.solving.conclude import conclude
from cpx.testing import conformance
from cpx.testing.brute import brute_force
from cpx.testing.minimum_subset import least_weight, random_votes, stump
from cpx.trees import Attribute, TreeModel
from tests.engines import ENGINES, OF_REASONS


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


class _StopsAtALook(Progress):
    """Told to stop from the n-th time on that it is asked."""

    looks = 0

    @property
    def interrupted(self) -> bool:
        self.looks -= 1
        return self.looks < 0


def _reasons() -> list[tuple[SufficientReason, int | None]]:
    """Return reasons of trees and of a forest, one of them impossible, with their optima."""
    wide = random_votes(1, 9, 6)
    names = tuple(Attribute(name, "boolean") for name in "ab")
    thresholds = (np.array([0.5]), np.array([0.5]))
    tree = TreeModel(
        names, ("no", "yes"), (stump(0, [-1.0], [1.0]),), thresholds, "sum", "positive", (0.0,)
    )
    forest, single = (wide.tree_model, wide.x), (tree, (1, 1))
    found = []
    for (model, x), more in [
        (forest, {}),
        (forest, {"required": range(6)}),
        (forest, {"forbidden": range(6)}),
        (forest, {"required": (0, 3), "forbidden": (5,), "weights": range(1, 7)}),
        (single, {"required": (0, 1)}),
        (single, {"forbidden": (0,)}),
    ]:
        problem = SufficientReason(model, x, definition="sufficient", **more)
        found.append((problem, least_weight(problem)))
    assert None in [best for _, best in found]
    return found


@pytest.mark.parametrize("engine", [*ENGINES, *OF_REASONS])
def test_stopped_at_any_look(engine: str) -> None:
    instance = find_backend(engine)
    if engine in ENGINES:
        problem, best = _problem()
        impossible = KMonomial(problem.samples, k=2, min_precision=1, min_coverage="9/10")
        assert brute_force(impossible) is None
        cases, looks = [(problem, best), (impossible, None)], range(0, 36, 6)
    else:
        cases, looks = _reasons(), range(0, 24, 2)
    for problem, best in cases:
        data = problem.to_dict()
        for count in looks:
            # Anew, as a problem remembers what an oracle learned about it.
            problem = type(problem).from_dict(data)
            progress = _StopsAtALook(problem, SolveOptions())
            progress.looks = count
            outcome = instance.solve(problem, progress.options, progress)
            form = (
                problem.encoding()
                if instance.needs_model
                else replace(problem.encoding(), name="")
            )
            result = conclude(progress, outcome, instance, form, (), 0.0)
            conformance.check_result(result, problem, best)


@pytest.mark.parametrize("engine", [*ENGINES, *OF_REASONS])
def test_limits_that_are_over_at_once(engine: str) -> None:
    cases = [_problem()] if engine in ENGINES else _reasons()
    rng = np.random.default_rng(0)
    for problem, best in cases:
        data = problem.to_dict()
        for limit in 10 ** rng.uniform(-4, -2, 10):
            problem = type(problem).from_dict(data)
            result = solve(problem, engine, time_limit=float(limit))
            conformance.check_result(result, problem, best)


def test_a_gap_that_was_reached_stays_so() -> None:
    progress = Progress(_problem()[0], SolveOptions(gap=2))
    progress.objective, progress.best_bound = 10, -5
    assert progress.gap_reached
    # Better, and yet of a relative gap of 6.
    progress.objective = 1
    assert progress.gap_reached
