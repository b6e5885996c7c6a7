"""Sufficient reasons against brute force over all subsets and completions."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from cpx import SufficientReason, solve
from cpx.answers.result import Status
from cpx.errors import InvalidInstance
from cpx.models.sufficient_reason.cases import least_weight
from cpx.models.sufficient_reason.draw import random_reason
from cpx.models.sufficient_reason.features import conditions
from cpx.models.sufficient_reason.judge import Reason
from cpx.models.sufficient_reason.minimum_subset.form import LossForm, reduced
from cpx.testing.random_trees import completions, random_row, random_tree_model
from cpx.trees import Tree, read_model
from tests.seeds import each


def _class_margins(problem: SufficientReason, rows: np.ndarray, rival: int) -> np.ndarray:
    """Margins of each row and tree against a rival, in exact integers, (n, T)."""
    model, own = problem.tree_model, problem.label_index
    leaves = model.leaves(rows)
    columns = []
    for t, tree in enumerate(model.trees):
        values = model.exact.leaf_values[t][leaves[:, t]]
        if model.decision != "first":
            columns.append(values[:, 0] * (1 if own == 1 else -1))
            continue
        score = {k: values[:, i] for i, k in enumerate(tree.outputs)}
        columns.append(score.get(own, 0) - score.get(rival, 0) + 0 * values[:, 0])
    return np.stack(columns, axis=1)


def _wins(problem: SufficientReason, margin: int, rival: int) -> bool:
    model, own = problem.tree_model, problem.label_index
    base = model.exact.base_values
    if model.decision == "first":
        margin += base[own] - base[rival]
        return margin > 0 or (margin == 0 and own < rival)
    margin += base[0] * (1 if own == 1 else -1)
    ties = 1 if model.decision == "nonnegative" else 0
    return margin > 0 or (margin == 0 and own == ties)


def _is_reason(problem: SufficientReason, rows: np.ndarray) -> bool:
    """Decide by the definition, from all rows that agree on S."""
    model, own = problem.tree_model, problem.label_index
    if problem.definition == "sufficient":
        return bool((model.predict_index(rows) == own).all())
    rivals = [r for r in range(len(model.classes)) if r != own]
    if problem.definition == "tree-specific":
        return all(
            _wins(problem, sum(_class_margins(problem, rows, r).min(axis=0)), r) for r in rivals
        )
    leaves = model.leaves(rows)
    sure = 0
    for t, tree in enumerate(model.trees):
        votes = np.array(tree.outputs)[tree.values[leaves[:, t]].argmax(axis=1)]
        sure += bool((votes == own).all())
    # The others may all vote for one rival.
    others = len(model.trees) - sure
    return all(sure > others or (sure == others and own < r) for r in rivals)


def _rows(problem: SufficientReason, S: tuple[int, ...]) -> np.ndarray:
    return completions(problem.tree_model, problem.x, S)


def _brute(problem: SufficientReason) -> int | None:
    best = None
    for size in range(problem.n_features + 1):
        for S in combinations(range(problem.n_features), size):
            if not {*problem.required} <= {*S} or {*problem.forbidden} & {*S}:
                continue
            if _is_reason(problem, _rows(problem, S)):
                cost = problem.cost(S)
                best = cost if best is None else min(best, cost)
    return best


def _on_attributes(seed: int, **arguments: Any) -> SufficientReason:
    return random_reason(seed, level="attributes", **arguments)


@each(range(150), 37)
def test_the_form_and_the_checker_are_the_definition(seed: int) -> None:
    problem = _on_attributes(seed)
    checker = Reason(problem.to_dict())
    for size in range(problem.n_features + 1):
        for S in combinations(range(problem.n_features), size):
            right = _is_reason(problem, _rows(problem, S))
            assert problem.enough(S) == right, (S, problem.definition)
            assert checker.enough(frozenset(S)) == right, (S, problem.definition)


@each(range(150), 37)
def test_the_full_definition_of_several_trees(seed: int) -> None:
    model = random_tree_model(seed)
    problem = SufficientReason(model, random_row(model, seed), definition="sufficient")
    checker = Reason(problem.to_dict())
    for size in range(problem.n_features + 1):
        for S in combinations(range(problem.n_features), size):
            right = _is_reason(problem, _rows(problem, S))
            assert problem.enough(S) == right
            assert checker.enough(frozenset(S)) == right


def _free_leaf(model: Any, tree: Any, truth: dict[tuple[int, int], bool]) -> int:
    node = 0
    while tree.attribute[node] >= 0:
        a, j = int(tree.attribute[node]), int(tree.split[node])
        left = truth.get((a, j), j >= 0)
        node = int(tree.left[node] if left else tree.right[node])
    return int(tree.leaf[node])


@each(range(80))
def test_conditions_are_free(seed: int) -> None:
    """Against all truth values of the conditions outside S, for every S."""
    model = random_tree_model(seed, most_attributes=3, most_trees=2)
    x = random_row(model, seed)
    if any(x[a] != x[a] for a in model.used):
        with pytest.raises(InvalidInstance, match="level conditions is for rows without missing"):
            SufficientReason(model, x, level="conditions")
        return
    problem = SufficientReason(model, x, level="conditions", definition="sufficient")
    checker = Reason(problem.to_dict())
    tests, cells = conditions(model), model.cells(x)
    own = [bool(model.lefts(a, j)[cells[a]]) for a, j in tests]
    assert problem.n_features == len(tests) < 10
    given = {}
    for truth in product([False, True], repeat=len(tests)):
        named = dict(zip(tests, truth, strict=True))
        leaves = [_free_leaf(model, tree, named) for tree in model.trees]
        given[truth] = int(model.decide(model.exact.add(np.array([leaves])))[0])
    for size in range(len(tests) + 1):
        for S in combinations(range(len(tests)), size):
            right = all(
                label == problem.label_index
                for truth, label in given.items()
                if all(truth[i] == own[i] for i in S)
            )
            assert problem.enough(S) == right
            assert checker.enough(frozenset(S)) == right


@each(range(30), 8)
@pytest.mark.parametrize("encoding", ["order", "direct"])
def test_engines_find_the_minimum(seed: int, encoding: str) -> None:
    problem = _on_attributes(seed)
    best = _brute(problem)
    for engine in ("cpsat", "maxsat", "milp"):
        result = solve(problem, engine, encoding=encoding)
        assert result.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL), result
        assert result.verified
        assert result.objective == best


def _with_odd_leaves(seed: int) -> SufficientReason:
    """Return a problem whose leaves are any floats, so that losses must be rounded."""
    model = random_tree_model(seed, most_trees=6)
    rng = np.random.default_rng(seed)
    trees = [
        Tree(t.attribute, t.split, t.missing, t.values + rng.normal(0, 0.3, t.values.shape),
             t.outputs)
        for t in model.trees
    ]  # fmt: skip
    rule = "average" if model.decision == "first" else "sum"
    odd = replace(model, trees=tuple(trees), rule=rule)
    level = "conditions" if seed % 3 == 0 else "attributes"
    x = random_row(odd, seed)
    if any(x[a] != x[a] for a in odd.used):
        level = "attributes"
    return SufficientReason(odd, x, level=level, definition="tree-specific")


@each(range(40), 10)
def test_rounded_losses(seed: int) -> None:
    """Form and checker round alike, engines agree, and answers hold for the exact numbers."""
    problem = _with_odd_leaves(seed)
    exact = SufficientReason(
        problem.tree_model, problem.x, level=problem.level, definition="sufficient"
    )
    checker = Reason(problem.to_dict())
    sizes = range(problem.n_features + 1)
    sets = [S for n in sizes for S in combinations(range(problem.n_features), n)]
    for S in sets[:200]:
        assert checker.enough(frozenset(S)) == problem.enough(S)
        assert exact.enough(S) or not problem.enough(S)
    best = min((len(S) for S in sets if problem.enough(S)), default=None)
    for engine in ("cpsat", "maxsat", "milp"):
        result = solve(problem, engine)
        assert result.status is Status.OPTIMAL
        assert result.verified
        assert result.objective == best


def test_some_losses_are_rounded() -> None:
    assert sum(bool(_with_odd_leaves(seed).unit) for seed in range(80)) > 20


@each(range(30), 12)
def test_engines_on_both_levels(seed: int) -> None:
    problem = random_reason(seed)
    best = least_weight(problem)
    for engine in ("cpsat", "maxsat", "milp"):
        result = solve(problem, engine)
        assert result.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL)
        assert result.objective == best
        assert result.verified


def test_bounds_and_incumbents_are_monotone_and_isolated_answers_the_same() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(10, max_depth=5, random_state=0).fit(X, y)
    problem = SufficientReason(read_model(forest), X.iloc[3])
    for engine in ("cpsat", "maxsat", "milp"):
        here, there = solve(problem, engine), solve(problem, engine, isolate=True)
        assert (here.status, here.objective) == (there.status, there.objective)
        values = [point.objective for point in here.trace if point.objective is not None]
        assert values == sorted(values, reverse=True)
        hinted = solve(problem, engine, hint=here.explanation)
        assert hinted.objective == here.objective


def test_losses_add_up_in_62_bits_or_are_refused() -> None:
    def form(slack: int) -> LossForm:
        one = np.ones(1, dtype=np.int64)
        return LossForm.of(np.ones((1, 1), dtype=bool), np.zeros(1, dtype=np.int64),
                           [np.array([1])], [slack], one)  # fmt: skip

    assert form(2**61 - 1).slacks == (2**61 - 1,)
    with pytest.raises(InvalidInstance, match="do not add up in 62 bits"):
        form(2**61)


@pytest.mark.parametrize(("slack", "groups"), [(1, [[0], [2]]), (2, [])])
def test_groups_are_of_leaves_that_may_be_reached_at_a_loss_that_counts(slack, groups) -> None:
    form = LossForm(
        np.eye(4, dtype=bool),
        np.array([0, 0, 1, 2]),
        np.array([[1, 0, 1, slack + 1]]),
        (slack,),
        np.ones(4, dtype=np.int64),
    )
    assert form.must_exclude.tolist() == [False, False, False, True]
    assert [part.tolist() for part in form.groups[0]] == groups


def test_losses_are_as_small_as_they_get() -> None:
    for losses, slack, least, most in (
        ([4, 10**30, 0], 6, [1, 2, 0], 1),
        ([1, 2, 5], 2, [1, 2, 3], 2),
        ([7, 0], 3, [1, 0], 0),
        ([0, 0], 10**30, [0, 0], 0),
        ([0, 3], -2, [0, 1], -2),
    ):
        found = reduced(np.array(losses), slack)
        assert (found[0].tolist(), found[1]) == (least, most)


def test_leaves_that_another_one_speaks_for_are_left_out() -> None:
    one_tree = np.zeros(2, dtype=np.int64), [np.array([1, 2])], [2], np.ones(2, dtype=np.int64)
    form = LossForm.of(np.array([[1, 1], [0, 1]], dtype=bool), *one_tree)
    assert form.essential.excludes.tolist() == [[False, True]]
    form = LossForm.of(np.array([[1, 0], [0, 1]], dtype=bool), *one_tree)
    assert form.essential.excludes.tolist() == [[True, False], [False, True]]


def test_what_must_be_excluded_by_one_requirement_speaks_for_other_trees() -> None:
    form = LossForm(
        np.array([[0, 1], [1, 1], [1, 0]], dtype=bool),
        np.arange(3),
        np.array([[3, 1, 1], [0, 1, 1]]),
        (2, 2),
        np.ones(2, dtype=np.int64),
    )
    assert form.must_exclude.tolist() == [True, False, False]
    assert form.essential.excludes.tolist() == [[False, True], [True, False]]
