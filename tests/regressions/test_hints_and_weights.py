"""Proofs that rest on a hint, and sums that an engine cannot add up, against all solutions.

``weights/`` has instances on which an engine's right answer was refused, or none was given.
"""

from __future__ import annotations

import json
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pytest

from cpx import (
    KernelRule,
    KMonomial,
    MaxCoverage,
    MaxPrecision,
    RuleSetSelection,
    Samples,
    check,
    load,
    solve,
)
from cpx.answers.result import Status
from cpx.answers.values import Value, to_json
from cpx.backends import backend as find_backend
from cpx.backends.base import Progress
from cpx.errors import InvalidInstance
from cpx.modelling.base import Problem
from cpx.models import NegativeOnly, RuleSetLearning
from cpx.models.rule_set.methods.column_generation.pricing import exact_pricing
from cpx.models.rule_set.methods.column_generation.table import Table
from cpx.options import SolveOptions
from tests.engines import ENGINES
from tests.seeds import each

HEAVY = sorted((Path(__file__).parent / "weights").glob("*.json"))
MONOMIALS = (KMonomial, NegativeOnly, MaxCoverage, MaxPrecision)


def every_solution(problem: Problem) -> dict[tuple[int, ...], Value]:
    """Return the value of every feasible set of features."""
    n: int = problem.n_features
    sets = chain.from_iterable(combinations(range(n), size) for size in range(n + 1))
    found = {chosen: problem.evaluate(problem.explanation(chosen)) for chosen in sets}
    return {chosen: each.objective for chosen, each in found.items() if each.feasible}


def positive(rng: np.random.Generator, m: int, total: int) -> list[int]:
    """Return weights that are all 1, small, of any size, or with a common divisor."""
    style = rng.integers(4)
    if style == 0:
        return [1] * m
    if style == 1:
        return rng.integers(1, 10, m).tolist()
    powers = 2 ** rng.integers(0, (total // m).bit_length() - 1, m)
    if style == 2:
        return rng.integers(powers, 2 * powers).tolist()
    return (powers * 3 // 2 + 1).tolist()


def random_kernel_rule(rng: np.random.Generator) -> KernelRule:
    m, d = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    weights = np.array(positive(rng, m, 2**53 - 1))
    signs = [np.ones(m), -np.ones(m), rng.choice([-1, 1], m), rng.choice([-1, -1, 1], m)]
    weights *= signs[rng.integers(4)].astype(np.int64)
    clauses = int(rng.integers(1, 7 // d + 1))
    return KernelRule(
        rng.random((m, d)) < rng.choice([0.3, 0.6, 0.9]),
        weights.tolist(),
        min(clauses, 3),
        int(rng.integers(1, d + 1)),
    )


def random_monomial(rng: np.random.Generator) -> Problem:
    m, d = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    kind = MONOMIALS[rng.integers(4)]
    total = 2**31 - 1 if kind is MaxPrecision else 2**40
    samples = Samples(
        rng.random((m, d)) < rng.choice([0.4, 0.7]),
        rng.random(m) < rng.choice([0.0, 0.4, 0.8]),
        positive(rng, m, total),
        groups=rng.integers(0, 3, d).tolist(),
    )
    shares = ("min_coverage", "max_coverage", "min_precision")
    more = {name: rng.choice(["1/20", "1/2", "0.95", "1"]) for name in shares}
    return kind(
        samples,
        int(rng.integers(0, d + 1)),
        required=np.flatnonzero(rng.random(d) < 0.1).tolist(),
        forbidden=np.flatnonzero(rng.random(d) < 0.1).tolist(),
        one_per_group=bool(rng.random() < 0.3),
        **{name: str(value) for name, value in more.items() if rng.random() < 0.2},
    )


def random_rules(rng: np.random.Generator) -> Problem:
    m, d = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    samples = Samples(rng.random((m, d)) < 0.5, rng.random(m) < 0.5, positive(rng, m, 2**40))
    penalty, loss = (
        str(rng.choice(["0", "1/10", "3/997", "1"])),
        rng.choice(["zero-one", "hamming"]),
    )
    if rng.random() < 0.4:
        return RuleSetLearning(samples, int(rng.integers(1, min(d, 2) + 1)), penalty, str(loss))
    rules = [np.flatnonzero(rng.random(d) < 0.5).tolist() for _ in range(rng.integers(1, 6))]
    limits = {"max_rules": 2, "max_literals": 3, "max_overlap": int(samples.weights[0])}
    return RuleSetSelection(
        samples,
        rules,
        penalty,
        str(loss),
        **{name: most for name, most in limits.items() if rng.random() < 0.3},
        required=np.flatnonzero(rng.random(len(rules)) < 0.15).tolist(),
        forbidden=np.flatnonzero(rng.random(len(rules)) < 0.15).tolist(),
    )


def drawn(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    make = (random_kernel_rule, random_kernel_rule, random_monomial, random_rules)[seed % 4]
    try:
        return make(rng)
    except InvalidInstance:  # a penalty of too many digits for the weights
        return random_kernel_rule(rng)


def assert_right(problem: Problem, engine: str, hint: tuple[int, ...] | None, **more: str) -> None:
    values = every_solution(problem)
    result = solve(problem, engine, hint=hint, **more)
    told = f"{result.status}, {result.objective}, {result.bound}, {result.warnings}"
    assert result.status is not Status.ERROR, told
    if not values:
        assert result.objective is None, told
        return
    assert result.status is not Status.INFEASIBLE, told
    sign = 1 if problem.sense == "min" else -1
    best = min(values.values(), key=lambda value: sign * value)
    if result.bound is not None:
        trivial = problem._trivial_bound()
        assert trivial is not None
        assert sign * trivial <= sign * result.bound <= sign * best, told
    # MILP engines count in floats, and say so where that is not enough.
    if not engine.startswith("milp"):
        assert result.proved, told
    if result.status is Status.OPTIMAL:
        assert result.objective == best, told


@each(range(60, 130), 17)
def test_the_search_proves_the_same_with_the_worst_hint(seed: int) -> None:
    problem = drawn(seed)
    values = every_solution(problem)
    sign = 1 if problem.sense == "min" else -1
    worst = max(values, key=lambda chosen: sign * values[chosen], default=())
    assert_right(problem, "search", worst)


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "milp:cbc"])
@pytest.mark.parametrize("seed", range(0, 60, 5))
def test_engines_with_any_hint(engine: str, seed: int) -> None:
    problem = drawn(seed)
    rng = np.random.default_rng(seed)
    n: int = problem.n_features
    names = [form.name for form in problem.encodings if form.faithful and form.limits]
    more = {"encoding": str(rng.choice(names))} if find_backend(engine).needs_model else {}
    assert_right(problem, engine, tuple(np.flatnonzero(rng.random(n) < 0.4).tolist()), **more)


def test_a_hint_that_is_worse_than_the_best_clause() -> None:
    problem = KernelRule([[0, 1, 1]], [-3], max_clauses=2, max_literals=2)
    result = solve(problem, "search", hint=[2, 4])
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 0, 0)


@pytest.mark.parametrize("path", HEAVY, ids=lambda path: path.stem)
@pytest.mark.parametrize("engine", ENGINES)
def test_heavy_weights(engine: str, path: Path) -> None:
    problem = load(path)
    encodings: list[str | None] = [None]
    if find_backend(engine).needs_model:
        encodings = [form.name for form in problem.encodings if form.faithful]
    for encoding in encodings:
        more = {} if encoding is None else {"encoding": encoding}
        assert_right(problem, engine, None, **more)


# ------------------------------------------------------------------- engines


def test_cpsat_proves_in_integers() -> None:
    """The engine's floats say that a bound is nearer by .11 than it is."""
    weights = [-563948827375550, 0, 1035530588312469, -603552436985560]
    result = solve(KernelRule([[1]] * 4, weights, 2, 1), "cpsat")
    assert (result.status, result.bound) == (Status.OPTIMAL, sum(weights))


def test_cpsat_tells_values_apart_that_differ_by_one() -> None:
    """Where all weights add up to nearly 2**53."""
    heavy = 2**52 + 2**51 // 3
    rows, weights = [[1, 1], [1, 0], [0, 1]], [heavy, -heavy // 4, 1 - heavy // 4]
    result = solve(KernelRule(rows, weights, 1, 1), "cpsat", hint=[0])
    assert result.objective == heavy + weights[2]
    assert result.status is Status.OPTIMAL


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_milp_proves_the_value_that_no_rule_exceeds(solver: str) -> None:
    problem = KMonomial(Samples([[0, 0], [1, 0]], [0, 1], [293970699566, 115729056419]), k=1)
    result = solve(problem, f"milp:{solver}", encoding="channelling")
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 0, 0)
    assert all(bound is None or bound >= 0 for _, _, bound in result.trace)


def test_milp_divides_by_what_weights_share() -> None:
    """In units of 2**30 sums are small; as they are, a limit of 2**33 was too large."""
    samples = Samples([[1, 0], [1, 1], [0, 1], [1, 1]], [1, 1, 0, 0], [2**30, 2**32, 2**31, 2**30])
    problem = KMonomial(samples, k=2, min_coverage="1/2")
    assert_right(problem, "milp:highs", None)
    assert solve(problem, "milp:highs").status is Status.OPTIMAL


def test_bounds_are_never_worse_than_the_one_that_needs_no_search() -> None:
    problem = KMonomial(Samples([[0, 1]], [1]), k=1)
    progress = Progress(problem, SolveOptions())
    progress.bound(-409.0)
    assert progress.best_bound == 0


def test_prices_of_heavy_samples_do_not_overflow() -> None:
    """The bound of a number of rules multiplies weights by it, and prices are parts of these."""
    weights = np.array([2**58, 2**57, 2**58])
    table = Table(
        np.array([[1, 0], [1, 1], [0, 1]], dtype=bool), np.array([1, 1, 0]) == 1, weights
    )
    prices = weights[:2].astype(np.float64)
    best, priced, _ = exact_pricing(
        table, prices, 2**16, 1, threads=1, seconds=9, stop=lambda: False
    )
    assert best == (0,)
    assert priced.total == priced.largest == 2**58 + 2**57


# ----------------------------------------------------------------- the check


@each(range(40))
def test_the_check_refutes_a_claim_that_one_feature_beats(seed: int) -> None:
    """Any solution called optimal, where the empty one or one of one feature is better."""
    problem = drawn(seed)
    values = every_solution(problem)
    if not values:
        return
    sign = 1 if problem.sense == "min" else -1
    rule = min(values, key=lambda chosen: (sign * values[chosen], len(chosen)))
    result = solve(problem, "search", hint=rule)
    right = result.to_dict()
    assert not check.violations(problem.to_dict(), right)
    required = len(getattr(problem, "required", ()))
    small = [value for chosen, value in values.items() if len(chosen) <= required + 1]
    for chosen, value in values.items():
        if any(sign * other < sign * value for other in small):
            wrong = result_of(right, problem, chosen, value)
            assert any("is beyond the value" in each for each in check.violations(*wrong))


def result_of(
    right: dict[str, object], problem: Problem, chosen: tuple[int, ...], value: Value
) -> tuple[dict[str, object], dict[str, object]]:
    """Return the instance, and a result that calls a solution optimal."""
    said = json.loads(json.dumps(right))
    said |= {"objective": to_json(value), "bound": to_json(value), "gap": 0.0, "trace": []}
    said["explanation"] = problem.explanation(chosen).to_dict()
    return problem.to_dict(), said
