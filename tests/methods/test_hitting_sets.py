"""The hitting-set backend against brute force, and as a backend."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from cpx import KMonomial, Samples, SufficientReason, check, solve
from cpx.answers.result import Status, Termination
from cpx.errors import InvalidInstance, InvalidOption
from cpx.models.sufficient_reason.cases import least_weight
from cpx.models.sufficient_reason.draw import random_reason
from cpx.testing.random_trees import completions, random_row, random_tree_model
from cpx.trees import read_sklearn
from tests.seeds import each, some


@pytest.fixture(scope="module")
def forest():
    X, y = load_breast_cancer(return_X_y=True)
    trees = RandomForestClassifier(25, max_depth=6, random_state=0).fit(X, y)
    return read_sklearn(trees, rule="vote"), X


def least_by_completions(problem):
    """Return the optimum by trying all sets, and all rows that agree on each."""
    model, own, best = problem.tree_model, problem.label_index, None
    for size in range(problem.n_features + 1):
        for S in combinations(range(problem.n_features), size):
            if not set(problem.required) <= set(S) or set(problem.forbidden) & set(S):
                continue
            rows = completions(model, problem.x, S)
            if (model.predict_index(rows) == own).all():
                best = min(problem.cost(S), problem.cost(S) if best is None else best)
    return best


@pytest.mark.parametrize("level", ["attributes", "conditions"])
@each(range(60), 15)
def test_random_models(seed, level):
    try:
        problem = random_reason(seed, definition="sufficient", level=level)
    except InvalidInstance:
        # The row has a missing value, which conditions do not take.
        assert level == "conditions"
        return
    result = solve(problem, "hitting-sets")
    best = least_by_completions(problem) if level == "attributes" else least_weight(problem)
    if best is None:
        assert result.status is Status.INFEASIBLE
        return
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, best, best)
    assert result.verified


@pytest.mark.parametrize("n", some(25, 60))
@pytest.mark.parametrize("trees", [1, 3])
def test_many_features_are_required_and_forbidden(n, trees):
    statuses = set()
    for seed in range(n):
        rng = np.random.default_rng(seed)
        model = random_tree_model(seed, most_attributes=5, most_trees=trees)
        order = rng.permutation(model.n_attributes).tolist()
        required, forbidden = rng.multinomial(len(order), [0.4, 0.15, 0.45])[:2]
        problem = SufficientReason(
            model,
            random_row(model, seed),
            definition="sufficient",
            weights=rng.integers(1, 5, len(order)).tolist(),
            required=order[:required],
            forbidden=order[required:][:forbidden],
        )
        best = least_by_completions(problem)
        result = solve(problem, "hitting-sets", seed=seed % 3)
        statuses.add(result.status)
        assert result.objective == result.bound == best
        assert result.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL)
        assert result.verified
    assert statuses == {Status.INFEASIBLE, Status.OPTIMAL}


def test_smaller_than_a_majoritary_reason(forest):
    model, X = forest
    full = solve(SufficientReason(model, X[0], definition="sufficient"), "hitting-sets")
    majority = solve(SufficientReason(model, X[0]), "cpsat")
    assert full.status is majority.status is Status.OPTIMAL
    assert (full.objective, majority.objective) == (6, 8)
    assert "force" in full.explanation.guarantee


def test_a_time_limit_leaves_an_interval(forest):
    model, X = forest
    problem = SufficientReason(model, X[19], definition="sufficient")
    result = solve(problem, "hitting-sets", time_limit=0.5)
    assert result.termination is Termination.TIME_LIMIT
    assert result.status is Status.FEASIBLE
    assert 1 <= result.bound < result.objective <= 30
    assert check.violations(problem.to_dict(), result.to_dict()) in ([], [check.UNDECIDED])
    # The problem is as good as new: what was stopped can be asked again.
    assert solve(problem, "hitting-sets", time_limit=0.5).status is Status.FEASIBLE


def test_other_definitions_and_problems_are_refused(forest):
    model, X = forest
    with pytest.raises(InvalidOption, match="definition sufficient"):
        solve(SufficientReason(model, X[0]), "hitting-sets")
    with pytest.raises(InvalidOption, match="k-monomial"):
        solve(KMonomial(Samples([[1]], [1]), 1), "hitting-sets")


def test_equal_seeds_give_equal_answers(forest):
    model, X = forest
    problem = SufficientReason(model, X[0], definition="sufficient")
    again = SufficientReason(model, X[0], definition="sufficient")
    first, second = (solve(p, "hitting-sets", seed=3) for p in (problem, again))
    assert first.explanation.features == second.explanation.features
