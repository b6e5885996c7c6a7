"""The exact search against brute force: values, the choice among equals, presolve, bounds."""

from __future__ import annotations

import threading
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpx import KMonomial, Samples, Status, solve
from cpx.backends.base import Progress
from cpx.backends.search import Search
from cpx.errors import InvalidOption
from cpx.options import SolveOptions
from cpx.testing.brute import brute_force
from cpx.testing.conformance import check_result
from cpx.testing.random_instances import random_problem


def _check(problem, threads: int = 1) -> None:
    best = brute_force(problem)
    result = solve(problem, "search", threads=threads)
    check_result(result, problem, best and best[0], closed=True)
    if best is not None:
        assert result.explanation.features == best[1]


@pytest.mark.parametrize("seed", range(150))
def test_value_and_choice_are_those_of_brute_force(seed: int) -> None:
    _check(random_problem(seed, max_samples=60, max_features=9), threads=1 + seed % 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5000, 5800))
def test_many_more_instances(seed: int) -> None:
    _check(random_problem(seed, max_samples=90, max_features=12), threads=1 + seed % 3)


@settings(max_examples=40, deadline=None)
@given(
    m=st.integers(60, 200),
    d=st.integers(1, 12),
    k=st.integers(0, 12),
    density=st.floats(0.3, 0.95),
    agreeing=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**20),
)
def test_more_samples_than_a_word_has_bits(m, d, k, density, agreeing, seed) -> None:
    rng = np.random.default_rng(seed)
    samples = Samples(rng.random((m, d)) < density, rng.random(m) < agreeing)
    _check(KMonomial(samples, k=min(k, d, 5)))


def test_more_features_than_a_word_has_bits() -> None:
    rng = np.random.default_rng(2)
    _check(KMonomial(Samples(rng.random((150, 70)) < 0.6, rng.random(150) < 0.4), k=2))


def test_needles() -> None:
    """Few samples agree, and every feature excludes half of the others."""
    rng = np.random.default_rng(3)
    agreement = rng.random((120, 16)) < 0.5
    same = np.zeros(120, dtype=bool)
    same[:3] = agreement[:3] = True
    _check(KMonomial(Samples(agreement, same), k=4))


@pytest.mark.parametrize("total", [2**20, 2**40 - 10])
def test_great_weights(total: int) -> None:
    rng = np.random.default_rng(4)
    weights = rng.integers(1, total // 80, 80)
    samples = Samples(rng.random((80, 8)) < 0.6, rng.random(80) < 0.5, weights)
    for k in (0, 2, 8):
        _check(KMonomial(samples, k=k))


def test_contradicting_copies_of_a_row_cancel() -> None:
    """Presolve nets equal rows of both classes out; the constant is kept."""
    rows = [[1, 0, 1]] * 5 + [[0, 1, 1]] * 4
    _check(KMonomial(Samples(rows, [1, 1, 0, 0, 0, 1, 1, 1, 0]), k=2))


def test_duplicate_and_dominated_features_do_not_change_the_choice() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        base = rng.random((40, 4)) < 0.6
        stronger = base[:, :2] & (rng.random((40, 2)) < 0.9)
        agreement = np.column_stack([base, base[:, 1], stronger, np.ones(40, dtype=bool)])
        order = rng.permutation(agreement.shape[1])
        groups = tuple(rng.integers(0, 4, order.size).tolist())
        samples = Samples(agreement[:, order], rng.random(40) < 0.5, groups=groups)
        _check(KMonomial(samples, k=3))
        _check(KMonomial(samples, k=3, one_per_group=True))


def test_the_answer_does_not_depend_on_the_threads() -> None:
    rng = np.random.default_rng(6)
    agreement = rng.random((400, 40)) < 0.7
    problem = KMonomial(Samples(agreement, agreement[:, 3:6].all(axis=1)), k=4)
    answers = {solve(problem, "search", threads=t).explanation.features for t in (1, 2, 3)}
    assert len(answers) == 1


def test_bounds_hold_at_every_moment() -> None:
    rng = np.random.default_rng(7)
    for seed in range(12):
        agreement = rng.random((300, 16)) < 0.55
        problem = KMonomial(Samples(agreement, rng.random(300) < 0.3), k=4)
        best = brute_force(problem) if seed < 2 else None
        optimum = best[0] if best else solve(problem, "search").objective
        progress = Progress(problem, SolveOptions(threads=1 + seed % 2))
        timer = threading.Timer(rng.uniform(0, 0.02), progress.stop)
        timer.start()
        outcome = Search().solve(problem, progress.options, progress)
        timer.cancel()
        assert all(p.bound is None or p.bound <= optimum for p in progress.trace)
        assert all(p.objective is None or p.objective >= optimum for p in progress.trace)
        assert not outcome.proved or progress.objective == optimum


def test_no_cpmpy_model_is_stated(monkeypatch) -> None:
    monkeypatch.setattr(KMonomial, "model", lambda *_: pytest.fail("stated a model"))
    result = solve(random_problem(12), "search")
    assert result.encoding == ""
    assert result.proved


def test_an_encoding_has_no_effect_and_the_user_is_told() -> None:
    result = solve(random_problem(1), "search", encoding="table1-literal")
    assert "backend search does not honour encoding" in result.warnings
    assert result.status in (Status.OPTIMAL, Status.INFEASIBLE)


def test_problems_without_arrays_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(KMonomial, "search_form", None)
    samples = Samples([[1, 0]], [1])
    with pytest.raises(InvalidOption, match="cannot solve problems of kind 'k-monomial'"):
        solve(KMonomial(samples, k=1), "search")


def test_the_tables_of_bound_two_hold_for_all_completions() -> None:
    """Bounds (1) and (2), at all thresholds, against every completion of a node."""
    from cpx.backends.search.bounds import order_by, select, subtree_bounds, tighten

    rng = np.random.default_rng(8)
    for _ in range(200):
        n, r = int(rng.integers(1, 7)), int(rng.integers(1, 4))
        bad, good = rng.random((n, 12)) < 0.5, rng.random((n, 5)) < 0.6
        after = bad.sum(axis=1).astype(np.int64)
        lost = (~good).sum(axis=1).astype(np.int64)
        values = {
            chosen: int(
                (~good[list(chosen)].all(axis=0)).sum() + bad[list(chosen)].all(axis=0).sum()
            )
            for size in range(1, r + 1)
            for chosen in combinations(range(n), size)
        }
        limit = int(rng.integers(1, 18))
        kept = np.arange(n + 8, dtype=np.int64)
        top, low, less = (np.zeros(max(n, r) + 2, dtype=np.int64) for _ in range(3))
        left = select(12, after, lost, kept, n, r, limit, top)
        left, bound = tighten(12, after, lost, kept, left, r, limit, top, low, less)
        remaining = set(kept[:left].tolist())
        useful = after < 12
        for chosen, value in values.items():
            if value < limit and useful[list(chosen)].all():
                assert set(chosen) <= remaining
                assert bound <= value
        order = np.arange(n, dtype=np.int64)
        order_by(after, order, n)
        bounds = np.zeros(n, dtype=np.int64)
        subtree_bounds(12, after, lost, order, n, r, bounds)
        place = {int(p): x for x, p in enumerate(order)}
        for chosen, value in values.items():
            assert bounds[min(place[p] for p in chosen)] <= value
