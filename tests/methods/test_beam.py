"""Greedy and beam search against brute force and against their definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cpx import KMonomial, MaxCoverage, MaxPrecision, Samples, solve
from cpx.answers.result import Status, Termination
from cpx.answers.values import Value
from cpx.backends import backend
from cpx.backends.base import Progress
from cpx.methods.beam import Beam
from cpx.models import NegativeOnly
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.problem import MonomialProblem
from cpx.options import SolveOptions
from cpx.testing import conformance
from cpx.testing.brute import brute_force
from tests.engines import HEURISTICS, solve_alone
from tests.seeds import each


@each(range(40))
@pytest.mark.parametrize("name", HEURISTICS)
def test_never_better_than_brute_force(name: str, seed: int) -> None:
    problem = random_problem(seed)
    best = brute_force(problem)
    result = solve(problem, name)
    conformance.check_result(result, problem, best and best[0], closed=True)
    assert (result.objective is None) == (best is None)


@each(range(40))
def test_a_beam_wider_than_all_sets_is_exact(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Beam, "width", 2**8)
    _same_as_brute_force(random_problem(seed))


@each(range(60))
def test_a_wide_beam_is_exact_within_limits(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Beam, "width", 2**8)
    _same_as_brute_force(limited(seed))


def _same_as_brute_force(problem: MonomialProblem) -> None:
    best = brute_force(problem)
    result = solve(problem, "beam")
    if best is None:
        assert result.status is Status.UNKNOWN
        return
    assert result.explanation is not None
    assert (result.objective, result.explanation.features) == best
    assert result.status is Status.FEASIBLE
    assert result.bound is None
    assert result.verified


def limited(seed: int) -> MonomialProblem:
    """Return a random problem with limits on coverage and precision."""
    rng = np.random.default_rng(seed)
    plain = random_problem(seed)
    kind = (KMonomial, MaxCoverage, MaxPrecision)[seed % 3]
    limits = {"min_coverage": Fraction(int(rng.integers(1, 4)), 10)}
    if rng.integers(2):
        limits["max_coverage"] = Fraction(int(rng.integers(4, 10)), 10)
    if rng.integers(2) and kind is not MaxPrecision:
        limits["min_precision"] = Fraction(int(rng.integers(2, 10)), 10)
    return kind(
        plain.samples, plain.k, plain.required, plain.forbidden, plain.one_per_group, **limits
    )


@each(range(60))
@pytest.mark.parametrize("name", HEURISTICS)
def test_within_limits_never_better_than_brute_force(name: str, seed: int) -> None:
    problem = limited(seed)
    best = brute_force(problem)
    result = solve(problem, name)
    assert result.status in (Status.FEASIBLE, Status.UNKNOWN)
    assert result.bound is None
    if result.objective is not None:
        assert best is not None
        assert result.verified
        sign = 1 if problem.sense == "min" else -1
        assert sign * (result.objective - best[0]) >= 0


def test_sets_outside_the_limits_are_steps_on_the_way() -> None:
    # Neither feature alone is precise enough, both together are.
    rows = ["11"] * 6 + ["10"] * 3 + ["01"] * 4
    agreement = np.array([[bit == "1" for bit in row] for row in rows])
    problem = MaxCoverage(Samples(agreement, agreement.all(axis=1)), k=2, min_precision="9/10")
    for name in HEURISTICS:
        assert solve(problem, name).objective == 6


@each(range(20))
def test_greedy_is_what_its_definition_says(seed: int) -> None:
    problem = random_problem(seed + 500, kinds=(KMonomial, NegativeOnly), limited=False)
    result = solve(problem, "greedy")

    sign = 1 if problem.sense == "min" else -1

    def value(features: tuple[int, ...]) -> Value:
        return sign * problem.evaluate(problem.explanation(features)).objective

    chosen, met = problem.required, []
    if problem.evaluate(problem.explanation(chosen)).feasible:
        met.append(value(chosen))
    while True:
        wider = [tuple(sorted({*chosen, j})) for j in range(problem.n_features)]
        ranked = sorted(
            (value(s), s)
            for s in wider
            if len(s) > len(chosen) and problem.evaluate(problem.explanation(s)).feasible
        )
        if not ranked:
            break
        best, chosen = ranked[0]
        met.append(best)
    assert result.objective == (sign * min(met) if met else None)


def test_beam_finds_what_greedy_misses() -> None:
    # Feature 0 alone is best and misses one sample; only the pair of 1 and 2 misses none.
    rows = ["111"] * 3 + ["011"] + ["010"] * 5 + ["001"] * 5
    agreement = np.array([[bit == "1" for bit in row] for row in rows])
    problem = KMonomial(Samples(agreement, agreement[:, 1] & agreement[:, 2]), k=2)
    assert brute_force(problem) == (0, (1, 2))
    assert solve(problem, "beam").objective == 0
    assert solve(problem, "greedy").objective == 1


def test_stops_between_levels() -> None:
    rng = np.random.default_rng(0)
    problem = KMonomial(Samples(rng.random((50, 6)) < 0.5, rng.random(50) < 0.5), k=6)
    progress = Progress(problem, SolveOptions())
    progress.stop()
    outcome = solve_alone(backend("beam"), problem, progress)
    assert (outcome.proved, outcome.termination) == (False, Termination.INTERRUPTED)
    assert progress.explanation is not None
    assert progress.explanation.features == ()


def test_the_answer_says_that_nothing_is_proved() -> None:
    samples = Samples(np.array([[1, 0], [0, 1]], dtype=bool), np.array([True, False]))
    result = solve(KMonomial(samples, k=1), "greedy")
    assert result.explanation is not None
    assert result.explanation.proved == "loss 0 of 2, without a bound"
    assert result.verified
    assert not result.proved


@pytest.mark.slow
def test_speed() -> None:
    rng = np.random.default_rng(0)
    agreement = rng.random((20000, 100)) < 0.6
    same = agreement[:, :3].all(axis=1) ^ (rng.random(20000) < 0.1)
    result = solve(KMonomial(Samples(agreement, same), k=5), "beam")
    assert result.explanation is not None
    assert result.explanation.features == (0, 1, 2)
    assert result.times.cpu < 3
