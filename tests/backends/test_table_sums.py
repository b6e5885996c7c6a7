"""The exact search of sums of tables, against trying all sets."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from cpx.backends import backend
from cpx.backends.base import Outcome, Progress
from cpx.models.expected_prediction.search.table_sums.ascent import ascend, settle
from cpx.models.expected_prediction.search.table_sums.branch_and_bound import BranchAndBound
from cpx.models.expected_prediction.search.table_sums.terms import (
    FREE,
    IN,
    OUT,
    largest_gains,
    restrict,
)
from cpx.models.expected_prediction.search.table_sums.value_and_penalty import GreatestValue
from cpx.options import SolveOptions
from tests.backends.table_sums import Tabled, random_tables
from tests.engines import solve_alone
from tests.seeds import each


def targeted(rng: np.random.Generator, *, likeliest: bool) -> Tabled:
    """Return a problem with a target that some sets have, or none."""
    form = random_tables(rng, most=8)
    values = [form.value(S) for S in Tabled(form).allowed()]
    target = int(rng.choice(values)) + int(rng.random() < 0.1) * 3
    return Tabled(replace(form, target=target, likeliest=likeliest))


def run(problem: Tabled, **options: object) -> tuple[Progress, Outcome]:
    """Solve with the engine alone."""
    progress = Progress(problem, SolveOptions(**options))
    return progress, solve_alone(backend("search"), problem, progress)


def check(problem: Tabled, **options: object) -> None:
    """Solve, and compare with all sets."""
    progress, outcome = run(problem, **options)
    best = problem.best()
    assert outcome.proved
    if best is None:
        assert progress.explanation is None
        return
    assert progress.explanation is not None
    found = progress.explanation.features
    assert problem.tables.allows(found)
    assert problem.key(found) == best
    assert progress.objective == progress.best_bound == outcome.claimed == best[0]
    assert outcome.best_of_ties or problem.tables.likeliest
    sign = 1 if problem.sense == "min" else -1
    assert all(sign * point.bound <= sign * best[0] for point in progress.trace if point.bound)


@each(range(120), 30)
def test_greatest_value_and_of_these_the_least_penalty(seed: int) -> None:
    check(Tabled(random_tables(np.random.default_rng(seed))))


@each(range(50))
def test_fewest_features_and_of_these_the_least_penalty(seed: int) -> None:
    check(targeted(np.random.default_rng(seed), likeliest=False))


@each(range(50))
def test_least_penalty(seed: int) -> None:
    check(targeted(np.random.default_rng(seed), likeliest=True))


@each(range(30))
@pytest.mark.parametrize("k", [0, "all"])
def test_nothing_and_everything_may_be_chosen(seed: int, k: object) -> None:
    form = random_tables(np.random.default_rng(seed), required=())
    check(Tabled(replace(form, k=form.n_features if k == "all" else 0)))


def test_required_features_that_contradict() -> None:
    form = random_tables(np.random.default_rng(1), required=(0,), forbidden=(0,))
    progress, outcome = run(Tabled(form))
    assert outcome.proved
    assert progress.explanation is None


@each(range(20))
def test_a_hint_changes_no_proof(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for problem in (
        Tabled(random_tables(rng)),
        targeted(rng, likeliest=False),
        targeted(rng, likeliest=True),
    ):
        allowed = list(problem.allowed())
        if not allowed:
            continue
        hint = allowed[int(rng.integers(len(allowed)))]
        progress = Progress(problem, SolveOptions())
        progress.found(problem.explanation(hint))
        outcome = solve_alone(backend("search"), problem, progress)
        assert outcome.proved
        assert problem.key(progress.explanation.features) == problem.best()


@each(range(25), 8)
@pytest.mark.parametrize("options", [{"time_limit": 1e-4}, {"gap": 0.5}, {"gap": 0.01}])
def test_what_is_stopped_claims_what_holds(seed: int, options: dict[str, float]) -> None:
    rng = np.random.default_rng(seed)
    for problem in (
        Tabled(random_tables(rng)),
        targeted(rng, likeliest=False),
        targeted(rng, likeliest=True),
    ):
        progress, outcome = run(problem, **options)
        best = problem.best()
        if best is None:
            assert progress.explanation is None
            continue
        sign = 1 if problem.sense == "min" else -1
        if progress.best_bound is not None:
            assert sign * progress.best_bound <= sign * best[0]
        if progress.explanation is not None:
            assert problem.tables.allows(progress.explanation.features)
            key = problem.key(progress.explanation.features)
            assert sign * key[0] >= sign * best[0]
            if outcome.best_of_ties:
                assert key == best
        if outcome.proved and not options.get("gap"):
            assert progress.objective == best[0]


def opened(rng: np.random.Generator) -> tuple[BranchAndBound, np.ndarray, int]:
    """Return a search at a node where some features are decided, and how many may be chosen."""
    while True:
        form = random_tables(rng)
        if GreatestValue(form, form.k).features:
            break
    tree = BranchAndBound(
        GreatestValue(form, form.k),
        None,
        found=lambda found: None,
        proved=lambda bound: None,
        stop=lambda: False,
    )
    decided = rng.choice([FREE, FREE, IN, OUT], form.n_features).astype(np.uint8)
    decided[np.setdiff1d(np.arange(form.n_features), tree._whole.feature)] = OUT
    return tree, decided, form.k - int((decided == IN).sum())


def below(decided: np.ndarray, room: int) -> list[tuple[int, ...]]:
    """Return the sets of a node."""
    chosen, free = np.flatnonzero(decided == IN).tolist(), np.flatnonzero(decided == FREE).tolist()
    return [
        (*chosen, *more) for r in range(min(room, len(free)) + 1) for more in combinations(free, r)
    ]


def joint(tree: BranchAndBound, S: tuple[int, ...]) -> int:
    """Return F of a set, by the objective's own tables."""
    objective = tree.objective
    total = -sum(int(objective.costs[j]) for j in S)
    for members, table in zip(objective.features, objective.tables):
        total += int(table[sum(1 << bit for bit, j in enumerate(members) if j in S)])
    return total


def test_the_bound_holds_for_all_multipliers_and_decides_what_better_sets_share() -> None:
    settled = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        tree, decided, room = opened(rng)
        if room <= 0 or not (decided == FREE).any():
            continue
        work, part = tree._work, tree._part
        restrict(tree._whole, part, decided)
        room = min(room, int((decided == FREE).sum()))
        bits = int(part.size.sum())
        work.limit[:bits] = tree._ranges[part.origin[:bits]]
        work.multiplier[:bits] = rng.integers(-1, 2, bits) * work.limit[:bits] // 3
        work.pace[:] = 1.0, 0.0
        base = -int(work.cost[decided == IN].sum())
        sets = below(decided, room)
        values = [joint(tree, S) for S in sets]
        low = -(1 << 62)
        for steps in (0, 1, 30):
            bound, met = ascend(
                *(part, work, decided, room, base, low, max(values), low, low, 1 << 62, steps)
            )
            assert bound >= max(values)
            found = tuple(np.flatnonzero((decided == IN) | (work.found > 0)).tolist())
            assert met == joint(tree, found)
            assert met in values
        enough = sorted(values)[-(1 + len(values) // 4)] - 1
        after = decided.copy()
        settled += settle(part, work, after, room, bound, enough)
        for S, value in zip(sets, values):
            if value > enough:
                assert all(after[j] != OUT for j in S)
                assert all(j in S for j in np.flatnonzero(after == IN))
    assert settled > 25


def test_largest_gains_are_those_of_all_sets() -> None:
    for seed in range(60):
        tree, decided, room = opened(np.random.default_rng(seed))
        restrict(tree._whole, tree._part, decided)
        gains = np.zeros(len(decided), dtype=np.int64)
        largest_gains(tree._part, gains)
        free = np.flatnonzero(decided == FREE).tolist()
        cost = tree.objective.costs
        for j in free:
            for S in below(decided, room):
                if j not in S:
                    more = joint(tree, (*S, j)) - joint(tree, S) + int(cost[j])
                    assert more <= gains[j]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_more(part: int) -> None:
    for seed in range(1000 + 200 * part, 1200 + 200 * part):
        rng = np.random.default_rng(seed)
        check(Tabled(random_tables(rng)))
        check(targeted(rng, likeliest=bool(rng.integers(2))))
