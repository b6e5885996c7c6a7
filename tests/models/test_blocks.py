"""Models kept as arrays: the same constraints as the expressions that are made of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import cpmpy as cp
import numpy as np
import pytest

from cpx import KMonomial, Samples
from cpx.backends.cpsat.compile import compile_cp_model
from cpx.backends.maxsat.wcnf import compile_statement
from cpx.backends.milp.pulp_solver import CPM_pulp
from cpx.modelling.blocks import BlockModel, Rows, blocks_of, extended
from cpx.modelling.statement import Statement
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.problem import MONOMIAL_ENCODINGS
from tests.seeds import each

NAMES = ("clausal", "sizes", "pairs", "triples")


def _both(seed: int) -> tuple[Statement, Statement]:
    """Return a statement of blocks, and one of their expressions."""
    problem = random_problem(seed)
    problem = getattr(problem, "first_step", lambda: problem)()
    encoding = NAMES[seed % len(NAMES)]
    faithful = {one.name: one for one in MONOMIAL_ENCODINGS}[encoding]
    stated = problem.model(encoding if faithful.limits else "clausal")
    assert blocks_of(stated.model) is not None
    plain = cp.Model(list(stated.model.expressions()))
    plain.objective(stated.model.objective_, minimize=stated.sense == "min")
    return stated, replace(stated, model=plain)


@each(range(60), 24)
def test_engines_get_the_same_from_arrays_and_from_expressions(seed: int) -> None:
    stated, plain = _both(seed)

    arrays, expressions = compile_statement(stated), compile_statement(plain)
    assert arrays.clauses == expressions.clauses
    assert (arrays.costs, arrays.top, arrays.base) == (
        expressions.costs,
        expressions.top,
        expressions.base,
    )
    assert arrays.origins == expressions.origins

    assert _by_name(*compile_cp_model(stated)) == _by_name(*compile_cp_model(plain))
    assert str(CPM_pulp(stated.model).lp) == str(CPM_pulp(plain.model).lp)


def _by_name(model, variables) -> tuple:
    """Return the constraints and the objective of a CP-SAT model, places as names."""
    names = [variable.name for variable in model.proto.variables]
    assert [[v.name for v in array] for array in variables.values()]

    def literal(place: int) -> str:
        return names[place] if place >= 0 else f"not {names[-1 - place]}"

    constraints = [
        (
            [literal(x) for x in one.enforcement_literal],
            [literal(x) for x in one.bool_or.literals],
            [literal(x) for x in one.bool_and.literals],
            sorted(zip(map(literal, one.linear.vars), one.linear.coeffs, strict=True)),
            list(one.linear.domain),
        )
        for one in model.proto.constraints
    ]
    goal = model.proto.objective
    costs = sorted(zip(map(literal, goal.vars), goal.coeffs, strict=True))
    return constraints, costs, goal.offset, goal.scaling_factor


def _random_model(rng: np.random.Generator) -> BlockModel:
    """Return a model with literals of both signs everywhere, and a single one in a row."""
    model = BlockModel(X=3, Y=2, Z=0)
    literals = np.arange(1, 6) * rng.choice([-1, 1], 5)
    model.facts("a fact", literals[:1])
    model.clauses("a clause", -literals[1:4], rng.random((3, 5)) < 0.4, literals)
    model.implications("implied", literals[:4], rng.random((4, 5)) < 0.3, -literals)
    weights = rng.integers(-3, 4, 5)
    operator = str(rng.choice(["<=", ">=", "=="]))
    model.sum("a sum", weights, literals, operator, rng.integers(-3, 4))
    model.minimise([2, 0, 7], [5, 1, 2])
    return model


def _holds(model: BlockModel, values: tuple[bool, ...]) -> bool:
    """Say by the definition of the blocks whether values satisfy them."""

    def true(literal: int) -> bool:
        return values[abs(literal) - 1] == (literal > 0)

    clauses, more, implied, total = model.blocks
    rows = [*clauses.rows.lists(), *more.rows.lists()]
    reached = sum(w * true(x) for w, x in zip(total.weights, total.literals, strict=True))
    return (
        all(any(map(true, row)) for row in rows)
        and all(not true(p) or all(map(true, row)) for p, *row in implied.rows.lists())
        and {"<=": reached <= total.constant, ">=": reached >= total.constant}.get(
            total.operator, reached == total.constant
        )
    )


@each(range(40), 40)
def test_blocks_mean_what_their_definition_says(seed: int) -> None:
    model = _random_model(np.random.default_rng(seed))
    variables = [*model.variables["X"], *model.variables["Y"]]
    if seed % 2:
        model = extended(model, [variables[0] != variables[3]])
    worth = {}
    for values in product((False, True), repeat=5):
        if _holds(model, values) and (not seed % 2 or values[0] != values[3]):
            worth[values] = 2 * values[4] + 7 * values[1]
    compiled = compile_statement(Statement(model, model.variables, lambda chosen: {}))
    native, _ = compile_cp_model(Statement(model, model.variables, lambda chosen: {}))
    assert blocks_of(model) is not None
    for values in product((False, True), repeat=5):
        for variable, value in zip(variables, values, strict=True):
            variable._value = value
        assert all(c.value() for c in model.expressions()) == (values in worth)
    least = min(worth.values(), default=None)
    assert least == _least_of(compiled)
    assert least == _least_native(native)


def _least_of(compiled) -> int | None:
    from pysat.examples.rc2 import RC2

    with RC2(compiled.wcnf()) as engine:
        return None if engine.compute() is None else compiled.objective(engine.cost)


def _least_native(model) -> int | None:
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    found = solver.solve(model)
    return None if found == cp_model.INFEASIBLE else int(solver.objective_value)


def test_rows_are_those_of_the_table_however_many_at_once(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    table, first = rng.random((40, 7)) < 0.5, rng.permutation(40) + 8
    table[3] = table[39] = False
    expected = [
        [int(one), *(np.flatnonzero(row) + 1)] for one, row in zip(first, table, strict=True)
    ]
    for at_once in (1, 5, 20, 1000):
        monkeypatch.setattr("cpx.modelling.blocks._AT_ONCE", at_once)
        rows = Rows.of(first, table, np.arange(1, 8))
        assert list(rows.lists()) == expected
        assert len(rows) == 40


def test_whoever_changes_the_constraints_of_a_model_changes_what_engines_get() -> None:
    problem = KMonomial(Samples([[1, 0], [0, 1], [1, 1]], [1, 0, 1]), k=1)
    for change in (
        lambda model, x: model.constraints.append(~x),
        lambda model, x: model.add(~x),
        lambda model, x: model.minimize(-5 * x),
    ):
        stated = problem.model("clausal")
        before = compile_statement(problem.model("clausal"))
        change(stated.model, stated.variables["X"][0])
        after = compile_statement(stated)
        assert (after.clauses, after.costs) != (before.clauses, before.costs)


@pytest.mark.parametrize("encoding", NAMES)
def test_to_state_and_compile_makes_no_list_of_expressions(encoding, monkeypatch) -> None:
    rng = np.random.default_rng(1)
    samples = Samples(rng.random((30, 8)) < 0.6, rng.random(30) < 0.5)
    problem = KMonomial(samples, k=4).where("not x0")
    monkeypatch.setattr(BlockModel, "constraints", property(lambda model: pytest.fail("asked")))
    for stated in filter(None, (made := problem.model(encoding), made.core)):
        assert compile_statement(stated).clauses
        assert compile_cp_model(stated)
        assert CPM_pulp(stated.model).lp.constraints()
