"""Bare CPMpy models and statements, on engines of each family."""

from __future__ import annotations

import itertools
from typing import Any

import cpmpy as cp
import numpy as np
import pytest

import cpx
from cpx import MaxCoverage
from cpx.answers.result import Status
from cpx.backends import backend as find_backend
from cpx.backends.cpmpy.solvers import Choco, Ortools
from cpx.errors import InvalidOption
from cpx.modelling.bare_model import problem_of
from cpx.testing import conformance

ENGINES = ("cpsat", "maxsat:rc2", "milp:highs", "milp:cbc", "cpmpy:ortools")


def knapsack(seed: int) -> tuple[cp.Model, int]:
    """Return a maximisation over integers and Booleans, and its optimum by brute force."""
    rng = np.random.default_rng(seed)
    x, b = cp.intvar(-1, 3, shape=3, name="x"), cp.boolvar(shape=2, name="b")
    worth, size = rng.integers(1, 9, 5).tolist(), rng.integers(1, 6, 5).tolist()
    terms = [*x, *b]
    model = cp.Model(
        cp.sum(s * t for s, t in zip(size, terms)) <= 11,
        b[0].implies(x[0] >= 1),
        x[1] != x[2],
        maximize=cp.sum(w * t for w, t in zip(worth, terms)) + 5,
    )
    best = max(
        sum(w * v for w, v in zip(worth, values)) + 5
        for values in itertools.product(*[range(-1, 4)] * 3, (0, 1), (0, 1))
        if sum(s * v for s, v in zip(size, values)) <= 11
        and (not values[3] or values[0] >= 1)
        and values[1] != values[2]
    )
    return model, best


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(3))
def test_optimum_of_a_model(engine: str, seed: int) -> None:
    model, best = knapsack(seed)
    result = cpx.solve(model, engine, isolate=False)
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, best, best)
    assert not result.verified
    assert any("not independently checked" in warning for warning in result.warnings)
    assert model.objective_value() == best


OBJECTIVES = {
    "constant": lambda x, b: sum(x) - 60,
    "one variable": lambda x, b: x[0] - 7,
    "nested": lambda x, b: 2 * (x[0] + 3) - 3 * (x[1] - x[2]) + 1,
    "product": lambda x, b: x[0] * x[1] - 2,
    "maximum": lambda x, b: 2 * (_largest(x) + 3) + b[1],
    "truth": lambda x, b: (x[0] > 0) + 5 * b[0] - 3,
    "none": lambda x, b: 0 * b[0] + 4,
}


def _largest(x: Any) -> Any:
    return max(x) if isinstance(x, tuple) else cp.max(x)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_constants_products_and_global_constraints(engine: str, name: str) -> None:
    x, b = cp.intvar(-2, 2, shape=3, name="x"), cp.boolvar(shape=2, name="b")
    every = [
        (x, b)
        for x in itertools.permutations(range(-2, 3), 3)
        for b in itertools.product((0, 1), repeat=2)
        if not b[0] or x[2] > 1
    ]
    for goal, best in (("minimize", min), ("maximize", max)):
        given = OBJECTIVES[name](x, b)
        model = cp.Model(cp.AllDifferent(x), b[0].implies(x[2] > 1), **{goal: given})
        true = best(OBJECTIVES[name](*values) for values in every)
        result = cpx.solve(model, engine, isolate=False)
        assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, true, true)


def test_in_a_worker_with_integers_that_survive() -> None:
    model, best = knapsack(5)
    result = cpx.solve(model, "cpsat", isolate=True)
    assert (result.status, result.objective) == (Status.OPTIMAL, best)
    assert any(" = " in word for word in result.explanation.rule.words)


@pytest.mark.parametrize("engine", ["cpsat", "milp:highs", "cpmpy:ortools", "cpmpy:choco"])
def test_minimum_infeasible_and_without_objective(engine: str) -> None:
    if not find_backend(engine).available():
        pytest.skip(f"{engine} is not installed")
    x = cp.intvar(2, 9, name="x")
    assert cpx.solve(cp.Model(x >= 4, minimize=3 * x), engine).objective == 12
    infeasible = cpx.solve(cp.Model(x >= 10, maximize=x), engine)
    assert (infeasible.status, infeasible.bound) == (Status.INFEASIBLE, None)
    found = cpx.solve(cp.Model(x * x == 49), engine)
    assert (found.status, str(found.explanation)) == (Status.OPTIMAL, "x = 7 => a solution")


def test_a_run_that_ends_at_once_claims_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # The bound in CP-SAT's answer is 0 then, which stands for -90.
    own = Ortools.parameters
    monkeypatch.setattr(Ortools, "parameters", lambda *a: {**own(*a), "max_time_in_seconds": 1e-9})
    x = cp.boolvar(shape=30, name="x")
    model = cp.Model([~x[i] | ~x[j] for i in range(30) for j in range(i)], maximize=sum(x) - 90)
    result = cpx.solve(model, "cpmpy:ortools", time_limit=60, isolate=False)
    assert (result.status, result.bound) == (Status.UNKNOWN, None)


def test_choco_at_the_limit_claims_nothing_of_a_model_without_objective() -> None:
    if not Choco.available():
        pytest.skip("Choco is not installed")
    x = cp.intvar(1, 11, shape=12, name="x")
    model = cp.Model([x[i] != x[j] for i in range(12) for j in range(i)])
    assert cpx.solve(model, "cpmpy:choco", time_limit=1, isolate=False).status is Status.UNKNOWN


def test_statement_with_its_offset() -> None:
    problem = next(
        c.problem for c in conformance.cases("monomial") if isinstance(c.problem, MaxCoverage)
    )
    result = cpx.solve(problem.model(), "cpsat")
    assert result.objective == cpx.solve(problem, "cpsat").objective


def test_hint_of_a_solution() -> None:
    model, best = knapsack(1)
    first = cpx.solve(model)
    again = cpx.solve(model, "milp:highs", hint=first.explanation)
    assert again.trace[0].objective == again.objective == best


def test_what_is_no_model() -> None:
    assert problem_of(3) is None
    with pytest.raises(InvalidOption, match="must be a cpx problem, got list"):
        cpx.solve([])
    with pytest.raises(InvalidOption, match="cannot be saved"):
        problem_of(knapsack(0)[0]).to_dict()
    with pytest.raises(InvalidOption, match="cannot solve problems of kind"):
        cpx.solve(knapsack(0)[0], "search")
