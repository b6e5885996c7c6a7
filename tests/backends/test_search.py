"""The backend search: exact, the first of all best rules, anytime, on any shape of problem."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpx.answers.result import Status, Termination
from cpx.backends.base import Event, Progress, require_accepts
from cpx.backends.search import Search
from cpx.data.samples import Samples
from cpx.errors import InvalidOption
from cpx.modelling.statement import Encoding
from cpx.models.monomial.draw import KINDS, random_problem
from cpx.models.monomial.precision_coverage import MaxCoverage
from cpx.models.monomial.search.driver import Workers
from cpx.models.monomial.weighted import KMonomial, NegativeOnly
from cpx.options import SolveOptions
from cpx.processes.threads import _FIRST_PAUSE
from cpx.solving import solve
from cpx.testing.brute import brute_force
from tests.engines import solve_alone
from tests.processor_time import processor_seconds
from tests.seeds import each


def agrees_with_brute_force(problem, **options):
    """Solve, and compare with the smallest, lexicographically first best set."""
    result, best = solve(problem, "search", **options), brute_force(problem)
    if best is None:
        assert result.status is Status.INFEASIBLE
        return result
    assert result.status is Status.OPTIMAL, result
    assert (result.objective, result.explanation.features) == best
    assert result.verified
    return result


def run(problem, listen=None, stop_after=None, **options):
    chosen = SolveOptions(**options)
    progress = Progress(problem, chosen, listen)
    if stop_after is not None:
        threading.Timer(stop_after, progress.stop).start()
    return progress, Search().solve(problem, chosen, progress)


def needle(m=1000, d=180, agreeing=4, k=5, seed=0):
    """Return an instance where few samples agree and every feature excludes half of all."""
    rng = np.random.default_rng(seed)
    agreement, same = rng.random((m, d)) < 0.5, np.zeros(m, dtype=bool)
    same[rng.permutation(m)[:agreeing]] = True
    return KMonomial(Samples(agreement, same), k=k)


# ---------------------------------------------------------- exact, first


@each(range(300), 75)
def test_random_problems(seed):
    agrees_with_brute_force(random_problem(seed), threads=1 + seed % 2)


@pytest.mark.parametrize("kind", [KMonomial, NegativeOnly, MaxCoverage])
@pytest.mark.parametrize("same", [True, False])
def test_samples_of_one_class_and_limits(kind, same):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        samples = Samples(
            rng.random((20, 6)) < 0.6, [same] * 20, weights=2 * rng.integers(1, 4, 20)
        )
        limits = {"min_coverage": "1/5", "max_coverage": "1/2"}
        agrees_with_brute_force(kind(samples, k=4, **limits))


@pytest.mark.parametrize("seed", [50, 153, 178, 220, 228, *range(20)])
def test_the_first_of_the_best_sets_does_not_depend_on_the_clock(seed, monkeypatch):
    # So late that the search is looked at, and stopped where the bound is met, before it ends.
    work = Workers.work

    def late(workers, number):
        time.sleep(2 * _FIRST_PAUSE)
        work(workers, number)

    monkeypatch.setattr(Workers, "work", late)
    agrees_with_brute_force(random_problem(seed))


@each(range(60), 15)
def test_many_columns_few_rows(seed):
    # Many sets of equal value: what is tested is the choice among them.
    agrees_with_brute_force(random_problem(seed, max_samples=6, max_features=11))


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 90),
    st.integers(1, 10),
    st.sampled_from([1, 2, 7, 2**33]),
    st.sampled_from([1, 2]),
)
@settings(deadline=None)
def test_any_shape(seed, m, d, heaviest, threads):
    rng = np.random.default_rng(seed)
    agreement = rng.random((m, d)) < rng.uniform(0.2, 0.95)
    same = rng.random(m) < rng.uniform(0, 1)
    weights = rng.integers(1, heaviest + 1, m)
    kind = (KMonomial, NegativeOnly)[int(rng.integers(2))]
    groups = tuple(rng.integers(0, d, d).tolist())
    problem = kind(
        Samples(agreement, same, weights, groups=groups),
        k=int(rng.integers(0, d + 1)),
        required=rng.permutation(d)[: rng.integers(0, 2)].tolist(),
        forbidden=rng.permutation(d)[: rng.integers(0, 3)].tolist(),
        one_per_group=bool(rng.integers(2)),
    )
    agrees_with_brute_force(problem, threads=threads)


def test_total_weight_at_its_limit():
    rng = np.random.default_rng(5)
    weights = rng.integers(1, 2**40 // 60, 50)
    weights[0] += 2**40 - weights.sum()
    problem = KMonomial(Samples(rng.random((50, 9)) < 0.6, rng.random(50) < 0.4, weights), k=4)
    assert problem.samples.total == 2**40
    result = agrees_with_brute_force(problem)
    assert result.objective > 2**33


def test_more_than_64_features_and_samples():
    rng = np.random.default_rng(6)
    problem = KMonomial(Samples(rng.random((300, 140)) < 0.6, rng.random(300) < 0.3), k=2)
    agrees_with_brute_force(problem)


@each([0, 1, 2, 4, 7, 12, 3, 5, 6, 8, 9, 10, 11], 6)
def test_every_k_up_to_d(seed):
    k, rng = seed, np.random.default_rng(seed)
    agreement = rng.random((70, 12)) < 0.85
    same = agreement[:, :4].all(axis=1) ^ (rng.random(70) < 0.1)
    agrees_with_brute_force(KMonomial(Samples(agreement, same), k=k), threads=1 + k % 2)


@pytest.mark.parametrize("agreeing", [0, 1, 3, 10])
@pytest.mark.parametrize("threads", [1, 2])
def test_small_needles(agreeing, threads):
    agrees_with_brute_force(needle(60, 12, agreeing, 4, seed=agreeing), threads=threads)


@pytest.mark.parametrize("heaviest", [1, 5, 2**20])
def test_needle_against_another_engine(heaviest):
    rng = np.random.default_rng(heaviest)
    problem = needle(120, 22, 2, 4)
    samples = problem.samples
    weighted = Samples(samples.agreement, samples.same, rng.integers(1, heaviest + 1, 120))
    problem = KMonomial(weighted, k=4)
    assert solve(problem, "search").objective == solve(problem, "cpsat").objective


@pytest.mark.parametrize("seed", range(4))
def test_answer_does_not_depend_on_threads(seed):
    rng = np.random.default_rng(seed)
    # A single column decides; many other rules are as good.
    agreement = rng.random((40, 40)) < 0.5
    problem = KMonomial(Samples(agreement, rng.random(40) < 0.1), k=4)
    answers = {
        solve(problem, "search", threads=threads).explanation.features
        for threads in (1, 2, 3, 2, 1000)
    }
    assert len(answers) == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_equal_rules_in_plenty(threads):
    # Every set of three of the columns excludes all: value 0, and strict search sets in.
    rng = np.random.default_rng(0)
    agreement = rng.random((300, 60)) < 0.25
    problem = KMonomial(Samples(agreement, np.zeros(300, dtype=bool)), k=6)
    result = solve(problem, "search", threads=threads)
    assert result.status is Status.OPTIMAL
    features = result.explanation.features
    smaller = KMonomial(problem.samples, k=len(features) - 1)
    assert solve(smaller, "search").objective > result.objective
    # Lexicographically first: nothing as good has a smaller first feature.
    later = tuple(range(features[0], 60))
    without = KMonomial(
        problem.samples, k=len(features), forbidden=tuple(j for j in range(60) if j in later)
    )
    assert solve(without, "search").objective > result.objective


# --------------------------------------------------------------- anytime


def test_events_on_a_longer_run():
    events: list[Event] = []
    problem = needle(d=110)
    progress, outcome = run(problem, events.append)
    assert outcome.proved
    bounds = [e.point.bound for e in events if e.point.bound is not None]
    assert bounds == sorted(bounds)
    assert bounds[-1] == progress.objective == outcome.claimed
    assert outcome.raw_status.endswith("nodes")
    assert set(outcome.sizes) == {"samples", "features"}


HARD = needle(d=400)


def test_time_limit():
    start = processor_seconds()
    for limit in (0.5, 3, 12):
        progress, outcome = run(HARD, time_limit=limit)
        if progress.objective is not None and progress.best_bound is not None:
            break  # on a busy machine a limit may be over before there is a rule
    assert processor_seconds() - start < 15
    assert (outcome.proved, outcome.termination) == (False, Termination.TIME_LIMIT)
    assert progress.best_bound is not None
    assert progress.objective is not None


@pytest.mark.parametrize("threads", [1, 2])
def test_stop_is_heeded_at_once(threads):
    run(needle(60, 10, 2, 3))  # compiled
    progress = Progress(HARD, SolveOptions(threads=threads))
    told = []

    def tell():
        told.append(processor_seconds())
        progress.stop()

    threading.Timer(0.3, tell).start()
    outcome = solve_alone(Search(), HARD, progress)
    assert processor_seconds() - told[0] < 5
    assert (outcome.proved, outcome.termination) == (False, Termination.INTERRUPTED)


def test_stop_before_the_search():
    progress = Progress(HARD, SolveOptions())
    progress.stop()
    outcome = solve_alone(Search(), HARD, progress)
    assert (outcome.proved, outcome.termination) == (False, Termination.INTERRUPTED)


@each(range(12), 6)
def test_bounds_hold_at_random_interrupts(seed):
    rng = np.random.default_rng(seed)
    problem = needle(400, 60, int(rng.integers(0, 40)), 5, seed)
    optimum = solve(problem, "search").objective
    progress, outcome = run(problem, stop_after=float(rng.uniform(0, 0.05)), threads=1 + seed % 2)
    assert progress.objective is None or progress.objective >= optimum
    assert progress.best_bound is None or progress.best_bound <= optimum
    assert not outcome.proved or progress.objective == progress.best_bound == optimum


def test_pairs_that_no_table_tells_off_are_weighed_at_once():
    at_once = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        m, d, k = int(rng.integers(1000, 2000)), int(rng.integers(9, 13)), 3 + seed % 2
        agreement = rng.random((m, d)) < 0.5
        same = agreement[:, :k].all(axis=1) ^ (rng.random(m) < 0.45)
        weights = rng.integers(1, 4, m) if seed % 3 else None
        samples = Samples(agreement, same, weights, groups=rng.integers(0, d - 2, d))
        result = agrees_with_brute_force(KMonomial(samples, k=k), threads=1 + seed % 2)
        # Else there is no node for the last two features of a set.
        at_once += int(result.raw_status.split()[0]) > sum(comb(d, r) for r in range(1, k - 1))
        agrees_with_brute_force(KMonomial(samples, k=k, one_per_group=True, required=[1]))
        agrees_with_brute_force(MaxCoverage(samples, k=k, min_precision=0.4))
    assert at_once > 3


def test_gap():
    problem = needle(1000, 120, 300, 5)
    result = solve(problem, "search", gap=0.9)
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert result.gap <= 0.9
    assert result.termination is Termination.COMPLETED


def test_hint_prunes_and_counts():
    problem = needle(600, 60, 4, 4)
    best = solve(problem, "search")
    progress, outcome = run(problem, hint=best.explanation.features)
    assert outcome.proved
    assert progress.objective == best.objective
    assert progress.explanation.features == best.explanation.features
    # A hint as good as the best, but another set: the answer stays the first one.
    samples = Samples([[1, 0, 0], [0, 1, 1]], [True, False])
    twin = KMonomial(samples, k=1)
    for hint in (None, [0], [1], [2]):
        found = solve(twin, "search", hint=hint)
        assert found.explanation.features == solve(twin, "search").explanation.features == (0,)


def test_unsettled_ties_are_told(monkeypatch):
    monkeypatch.setattr("cpx.models.monomial.search.optimise._TIE_NODES", -(10**9))
    from cpx.models.monomial.search.driver import Workers

    run_on = Workers.run
    # The first look comes before the search, which may be over before another.
    monkeypatch.setattr(
        Workers, "run", lambda self, watch: not watch(self) and run_on(self, watch)
    )
    rng = np.random.default_rng(0)
    agreement = rng.random((2000, 90)) < 0.25
    problem = KMonomial(Samples(agreement, np.zeros(2000, dtype=bool)), k=7)
    result = solve(problem, "search")
    assert result.status is Status.OPTIMAL
    assert any("settled" in warning for warning in result.warnings)


# --------------------------------------------------------------- contract


def test_problems_without_arrays_are_refused():
    class Other:
        kind, encodings, _unstated = "other", (Encoding("plain", id),), ""

        def form(self) -> None:
            """Return none."""

    with pytest.raises(InvalidOption, match="other"):
        require_accepts(Search(), Other())


def test_no_engine_is_imported_to_ask_whether_the_search_is_there():
    code = (
        "import sys, cpx, cpx.backends.search; from cpx.backends.search import Search;"
        "from cpx.backends.base import versions_of; Search.available(); versions_of(Search);"
        "assert not {'cpmpy', 'ortools'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_other_engine_is_needed():
    code = (
        "import sys, numpy as np; from cpx.backends import register;"
        "from cpx.backends.search import Search; register(Search);"
        "from cpx import KMonomial, Samples, solve;"
        "r = solve(KMonomial(Samples(np.eye(3, dtype=bool), [1, 0, 0]), k=1), 'search');"
        "assert r.objective == 0, r;"
        "assert not {'cpmpy', 'ortools', 'pulp', 'pysat'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_workspace_grows_when_it_must(monkeypatch):
    from cpx.models.monomial.search import driver, stack

    problem = KMonomial(needle(3000, 30, 50, 6).samples, k=6)
    expected = solve(problem, "search")
    calls = []

    def small(*arguments):
        levels, scratch = stack.new_levels(*arguments)
        return levels._replace(
            workspace=levels.workspace[: int(levels.start[1]) + 16].copy()
        ), scratch

    def grown(levels):
        calls.append(levels.workspace.size)
        return stack.grown(levels)

    monkeypatch.setattr(driver, "new_levels", small)
    monkeypatch.setattr(driver, "grown", grown)
    result = solve(problem, "search")
    assert calls
    assert (result.objective, result.explanation.features) == (
        expected.objective,
        expected.explanation.features,
    )


@pytest.mark.slow
def test_needle():
    for seed in range(3):
        result = solve(needle(seed=seed), "search", time_limit=60)
        assert result.status is Status.OPTIMAL
        assert result.times.solve < 15


def test_an_encoding_has_no_effect_and_the_user_is_told() -> None:
    problem = random_problem(1, kinds=KINDS[:2], limited=False)
    result = solve(problem, "search", encoding="table1-literal")
    assert "backend search does not honour encoding" in result.warnings
    assert result.encoding == ""
    assert result.proved
