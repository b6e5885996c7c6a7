"""Compilation to weighted clauses against brute force over CPMpy models."""

from __future__ import annotations

from itertools import product

import cpmpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.examples.rc2 import RC2
from pysat.formula import IDPool
from pysat.solvers import Solver

from cpx.backends.maxsat.linear import linear_clauses, normalised
from cpx.backends.maxsat.oracle import Stopped
from cpx.backends.maxsat.wcnf import compile_statement
from cpx.modelling.statement import Statement


def _statement(variables, constraints, objective=None, sense="min", offset=0):
    model = cp.Model(constraints)
    if objective is not None:
        model.objective(objective, minimize=sense == "min")
    arrays = {"v": cp.cpm_array(list(variables))}
    return Statement(model, arrays, lambda chosen: {}, sense, offset)


def _optimum(statement):
    """Best objective, offset included, by enumeration; None when infeasible."""
    variables = list(statement.variables["v"])
    values = []
    for point in product(*(range(v.lb, v.ub + 1) for v in variables)):
        for variable, value in zip(variables, point, strict=True):
            variable._value = bool(value) if variable.is_bool() else value
        if all(c if isinstance(c, bool) else c.value() for c in statement.model.constraints):
            objective = statement.model.objective_
            value = objective.value() if hasattr(objective, "value") else objective or 0
            values.append(int(value) + statement.offset)
    if not values:
        return None
    return min(values) if statement.sense == "min" else max(values)


def _check(statement):
    """RC2 on the exported formula finds the optimum, and its model decodes to it."""
    compiled = compile_statement(statement)
    expected = _optimum(statement)
    with RC2(compiled.wcnf()) as rc2:
        model = rc2.compute()
        if model is None:
            assert expected is None
            return
        assert compiled.objective(rc2.cost) == expected
        assert compiled.cost(model) == rc2.cost
        assert compiled.cost_of_objective(expected) == rc2.cost
    values = compiled.values(model)["v"]
    for variable, value in zip(statement.variables["v"], values, strict=True):
        variable._value = bool(value) if variable.is_bool() else int(value)
    assert all(c if isinstance(c, bool) else c.value() for c in statement.model.constraints)
    objective = statement.model.objective_
    if hasattr(objective, "value"):
        assert int(objective.value()) + statement.offset == expected
    fixed = compiled.literals({"v": values})
    with Solver(bootstrap_with=compiled.clauses) as solver:
        assert solver.solve(fixed)
        assert (compiled.values(solver.get_model())["v"] == values).all()


weights = st.integers(-6, 6)


@given(
    st.lists(weights, min_size=1, max_size=6),
    st.lists(weights, min_size=6, max_size=6),
    st.sampled_from(["<=", ">=", "==", "<", ">", "!="]),
    st.integers(-15, 15),
    st.sampled_from(["min", "max"]),
    st.integers(-5, 5),
    st.sampled_from(["root", "implied", "reified"]),
    st.booleans(),
)
@settings(deadline=None)
def test_weighted_sums(left, costs, relation, bound, sense, offset, place, with_integer):
    b = cp.boolvar(shape=6)
    variables = list(b)
    terms = [w * (~x if i % 3 == 2 else x) for i, (w, x) in enumerate(zip(left, b, strict=False))]
    if with_integer:
        k = cp.intvar(-2, 3)
        variables.append(k)
        terms.append(left[0] * k)
    comparison = cp.sum(terms)
    comparison = {
        "<=": comparison <= bound,
        ">=": comparison >= bound,
        "==": comparison == bound,
        "<": comparison < bound,
        ">": comparison > bound,
        "!=": comparison != bound,
    }[relation]
    constraint = {
        "root": comparison,
        "implied": b[5].implies(comparison) if not isinstance(comparison, bool) else comparison,
        "reified": b[5] == comparison,
    }[place]
    objective = cp.sum([c * x for c, x in zip(costs, b, strict=True)])
    if with_integer:
        objective = objective + costs[0] * variables[-1] + 7
    _check(_statement(variables, [constraint], objective, sense, offset))


literals = st.integers(0, 4).flatmap(lambda i: st.sampled_from([i + 1, -i - 1]))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["or", "imp", "imp-and", "imp-or", "iff"]),
            st.lists(literals, min_size=3, max_size=5),
        ),
        max_size=6,
    ),
    st.lists(weights, min_size=5, max_size=5),
    st.sampled_from(["min", "max"]),
)
@settings(deadline=None)
def test_clausal_forms(forms, costs, sense):
    b = cp.boolvar(shape=5)

    def lit(x):
        return b[x - 1] if x > 0 else ~b[-x - 1]

    constraints = []
    for form, (first, *rest) in forms:
        others = [lit(x) for x in rest]
        constraints.append(
            {
                "or": cp.any([lit(first), *others]),
                "imp": lit(first).implies(others[0]),
                "imp-and": lit(first).implies(cp.all(others)),
                "imp-or": lit(first).implies(cp.any(others)),
                "iff": lit(first) == (~cp.any(others) if first > 0 else cp.all(others)),
            }[form]
        )
    objective = cp.sum([c * x for c, x in zip(costs, b, strict=True)])
    _check(_statement(b, constraints, objective, sense))


@given(
    st.lists(st.tuples(st.integers(-4, 4), literals), max_size=8),
    st.sampled_from(["<=", ">=", "=="]),
    st.integers(-12, 12),
    st.sampled_from([None, 6, -6]),
)
@settings(deadline=None)
def test_linear_clauses_have_exactly_the_solutions(terms, relation, bound, premise):
    clauses = linear_clauses(terms, relation, bound, IDPool(start_from=7), premise)
    if [] in clauses:
        clauses = [[8], [-8]]
    with Solver(bootstrap_with=clauses) as solver:
        for point in product((False, True), repeat=6):
            fixed = [v if value else -v for v, value in enumerate(point, 1)]
            total = sum(w for w, x in terms if point[abs(x) - 1] == (x > 0))
            holds = {"<=": total <= bound, ">=": total >= bound, "==": total == bound}[relation]
            asked = premise is None or point[5] == (premise > 0)
            assert solver.solve(fixed) == (holds or not asked)


@pytest.mark.parametrize("size", [1, 3, 30])
@pytest.mark.parametrize("weight", [1, 3])
def test_cardinalities_at_all_bounds(size, weight):
    rng = np.random.default_rng(0)
    for bound in range(-1, size + 2):
        for relation in ("<=", ">=", "=="):
            clauses = linear_clauses(
                [(weight, v) for v in range(1, size + 1)],
                relation,
                weight * bound,
                IDPool(start_from=size + 1),
            )
            if [] in clauses:
                clauses = [[size + 1], [-size - 1]]
            with Solver(bootstrap_with=clauses) as solver:
                for count in range(size + 1):
                    true = set(rng.permutation(size)[:count].tolist())
                    fixed = [v + 1 if v in true else -v - 1 for v in range(size)]
                    holds = {"<=": count <= bound, ">=": count >= bound, "==": count == bound}
                    assert solver.solve(fixed) == holds[relation], (relation, bound, count)


def test_large_cardinality_is_no_product():
    clauses = linear_clauses([(1, v) for v in range(1, 401)], "<=", 200, IDPool(start_from=401))
    assert len(clauses) < 50_000


def test_sums_of_many_large_weights_stay_small():
    """A decision diagram of these sums has millions of nodes."""
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 2**20, 120).tolist()
    terms, bound = list(zip(weights, range(1, 121), strict=True)), sum(weights) // 5
    clauses = linear_clauses(terms, "<=", bound, IDPool(start_from=121), premise=None)
    assert len(clauses) < 50_000
    with Solver(bootstrap_with=clauses) as solver:
        for _ in range(200):
            true = rng.random(120) < rng.uniform(0.1, 0.3)
            fixed = [v + 1 if true[v] else -v - 1 for v in range(120)]
            assert solver.solve(fixed) == (sum(w for w, t in zip(weights, true) if t) <= bound)


def test_normalised_merges_and_flips():
    assert normalised([(2, 1), (3, -1), (0, 2), (5, -3), (5, 3)]) == ({-1: 1}, 2 + 5)


def test_constants_stay_outside():
    a, b = cp.boolvar(shape=2)
    statement = _statement([a, b], [a | b], 1000 - 3 * a + b + 7, "max", offset=10**12)
    compiled = compile_statement(statement)
    assert compiled.top == 2
    assert compiled.costs == {1: 3, -2: 1}
    _check(statement)


def test_without_costs():
    a, b = cp.boolvar(shape=2)
    for objective, value in ((None, 0), (cp.sum([a, -1 * a, 5]), 5)):
        compiled = compile_statement(_statement([a, b], [a | b], objective))
        assert compiled.costs == {}
        assert compiled.objective(0) == value


def test_false_constraints():
    a, b = cp.boolvar(shape=2)
    for constraints in ([a, ~a], [False], [cp.sum([a, b]) >= 3], [cp.any([])]):
        _check(_statement([a, b], constraints, a + b))


def test_constants_and_views_in_arrays():
    a, k = cp.boolvar(), cp.intvar(2, 5)
    statement = Statement(
        cp.Model([k >= 4, ~a], minimize=k), {"v": [~a, 7, k]}, lambda chosen: {}, "min"
    )
    compiled = compile_statement(statement)
    with RC2(compiled.wcnf()) as rc2:
        assert compiled.values(rc2.compute())["v"].tolist() == [1, 7, 4]
        assert compiled.objective(rc2.cost) == 4


def test_global_constraints_and_nonlinear_objectives():
    k = cp.intvar(0, 3, shape=3)
    _check(_statement(k, [cp.AllDifferent(k)], cp.max(k) + abs(k[0] - k[1]), "min"))


def test_huge_weights():
    a, b = cp.boolvar(shape=2)
    compiled = compile_statement(_statement([a, b], [a | b], 2**61 * a + 2**62 * b))
    assert compiled.cost([1, 2]) == 2**61 + 2**62


def test_export_is_a_copy():
    a, b = cp.boolvar(shape=2)
    compiled = compile_statement(_statement([a, b], [a | b], a + b))
    exported = compiled.wcnf()
    exported.hard[0].append(5)
    exported.soft[0].append(5)
    assert compiled.clauses == [[1, 2]]
    assert compiled.wcnf().soft == [[-1], [-2]]


def test_the_model_is_not_changed():
    a, b, k = cp.boolvar(), cp.boolvar(), cp.intvar(0, 4)
    model = cp.Model([a | b, a.implies(b), a + k <= 3], minimize=k - a)
    before = str(model)
    compile_statement(Statement(model, {"v": cp.cpm_array([a, b, k])}, lambda chosen: {}))
    assert str(model) == before


def test_compilation_can_be_abandoned():
    b = cp.boolvar(shape=50)

    def check():
        raise Stopped

    with pytest.raises(Stopped):
        compile_statement(_statement(b, [b[i] | b[i + 1] for i in range(49)]), check)
