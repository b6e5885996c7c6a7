"""The text of side constraints, what it means, and its saved form."""

from __future__ import annotations

import copy
import json
import math
import time
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cpx import KMonomial, MaxPrecision, Result, RuleSetSelection, Samples, solve
from cpx.backends.cpsat import CpSat
from cpx.errors import InvalidInstance
from cpx.modelling import instances
from cpx.modelling.base import told_facts
from cpx.modelling.side_constraints.form import (
    LinearConstraint,
    SideConstraint,
    SideConstraints,
    propagated,
)
from cpx.models import RuleSetLearning
from cpx.models.kernel_rule.problem import KernelRule
from cpx.models.sufficient_reason.draw import random_reason
from cpx.solving import clash
from cpx.solving.clash import smallest_clash

NAMES = (
    "age > 60",
    "sex = male",
    "39 < job <= 60",
    "petal width (cm) <= 1.75",
    "x4",
    "age <= 90",
    "not (1 < size <= 2)",
)
SAMPLES = Samples([[1] * 7, [0] * 7, [1, 0, 1, 0, 1, 0, 1]], [1, 0, 1], features=NAMES)
PROBLEM = KMonomial(SAMPLES, k=4)


def terms(text: str) -> list[tuple[dict[tuple[int, ...], int], int]]:
    """Return the sums that a text means: coefficients by terms, and what is the least."""
    side = PROBLEM.where(text).side_constraints
    return [({T: a for a, T in row.terms}, row.at_least) for row in side.linear]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("not (age > 60 and sex == male)", [({(0,): -1, (1,): -1}, -1)]),
        # However a number is written, and whichever side it is on.
        ("60.0 < age or 'sex = male'", [({(0,): 1, (1,): 1}, 1)]),
        # A column stands for any condition on it: once in a sum, one by one in a clause.
        ("at_most(1, age, sex)", [({(0, 5): -1, (1,): -1}, -1)]),
        ("implies(x4, age)", [({(0,): 1, (5,): 1, (4,): -1}, 0)]),
        ("not age", [({(0,): -1}, 0), ({(5,): -1}, 0)]),
        ("not size", [({(6,): -1}, 0)]),
        # The two sides of an interval are two conditions.
        ("60 < age <= 90", [({(0,): 1}, 1), ({(5,): 1}, 1)]),
        ("39 < job <= 60", [({(2,): 1}, 1)]),
        ("'petal width (cm)' <= 1.75", [({(3,): 1}, 1)]),
        ("2 * x4 + 3 * age + sex <= 4", [({(4,): -2, (0, 5): -3, (1,): -1}, -4)]),
        # Two that cannot be together, in other words.
        ("2 * x4 + 3 * age <= 4", [({(4,): -1, (0, 5): -1}, -1)]),
        ("cost(x4=2, sex=1) <= 2", None),
        ("exactly(1, x4, sex, job)", None),
        ("feature[3] - feature[4] >= 0", [({(3,): 1, (4,): -1}, 0)]),
        ("x4 or not x4", []),
        ("implies(x4, sex + job >= 2)", None),
    ],
)
def test_what_texts_mean(text: str, meaning: Any) -> None:
    found = terms(text)
    if meaning is not None:
        assert found == meaning


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("age > 61", "no feature 'age > 61' (did you mean 'age > 60'?); on 'age' there are"),
        ("agee > 60", "'agee' names nothing (did you mean 'age'?)"),
        ("sex == female", "on 'sex' there is sex = male"),
        ("sex = male", "equality is written =="),
        ("age > 60 years", "it cannot be read"),
        ("x4 * sex <= 1", "not linear"),
        ("x4 ** 2 <= 1", "not linear"),
        ("1.5 * x4 <= 1", "coefficients are integers, got 1.5"),
        ("(x4 + sex + job <= 1) or (age + sex + job <= 1)", "an 'or' of two sums"),
        ("cost(x4=-1) <= 3", "the cost of 'x4' must not be negative"),
        ("cost(x4=1.5) <= 3", "the cost of 'x4' must be an integer"),
        ("at_most(1.5, x4, sex)", "takes a number of at least 0 first"),
        ("feature[7]", "7 is no number of a feature: 0 to 6"),
        ("__import__('os').system('true')", "unknown function"),
        ("open('x')", "unknown function 'open'"),
        ("x4.real", "is no name"),
        ("[x4 for x4 in sex]", "is no name"),
        ("x4 + sex", "is a number"),
        ("", "it cannot be read"),
        ("1", "is no name"),
        ("x4 in sex", "compare with"),
        ("(" * 300 + "x4" + ")" * 300, ""),
        ("not " * 5000 + "x4", ""),
        ("x4 + " * 300 + "sex <= 99999999999", "at most 10 digits"),
        ("2000000000 * (x4 + sex + job + age) <= 4000000000", "stay below"),
    ],
)
def test_texts_that_are_refused(text: str, told: str) -> None:
    with pytest.raises(InvalidInstance, match="where") as caught:
        PROBLEM.where(text)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 1500


def test_costs_and_a_budget() -> None:
    problem = PROBLEM.where(costs={"age": 2, "sex": 3, "x4": 1}, budget=3)
    assert problem.side_constraints.texts == ('2 * "age" + 3 * "sex" + 1 * "x4" <= 3',)
    assert problem.side_constraints.allow([0, 5, 4])
    assert not problem.side_constraints.allow([0, 1])
    for costs, budget in (({"age": -1}, 3), ({"age": 1.5}, 3), ({"age": 1}, -1), ({}, 1)):
        with pytest.raises(InvalidInstance):
            PROBLEM.where(costs=costs, budget=budget)
    with pytest.raises(InvalidInstance, match="given together"):
        PROBLEM.where(costs={"age": 1})


def test_several_calls_add_up_and_leave_the_first_problem_as_it_was() -> None:
    first = PROBLEM.where("not x4")
    both = first.where("age", "not sex")
    assert PROBLEM.side_constraints.texts == ()
    assert first.side_constraints.texts == ("not x4",)
    assert both.side_constraints.texts == ("not x4", "age", "not sex")
    assert told_facts(both)["where 2"] == "age"
    step = MaxPrecision(SAMPLES, k=2).where("not x4").first_step()
    assert step.side_constraints.texts == ("not x4",)


def test_what_is_not_true_of_x_is_in_no_answer() -> None:
    known = ["sex = female", "age > 75"]
    problem = PROBLEM.where("not (age > 75 and x4)", untrue=known)
    assert problem.side_constraints.linear == ()
    asked = PROBLEM.where("sex == female or x4", untrue=known)
    assert [row.terms for row in asked.side_constraints.linear] == [((1, (4,)),)]
    again = instances.loads(instances.dumps(asked))
    assert again.to_dict() == asked.to_dict()
    assert again.side_constraints == asked.side_constraints


def test_files() -> None:
    problem = PROBLEM.where("at_most(1, age, sex)", "not x4")
    saved = json.loads(instances.dumps(problem))
    assert instances.loads(json.dumps(saved)).to_dict() == saved
    assert "where" not in PROBLEM.to_dict()
    by_hand = copy.deepcopy(saved)
    for entry in by_hand["where"]:
        del entry["means"]
    assert instances.loads(json.dumps(by_hand)).to_dict() == saved

    def refused(change: Any) -> str:
        data = copy.deepcopy(saved)
        change(data["where"])
        with pytest.raises(InvalidInstance) as caught:
            instances.loads(json.dumps(data))
        return str(caught.value)

    assert "is not what it means" in refused(lambda w: w[1]["means"][0].update(at_least=-1))
    assert "is not what it means" in refused(lambda w: w[1].update(text="x4"))
    assert "must have a text" in refused(lambda w: w[0].pop("text"))
    assert "must have a text" in refused(lambda w: w[0].update(more=1))
    assert "must have a text" in refused(lambda w: w.append("not x4"))
    assert "must have terms" in refused(lambda w: w[1]["means"][0].update(at_least=1.5))
    assert "must have terms" in refused(lambda w: w[1]["means"][0].update(terms=[[1, 4]]))
    assert "unknown function" in refused(lambda w: w[1].update(text="exec('1')"))


def test_rules_literals_and_features_of_formulas() -> None:
    rules = RuleSetSelection(SAMPLES, rules=[(0,), (0, 4), (4,)], penalty="1/9")
    # The name of a rule is that rule; a condition or column is any rule that has it.
    assert rules.where("not x4").side_constraints.allow([1])
    assert rules.where("not 'age > 60'").side_constraints.allow([1])
    assert not rules.where("not age > 60").side_constraints.allow([1])
    assert not rules.where("not rule[1]").side_constraints.allow([1])
    assert not rules.where("not age").side_constraints.allow([1])
    kernel = KernelRule([[1, 0], [0, 1]], [1, -1], max_clauses=2, max_literals=2)
    # Feature 1 in any clause: index 1 of the first, index 3 of the second.
    side = kernel.where("not x1").side_constraints
    assert [side.allow(S) for S in ([0], [1], [3], [2])] == [True, False, False, True]
    # Of rules that are learned the name of a literal is any rule that has it.
    learning = RuleSetLearning(SAMPLES, max_literals=2).where("not x4")
    rules = [(), (0,), (4,), (0, 4)]
    allowed = [learning.allows(learning.explanation_of([rule]).features) for rule in rules]
    assert allowed == [True, True, False, False]


def test_what_follows_is_decided() -> None:
    side = PROBLEM.where("implies(x4, sex)", "implies(sex, job)", "at_most(1, job, age)")
    decided = propagated(side.side_constraints, [4], [])
    assert decided is not None
    assert sorted(decided[0]) == [1, 2, 4]
    assert sorted(decided[1]) == [0, 5]
    assert propagated(side.side_constraints, [4, 0], []) is None


@pytest.mark.parametrize("engine", ["cpsat", "search"])
def test_contradictory_ones_name_a_smallest_clash(engine: str) -> None:
    texts = ("age > 60 or job", "x4", "sex", "not (x4 and sex)", "implies(sex, job)")
    result = solve(PROBLEM.where(*texts), engine)
    assert str(result.status) == "INFEASIBLE"
    assert result.clash == ("x4", "sex", "not (x4 and sex)")
    assert "clash" in str(result)
    assert Result.from_json(result.to_json()) == result
    # With k, too: two conditions are asked for and one is allowed.
    small = solve(KMonomial(SAMPLES, k=1).where("not age", "x4", "job"), engine)
    assert small.clash == ("x4", "job")


def test_a_clash_is_not_looked_for_where_nothing_is_a_solution_anyway() -> None:
    problem = KMonomial(SAMPLES, k=1, required=(0, 1)).where("not x4")
    result = solve(problem, "search")
    assert result.clash == ()
    assert any("without the side constraints either" in told for told in result.warnings)


def test_a_clash_is_looked_for_where_there_is_no_answer_and_somebody_wrote_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = PROBLEM.where("x4", "not x4")
    none, some = solve(problem, "search"), solve(PROBLEM, "search")

    def smallest(*_: object) -> frozenset[int]:
        raise AssertionError("nobody asked for it")

    monkeypatch.setattr(clash, "smallest_clash", smallest)
    assert clash.with_clash(problem, some, None) is some
    # What excludes an answer that is known has no text.
    cut = SideConstraint("", problem.side_constraints[0].means)
    sides = SideConstraints((*problem.side_constraints, cut))
    cut_off = SimpleNamespace(side_constraints=sides)
    assert clash.with_clash(cut_off, none, None) is none


def test_the_smallest_of_two_clashes_is_found() -> None:
    def satisfied(some: frozenset[int]) -> frozenset[int] | None:
        return None if {0, 1, 2} <= some or {3, 5} <= some else some

    assert sorted(smallest_clash(6, satisfied)) == [3, 5]
    assert smallest_clash(3, lambda some: None) == frozenset()


def test_a_clash_is_looked_for_only_as_long_as_there_is_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = solve(PROBLEM.where("x4", "not x4"), "search")
    assert result.clash == ("x4", "not x4")
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    for end in (99.0, 100.0):
        with pytest.raises(clash._TooLong):
            smallest_clash(3, lambda some: None, end)
    assert smallest_clash(3, lambda some: None, 100.9) == frozenset()
    solver = SimpleNamespace(told=[])
    solver.solve = lambda **options: solver.told.append(options)
    for name, solved in (("FEASIBLE", True), ("UNSATISFIABLE", False)):
        solver.status = lambda name=name: SimpleNamespace(exitstatus=SimpleNamespace(name=name))
        assert clash._solved(solver, 103.0) is solved
        assert clash._solved(solver, math.inf) is solved
    assert [options.get("time_limit") for options in solver.told] == [3, None, 3, None]
    # An engine that may use one core alone, so that its answer is the same each time.
    assert {options["num_workers"] for options in solver.told} == {1}
    # 10 s are the most that is given: by the second look at the clock, 11 have passed.
    clock = [0.0]
    monkeypatch.setattr(clash, "_SECONDS", 10.0)  # tests have no limit
    monkeypatch.setattr(time, "monotonic", lambda: clock.pop() if clock else 11.0)
    late = clash.with_clash(PROBLEM.where("x4", "not x4"), replace(result, clash=()), 60.0)
    assert late.clash == ()
    assert any("in time" in told for told in late.warnings)


def test_a_constraint_of_two_rows_holds_where_both_do() -> None:
    both = "not x4 and not sex"
    result = solve(PROBLEM.where(both, "sex", "job"), "search")
    assert result.clash == (both, "sex")


def test_a_clash_of_many_is_found() -> None:
    # All 32 are needed: sets that meet what was learnt are not to be tried one by one.
    chain = [f"implies(feature[{i}], feature[{i + 1}])" for i in range(30)]
    rows = np.random.default_rng(0).random((20, 31)) < 0.7
    problem = KMonomial(Samples(rows, rows[:, 0]), k=31)
    result = solve(problem.where("feature[0]", *chain, "not feature[30]", "feature[7]"), "search")
    assert len(result.clash) == 25
    assert "feature[0]" not in result.clash


def test_where_a_clash_is_not_looked_for_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    # Sufficient reasons of several trees have no statement.
    seeds = (random_reason(seed, definition="sufficient") for seed in range(99))
    unstated = next(problem for problem in seeds if problem._unstated and problem.n_features)
    result = solve(unstated.where("feature[0]", "not feature[0]"), "hitting-sets")
    assert str(result.status) == "INFEASIBLE"
    assert [told for told in result.warnings if told.endswith(unstated._unstated)]
    monkeypatch.setattr(CpSat, "requires", {"no_such_module": "nothing>=1"})
    result = solve(PROBLEM.where("x4", "not x4"), "search")
    assert result.clash == ()
    assert any("not installed" in told and "clash" in told for told in result.warnings)


def test_propagation_decides_what_one_constraint_alone_decides() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        factors = rng.integers(-3, 4, 4).tolist()
        chosen = [tuple(rng.permutation(6)[: int(rng.integers(1, 3))].tolist()) for _ in factors]
        pairs = zip(factors, map(tuple, map(sorted, chosen)), strict=True)
        row = LinearConstraint(tuple((a, T) for a, T in pairs if a), int(rng.integers(-3, 4)))
        side = SideConstraints((SideConstraint("", (row,)),))
        order = rng.permutation(6).tolist()
        required, forbidden = {*order[:1]}, {*order[1:2]}
        sets = [set(S) for size in range(7) for S in combinations(range(6), size)]
        kept = [S for S in sets if required <= S and not forbidden & S and row.holds(S)]
        found = propagated(side, required, forbidden)
        if found is None:
            assert not kept
            continue
        # Nothing is decided that some allowed set decides otherwise.
        assert all(found[0] <= S and not found[1] & S for S in kept)
        assert required <= found[0]
        assert forbidden <= found[1]
        if all(len(T) == 1 for _, T in row.terms) and len({T for _, T in row.terms}) == len(
            row.terms
        ):
            assert found[0] == set.intersection(*kept)
            assert found[1] == set(range(6)) - set.union(*kept)
