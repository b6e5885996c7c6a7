"""Best-first search for known attributes against brute force, and its bound by the definition."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pytest

import cpx
from cpx.models import MLSE
from cpx.models.expected_prediction.cases import (
    STRUCTURES,
    best_set,
    random_circuit,
    random_expectation,
    random_states,
)
from cpx.models.expected_prediction.search.known_attributes import branch_and_bound, enumeration
from cpx.testing.random_trees import random_row, random_tree_model
from tests.seeds import each, some


@pytest.fixture(autouse=True)
def _nothing_is_enumerated(monkeypatch):
    monkeypatch.setattr(enumeration, "_MOST_NUMBERS", -1)


def _is_best(problem: MLSE) -> None:
    best, result = best_set(problem), cpx.solve(problem, "search", time_limit=None)
    if best is None:
        assert result.status.name == "INFEASIBLE"
        return
    assert (result.status.name, result.objective, result.bound) == ("OPTIMAL", best[0], best[0])
    assert problem.tie(result.explanation.features) == best[1]
    assert result.verified


@pytest.mark.parametrize("structure", STRUCTURES[1:])
@each(range(200), few=4)
def test_optima_are_those_of_brute_force(structure, seed):
    """Also where units are so coarse that many sets are equally good, or sets must be likely."""
    problem = random_expectation(seed, structure)
    coarse = problem.greatest_sum / 3 or 1
    for k in range(problem.n_features + 1):
        _is_best(replace(problem, k=k, unit=coarse if k % 2 else None))
    _is_best(replace(problem, k=problem.n_features, min_probability=[0.05, 0.2, 0.6][seed % 3]))


@pytest.mark.parametrize("structure", STRUCTURES[1:])
@pytest.mark.parametrize("n", some(16, 400))
def test_the_fewest_attributes_are_bounded_by_size(structure, n):
    """No bound is beyond the fewest, and most are proved without looking at all sets."""
    proved = []
    for seed in range(n):
        problem = random_expectation(seed, structure, dual=True)
        every = range(problem.n_features)
        sets = chain.from_iterable(combinations(every, k) for k in (*every, problem.n_features))
        least = next((len(S) for S in sets if problem._may_choose(S) and problem.reaches(S)), None)
        result = cpx.solve(problem, "search", time_limit=None)
        if least is None:
            assert result.objective is None
        else:
            assert result.bound <= least <= result.objective
            proved += [result.bound == least] * (not problem.bounded)
    assert sum(proved) >= 0.8 * len(proved) > 3


@each(range(250), few=12)
def test_circuits_of_eight_attributes(seed):
    """Where all that is known may be impossible, and few attributes are tested."""
    for attempt in range(100):
        model = random_tree_model(100 * seed + attempt, most_attributes=8, most_trees=5)
        x = random_row(model, seed)
        try:
            coding = random_states(model, seed, x)
            circuit = random_circuit(seed, coding.cardinalities)
            problem = MLSE(model, x, coding, circuit, min(coding.n_attributes, 2 + seed % 3))
        except cpx.errors.InvalidInstance:
            continue  # scores of three classes, or a row that cannot be
        break
    _is_best(problem)


@each(range(300), few=30)
def test_shares_bound_all_that_follows(seed):
    """Sums over all states by the definition, of two random measures of five attributes."""
    rng = np.random.default_rng(seed)
    n, more = 5, int(rng.integers(1, 5))
    rows = np.array(np.unravel_index(range(2**n), (2,) * n)).T.astype(bool)
    N, M = rng.random((2, 2**n)) ** rng.integers(1, 9)
    high, low = (rows * N[:, None]).sum(axis=0), (rows * M[:, None]).sum(axis=0)
    share, losses = np.empty(n), np.zeros(more)
    branch_and_bound.greatest_shares(
        high, low, float(M.sum()), more, np.argsort(-high), losses, share
    )
    for j in range(n):
        met = -1.0
        for R in chain(*(combinations(range(j + 1, n), r) for r in range(1, more + 1))):
            inside = rows[:, [j, *R]].all(axis=1)
            met = max(met, N[inside].sum() / (N[inside].sum() + M[inside].sum()))
        assert share[j] >= met - 1e-12
        assert (share[j] < 0) == (j == n - 1)


def test_what_waits_leaves_a_bound(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "_MOST_WAITING", 0)
    waited = 0
    for seed in range(20):
        problem = random_expectation(seed, "circuit", required=(), forbidden=())
        problem = replace(problem, k=min(3, problem.n_features))
        result = cpx.solve(problem, "search", time_limit=None)
        if "waited" in result.raw_status and result.status.name == "FEASIBLE":
            waited += 1
            assert result.bound >= best_set(problem)[0]
            assert "not proved greatest" in result.explanation.proved
    assert waited
