"""The problem and its engines against all formulas."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpx import KernelRule, solve
from cpx.answers.result import Result, Status, Termination
from cpx.backends import backend
from cpx.check import violations
from cpx.errors import CpxError, InvalidInstance, InvalidOption, UnknownName
from cpx.modelling import instances
from cpx.models.kernel_rule.methods.genetic import Genetic, Operators, _Breeder

from .formulas import dnfs, holds

ENGINES = ["cpsat", "maxsat:rc2", "milp:highs", "milp:cbc"]


def optimum(problem: KernelRule) -> int:
    d = problem.samples.shape[1]
    rows = problem.samples.tolist()
    formulas = dnfs(d, range(1, problem.max_clauses + 1), range(1, problem.max_literals + 1))
    return max(
        sum(w for row, w in zip(rows, problem.weights, strict=True) if holds(formula, row))
        for formula in formulas
    )


@st.composite
def problems(draw: st.DrawFn) -> KernelRule:
    d, m = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    bits = st.lists(st.booleans(), min_size=d, max_size=d)
    rows = draw(st.lists(bits, min_size=m, max_size=m))
    weights = draw(st.lists(st.integers(-9, 9), min_size=m, max_size=m))
    return KernelRule(rows, weights, draw(st.integers(1, 3)), draw(st.integers(1, d)))


def confirmed(problem: KernelRule, engine: str, best: int) -> Result:
    result = solve(problem, engine)
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, best, best), result
    assert result.verified
    assert result.explanation is not None
    assert problem.evaluate(result.explanation).feasible
    return result


@settings(max_examples=15, deadline=None)
@given(problems())
def test_search_finds_the_optimum(problem: KernelRule) -> None:
    confirmed(problem, "search", optimum(problem))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(3))
def test_engines_find_the_optimum(engine: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.random((8, 4)) < 0.6
    problem = KernelRule(table, rng.integers(-9, 10, 8).tolist(), 2, 1 + seed)
    confirmed(problem, engine, optimum(problem))


@pytest.mark.slow
@settings(deadline=None)
@given(problems())
def test_search_finds_the_optimum_of_many_problems(problem: KernelRule) -> None:
    confirmed(problem, "search", optimum(problem))


@pytest.mark.slow
@settings(deadline=None)
@given(problems(), st.sampled_from(ENGINES))
def test_engines_find_the_optimum_of_random_problems(problem: KernelRule, engine: str) -> None:
    confirmed(problem, engine, optimum(problem))


def noisy(m: int = 40, d: int = 7, clauses: int = 3, literals: int = 2) -> KernelRule:
    rng = np.random.default_rng(5)
    table = rng.random((m, d)) < 0.5
    positive = (table[:, 0] & table[:, 1]) | table[:, 2]
    signs = np.where(positive ^ (rng.random(m) < 0.2), 1, -1)
    return KernelRule(table, (signs * rng.integers(1, 100, m)).tolist(), clauses, literals)


def test_branch_and_bound_proves_what_is_not_consistent() -> None:
    problem = noisy()
    result = confirmed(problem, "search", optimum(problem))
    assert result.objective is not None
    assert result.objective < problem.form().greatest
    assert "clauses" in result.sizes


def test_one_encoding_says_the_same_as_the_search() -> None:
    problem = noisy(m=25, clauses=2)
    confirmed(problem, "cpsat", int(solve(problem, "search").objective or 0))


def test_the_statement_takes_every_formula() -> None:
    """Completed values satisfy the constraints, and are worth the weight of the formula."""
    problem = noisy(m=12, d=4, clauses=2)
    statement = problem.model()
    for formula in dnfs(4, range(1, 3), range(1, 3)):
        explanation = problem.explanation_of(formula)
        values = statement.complete(explanation.features)
        for name, variables in statement.variables.items():
            for variable, value in zip(variables, values[name], strict=True):
                variable._value = bool(value)
        assert all(constraint.value() for constraint in statement.model.constraints), formula
        assert statement.model.objective_value() == problem.evaluate(explanation).objective
        assert problem.rule(problem.decode(values)) == tuple(sorted(formula))


def test_superfluous_clauses_and_literals_are_dropped() -> None:
    problem = KernelRule([[1, 1, 0], [0, 0, 1], [0, 1, 1]], [2, -1, -1], 3, 2)
    long = problem.explanation_of([[0, 1], [0], [0, 2]])
    assert str(long) == "x0 or (x0 and x1) or (x0 and x2) => positive"
    assert str(problem._shortened(long)) == "x0 => positive"


def test_only_negative_weights_still_give_a_rule() -> None:
    problem = KernelRule([[1, 1], [1, 0], [1, 1]], [-5, -2, -4], 2, 1)
    assert confirmed(problem, "search", -9).explanation is not None
    assert problem._notes() == ("no support vector is positive: no rule has a weight above 0",)


def test_saved_and_read_again(tmp_path) -> None:
    problem = replace(noisy(), unit=Fraction(1, 1000), name="n", context={"class": "yes"})
    instances.save(problem, tmp_path / "a.json.gz")
    again = instances.load(tmp_path / "a.json.gz")
    assert again.to_dict() == problem.to_dict()
    data = problem.to_dict()
    for key, value, told in (
        ("weights", [1], "weights must have 40 integers"),
        ("weights", None, "weights must be a list of integers, got None"),
        ("labels", "01", "unknown key 'labels'"),
        ("parameters", {"max_clauses": 1}, "'max_literals' is missing"),
        ("parameters", {**data["parameters"], "k": 1}, "unknown parameter 'k'"),
        ("parameters", {**data["parameters"], "unit": "0"}, "unit must be a positive"),
        ("samples", ["01"], "weights must have 1 integers"),
        ("features", ["a"], "features must have 7 strings, got 1"),
    ):
        with pytest.raises(CpxError, match=told):
            instances.from_dict({**data, key: value})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (([[0, 2]], [1], 1, 1), "samples: entries must be 0 or 1"),
        ((np.zeros((0, 2)), [], 1, 1), "samples: there are no samples"),
        (([[0, 1]], [1.5], 1, 1), r"weights\[0\] must be an integer"),
        (([[0, 1]], [2**53], 1, 1), "less than 2\\*\\*53"),
        (([[0, 1]], [1], 0, 1), "max_clauses must be at least 1, got 0"),
        (
            ([[0, 1]], [1], 1, 0),
            "max_literals must be between 1 and the number of features 2, got 0",
        ),
        (
            ([[0, 1]], [1], 1, 3),
            "max_literals must be between 1 and the number of features 2, got 3",
        ),
        (([[0, 1]], [1], 1, 1, 0.5), "unit must be a positive fraction, got 0.5"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple, told: str) -> None:
    with pytest.raises(InvalidInstance, match=told):
        KernelRule(*arguments)


def test_the_checker_finds_what_is_wrong() -> None:
    problem = noisy()
    good = solve(problem, "search").to_dict()
    assert violations(problem.to_dict(), good) == []
    d, found = 7, good["explanation"]
    wrong = {
        "objective: the result says": {"objective": good["objective"] + 1},
        "a clause has more than 2": {"explanation": {**found, "features": [0, 1, 2]}},
        "the rule has no clause": {"explanation": {**found, "features": []}},
        "not all indices": {"explanation": {**found, "features": [3 * d]}},
        "OPTIMAL with bound": {"bound": good["bound"] + 1},
        "INFEASIBLE, but": {"status": "INFEASIBLE"},
        "without an explanation": {"explanation": None},
    }
    for told, change in wrong.items():
        said = violations(problem.to_dict(), {**good, **change})
        assert any(told in one for one in said), (told, said)


def test_wide_rows_are_given_up_in_time() -> None:
    """Some clauses of 60 features through a row are too many; the limit and the bound hold."""
    rng = np.random.default_rng(1)
    table = rng.random((200, 120)) < 0.5
    signs = np.where(rng.random(200) < 0.5, 1, -1)
    problem = KernelRule(table, signs.tolist(), 3, 6)
    for limit in (1.5, 6, 24):
        result = solve(problem, "search", time_limit=limit)
        if result.objective:
            break  # on a busy machine a limit may be over before there is a rule
    assert result.status is Status.FEASIBLE
    assert result.verified
    assert result.objective is not None
    assert 0 < result.objective < problem.form().greatest
    assert result.times.cpu < 30


def test_a_hint_counts_and_a_limit_is_kept() -> None:
    problem = noisy(m=300, d=20, clauses=6, literals=5)
    hint = problem.explanation_of([[2], [0, 1]])
    result = solve(problem, "search", time_limit=0.3, hint=hint)
    assert result.status is Status.FEASIBLE
    assert result.termination is Termination.TIME_LIMIT
    assert result.objective is not None
    assert result.objective >= problem.evaluate(hint).objective
    assert result.bound is not None
    assert result.bound >= result.objective
    far = solve(problem, "search", time_limit=0.01, hint=[99, 0, 1, 2, 3, 4, 5])
    assert any("hint breaks" in warning for warning in far.warnings)


def test_the_genetic_algorithm_is_a_heuristic_and_repeats_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Genetic, "generations", 20)
    problem = noisy()
    first, second = (solve(problem, "genetic", seed=3) for _ in range(2))
    assert first.status is Status.FEASIBLE
    assert first.bound is None
    assert first.verified
    assert first.explanation == second.explanation
    assert first.sizes["generations"] == 20
    consistent = KernelRule([[1, 1, 0], [0, 0, 1], [1, 0, 0]], [3, 2, -4], 2, 2)
    found = solve(consistent, "genetic")
    assert (found.objective, found.status) == (5, Status.FEASIBLE)
    assert found.sizes["generations"] < 20
    monkeypatch.setattr(Genetic, "generations", 0)
    hinted = solve(problem, "genetic", hint=first.explanation)
    assert hinted.objective == first.objective


def breeder(operators: str, clauses: int = 3, mutation: float = 0.6) -> _Breeder:
    rows = np.eye(6, dtype=bool)
    form = KernelRule(rows, [1] * 6, clauses, 4).form()
    return _Breeder(form, random.Random(0), mutation, Operators.named(operators))


def test_a_replaced_literal_shrinks_a_clause_only_where_it_may() -> None:
    for operators, lengths in (("", {3}), ("shrink", {2, 3})):
        breeding = breeder(operators, clauses=1)
        found = set()
        for _ in range(300):
            clauses = [0b111]
            breeding._mutate(clauses)
            found.add(clauses[0].bit_count())
        assert found == lengths


def test_half_of_the_children_are_mutations_of_one_parent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    elite = [(0b000001, 0b000010), (0b000100, 0b001000)]
    mutated: list[tuple[int, ...]] = []
    parts = {0b000001, 0b000010, 0b000100, 0b001000}
    for operators, least, most in (("", 1.0, 1.0), ("half", 0.4, 0.6)):
        # Without mutations of crossovers, what is mutated is what is none.
        breeding = breeder(operators, clauses=4, mutation=0.0)
        mutated.clear()
        monkeypatch.setattr(breeding, "_mutate", lambda clauses: mutated.append(tuple(clauses)))
        children = [breeding.child(elite) for _ in range(400)]
        assert least <= 1 - len(mutated) / len(children) <= most
        assert {*mutated} <= {*elite}
        assert all({*child} <= parts for child in children)


def test_of_equal_formulas_one_is_kept() -> None:
    people = [(1, 2), (2, 1), (4,), (1, 2)]
    assert len(breeder("").ranked(people)[0]) == 4
    assert len(breeder("distinct").ranked(people)[0]) == 2


def test_operators_of_the_genetic_algorithm_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Genetic, "generations", 20)
    assert backend("genetic").full_name == "genetic"
    assert backend("genetic:shrink+distinct").full_name == "genetic:shrink+distinct"
    with pytest.raises(UnknownName, match="unknown operator of the backend genetic 'shring'"):
        solve(noisy(), "genetic:shring")
    found = solve(noisy(), "genetic:shrink+half+distinct", seed=1)
    assert (found.backend, found.solver) == ("genetic", "shrink+half+distinct")
    assert found.verified


def test_engines_for_other_problems_refuse_it() -> None:
    from cpx import KMonomial, Samples

    for engine in ("beam", "greedy", "hitting-sets"):
        with pytest.raises(InvalidOption, match="cannot solve problems of kind 'kernel-rule'"):
            solve(noisy(), engine)
    with pytest.raises(InvalidOption, match="cannot solve problems of kind 'k-monomial'"):
        solve(KMonomial(Samples([[1]], [1]), k=1), "genetic")


def test_the_command_line_solves_and_checks_it(tmp_path) -> None:
    from typer.testing import CliRunner

    from cpx.cli.app import app

    path = tmp_path / "rule.json"
    instances.save(noisy(), path)
    done = CliRunner().invoke(app, ["solve", str(path), "--backend", "search", "--json"])
    assert done.exit_code == 0, done.output
    (tmp_path / "result.json").write_text(done.stdout)
    assert json.loads(done.stdout)["status"] == "OPTIMAL"
    done = CliRunner().invoke(app, ["check", str(path), str(tmp_path / "result.json")])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, ["show", str(path), "--as", "statement"])
    assert "Find the rule of maximum weight" in done.output
