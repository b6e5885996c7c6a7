"""CPM_pulp: against brute force, on both engines, and as a solver object."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace

import cpmpy as cp
import numpy as np
import pulp
import pytest
from cpmpy.expressions.core import Operator
from cpmpy.solvers.solver_interface import ExitStatus
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cpx.backends.milp.pulp_solver import CPM_pulp
from cpx.backends.milp.watch import Watch
from tests.processor_time import processor_seconds

ENGINES = ("highs", "cbc")

# CBC is a process of its own, some 20 ms for each solve.
LIGHT = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def knapsack(
    n: int = 140, rows: int = 100
) -> tuple[cp.Model, cp.expressions.variables.NDVarArray]:
    """Hard enough that no engine proves it within the tests' limits."""
    rng = np.random.default_rng(0)
    x = cp.boolvar(shape=n, name="x")
    weights = rng.integers(1, 60, (rows, n))
    model = cp.Model([cp.sum(w * x) <= int(w.sum()) // 3 for w in weights])
    model.maximize(cp.sum(rng.integers(1, 100, n) * x) + 1000)
    return model, x


@pytest.mark.parametrize("engine", ENGINES)
def test_a_hint_that_is_a_solution_is_the_answer(engine: str) -> None:
    """As CPMpy's own tests want it; where nothing is optimised, and for all variables only."""
    a, b = cp.boolvar(shape=2)
    x = cp.intvar(0, 9)
    solver = CPM_pulp(cp.Model(a | b, a.implies(x >= 3)), subsolver=engine)
    for values in ([True, False, 7], [False, True, 2], [True, True, 3]):
        solver.solution_hint([a, b, x], values)
        assert solver.solve()
        assert solver.status().exitstatus == ExitStatus.FEASIBLE
        assert [a.value(), b.value(), x.value()] == values
    # What contradicts the constraints or a domain is no answer, and a part is only a start.
    for values in ([False, False, 7], [True, False, 2], [True, False, 99]):
        solver.solution_hint([a, b, x], values)
        assert solver.solve()
        assert a.value() or b.value()
        assert x.value() >= 3 or not a.value()
        assert 0 <= x.value() <= 9
    solver.solution_hint([a], [False])
    assert solver.solve()
    solver += ~b & ~a
    solver.solution_hint([a, b, x], [True, False, 7])
    assert not solver.solve()


# ------------------------------------------------------------------ random models


@st.composite
def models(draw):
    b = cp.boolvar(shape=3, name="b")
    x = cp.intvar(-1, 2, shape=2, name="x")
    literal = st.sampled_from([*b, *(~v for v in b)])
    small = st.integers(-3, 3)

    def linear():
        terms = draw(st.lists(st.tuples(small, st.sampled_from([*b, *x, ~b[0]])), min_size=1))
        return cp.sum([w * v for w, v in terms]) + draw(small)

    def atom(kind):
        match kind:
            case "clause":
                return cp.any(draw(st.lists(literal, min_size=1, max_size=3)))
            case "linear":
                left, right = linear(), draw(st.sampled_from([1, x[0], x[0] + b[1]]))
                relation = draw(st.sampled_from(["<=", ">=", "==", "!=", "<", ">"]))
                return cp.expressions.core.Comparison(relation, left, right)
            case "implication":
                conclusion = draw(st.lists(literal, min_size=1, max_size=3))
                return draw(literal).implies(Operator("and", conclusion))
            case "choice":
                return cp.sum(b) <= draw(st.integers(0, 2))
            case "extreme":
                return cp.max(x) - cp.min([x[0], b[0]]) <= draw(small)
            case "different":
                return cp.AllDifferent([x[0], x[1], b[2]])
        return cp.abs(x[0]) + x[1] * b[0] >= draw(small)

    kinds = st.sampled_from(
        ["clause", "linear", "implication", "choice", "extreme", "different", "product"]
    )
    constraints = []
    for kind in draw(st.lists(kinds, max_size=4)):
        made = atom(kind)
        match draw(st.sampled_from(["plain", "plain", "reified", "negated", "implied"])):
            case "reified":
                made = draw(literal) == made
            case "negated":
                made = ~made
            case "implied":
                made = draw(literal).implies(made)
        constraints.append(made)
    model = cp.Model(constraints)
    sense = draw(st.sampled_from(["min", "max", None]))
    if sense == "min":
        model.minimize(linear())
    elif sense == "max":
        model.maximize(linear() + draw(st.sampled_from([0, cp.max(x), cp.abs(x[1])])))
    return model, list(b), list(x), sense


def best(model, b, x, sense):
    """Return the optimum by enumeration; for no sense 0; None without a solution."""
    values = []
    domains = [(False, True)] * len(b) + [range(v.lb, v.ub + 1) for v in x]
    for point in itertools.product(*domains):
        for variable, value in zip([*b, *x], point, strict=True):
            variable._value = value
        if all(c is True or c.value() for c in model.constraints):
            values.append(0 if sense is None else model.objective_.value())
    if not values:
        return None
    return max(values) if sense == "max" else min(values)


@pytest.mark.parametrize(("engine", "tight"), [("highs", 10**6), ("highs", 0), ("cbc", 10**6)])
@LIGHT
@given(models())
def test_random_models_against_enumeration(engine, tight, made):
    model, b, x, sense = made
    expected = best(model, b, x, sense)
    solver = CPM_pulp(model, engine, tight_nonzeros=tight)
    found = solver.solve(time_limit=30)
    assert found is (expected is not None)
    if not found:
        assert solver.status().exitstatus is ExitStatus.UNSATISFIABLE
        assert solver.objective_value() is None
        return
    assert all(c is True or c.value() for c in model.constraints)
    if sense is None:
        assert solver.status().exitstatus is ExitStatus.FEASIBLE
    else:
        assert solver.status().exitstatus is ExitStatus.OPTIMAL
        assert solver.objective_value() == expected


@LIGHT
@given(st.integers(0, 2**12 - 1), st.integers(1, 5), st.sampled_from(["<=", "=="]), st.booleans())
def test_implications_under_a_cardinality_keep_their_solutions(edges, k, relation, negated):
    p = cp.boolvar(shape=4, name="p")
    q = cp.boolvar(shape=3, name="q")
    source = [~v for v in p] if negated else list(p)
    pairs = [(i, j) for i in range(4) for j in range(3) if edges >> (3 * i + j) & 1]
    constraints = [source[i].implies(q[j]) for i, j in pairs]
    constraints.append(cp.expressions.core.Comparison(relation, cp.sum(source), min(k, 4)))
    model = cp.Model(constraints, maximize=5 * cp.sum(source) - 2 * cp.sum(q))
    solver = CPM_pulp(model)
    expected = best(model, [*p, *q], [], "max")
    assert solver.solve()
    assert solver.objective_value() == expected


def test_rows_of_implications():
    p, q = cp.boolvar(shape=4, name="p"), cp.boolvar(shape=3, name="q")
    both = [v.implies(cp.all(q)) for v in p]
    assert len(CPM_pulp(cp.Model(both)).lp.constraints()) == 12
    assert len(CPM_pulp(cp.Model(both), tight_nonzeros=23).lp.constraints()) == 4
    assert len(CPM_pulp(cp.Model(both, cp.sum(p) <= 2)).lp.constraints()) == 4
    assert len(CPM_pulp(cp.Model(both, cp.sum(p) <= 4)).lp.constraints()) == 13


# ---------------------------------------------------------------- as an object


@pytest.mark.parametrize("engine", ENGINES)
def test_solve_again_after_adding(engine):
    x = cp.intvar(0, 9, shape=2, name="x")
    solver = CPM_pulp(cp.Model(cp.sum(x) <= 8, maximize=2 * x[0] + x[1] + 100), engine)
    assert solver.solve()
    assert solver.objective_value() == 116
    solver += x[0] <= 3
    assert solver.solve()
    assert (solver.objective_value(), x.value().tolist()) == (111, [3, 5])
    solver.minimize(x[0] - x[1])
    assert solver.solve()
    assert solver.objective_value() == -8
    solver += x[0] > 3
    assert not solver.solve()
    assert x[0].value() is None


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_to_solve(engine):
    assert CPM_pulp(cp.Model(), engine).solve()
    a, b = cp.boolvar(shape=2, name="v")
    solver = CPM_pulp(cp.Model(cp.any([a, ~a])), engine)
    solver.minimize(0 * b)
    assert solver.solve()
    assert solver.status().exitstatus is ExitStatus.OPTIMAL
    assert not CPM_pulp(cp.Model([a, ~a]), engine).solve()
    assert not CPM_pulp(cp.Model([a, False]), engine).solve()


@pytest.mark.parametrize("engine", ENGINES)
def test_infeasible_by_bounds_alone(engine):
    # Here CBC says so and then crashes.
    b = cp.boolvar(shape=3, name="b")
    solver = CPM_pulp(cp.Model((~b[0]) == b[0], cp.sum(b) <= 1), engine)
    assert not solver.solve()
    assert solver.status().exitstatus is ExitStatus.UNSATISFIABLE


def test_all_solutions():
    a = cp.boolvar(shape=3, name="a")
    with pytest.warns(UserWarning, match="state will be invalid"):
        assert CPM_pulp(cp.Model(cp.sum(a) == 2)).solveAll() == 3


def test_names_that_pulp_would_confuse():
    a, b = cp.boolvar(name="x[1]"), cp.boolvar(name="x_1_")
    c, d = cp.boolvar(name="e1"), cp.boolvar(name="2 <= y")
    solver = CPM_pulp(cp.Model(a, ~b, c, ~d, cp.sum([a, b, c, d]) == 2))
    names = [v.name for v in solver.lp.variables()]
    assert len(set(names)) == 4
    assert not any(name[0].isdigit() or name == "e1" for name in names)
    assert solver.solve()
    assert [v.value() for v in (a, b, c, d)] == [True, False, True, False]


def test_any_pulp_solver_will_do():
    x = cp.intvar(0, 9, shape=2, name="x")
    solver = CPM_pulp(cp.Model(cp.sum(x) <= 8, maximize=x[0]))
    assert solver.solve(solver=pulp.HiGHS(msg=False), time_limit=10)
    assert solver.objective_value() == 8
    with pytest.raises(ValueError, match="threads"):
        solver.solve(solver=pulp.HiGHS(msg=False), threads=1)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="guroby"):
        CPM_pulp(subsolver="guroby")
    with pytest.raises(ValueError, match="positive"):
        CPM_pulp(cp.Model(cp.boolvar())).solve(time_limit=0)


# ------------------------------------------------- limits, events, start, stop


@pytest.mark.parametrize("engine", ENGINES)
def test_time_limit_is_no_proof(engine):
    model, _ = knapsack()
    solver = CPM_pulp(model, engine)
    start = processor_seconds()
    found = solver.solve(time_limit=0.4)
    assert processor_seconds() - start < 20
    assert solver.status().exitstatus is (ExitStatus.FEASIBLE if found else ExitStatus.UNKNOWN)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sign", [1, -1])
def test_bounds_have_the_sign_and_the_constant_of_the_objective(engine, sign):
    model, x = knapsack(20, 8)
    weights, constant = np.arange(3, 23), 1000
    objective = cp.sum(sign * weights * x) + constant
    model = cp.Model(model.constraints)
    model.objective(objective, minimize=sign < 0)
    bounds: list[float] = []
    values: list[int] = []
    solver = CPM_pulp(model, engine)

    def solution(by_column):
        by_name = {c.name: c for c in solver.lp.variables()}
        chosen = [by_column[by_name[f"x_{j}_"].index] for j in range(20)]
        values.append(round(float(sign * weights @ chosen)) + constant)

    engine_solver = solver.pulp_solver(Watch(solution=solution, bound=bounds.append))
    assert solver.solve(solver=engine_solver)
    optimum = solver.objective_value()
    assert values[-1] == optimum
    assert bounds
    assert all(sign * (bound - optimum) >= -1e-6 for bound in bounds)
    assert abs(bounds[-1] - optimum) < 1 + 1e-6
    assert engine_solver.dual_bound == bounds[-1]


@pytest.mark.parametrize("engine", ENGINES)
def test_stop_from_another_thread(engine):
    model, _ = knapsack()
    solver = CPM_pulp(model, engine)
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    start = processor_seconds()
    solver.solve(solver=solver.pulp_solver(Watch(should_stop=stop.is_set)))
    assert processor_seconds() - start < 20
    assert stop.is_set()
    assert solver.status().exitstatus in (ExitStatus.FEASIBLE, ExitStatus.UNKNOWN)


@pytest.mark.parametrize("engine", ENGINES)
def test_hint_is_the_first_incumbent(engine):
    model, x = knapsack()
    solver = CPM_pulp(model, engine)
    assert any(solver.solve(time_limit=limit) for limit in (0.3, 2, 8))
    known, value = x.value().copy(), solver.objective_value()
    again = CPM_pulp(model, engine)
    again.solution_hint([*x[:-1], ~x[-1]], [*known[:-1], not known[-1]])
    # On a busy machine the first limit may be over before the engine begins.
    assert any(again.solve(time_limit=limit) for limit in (0.4, 2, 16))
    assert again.objective_value() >= value


def test_gap_ends_early():
    model, _ = knapsack()
    solver = CPM_pulp(model)
    assert solver.solve(gapRel=10.0)
    assert solver.cpm_status.solve_time < 5


def test_an_exception_of_the_watch_arrives():
    def fail(_):
        raise RuntimeError("from the watch")

    solver = CPM_pulp(knapsack()[0])
    with pytest.raises(RuntimeError, match="from the watch"):
        solver.solve(solver=solver.pulp_solver(replace(Watch(), solution=fail)))


def test_thread_counts_may_differ_in_one_process():
    for threads in (2, 1):
        solver = CPM_pulp(knapsack(20, 5)[0])
        assert solver.solve(threads=threads)
        assert solver.status().exitstatus is ExitStatus.OPTIMAL


def test_float_objective():
    a = cp.boolvar(shape=2, name="a")
    from cpmpy.expressions.globalfunctions import FloatSum

    objective = FloatSum([0.25, 0.5], list(a))
    solver = CPM_pulp(cp.Model(cp.sum(a) <= 1))
    solver.maximize(objective)
    assert solver.solve()
    assert (solver.objective_value(), objective.value()) == (None, 0.5)
