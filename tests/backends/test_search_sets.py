"""The parts of the search for sets of rules, each against all sets."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest

from cpx import RuleSetSelection, Samples, library, solve
from cpx.backends.base import Progress
from cpx.backends.search.work_sharing import TaskPool
from cpx.check.proofs import covers, proved
from cpx.compiled.library import load
from cpx.modelling.side_constraints.form import LinearConstraint
from cpx.models.rule_set.cases import random_selection
from cpx.models.rule_set.methods import local_search
from cpx.models.rule_set.presolve import presolved
from cpx.models.rule_set.search import bitset_search
from cpx.models.rule_set.search import subproblem as exploring
from cpx.models.rule_set.search.bitset_search import BitsetSearch
from cpx.models.rule_set.search.multipliers import Relaxation
from cpx.models.rule_set.search.open_nodes import Incumbent, Subproblem, restrict
from cpx.options import SolveOptions
from cpx.testing.drawing import side_constraint
from tests.engines import solve_alone
from tests.seeds import some

Key = tuple[int, int, tuple[int, ...]]


def keys_of(problem: RuleSetSelection) -> list[Key]:
    """Return cost, size and rules of all allowed sets of rules that the presolve keeps."""
    left = presolved(problem.selection_form)
    required = left.form.required
    free = [r for r in left.kept if r not in required]
    every = (T for size in range(len(free) + 1) for T in combinations(free, size))
    sets = (tuple(sorted((*required, *T))) for T in every)
    return [
        (problem.selection_form.cost(S), len(S), S)
        for S in sets
        if problem.selection_form.allows(S)
    ]


def answer(problem: RuleSetSelection, threads: int = 1) -> Key | None:
    result = solve(problem, "search", threads=threads)
    if result.objective is None:
        return None
    rules = result.explanation.features
    return result.objective, len(rules), rules


def selections(start: int, stop: int) -> list[RuleSetSelection]:
    return [random_selection(seed, max_samples=40, max_rules=9) for seed in range(start, stop)]


def constrained(seed: int) -> tuple[RuleSetSelection, list[Key]]:
    """Return a problem with side constraints, and the keys of its sets, the best first."""
    rng = np.random.default_rng([16, seed])
    problem = random_selection(seed, max_samples=40, max_rules=9)
    n = problem.n_features
    texts = [side_constraint(rng, n) for _ in range(seed % 3)]
    names = [f"feature[{r}]" for r in rng.permutation(n)[: 2 + seed % 3].tolist()]
    if n > 2:
        texts.append(f"at_least({1 + seed % 2}, {', '.join(names)})")
        texts.append(f"excludes(feature[{int(rng.integers(n))}], {names[-1]})")
    problem = problem.where(*texts) if texts else problem
    best = sorted(keys_of(problem))[: seed % 4]
    # The best sets, or some of them, are not allowed either.
    for _, _, chosen in best:
        parts = ("not " * (r in chosen) + f"feature[{r}]" for r in range(n))
        problem = problem.where(" or ".join(parts))
    return problem, sorted(keys_of(problem))


@pytest.mark.parametrize("steps", [0, 1, 12])
def test_bounds_by_shares_hold(steps: int) -> None:
    load()
    for problem in selections(0, 40):
        form = presolved(problem.selection_form).form
        rules = [r for r in presolved(problem.selection_form).kept if r not in form.required]
        rules = np.array([r for r in rules if form.covers[r][form.weights > 0].any()], dtype=int)
        sets = [key for key in keys_of(problem) if set(key[2]) <= {*rules, *form.required}]
        if not rules.size or not sets:
            continue
        relaxation = Relaxation(form, form.required, rules)
        relaxation.climb(steps)
        bound, within, without = relaxation.certify()
        assert bound <= min(sets)[0]
        for at, rule in enumerate(rules):
            assert within[at] <= min([c for c, _, S in sets if rule in S], default=2**62)
            assert without[at] <= min([c for c, _, S in sets if rule not in S], default=2**62)


def test_ascent_makes_the_bound_better() -> None:
    # Each of three rules covers two of three good rows, and a bad row of its own that costs 3.
    bits = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    samples = Samples(bits, [1, 1, 1, 0, 0, 0], [9, 9, 9, 3, 3, 3])
    form = RuleSetSelection(samples, [(0,), (1,), (2,)]).selection_form
    relaxation = Relaxation(form, (), np.arange(3))
    first = relaxation.certify()[0]
    relaxation.climb(200)
    # Two rules cover all and cost 6; the shares of three rows prove 4.5.
    assert first <= relaxation.certify()[0] == 5


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_of_the_best_sets(threads: int) -> None:
    for problem in selections(100, 130):
        assert answer(problem, threads) == min(keys_of(problem), default=None)


@pytest.mark.parametrize("kernels", [True, False])
def test_parts_have_all_sets(monkeypatch, kernels: bool) -> None:
    """Without the search that has no shares; and by splitting alone, without any kernels."""
    begin, go_on = exploring.SubproblemSearch._begin, exploring.SubproblemSearch._go_on

    def only_with_shares(self, part, paid):
        search = begin(self, part, paid)
        search.wanted = kernels and paid is not None
        return search

    def if_wanted(self, search, work):
        return getattr(search, "wanted", kernels) and go_on(self, search, work)

    monkeypatch.setattr(exploring.SubproblemSearch, "_begin", only_with_shares)
    monkeypatch.setattr(exploring.SubproblemSearch, "_go_on", if_wanted)
    monkeypatch.setattr(exploring, "_STEPS", 3)
    monkeypatch.setattr(exploring, "_STEPS_BELOW", 1)
    if not kernels:
        monkeypatch.setattr(exploring, "WORK", 0)
    for problem in selections(200, 225):
        assert answer(problem, 2) == min(keys_of(problem), default=None)


@pytest.mark.parametrize("n", some(12, 400))
@pytest.mark.parametrize("way", ["as it is", "parts", "threads", "shares", "splits"])
def test_side_constraints(n: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "parts":
        # By what the best set breaks, at once.
        parts_of = exploring.SubproblemSearch._part_by_violation
        parts = list[bool]()

        def explore(self, part, taken=exploring.SubproblemSearch.explore):
            left = restrict(self.form, part, self.incumbent)
            found = None if left is None or not self.form.side else parts_of(self, left)
            parts.append(bool(found))
            return taken(self, part) if found is None else found

        monkeypatch.setattr(exploring, "_MOST_PARTS", 99)
        monkeypatch.setattr(exploring.SubproblemSearch, "explore", explore)
    elif way == "threads":
        monkeypatch.setattr(bitset_search, "WORK", 20)
        monkeypatch.setattr(exploring, "_MOST_SHARES", -1)
        monkeypatch.setattr(TaskPool, "wanted", True)
    elif way != "as it is":
        monkeypatch.setattr(exploring, "_STEPS", 3)
        monkeypatch.setattr(exploring, "_STEPS_BELOW", 1)
        monkeypatch.setattr(exploring, "WORK", 0)
        monkeypatch.setattr(exploring, "_LEAST_WORK", 10**6 * (way == "shares"))
    found = 0
    for seed in range(n):
        problem, keys = constrained(seed)
        assert answer(problem, 1 + seed % 2) == min(keys, default=None), seed
        found += bool(keys)
    assert n / 3 < found < n
    assert way != "parts" or sum(parts) > n / 3


@pytest.mark.parametrize("n", some(30, 300))
def test_side_constraints_with_heavy_weights_and_hints_and_without_time(n: int) -> None:
    stopped = 0
    for seed in range(1000, 1000 + n):
        light, _ = constrained(seed)
        given = light.samples
        weights = given.weights * 10**7 + np.arange(given.m)
        problem = replace(light, samples=Samples(given.agreement, given.same, weights))
        keys = keys_of(problem)
        best = min(keys, default=None)
        hint = max(keys)[2] if keys and seed % 2 else (0,)
        limit = (None, 0.0003, 0.002)[seed % 3]
        result = solve(problem, "search", hint=hint, time_limit=limit, proof=seed % 5 == 0)
        assert not result.error
        stopped += not result.proved
        if result.proved:
            assert result.objective == (None if best is None else best[0])
            # With no time left it may have another one of equal sets.
            assert best is None or limit or result.explanation.features == best[2]
        elif best is not None:
            assert result.objective is None or result.objective >= best[0]
            assert result.bound is None or result.bound <= best[0]
        if result.proof is not None:
            claim = proved(problem.to_dict(), result.proof.to_bytes())
            assert covers(claim, result.to_dict()) or not result.proof.complete
            assert best is None or claim.bound <= best[0]
    assert stopped


def test_few_nodes_keep_side_constraints() -> None:
    # The optimum keeps all of them, or lacks what is asked for: each set with that is entered.
    problem = library.make("rules", 400, 24, 3)
    free = solve(problem, "search")
    names = [f"feature[{r}]" for r in range(96)]
    kept = problem.where(
        *(f"at_most(3, {', '.join(names[x : x + 24])})" for x in range(0, 96, 12)),
        f"at_least(1, {', '.join(names[:9])})",
        *(f"implies({names[x]}, {names[x + 30]})" for x in range(5, 40, 5)),
    )
    result = solve(kept, "search")
    assert (result.objective, result.proved) == (free.objective, True)
    assert int(result.raw_status.split()[0]) < 20
    none = solve(
        problem.where(names[1], "not feature[2]", f"implies({names[1]}, {names[2]})"), "search"
    )
    assert (str(none.status), none.bound, len(none.clash)) == ("INFEASIBLE", None, 3)
    asking = problem.where(*(f"at_least(1, {', '.join(names[x : x + 8])})" for x in (8, 16, 32)))
    result = solve(asking, "search")
    assert result.objective > free.objective
    assert result.proved
    assert int(result.raw_status.split()[0]) < 1000


@pytest.mark.parametrize("n", some(60, 300))
def test_a_start_that_keeps_side_constraints(n: int) -> None:
    allowed = kept = 0
    for seed in range(n):
        problem, keys = constrained(seed)
        moves = local_search._Moves(problem.selection_form)
        rows = problem.side_constraints.linear
        for chosen in combinations(range(moves.rules.size), seed % 4):
            if rows:
                features = {int(moves.rules[x]) for x in chosen}
                lacking, with_each = moves.violations.around(list(chosen))
                assert lacking == lack(rows, features)
                for place, r in enumerate(moves.rules.tolist()):
                    if r not in features:
                        assert with_each[place] == lack(rows, features | {r})
        progress = Progress(problem, SolveOptions())
        solve_alone(local_search.LocalSearch("0"), problem, progress)
        allowed += bool(keys)
        kept += progress.objective is not None
        assert progress.objective is None or progress.objective >= min(keys)[0]
    assert kept > 0.7 * allowed > 0


def explorer(
    problem: RuleSetSelection,
) -> tuple[exploring.SubproblemSearch, Subproblem | None, list[int]]:
    """Return the search of a problem without a start, the sets it begins with, its bounds."""
    left, told = presolved(problem.selection_form), list[int]()
    known = Incumbent(left.form, problem, Progress(problem, SolveOptions()), None)
    search = exploring.SubproblemSearch(left.form, known, TaskPool(), lambda: False, told.append)
    rules = [r for r in left.kept if r not in left.form.required]
    part = Subproblem(tuple(left.form.required), np.array(rules, dtype=np.int64), left.form.offset)
    return search, restrict(left.form, part, known), told


def inside(part: Subproblem, keys: list[Key]) -> list[Key]:
    """Return the keys of the sets of a part."""
    some = {*part.required, *part.rules.tolist()}
    return [key for key in keys if {*part.required} <= {*key[2]} <= some]


@pytest.mark.parametrize("n", some(30, 300))
def test_sets_are_looked_for_below_costs_that_bound_the_others(n: int) -> None:
    higher = 0
    for seed in range(n):
        problem, keys = constrained(seed)
        search, part, told = explorer(problem)
        if part is None or not keys:
            continue
        known = keys[(0, 1, -1)[seed % 3] % len(keys)]
        search.incumbent.offer(known[2])
        relaxation = Relaxation(search.form, part.required, part.rules)
        bound, within, _ = relaxation.certify()
        begun = replace(part, bound=max(part.bound, bound))
        assert search._narrow(part, relaxation, 0) is None or told[-1] == begun.bound
        # From a lower bound the first cost that is looked below is that of the best set.
        least = min(begun.bound, 2 * keys[0][0] - known[0])
        for start in {begun.bound, least}:
            aimed = search._aim(replace(begun, bound=start), relaxation.paid(), within, 10**6)
            assert aimed.bound <= min(key[0] for key in inside(part, keys))
            higher += aimed.bound > start
        # A search that is given up says nothing.
        search._go_on = lambda *_: False
        assert search._aim(begun, relaxation.paid(), within, 1).bound == begun.bound
    assert higher >= n // 5


@pytest.mark.parametrize("n", some(60, 300))
def test_parts_without_the_best_set_have_all_that_may_be_better(n: int) -> None:
    several = known = 0
    for seed in range(n):
        problem, keys = constrained(seed)
        search, part, _ = explorer(problem)
        if part is None or not search.form.side:
            continue
        parts = search._part_by_violation(part)
        if parts is None:
            continue
        best = min(inside(part, keys), default=None)
        if best is None or search.incumbent.key <= best:
            known += best is not None
        else:
            several += 1
            assert any(best in inside(one, keys) for one in parts)
        for one in parts:
            assert one.bound <= min((key[0] for key in inside(one, keys)), default=one.bound)
    assert min(several, known) >= n // 25


def lack(rows: tuple[LinearConstraint, ...], features: set[int]) -> int:
    """Return how much a set lacks of some constraints, by their definition."""
    found = 0
    for row in rows:
        total = sum(a for a, T in row.terms if features & set(T))
        found += max(0, row.at_least - total)
    return found


def test_bounds_without_shares_are_told_on_the_way(monkeypatch) -> None:
    monkeypatch.setattr(exploring, "_MOST_SHARES", -1)
    monkeypatch.setattr(exploring, "WORK", 0)
    monkeypatch.setattr(bitset_search, "WORK", 1)
    pairs = list(combinations(range(6), 2))[:12]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        samples = Samples(rng.random((60, 6)) < 0.5, rng.random(60) < 0.5)
        problem = RuleSetSelection(samples, pairs, penalty="1/200")
        form, kept = presolved(problem.selection_form).form, presolved(problem.selection_form).kept
        known = Incumbent(problem.selection_form, problem, Progress(problem, SolveOptions()), ())
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
    monkeypatch.setattr(bitset_search, "WORK", 20)
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
        monkeypatch.setattr(bitset_search, "WORK", 10 * seed + 1)
        problem = many_sets(seed)
        form, kept = presolved(problem.selection_form).form, presolved(problem.selection_form).kept
        best: list[Key] = [(2**62, 0, ())]

        def offer(
            found: tuple[int, ...] | None, form=problem.selection_form, best=best
        ) -> tuple[int, int]:
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
            searches += [] if search.step(offer, bitset_search.WORK) else [search]
        assert parted > 1
        assert best[0] == min(keys_of(problem))


def test_shares_are_the_same_whoever_does_the_steps() -> None:
    load()
    rng = np.random.default_rng(0)
    samples = Samples(rng.random((1200, 8)) < 0.5, rng.random(1200) < 0.5)
    form = RuleSetSelection(samples, [(j,) for j in range(8)]).selection_form.merged
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
    alone.climb(7)
    together.climb(7, pool.share)
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
