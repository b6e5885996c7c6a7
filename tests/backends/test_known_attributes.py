"""Expected predictions that are no sum of tables, by the search, against trying all sets."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import ceil

import numpy as np
import pytest

from cpx import solve
from cpx.answers.result import Status
from cpx.backends.base import Progress
from cpx.data.fitted.tree_mixture import ONE, TreeMixture
from cpx.models.expected_prediction.cases import STRUCTURES, best_set, random_expectation
from cpx.models.expected_prediction.problem import MLSE
from cpx.models.expected_prediction.search.known_attributes import enumeration as module
from cpx.models.expected_prediction.search.known_attributes.components import (
    bound_by_components,
    greatest_weights,
    most_mixed,
)
from cpx.models.expected_prediction.search.known_attributes.dinkelbach import Dinkelbach
from cpx.models.expected_prediction.search.known_attributes.enumeration import Enumeration
from cpx.options import SolveOptions
from tests.seeds import some


@pytest.mark.parametrize("structure", STRUCTURES[1:])
@pytest.mark.parametrize("dual", [False, True])
def test_all_sets_agree(dual: bool, structure: str) -> None:
    for seed in range(8):
        problem = random_expectation(seed, structure, dual)
        result = solve(problem, "search")
        best = best_set(problem)
        if best is None:
            assert result.status is Status.INFEASIBLE
            continue
        assert result.status is Status.OPTIMAL
        found = result.explanation.features
        assert (result.objective, result.bound, problem.tie(found)) == (best[0], *best[:2])


@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_set_is_made_once(structure: str) -> None:
    problem = random_expectation(4, structure, required=(1,), forbidden=(2,))
    n = problem.n_features
    form = replace(problem.form(), most=n)
    enumeration = Enumeration(problem, form, Progress(problem, SolveOptions()))
    made = []
    for sets, expected, _ in enumeration._sizes():
        for row, mean in zip(sets, expected):
            S = tuple(row.nonzero()[0].tolist())
            made.append(S)
            assert mean == pytest.approx(float(problem.scores.expected(S)), rel=1e-11)
    free = [j for j in range(n) if j not in (1, 2)]
    wanted = [
        tuple(sorted((1, *more))) for r in range(len(free) + 1) for more in combinations(free, r)
    ]
    assert sorted(made) == sorted(wanted)


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("structure", STRUCTURES[1:])
def test_what_is_not_enumerated_is_bounded(
    structure: str, dual: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_NUMBERS", 0.0)
    for seed in range(6):
        problem = random_expectation(seed, structure, dual)
        result = solve(problem, "search")
        best = best_set(problem)
        if best is None:
            assert result.explanation is None
            continue
        sign = 1 if problem.sense == "min" else -1
        assert result.bound is not None
        assert sign * result.bound <= sign * best[0]
        if result.status is Status.OPTIMAL:
            assert result.objective == best[0]


def test_the_bound_of_a_mixture_is_that_of_its_best_component() -> None:
    tight = 0
    for seed, unit in product(range(8), ["1/1048576", "1"]):
        problem = random_expectation(seed, "mixture", required=(), forbidden=(), unit=unit)
        assert isinstance(problem, MLSE)
        progress = Progress(problem, SolveOptions())
        bound_by_components(problem, problem.form(), progress)
        greatest = max(
            problem.scores.expected(S)
            for r in range(problem.k + 1)
            for S in combinations(range(problem.n_features), r)
        )
        bound = Fraction(int(progress.best_bound)) * Fraction(problem.unit)
        assert bound >= greatest
        tight += bound < Fraction(problem._trivial_bound()) * Fraction(problem.unit)
    assert tight


def test_no_set_gives_a_component_more_weight_and_the_mean_is_a_bound() -> None:
    reached, tighter = 0, 0
    for seed in range(12):
        problem = random_expectation(seed, "mixture")
        assert isinstance(problem, MLSE)
        if not {*problem.required}.isdisjoint(problem.forbidden):
            continue
        problem = replace(
            problem, k=min(max(len(problem.required), 1 + seed % 2), problem.n_features)
        )
        weights = greatest_weights(problem.form())
        sets = [
            S
            for r in range(problem.k + 1)
            for S in combinations(range(problem.n_features), r)
            if {*S}.issuperset(problem.required) and {*S}.isdisjoint(problem.forbidden)
        ]
        seen = np.array([[a in S for a in range(problem.n_features)] for S in sets])
        own = problem.distribution.posterior(problem.codes, seen).max(axis=0)
        assert (own <= weights).all()
        reached += bool((own > np.array(weights) - 1e-6).any())
        alone = [
            TreeMixture([ONE], None, problem.distribution.tables[c : c + 1])
            for c in range(problem.distribution.n_components)
        ]
        scores = [replace(problem, distribution=part).scores for part in alone]
        bounds = [ceil(max(map(of.expected, sets)) * 10**9) for of in scores]
        bound = most_mixed(bounds, weights)
        assert bound >= max(map(problem.scores.expected, sets)) * 10**9
        assert bound <= max(bounds)
        tighter += bound < max(bounds)
    assert reached
    assert tighter


@pytest.mark.parametrize("n", some(8, 40))
def test_dinkelbach_excludes_no_score_that_a_set_has(n: int) -> None:
    below_components, better = 0, 0
    # In coarse units roundings count.
    for seed, unit in product(range(n), ["1/1048576", "1/64", "1/16"]):
        problem = random_expectation(seed, "mixture", unit=unit)
        assert isinstance(problem, MLSE)
        if not {*problem.required}.isdisjoint(problem.forbidden) or problem.n_features < 3:
            continue
        problem = replace(problem, k=max(len(problem.required), 1 + seed % 3))
        form = problem.form()
        sets = [
            S
            for r in range(problem.k + 1)
            for S in combinations(range(problem.n_features), r)
            if {*S}.issuperset(problem.required) and {*S}.isdisjoint(problem.forbidden)
        ]
        greatest = max(map(problem.scores.expected, sets)) / Fraction(problem.unit)
        parts = [form.component(c) for c in range(problem.distribution.n_components)]
        bounds = [max(map(part.value, sets)) for part in parts]
        met: list[tuple[int, ...]] = []
        rounding = len(problem.leaves.values) // 2 + 1
        logs, weights = problem.scores.evaluator.log_states, problem.distribution.log_weights
        ratios = Dinkelbach(
            parts, bounds, logs, weights, rounding, met.append, lambda: False, 10**9
        )
        low, high = ceil(greatest) - 3, max(bounds) + rounding
        for theta in sorted({low, low + 1, *range(low, high, 1 + (high - low) // 20)}):
            if ratios.proves(theta):
                assert theta >= greatest
                below_components += theta < max(bounds)
        assert {tuple(sorted(S)) for S in met} <= {*sets}
        better += bool(met)
    assert below_components > 2 * n
    assert better


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("structure", STRUCTURES[1:])
def test_a_hint_changes_no_proof(structure: str, dual: bool) -> None:
    hinted = 0
    for seed in range(6):
        problem = random_expectation(seed, structure, dual)
        everything = problem.explanation(
            j for j in range(problem.n_features) if j not in problem.forbidden
        )
        if not problem.evaluate(everything).feasible:
            continue
        hinted += 1
        result = solve(problem, "search", hint=everything.features)
        best = best_set(problem)
        found = problem.tie(result.explanation.features)
        assert (result.objective, result.bound, found) == (best[0], *best[:2])
    assert hinted


def test_stops_in_time() -> None:
    problem = random_expectation(3, "mixture")
    result = solve(problem, "search", time_limit=1e-4)
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL, Status.UNKNOWN, Status.INFEASIBLE)
    best = best_set(problem)
    if result.bound is not None and best is not None:
        assert result.bound >= best[0]


@pytest.mark.parametrize("structure", STRUCTURES[1:])
def test_a_score_that_no_row_has_is_out_of_reach(structure: str) -> None:
    problem = random_expectation(3, structure, dual=True, several=False)
    highest = problem.scores.greatest(problem.required)
    for threshold, known in ((highest, False), (highest + 1, True)):
        asked = replace(problem, threshold=threshold, measure="expectation")
        result = solve(asked, "search", time_limit=20)
        assert (result.raw_status == "no row has a score as high") is known
        assert not known or result.status is Status.INFEASIBLE
        assert (best_set(asked) is None) is (result.status is Status.INFEASIBLE)
