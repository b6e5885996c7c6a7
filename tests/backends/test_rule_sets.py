"""Sets of rules by all engines: against brute force, and from the start they are given."""

from __future__ import annotations

import numpy as np
import pytest

from cpx import RuleSetSelection, Samples, solve
from cpx.backends import backend
from cpx.backends.base import Progress
from cpx.errors import InvalidOption
from cpx.models.rule_set.cases import random_selection
from cpx.models.rule_set.search import bitset_search
from cpx.models.rule_set.search import subproblem as exploring
from cpx.options import SolveOptions
from cpx.testing import conformance
from cpx.testing.brute import optimum
from tests.engines import ENGINES, solve_alone
from tests.seeds import each, some


@pytest.mark.parametrize("encoding", ["signature", "channelling"])
@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "search"])
@pytest.mark.parametrize("n", some(3, 8))
def test_brute_force_agrees(engine: str, encoding: str, n: int) -> None:
    for seed in range(n):
        problem = random_selection(seed)
        result = solve(problem, engine, encoding=encoding)
        conformance.check_result(result, problem, optimum(problem), closed=True)


@each(range(60), 15)
def test_search_agrees_with_brute_force(seed: int) -> None:
    problem = random_selection(seed, max_samples=40)
    result = solve(problem, "search")
    conformance.check_result(result, problem, optimum(problem), closed=True)


def many_rules(seed: int = 0, R: int = 60, m: int = 120, **more) -> RuleSetSelection:
    rng = np.random.default_rng(seed)
    literals = rng.random((m, 12)) < 0.5
    same = literals[:, :3].all(axis=1) | literals[:, 3:5].all(axis=1)
    same ^= rng.random(m) < 0.1
    rules = [rng.choice(12, size=rng.integers(1, 4), replace=False) for _ in range(R)]
    return RuleSetSelection(Samples(literals, same), rules, **{"penalty": "0.01", **more})


@pytest.mark.parametrize("more", [{}, {"max_rules": 3}, {"max_overlap": 5}, {"loss": "hamming"}])
def test_search_and_cpsat_agree(more) -> None:
    problem = many_rules(R=25, m=60, **more)
    values = {solve(problem, engine).objective for engine in ("search", "cpsat")}
    assert len(values) == 1


def alone(problem: RuleSetSelection, engine: str = "search", **options) -> Progress:
    """Solve without the start of local search."""
    progress = Progress(problem, SolveOptions(**options))
    solve_alone(backend(engine), problem, progress)
    return progress


def test_search_grows_what_is_too_small(monkeypatch) -> None:
    problem = many_rules(1, penalty="1/1000")
    whole = alone(problem)
    monkeypatch.setattr(bitset_search, "DEPTH", 2)
    monkeypatch.setattr(bitset_search, "WORK", 10)
    small = alone(problem)
    assert whole.objective == whole.best_bound == small.objective == small.best_bound
    assert len(whole.explanation.features) > 2


def test_bounds_of_a_stopped_search_are_valid(monkeypatch) -> None:
    problem = many_rules(2, R=150, m=400)
    optimum = solve(problem, "search").objective
    monkeypatch.setattr(exploring, "WORK", 2_000)
    progress = alone(problem, gap=0.1)
    assert progress.best_bound <= optimum <= progress.objective
    bounds = [point.bound for point in progress.trace if point.bound is not None]
    assert bounds
    assert bounds == sorted(bounds)


def test_many_terms_in_a_bound(monkeypatch) -> None:
    # Rules of one row each: the best set has them all.
    bits = np.eye(12, dtype=bool)
    problem = RuleSetSelection(Samples(bits, np.ones(12)), [(j,) for j in range(12)])
    monkeypatch.setattr(bitset_search, "LONGEST", 3)
    assert alone(problem).objective == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_the_start_is_told(engine: str) -> None:
    problem = many_rules(3, R=25)
    result = solve(problem, engine)
    start = solve(problem, "local-search:0").objective
    told = "found nothing better" if result.objective == start else "improved the value"
    assert any(told in text for text in result.warnings)
    assert start in [point.objective for point in result.trace]


def test_engines_get_the_start_on_all_variables(monkeypatch) -> None:
    from cpx.backends.cpsat import CpSat

    seen = []
    monkeypatch.setattr(CpSat, "solve", lambda self, p, o, progress: seen.append(o) or 1 / 0)
    problem = many_rules(4)
    result = solve(problem, "cpsat")
    assert result.status == "ERROR"
    assert result.explanation.features == seen[0].hint
    values = problem.model().complete(seen[0].hint)
    assert set(values) == set(problem.model().variables)


def test_a_better_hint_is_kept() -> None:
    problem = many_rules(5)
    best = solve(problem, "search")
    again = solve(problem, "local-search", hint=best.explanation)
    assert again.objective == best.objective
    assert again.status == "FEASIBLE"


def test_local_search_takes_its_number_of_rounds() -> None:
    problem = many_rules(5)
    none, default, more = (
        solve(problem, name, seed=1).objective
        for name in ("local-search:0", "local-search", "local-search:200")
    )
    assert none >= default >= more
    assert backend("local-search").full_name == "local-search"
    assert backend("local-search:7").full_name == "local-search:7"
    for wrong in ("-1", "x", "", "9" * 10):
        with pytest.raises(InvalidOption, match="N starts from a disturbed set"):
            backend(f"local-search:{wrong}")


@each(range(40), 10)
def test_local_search_keeps_limits(seed: int) -> None:
    problem = random_selection(seed)
    best = optimum(problem)
    conformance.check_result(solve(problem, "local-search"), problem, best)


def test_local_search_repeats_itself() -> None:
    problem = many_rules(6)
    first, second = (solve(problem, "local-search", seed=3) for _ in range(2))
    assert first.explanation == second.explanation


def test_isolated_solves_say_the_same() -> None:
    problem = many_rules(7)
    here, there = solve(problem, "search"), solve(problem, "search", isolate=True, time_limit=60)
    assert (here.objective, here.explanation) == (there.objective, there.explanation)
