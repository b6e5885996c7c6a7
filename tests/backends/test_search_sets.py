"""The parts of the search for sets of rules, each against all sets."""

from __future__ import annotations

import threading
from functools import partial
from itertools import combinations

import numpy as np
import pytest

from cpx import RuleSetSelection, Samples, solve
from cpx.backends.base import Progress
from cpx.backends.search.rule_sets import bitsets
from cpx.backends.search.rule_sets import subproblem as exploring
from cpx.backends.search.rule_sets.bitsets import BitsetSearch
from cpx.backends.search.rule_sets.multipliers import Relaxation
from cpx.backends.search.rule_sets.open_nodes import Incumbent, Subproblem
from cpx.backends.search.rule_sets.parallel import TaskPool
from cpx.compiled.kernel import load
from cpx.models.rule_set.presolve import presolved
from cpx.options import SolveOptions
from cpx.testing.rule_sets import random_selection

Key = tuple[int, int, tuple[int, ...]]


def keys_of(problem: RuleSetSelection) -> list[Key]:
    """Return cost, size and rules of all allowed sets of rules that the presolve keeps."""
    left = presolved(problem.form)
    required = left.form.required
    free = [r for r in left.kept if r not in required]
    every = (T for size in range(len(free) + 1) for T in combinations(free, size))
    sets = (tuple(sorted((*required, *T))) for T in every)
    return [(problem.form.cost(S), len(S), S) for S in sets if problem.form.allows(S)]


def answer(problem: RuleSetSelection, threads: int = 1) -> Key | None:
    result = solve(problem, "search", threads=threads)
    if result.objective is None:
        return None
    rules = result.explanation.features
    return result.objective, len(rules), rules


def selections(start: int, stop: int) -> list[RuleSetSelection]:
    return [random_selection(seed, max_samples=40, max_rules=9) for seed in range(start, stop)]


@pytest.mark.parametrize("steps", [0, 1, 12])
def test_bounds_by_shares_hold(steps: int) -> None:
    load()
    for problem in selections(0, 40):
        form = presolved(problem.form).form
        rules = [r for r in presolved(problem.form).kept if r not in form.required]
        rules = np.array([r for r in rules if form.covers[r][form.weights > 0].any()], dtype=int)
        sets = [key for key in keys_of(problem) if set(key[2]) <= {*rules, *form.required}]
        if not rules.size or not sets:
            continue
        relaxation = Relaxation(form, form.required, rules)
        for _ in range(steps):
            relaxation.climb(0.03, 0.4)
        bound, within, without = relaxation.certify()
        assert bound <= min(sets)[0]
        for at, rule in enumerate(rules):
            assert within[at] <= min([c for c, _, S in sets if rule in S], default=2**62)
            assert without[at] <= min([c for c, _, S in sets if rule not in S], default=2**62)


def test_ascent_makes_the_bound_better() -> None:
    # Each of three rules covers two of three good rows, and a bad row of its own that costs 3.
    bits = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    samples = Samples(bits, [1, 1, 1, 0, 0, 0], [9, 9, 9, 3, 3, 3])
    form = RuleSetSelection(samples, [(0,), (1,), (2,)]).form
    relaxation = Relaxation(form, (), np.arange(3))
    first = relaxation.certify()[0]
    for _ in range(200):
        relaxation.climb(0.02, 0.1)
    # Two rules cover all and cost 6; the shares of three rows prove 4.5.
    assert first <= relaxation.certify()[0] == 5


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_of_the_best_sets(threads: int) -> None:
    for problem in selections(100, 130):
        assert answer(problem, threads) == min(keys_of(problem), default=None)


@pytest.mark.parametrize("kernels", [True, False])
def test_parts_have_all_sets(monkeypatch, kernels: bool) -> None:
    """Without the search that has no shares; and by splitting alone, without any kernels."""
    search = exploring.SubproblemSearch._search

    def only_with_shares(self, part, paid, work):
        return kernels and paid is not None and search(self, part, paid, work)

    monkeypatch.setattr(exploring.SubproblemSearch, "_search", only_with_shares)
    monkeypatch.setattr(exploring, "_STEPS", 3)
    monkeypatch.setattr(exploring, "_STEPS_BELOW", 1)
    if not kernels:
        monkeypatch.setattr(exploring, "WORK", 0)
    for problem in selections(200, 225):
        assert answer(problem, 2) == min(keys_of(problem), default=None)


def test_bounds_without_shares_are_told_on_the_way(monkeypatch) -> None:
    monkeypatch.setattr(exploring, "_MOST_SHARES", -1)
    monkeypatch.setattr(exploring, "WORK", 0)
    monkeypatch.setattr(bitsets, "WORK", 1)
    pairs = list(combinations(range(6), 2))[:12]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        samples = Samples(rng.random((60, 6)) < 0.5, rng.random(60) < 0.5)
        problem = RuleSetSelection(samples, pairs, penalty="1/200")
        form, kept = presolved(problem.form).form, presolved(problem.form).kept
        known = Incumbent(problem.form, problem, Progress(problem, SolveOptions()), ())
        part = Subproblem((), np.array(kept, dtype=np.int64), form.offset)
        told: list[int] = []
        exploring.SubproblemSearch(form, known, TaskPool(), lambda: False, told.append).explore(
            part
        )
        assert told == sorted(told)
        assert told[0] < told[-1] == min(keys_of(problem))[0] == known.cost
        assert len(set(told)) > 3


def test_ties_do_not_depend_on_the_start() -> None:
    # Rules 0 and 1 together do what 2 and 3 do; the second pair is the start.
    bits = np.repeat(np.eye(4, dtype=bool), 2, axis=0)
    table = np.column_stack([bits[:, 0] | bits[:, 1], bits[:, 2] | bits[:, 3]])
    table = np.column_stack([table, bits[:, 0] | bits[:, 2], bits[:, 1] | bits[:, 3]])
    problem = RuleSetSelection(Samples(table, np.ones(8)), [(j,) for j in range(4)], penalty="0.1")
    for hint in [(), (2, 3), (0, 1, 2)]:
        assert solve(problem, "search", hint=hint).explanation.features == (0, 1)


def test_heavy_weights_are_exact() -> None:
    for seed in range(300, 310):
        light = random_selection(seed, max_samples=30, max_rules=7)
        weights = light.samples.weights * 10**5 + np.arange(light.samples.weights.size)
        samples = Samples(light.samples.agreement, light.samples.same, weights)
        problem = RuleSetSelection(samples, light.rules, penalty="1/30", loss=light.loss)
        assert answer(problem) == min(keys_of(problem))


def many_sets(seed: int) -> RuleSetSelection:
    """Return a problem whose search without shares takes some hundred nodes."""
    rng = np.random.default_rng(seed)
    samples = Samples(rng.random((80, 6)) < 0.5, rng.random(80) < 0.5)
    return RuleSetSelection(samples, list(combinations(range(6), 2))[:11], penalty="1/300")


@pytest.mark.parametrize("threads", [1, 2])
def test_searches_that_are_parted_off_are_done(monkeypatch, threads: int) -> None:
    monkeypatch.setattr(bitsets, "WORK", 20)
    monkeypatch.setattr(exploring, "_MOST_SHARES", -1)
    monkeypatch.setattr(TaskPool, "wanted", True)
    parted = []

    def split_off(self, taken=BitsetSearch.split_off):
        parted.append(taken(self))
        return parted[-1]

    monkeypatch.setattr(BitsetSearch, "split_off", split_off)
    for seed in range(3):
        problem = many_sets(seed)
        assert answer(problem, threads) == min(keys_of(problem))
    assert sum(other is not None for other in parted) > 3


def test_what_was_parted_off_and_what_is_left_are_all(monkeypatch) -> None:
    for seed in range(3):
        monkeypatch.setattr(bitsets, "WORK", 10 * seed + 1)
        problem = many_sets(seed)
        form, kept = presolved(problem.form).form, presolved(problem.form).kept
        best: list[Key] = [(2**62, 0, ())]

        def offer(found: tuple[int, ...] | None, form=problem.form, best=best) -> tuple[int, int]:
            if found is not None:
                rules = tuple(sorted(found))
                best[0] = min(best[0], (form.cost(rules), len(rules), rules))
            return best[0][:2]

        rules = np.array(kept, dtype=np.int64)
        searches = [BitsetSearch(form, (), rules, None, (2**62, 0))]
        parted = 0
        while searches:
            search = searches.pop(0)
            other = search.split_off()
            parted += other is not None
            searches += [] if other is None else [other]
            searches += [] if search.step(offer) else [search]
        assert parted > 1
        assert best[0] == min(keys_of(problem))


def test_shares_are_the_same_whoever_does_the_steps() -> None:
    load()
    rng = np.random.default_rng(0)
    samples = Samples(rng.random((1200, 8)) < 0.5, rng.random(1200) < 0.5)
    form = RuleSetSelection(samples, [(j,) for j in range(8)]).form.merged
    rules = np.arange(8)
    alone, together = (Relaxation(form, (), rules) for _ in range(2))
    assert alone.state.ranges.size > 3
    pool, over = TaskPool(), threading.Event()

    def work() -> None:
        while not over.is_set():
            pool.help(0.01)

    helpers = [threading.Thread(target=work) for _ in range(2)]
    for helper in helpers:
        helper.start()
    for _ in range(7):
        alone.climb(0.1, 0.5)
        together.climb(0.1, 0.5, pool.share)
    over.set()
    for helper in helpers:
        helper.join()
    for one, other in zip(alone.state.of_bad, together.state.of_bad, strict=True):
        np.testing.assert_array_equal(one, other)
    assert alone.certify()[0] == together.certify()[0]


def test_a_crew_shares_tasks() -> None:
    pool, done = TaskPool(), []
    pool.share([partial(done.append, n) for n in range(5)])
    assert sorted(done) == list(range(5))
    assert not pool.wanted
