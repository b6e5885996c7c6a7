"""The three MaxSAT searches: values, bounds, statuses, options, interrupts."""

from __future__ import annotations

import operator
from itertools import count, product
from unittest.mock import patch

import cpmpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.solvers import Solver

from cpx import KMonomial, Samples
from cpx.answers.evaluation import Evaluation
from cpx.answers.explanation import Explanation
from cpx.answers.result import Termination
from cpx.answers.rule import Rule
from cpx.backends.base import Progress
from cpx.backends.maxsat import MaxSat, linear, rounding
from cpx.backends.maxsat.oracle import Oracle, Stopped
from cpx.modelling.statement import Statement
from cpx.options import SolveOptions
from cpx.support.totalizer import (
    GeneralisedTotalizer,
    ModuloTotalizer,
    _modulo_size,
    generalised_size,
    sum_encoding,
)
from cpx.testing.brute import brute_force
from tests.engines import solve_alone
from tests.processor_time import processor_seconds

SOLVERS = MaxSat.solvers
COMPARE = {"<=": operator.le, ">=": operator.ge, "==": operator.eq}


class Toy:
    """The part of a Problem that a backend uses: choose bits, pay weights, keep clauses."""

    def __init__(self, weights, clauses, sense="min", offset=0, rows=()):
        self.weights, self.clauses, self.sense, self.offset = weights, clauses, sense, offset
        self.rows = [(row[: len(weights)], relation, bound) for row, relation, bound in rows]

    def model(self, encoding=None):
        x = cp.boolvar(shape=(len(self.weights),), name="x")
        constraints = [
            cp.any([x[a - 1] if a > 0 else ~x[-a - 1] for a in c]) for c in self.clauses
        ]
        constraints += [
            COMPARE[relation](cp.sum([w * v for w, v in zip(row, x, strict=True)]), bound)
            for row, relation, bound in self.rows
        ]
        total = cp.sum([w * v for w, v in zip(self.weights, x, strict=True)])
        model = cp.Model(constraints)
        model.objective(total, minimize=self.sense == "min")
        return Statement(model, {"x": x}, self.complete, self.sense, self.offset)

    def complete(self, chosen):
        values = np.zeros(len(self.weights), dtype=np.int64)
        values[list(chosen)] = 1
        return {"x": values}

    def decode(self, values):
        return self.explanation(np.flatnonzero(values["x"]).tolist())

    def explanation(self, features):
        return Explanation(Rule.of(features, [f"x{i}" for i in range(len(self.weights))], "1"))

    def evaluate(self, explanation):
        chosen = set(explanation.features)
        feasible = all(any((abs(a) - 1 in chosen) == (a > 0) for a in c) for c in self.clauses)
        feasible &= all(COMPARE[r](sum(row[j] for j in chosen), b) for row, r, b in self.rows)
        objective = sum(self.weights[j] for j in chosen) + self.offset
        return Evaluation(objective, feasible=feasible)

    def _trivial_bound(self):
        return None

    def optimum(self):
        values = []
        for point in product((0, 1), repeat=len(self.weights)):
            found = self.evaluate(self.explanation(np.flatnonzero(point).tolist()))
            if found.feasible:
                values.append(found.objective)
        if not values:
            return None
        return min(values) if self.sense == "min" else max(values)


def _solve(problem, solver, **options):
    progress = Progress(problem, SolveOptions(**options))
    return progress, solve_alone(MaxSat(solver), problem, progress)


toys = st.integers(1, 8).flatmap(
    lambda n: st.builds(
        Toy,
        st.lists(st.integers(-9, 9), min_size=n, max_size=n),
        st.lists(
            st.lists(
                st.integers(1, n).flatmap(lambda v: st.sampled_from([v, -v])),
                min_size=1,
                max_size=3,
            ),
            max_size=12,
        ),
        st.sampled_from(["min", "max"]),
        st.integers(-20, 20),
    )
)


@given(toys)
@settings(deadline=None)
def test_all_solvers_against_brute_force(problem):
    _agree_with_brute_force(problem)


@pytest.mark.parametrize("parts", [(2, 5), (3, 30), (10**8,)])
def test_sums_with_rounded_weights_bound_the_exact_ones(parts):
    rng = np.random.default_rng(5)
    # Small ones here take the way of large ones.
    with (
        patch.object(linear, "_MOST_OF_MANY", 0),
        patch.object(linear, "_MOST_NODES", 0),
        patch.object(rounding, "_PARTS", parts),
    ):
        for relations in product(COMPARE, COMPARE):
            n = int(rng.integers(4, 9))
            given = rng.integers(10**7, size=n)
            rows = [
                (row.tolist(), relation, int(row @ given // 10**7))
                for relation, row in zip(relations, rng.integers(-(10**6), 10**7, (2, n)))
            ]
            _agree_with_brute_force(Toy(rng.integers(-9, 10, n).tolist(), [], "min", 3, rows))


def _agree_with_brute_force(problem):
    expected = problem.optimum()
    for solver in SOLVERS:
        progress, outcome = _solve(problem, solver)
        assert outcome.proved
        assert outcome.termination is Termination.COMPLETED
        assert progress.objective == expected
        assert outcome.claimed == expected
        assert progress.best_bound == expected
        better = (lambda a, b: a <= b) if problem.sense == "min" else (lambda a, b: a >= b)
        for point in progress.trace:
            assert point.objective is None or better(expected, point.objective)
            assert point.bound is None or better(point.bound, expected)


@pytest.fixture(scope="module")
def monomial():
    rng = np.random.default_rng(3)
    agreement = rng.random((120, 14)) < 0.55
    same = agreement[:, :3].all(axis=1) ^ (rng.random(120) < 0.15)
    problem = KMonomial(Samples(agreement, same, rng.integers(1, 9, 120)), k=3)
    return problem, brute_force(problem)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("encoding", ["clausal", "reified"])
def test_weighted_monomials(monomial, solver, encoding):
    problem, (best, _) = monomial
    progress, outcome = _solve(problem, solver, encoding=encoding)
    assert (outcome.proved, progress.objective, progress.best_bound) == (True, best, best)
    assert set(outcome.sizes) == {"variables", "clauses", "soft"}


@pytest.mark.parametrize("solver", SOLVERS)
def test_both_bounds_are_reported_on_the_way(monomial, solver):
    progress, _ = _solve(monomial[0], solver)
    assert len({point.objective for point in progress.trace}) > 2
    assert len({point.bound for point in progress.trace}) > 2


@pytest.mark.parametrize("solver", SOLVERS)
def test_time_limit(solver):
    rng = np.random.default_rng(0)
    problem = KMonomial(Samples(rng.random((800, 60)) < 0.5, rng.random(800) < 0.4), k=5)
    # On a busy machine the first limit may be over before there is a solution.
    for limit in (1.4, 6, 24):
        spent = processor_seconds()
        progress, outcome = _solve(problem, solver, time_limit=limit)
        assert processor_seconds() - spent < limit + 20
        if progress.objective is not None:
            break
    assert not outcome.proved
    assert outcome.termination is Termination.TIME_LIMIT
    assert progress.objective is not None
    assert progress.best_bound <= progress.objective


@pytest.mark.parametrize("solver", SOLVERS)
def test_gap(monomial, solver):
    progress, outcome = _solve(monomial[0], solver, gap=0.5)
    assert outcome.termination is Termination.COMPLETED
    assert progress.objective - progress.best_bound <= 0.5 * progress.objective
    assert progress.best_bound <= monomial[1][0] <= progress.objective


@pytest.mark.parametrize("solver", SOLVERS)
def test_hint_is_the_first_incumbent(monomial, solver):
    problem, (best, chosen) = monomial
    progress, outcome = _solve(problem, solver, hint=chosen)
    assert progress.trace[0].objective == best
    assert outcome.proved


@pytest.mark.parametrize("solver", SOLVERS)
def test_infeasible_hint_is_a_warning(monomial, solver):
    problem, (best, _) = monomial
    progress, outcome = _solve(problem, solver, hint=range(10))
    assert "hint" in outcome.warnings[0]
    assert progress.objective == best


@pytest.mark.parametrize("solver", SOLVERS)
def test_seeds_agree_on_the_optimum(monomial, solver):
    for seed in (1, 2):
        assert _solve(monomial[0], solver, seed=seed)[0].objective == monomial[1][0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_infeasible_is_proved(solver):
    progress, outcome = _solve(Toy([1, 2], [[1], [-1]]), solver)
    assert outcome.proved
    assert progress.objective is None
    assert outcome.claimed is None


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_costs_any_solution_is_optimal(solver):
    progress, outcome = _solve(Toy([0, 0], [[1, 2]], offset=7), solver)
    assert outcome.proved
    assert (progress.objective, progress.best_bound, outcome.claimed) == (7, 7, 7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_stopped_before_the_start(monomial, solver):
    progress = Progress(monomial[0], SolveOptions())
    progress.stop()
    outcome = solve_alone(MaxSat(solver), monomial[0], progress)
    assert not outcome.proved
    assert outcome.termination is Termination.INTERRUPTED
    assert progress.objective is None


# ------------------------------------------------------------------ the parts


def _encode(kind, weights, cap):
    clauses, new = [], count(len(weights) + 1).__next__
    if kind == "generalised":
        return GeneralisedTotalizer(weights, cap, new, clauses.append), clauses
    return ModuloTotalizer(weights, cap, kind, new, clauses.append), clauses


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=7),
    st.integers(1, 150),
    st.sampled_from(["generalised", 2, 4, 16]),
)
@settings(deadline=None)
def test_sums_are_bounded_exactly(weights, cap, kind):
    by_literal = {v if v % 2 else -v: w for v, w in enumerate(weights, 1)}
    total, clauses = _encode(kind, by_literal, cap)
    bounds = {bound: total.at_most(bound) for bound in range(0, cap, max(1, cap // 8))}
    with Solver(bootstrap_with=clauses) as solver:
        for point in product((False, True), repeat=len(weights)):
            fixed = [v if value else -v for v, value in enumerate(point, 1)]
            value = sum(w for x, w in by_literal.items() if point[abs(x) - 1] == (x > 0))
            for bound, assumptions in bounds.items():
                assert solver.solve(fixed + assumptions) == (value <= bound)


@pytest.mark.parametrize("spread", [1, 50])
def test_estimated_sizes_hold(spread):
    rng = np.random.default_rng(0)
    weights = dict(enumerate(rng.integers(1, spread + 1, 60).tolist(), 1))
    cap = sum(weights.values()) // 3
    _, clauses = _encode("generalised", weights, cap)
    # The ordering of outputs adds at most one clause per output.
    assert len(clauses) <= 2 * generalised_size(list(weights.values()), cap)
    _, clauses = _encode(8, weights, cap)
    assert len(clauses) <= 2 * _modulo_size(list(weights.values()), cap, 8)


def test_large_sums_are_encoded_within_the_limit():
    clauses = []
    weights = dict.fromkeys(range(1, 3001), 1)
    total = sum_encoding(weights, 1500, count(3001).__next__, clauses.append, limit=300_000)
    assert isinstance(total, ModuloTotalizer)
    assert len(clauses) < 600_000


def test_a_slice_ends_and_the_oracle_goes_on():
    holes, pigeons = range(10), range(11)
    clauses = [[p * 10 + h + 1 for h in holes] for p in pigeons]
    clauses += [
        [-(p * 10 + h + 1), -(q * 10 + h + 1)] for h in holes for p in pigeons for q in range(p)
    ]
    oracle = Oracle(lambda: False, lambda model: None)
    oracle.load([[*clause, 200] for clause in clauses])
    with oracle.watched():
        with oracle.slice(0.2):
            oracle.solve_limited([-200])
            pytest.fail("eleven pigeons do not fit that fast")
        assert oracle.solve_limited([200])
    oracle.delete()


def test_a_stop_leaves_a_slice():
    oracle = Oracle(lambda: True, lambda model: None)
    with pytest.raises(Stopped), oracle.slice(10):
        oracle.solve_limited()
    oracle.delete()
