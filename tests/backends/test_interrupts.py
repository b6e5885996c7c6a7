"""Stops at random moments: never INFEASIBLE, never a wrong OPTIMAL."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from cpx import KMonomial, Samples, SufficientReason, solve
from cpx.answers import Status
from cpx.answers.result import Termination
from cpx.backends import backend as find_backend
from cpx.backends.base import Outcome, Progress
from cpx.backends.progress import run_interruptibly
from cpx.methods import portfolio
from cpx.modelling import instances
from cpx.modelling.encodings import find_encoding
from cpx.models.sufficient_reason.cases import least_weight, random_votes, stump
from cpx.options import SolveOptions
from cpx.processes.threads import start_thread
from cpx.solving.conclude import conclude
from cpx.solving.run import run
from cpx.testing import conformance
from cpx.testing.brute import brute_force
from cpx.trees import Attribute, TreeModel
from tests.engines import ENGINES, OF_REASONS, solve_alone


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
    _interrupt(engine, 5)


def _interrupt(engine: str, rounds: int) -> None:
    problem, optimum = _problem()
    options = SolveOptions(warm_start=False)
    start = time.perf_counter()
    run(problem, engine, options)
    whole = time.perf_counter() - start
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        stop = threading.Event()
        timer = threading.Timer(rng.uniform(0, 1.2 * whole), stop.set)
        timer.start()
        result = run(problem, engine, options, cancel=stop)
        timer.cancel()
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

    def _past(self, share: float) -> bool:
        return False  # only the engine looks


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
        cases, looks = [(problem, best), (impossible, None)], range(0, 36, 9)
    else:
        cases, looks = _reasons(), range(0, 24, 6)
    for problem, best in cases:
        data = problem.to_dict()
        for count in looks:
            # Anew, as a problem remembers what an oracle learned about it.
            problem = instances.from_dict(data)
            progress = _StopsAtALook(problem, SolveOptions())
            progress.looks = count
            outcome = solve_alone(instance, problem, progress)
            form = (
                find_encoding(problem)
                if instance.needs_model
                else replace(find_encoding(problem), name="")
            )
            result = conclude(progress, outcome, instance, form, (), 0.0)
            conformance.check_result(result, problem, best)


@pytest.mark.parametrize("engine", [*ENGINES, *OF_REASONS])
def test_limits_that_are_over_at_once(engine: str) -> None:
    cases = [_problem()] if engine in ENGINES else _reasons()
    rng = np.random.default_rng(0)
    for problem, best in cases:
        data = problem.to_dict()
        for limit in 10 ** rng.uniform(-4, -2, 5):
            problem = instances.from_dict(data)
            result = solve(problem, engine, time_limit=float(limit))
            conformance.check_result(result, problem, best)


def test_a_gap_that_was_reached_stays_so() -> None:
    progress = Progress(_problem()[0], SolveOptions(gap=2))
    progress.objective, progress.best_bound = 10, -5
    assert progress.gap_reached
    # Better, and yet of a relative gap of 6.
    progress.objective = 1
    assert progress.gap_reached


def _interrupted_once_begun(work: Callable[[], object]) -> threading.Event:
    start_thread(work)
    raise KeyboardInterrupt


def test_an_engine_that_had_begun_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    progress, told = Progress(_problem()[0], SolveOptions()), threading.Event()
    monkeypatch.setattr("cpx.backends.progress.start_thread", _interrupted_once_begun)
    assert run_interruptibly(lambda: told.wait(0.2), progress, told.set)
    assert progress.interrupted


def test_an_engine_that_had_not_begun_never_does(monkeypatch: pytest.MonkeyPatch) -> None:
    progress, works = Progress(_problem()[0], SolveOptions()), []

    def interrupted(work: Callable[[], object]) -> threading.Event:
        works.append(work)
        raise KeyboardInterrupt

    monkeypatch.setattr("cpx.backends.progress.start_thread", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_interruptibly(lambda: works.clear(), progress)
    assert progress.interrupted
    (work,) = works
    work()
    assert works


def test_what_a_thread_reports_after_the_end_is_not_heard() -> None:
    problem, _ = _problem()
    progress, engine = Progress(problem, SolveOptions()), find_backend("search")
    progress.found(problem.explanation([0]))
    outcome = Outcome(False, Termination.INTERRUPTED, "interrupted")
    before = conclude(progress, outcome, engine, find_encoding(problem), (), 0.0)
    progress.found(problem.explanation([0, 1, 2]))
    progress.bound(1)
    after = conclude(progress, outcome, engine, find_encoding(problem), (), 0.0)
    assert (after.objective, after.bound) == (before.objective, None)
    assert after.explanation == before.explanation
    assert len(progress.trace) == 1
    assert problem.evaluate(problem.explanation([0, 1, 2])).objective < before.objective


def test_a_portfolio_that_is_interrupted_at_its_start_ends_its_engines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed: list[threading.Event] = []

    def isolated(*_: object, kill: threading.Event, **__: object) -> None:
        killed.append(kill)
        assert kill.wait(30)

    monkeypatch.setattr(portfolio, "run_isolated", isolated)
    monkeypatch.setattr(portfolio, "start_thread", _interrupted_once_begun)
    result = run(_problem()[0], "portfolio:search,cpsat", SolveOptions())
    assert result.termination is Termination.INTERRUPTED
    assert [event.is_set() for event in killed] == [True]
