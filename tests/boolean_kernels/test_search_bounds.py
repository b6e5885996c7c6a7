"""The bound of the exact search, and branch and bound with it, against all formulas."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpx import KernelRule, solve
from cpx.answers.result import Status
from cpx.models.kernel_rule import search as dnf
from cpx.models.kernel_rule.search import branch_and_bound as tree
from cpx.models.kernel_rule.search.candidates import enumerate_clauses
from cpx.models.kernel_rule.search.dominance import dominated, parents_of
from cpx.models.kernel_rule.search.dual import Dual
from cpx.models.kernel_rule.search.local_search import exchange
from cpx.models.kernel_rule.search.restriction import Multipliers, Restriction
from cpx.models.kernel_rule.search.rows import Rows
from cpx.models.kernel_rule.search.terms import Terms


def drawn(seed: int, k: int = 12, p: int = 7, q: int = 7) -> Restriction:
    """Return random clauses, of which each is true of a positive row."""
    rng = np.random.default_rng(seed)
    inside, outside = rng.random((k, p)) < 0.3, rng.random((k, q)) < 0.3
    inside[np.arange(k), rng.integers(0, p, k)] = True
    gains, costs = rng.integers(1, 100, p) << 30, rng.integers(1, 100, q) << 30
    return Restriction.whole(inside, outside, gains, costs)


def value(part: Restriction, clauses: tuple[int, ...]) -> int:
    chosen = list(clauses)
    gained, paid = (table.any(axis=0) for table in part.tables(np.array(chosen)))
    return int(part.gains[gained].sum() - part.costs[paid].sum())


def formulas(part: Restriction, most: int) -> dict[tuple[int, ...], int]:
    return {
        clauses: value(part, clauses)
        for count in range(1, most + 1)
        for clauses in combinations(range(len(part)), count)
    }


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_no_formula_is_above_the_bound(seed: int, most: int) -> None:
    part = drawn(seed)
    worth = formulas(part, most)
    best = max(worth.values())
    dual = Dual(part, most, Multipliers.in_proportion(part.gains, part.costs.size))
    for _ in range(4):
        assert dual.look() >= best
        assert_nothing_is_lost(dual, worth, best - 1)
        assert_nothing_is_lost(dual, worth, int(0.8 * best))
        dual = dual.only(dual.needed(best - 1))
        assert dual.look() >= best
        for _ in range(8):
            dual.step(0.3, 1e-3)


def assert_nothing_is_lost(dual: Dual, worth: dict[tuple[int, ...], int], floor: int) -> None:
    """What is left out is in no formula above the floor."""
    numbers = dual.part.numbers.tolist()
    worth = {f: v for f, v in worth.items() if {*f} <= {*numbers}}
    left_out = {*dual.part.numbers[~dual.needed(floor)].tolist()}
    assert not any(v > floor and left_out & {*f} for f, v in worth.items())
    for at in {0, int(dual.order[0])}:
        others = [v for f, v in worth.items() if numbers[at] not in f]
        assert dual.bound_without(np.array([at])) >= max(others, default=0)


@pytest.mark.parametrize("order", ["C", "F"])
def test_steps_improve_the_bound(order: Literal["C", "F"]) -> None:
    part = drawn(3, k=20, p=30, q=30)
    start = Multipliers.in_proportion(part.gains, part.costs.size)
    # Multipliers of some rows lie in memory in either order.
    dual = Dual(part, 3, Multipliers(np.array(start.shares, order=order), start.prices))
    first = dual.look()
    for rate in np.geomspace(0.5, 0.01, 150):
        dual.step(float(rate), 1e-4)
    best = max(formulas(part, 3).values())
    assert best <= dual.look() < 1.2 * best < first


def test_exchanges_end_where_no_single_one_helps() -> None:
    part = drawn(5, k=30, p=20, q=20)
    found, worth = exchange(part, np.arange(30), 3)
    clauses = tuple(found.tolist())
    assert worth == value(part, clauses)
    for out in clauses:
        others = tuple(c for c in clauses if c != out)
        assert all(value(part, (*others, c)) <= worth for c in range(30))


@pytest.mark.parametrize("seed", range(6))
def test_branch_and_bound_finds_the_optimum(seed: int) -> None:
    """Labels are noise: nothing is consistent, and a node does not settle the matter."""
    rng = np.random.default_rng(seed)
    table = rng.random((60, 8)) < 0.5
    signs = np.where(rng.random(60) < 0.5, 1, -1)
    problem = KernelRule(table, (signs * rng.integers(1, 10_000, 60)).tolist(), 3, 3)
    result = solve(problem, "search")
    assert result.status is Status.OPTIMAL
    assert result.objective == result.bound == brute(problem)


def test_too_many_pairs_of_rows_leave_local_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dnf, "_MOST_PAIRS", 3)
    rng = np.random.default_rng(0)
    weights = np.where(rng.random(20) < 0.5, 1, -1).tolist()
    result = solve(KernelRule(rng.random((20, 4)) < 0.5, weights, 2, 2), "search")
    assert result.status is Status.FEASIBLE
    assert result.raw_status == "local search only: too many clauses or rows"


def brute(problem: KernelRule) -> int:
    form = problem.form()
    covers = {
        form.table[:, list(clause)].all(axis=1).tobytes()
        for size in range(1, form.max_literals + 1)
        for clause in combinations(range(form.table.shape[1]), size)
    }
    sets = np.array([np.frombuffer(cover, dtype=np.bool_) for cover in covers])
    best = -(2**60)
    for a, b in combinations(range(len(sets)), 2):
        united = sets[a] | sets[b] | sets[b:]
        best = max(best, int((united @ form.weights).max()))
    return best


def test_a_clause_is_left_out_for_a_shorter_one_of_the_same_cost() -> None:
    table = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]], dtype=bool)
    form = KernelRule(table, [5, 4, -2, -1], 2, 3).form()
    found = enumerate_clauses(Rows.of(form), Terms.of(form), 3, 10, 1000, lambda: False)
    assert found is not None
    # x0 excludes all negative rows: with another feature it only loses a positive one.
    assert [found.clause(c) for c in range(len(found))] == [(0,)]


@cache
def with_optimum(seed: int) -> tuple[KernelRule, int]:
    rng = np.random.default_rng(seed)
    table = rng.random((60, 8)) < 0.5
    signs = np.where(rng.random(60) < 0.5, 1, -1)
    problem = KernelRule(table, (signs * rng.integers(1, 10_000, 60)).tolist(), 3, 3)
    return problem, brute(problem)


@pytest.mark.parametrize("doubt", [0.0, 1e9], ids=["rows", "clauses"])
def test_splits_of_either_kind_lose_nothing(doubt: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step per node leaves the matter to the splits."""
    for name, value in {"_DOUBT": doubt, "_STEPS": 3, "_BELOW": 1}.items():
        monkeypatch.setattr(tree, name, value)
    nodes = 0
    for seed in range(2):
        problem, greatest = with_optimum(seed)
        result = solve(problem, "search")
        assert result.objective == result.bound == greatest
        nodes += int(str(result.raw_status).split()[2])
    assert nodes > 20


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_superfluous_clauses_are_in_no_need(seed: int) -> None:
    """When some rows do not count any more, the best of the other clauses is as good."""
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random(14) < 0.5, 1, -1) * rng.integers(1, 100, 14)
    form = KernelRule(rng.random((14, 5)) < 0.6, weights.tolist(), 2, 3).form()
    rows, terms = Rows.of(form), Terms.of(form)
    found = enumerate_clauses(rows, terms, 3, 10**6, 10**6, lambda: False)
    assert found is not None
    parents = parents_of(found, rows, terms)
    covers = np.column_stack([found.inside, found.outside])
    table = np.vstack([rows.inside, rows.outside])
    for c, above in np.argwhere(parents >= 0):
        kept = np.delete(found.clauses[c], above)
        expected = table[:, kept[kept >= 0]].all(axis=1)
        assert (covers[parents[c, above]] == expected).all()
    whole = Restriction.whole(found.inside, found.outside, rows.gains, rows.costs)
    left = whole.only(
        rng.random(len(found)) < 0.9,
        rng.random(len(rows.gains)) < 0.6,
        rng.random(len(rows.costs)) < 0.5,
    )
    none = np.zeros((len(left), 0), dtype=bool)
    fewer = left.without_idle_rows(~dominated(left, parents, none, none))[0]
    best = max([0, *formulas(left, 2).values()])
    assert best == max([0, *formulas(fewer, 2).values()])


def test_some_clauses_and_rows_are_the_same_in_lists_and_tables() -> None:
    rng = np.random.default_rng(2)
    inside, outside = rng.random((9, 6)) < 0.4, rng.random((9, 5)) < 0.4
    part = Restriction.whole(inside, outside, np.arange(1, 7), np.arange(1, 6))
    clauses, p, q = (rng.random(count) < 0.6 for count in (9, 6, 5))
    some = part.only(clauses, p, q)
    tables = some.tables(np.arange(len(some)))
    assert (tables[0] == inside[clauses][:, p]).all()
    assert (tables[1] == outside[clauses][:, q]).all()
    nets = tables[0] @ some.gains - tables[1] @ some.costs
    assert (some.nets == nets).all()
