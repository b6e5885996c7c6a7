"""What rules of each size cost at least: right for every rule, and the least there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cpx import KMonomial, Samples, solve
from cpx.models import NegativeOnly
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.encodings import sizes
from cpx.testing.brute import brute_force
from tests.seeds import each


def _problem(seed: int, d: int = 7, k: int = 4) -> KMonomial:
    rng = np.random.default_rng(seed)
    share = rng.uniform(0.3, 0.9)
    samples = Samples(
        rng.random((40, d)) < rng.uniform(0.4, 0.8),
        rng.random(40) < share,
        rng.integers(1, 5, 40),
        groups=rng.integers(0, 4, d).tolist() if seed % 2 else None,
    )
    forbidden = (int(rng.integers(d)),) if seed % 3 == 0 else ()
    return KMonomial(samples, k, forbidden=forbidden, one_per_group=seed % 4 == 1)


def _least(problem: KMonomial) -> list[int]:
    """Return v_0, v_1, ... of the row with the least costs."""
    statement = problem.model("sizes")
    (row,) = (c for c in statement.model.constraints if c.name == ">=")
    weights, variables = row.args[0].args
    of = {variable.name: -weight for weight, variable in zip(weights, variables, strict=True)}
    return [of.get(z.name, 0) for z in statement.variables["Z"]]


def _allowed(problem: KMonomial, size: int) -> list[tuple[int, ...]]:
    sets = itertools.combinations(range(problem.n_features), size)
    return [s for s in sets if problem.evaluate(problem.explanation(s)).feasible]


@each(range(24))
def test_the_least_costs_are_those_of_all_rules_and_all_triples(seed: int) -> None:
    problem = _problem(seed)
    form = problem.form()

    def lost(s: tuple[int, ...]) -> int:
        return int(form.cost_uncovered[~form.covered(s)].sum())

    found, expected = _least(problem), []
    for size in range(3):
        rules = map(problem.explanation, _allowed(problem, size))
        values = [problem.evaluate(rule).objective for rule in rules]
        expected.append(min(values))
    larger = min(min(map(lost, _allowed(problem, 3)), default=10**9), min(expected))
    assert found == [*expected, larger, larger]


@pytest.mark.parametrize("most", [0, 300, 900])
@pytest.mark.parametrize("seed", range(6))
def test_with_too_much_to_count_they_are_bounds(seed: int, most: int, monkeypatch) -> None:
    monkeypatch.setattr(sizes, "_FEW", 0)
    problem = _problem(seed)
    exact = _least(problem)
    counted = sizes._least_of_three

    def hurried(*arguments: object) -> int:
        monkeypatch.setattr(sizes, "MOST_WORK", most)
        return counted(*arguments)

    monkeypatch.setattr(sizes, "_least_of_three", hurried)
    found = _least(problem)
    assert found[:3] == exact[:3]
    assert 0 < found[3] <= exact[3]


@pytest.mark.parametrize("engine", ["cpsat", "milp"])
@pytest.mark.parametrize("seed", range(2, 6))
def test_engines_find_the_optimum_with_them(engine: str, seed: int) -> None:
    problem = _problem(seed) if seed < 4 else random_problem(seed, kinds=(NegativeOnly, KMonomial))
    result = solve(problem, engine, encoding="sizes")
    best = brute_force(problem)
    if best is None:
        assert result.status == "INFEASIBLE"
    else:
        assert result.objective == result.bound == best[0]


def test_few_samples_of_many_features_are_not_counted() -> None:
    rng = np.random.default_rng(0)
    problem = KMonomial(Samples(rng.random((2, 4000)) < 0.5, [True, False]), k=2)
    assert "Z" not in problem.model("sizes").variables


def test_where_no_rule_of_two_features_is_cheap_the_root_proves_the_optimum() -> None:
    # One condition tells the classes apart; any three others exclude nearly all that agree.
    rng = np.random.default_rng(1)
    agreement = rng.random((400, 60)) < 0.5
    same = agreement[:, 7] ^ (rng.random(400) < 0.3)
    problem = KMonomial(Samples(agreement, same), k=5)
    best = solve(problem, "search").objective
    assert min(_least(problem)) == best
    result = solve(problem, "cpsat", engine={"max_number_of_conflicts": 1})
    assert result.bound == best
