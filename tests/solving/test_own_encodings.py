"""Encodings that are none of cpx's own are held against the definition, and then believed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import cpmpy as cp
import numpy as np
import pytest

import cpx
from cpx import check
from cpx.answers.claim import source_words
from cpx.errors import InvalidInstance
from cpx.export import export_bytes
from cpx.modelling import encodings as added
from cpx.models import Encoding, Statement, add_encoding
from cpx.models.monomial.encodings.clausal import clausal
from cpx.solving import own_encodings
from cpx.testing import cases
from cpx.testing.grading import quick_grade

TINY = cpx.Samples(
    [[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0], [1, 1, 1, 1]],
    [1, 0, 0, 0, 1],
    features=("a", "b", "c", "d"),
)


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(added, "_registered", {})


def larger(k: int = 4) -> cpx.KMonomial:
    rng = np.random.default_rng(7)
    agreement = rng.random((60, 9)) < 0.7
    same = agreement[:, :4].all(axis=1) ^ (rng.random(60) < 0.05)
    return cpx.KMonomial(cpx.Samples(agreement, same), k=k)


def changed(
    rows: Callable[[Any, Any], list[Any]] = lambda form, stated: [],
    kept: Callable[[Any], bool] = lambda row: True,
    factor: int = 1,
    built: Callable[[Any], Statement] = clausal,
) -> Callable[[Any], Statement]:
    """Return an encoding with more rows, fewer rows or another objective."""

    def build(form: Any) -> Statement:
        stated = built(form)
        known = [row for row in stated.model.constraints if kept(row)]
        model = cp.Model([*known, *rows(form, stated)], minimize=factor * stated.model.objective_)
        return Statement(model, stated.variables, stated.complete, offset=stated.offset)

    return build


def at_most(size: int) -> Callable[[Any, Any], list[Any]]:
    return lambda form, stated: [cp.sum(stated.variables["X"]) <= size]


@pytest.mark.parametrize(
    ("build", "wrong"),
    [
        (changed(at_most(2)), "too strong: .* it forbids the set"),
        (changed(lambda form, stated: [~stated.variables["X"][0]]), "too strong: .* it forbids"),
        (changed(kept=lambda row: "<=" not in str(row)), "too weak: .* it allows the set"),
        (changed(kept=lambda row: "->" not in str(row)), "wrong objective: .* gives the set"),
        (changed(factor=2), "wrong objective: .* gives the set"),
    ],
)
def test_three_mistakes_are_told_apart(build: Callable[[Any], Statement], wrong: str) -> None:
    add_encoding("k-monomial", Encoding("mine", build))
    result = cpx.solve(larger(), "cpsat", encoding="mine")
    assert result.status in ("FEASIBLE", "ERROR")
    assert result.bound in (None, larger()._trivial_bound())
    assert any("encoding 'mine', which is another problem: " in text for text in result.warnings)
    assert re.search(wrong, quick_grade(larger(), "mine").wrong)


def test_a_mistake_that_no_value_shows_is_not_believed() -> None:
    """The optimum has four conditions, and the encoding forbids more than two."""
    problem = larger()
    best = cpx.solve(problem, "search")
    add_encoding("k-monomial", Encoding("small", changed(at_most(2))))
    for engine in ("cpsat", "maxsat:rc2", "milp:highs"):
        result = cpx.solve(problem, engine, encoding="small")
        assert (result.status, result.bound) == ("FEASIBLE", 0)
        assert result.objective is not None
        assert result.objective > best.objective
        assert result.explanation is not None
        assert "not proved optimal" in result.explanation.proved
        assert "which is another problem: too strong" in str(result)
        assert "too strong" in result.to_dict()["statement"]["wrong"]
        assert cpx.Result.from_json(result.to_json()) == result


def test_one_that_is_made_for_a_single_instance_is_graded_on_it() -> None:
    problem = larger()
    single = changed(at_most(2), built=lambda form: problem.model("clausal"))
    add_encoding("k-monomial", Encoding("single", single))
    result = cpx.solve(problem, "cpsat", encoding="single")
    assert result.status == "FEASIBLE"
    assert "too strong: of this instance it forbids" in result.statement["wrong"]


def test_an_infeasible_statement_of_a_wrong_encoding_proves_nothing() -> None:
    never = changed(lambda form, stated: [cp.sum(stated.variables["X"]) > 99])
    add_encoding("k-monomial", Encoding("never", never))
    result = cpx.solve(larger(), "cpsat", encoding="never")
    assert (result.status, result.explanation) == ("UNKNOWN", None)


def test_a_right_one_is_believed_and_its_answer_says_whose_it_is() -> None:
    add_encoding("k-monomial", Encoding("mine", clausal))
    result = cpx.solve(larger(), "cpsat", encoding="mine")
    assert result.status == "OPTIMAL"
    assert result.verified
    assert result.explanation is not None
    words = source_words(result.statement)
    assert words.startswith("the statement is your encoding 'mine', and proofs are of it: ")
    assert result.explanation.proved.endswith(f"; {words}")
    saved = result.to_dict()
    for found in (result, cpx.Result.from_dict(saved)):
        assert f"statement  {words}" in str(found)
        assert f"; {words}" in found.explanation.proved
    assert not check.violations(larger().to_dict(), saved)
    assert any("statement" in told for told in check.on_trust(larger().to_dict(), saved))
    # What is proved by a wrong one is not.
    wrong = {"statement": saved["statement"] | {"wrong": "it forbids the best"}}
    none = {"status": "INFEASIBLE", "objective": None, "gap": None, "explanation": None}
    told = "status: INFEASIBLE by a statement that is another problem"
    assert told in check.violations(larger().to_dict(), saved | wrong | none)
    with pytest.raises(InvalidInstance, match="statement has a wrong type"):
        cpx.Result.from_dict(saved | {"statement": "the statement is proved right"})
    whole = cpx.solve(cpx.KMonomial(TINY, k=2), "cpsat", encoding="mine")
    told = "it agrees with the definition on all 16 sets of this instance"
    assert source_words(whole.statement).endswith(told)


def test_ours_need_no_words_and_all_agree_with_the_definition() -> None:
    assert not cpx.solve(larger(), "cpsat").statement
    kinds = {case.problem.kind: case.problem for case in cases.cases("monomial", "rule-set")}
    for problem in kinds.values():
        for encoding in problem.encodings:
            if encoding.faithful:
                assert not quick_grade(problem, encoding.name).wrong
    literal = quick_grade(kinds["k-monomial"], "table1-literal").wrong
    assert literal.startswith("wrong objective: of the tiny instance")


def test_one_that_is_marked_as_another_problem_is_not_graded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_encodings, "_GRADE", "nowhere:nothing")
    add_encoding("k-monomial", Encoding("study", clausal, faithful=False))
    result = cpx.solve(larger(), "cpsat", encoding="study")
    assert result.statement == {"encoding": "study", "marked": True}
    assert "your encoding 'study', which is marked as another problem" in str(result)


@pytest.mark.parametrize("engine", ["cpsat", "maxsat:rc2", "milp:highs", "cpmpy:ortools"])
@pytest.mark.parametrize("shape", [(2, 1), (2, 2, 3), ()])
def test_variables_have_any_shape(engine: str, shape: tuple[int, ...]) -> None:
    """A variable S[0, i] that each feature implies, and more that nothing asks for."""

    def shaped(form: Any) -> Statement:
        stated = clausal(form)
        S = cp.boolvar(shape=shape or 1, name="S")
        last = S.reshape(-1)[-1] if shape else S
        rows = [*stated.model.constraints, *(x.implies(last) for x in stated.variables["X"])]
        model = cp.Model(rows, minimize=stated.model.objective_)
        return Statement(
            model,
            {**stated.variables, "S": S},
            lambda chosen: {**stated.complete(chosen), "S": np.ones(shape or 1, dtype=int)},
            offset=stated.offset,
        )

    add_encoding("k-monomial", Encoding("shaped", shaped))
    problem = cpx.KMonomial(TINY, k=2)
    result = cpx.solve(problem, engine, encoding="shaped", hint=[0])
    assert (result.status, result.error) == ("OPTIMAL", "")
    assert result.objective == cpx.solve(problem, "search").objective
    for form in ("wcnf", "opb", "lp", "mps", "cp-sat", "minizinc", "flatzinc", "xcsp3"):
        assert b"S[0]" in export_bytes(problem, form, "shaped")


@pytest.mark.parametrize("goal", ["minimize", "maximize"])
@pytest.mark.parametrize(
    "known", [cases.cases(name)[0] for name in ("kernel-rule", "expected-prediction")]
)
def test_the_worst_value_is_another_problem(goal: str, known: cases.Case) -> None:
    problem = known.problem
    ours = problem.encodings[0]

    def build(form: Any) -> Statement:
        stated = ours.build(form)
        model = cp.Model(stated.model.constraints, **{goal: stated.model.objective_})
        return Statement(model, stated.variables, stated.complete, offset=stated.offset)

    assert problem.sense == problem.model(ours.name).sense == "max"
    add_encoding(problem._stated_as or problem.kind, Encoding("mine", build))
    result = cpx.solve(problem, "cpsat", encoding="mine")
    told = "wrong objective: of .* it asks for the least value"
    assert re.search(told, result.statement["wrong"])
    assert result.status in ("FEASIBLE", "ERROR")
    assert result.bound in (None, problem._trivial_bound())
