"""The classifier attached to a problem: who needs it, and where it does not go."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from cpx import solve
from cpx.answers.result import Status
from cpx.backends import backend_class
from cpx.compare import compare, engine_names
from cpx.data import Oracle, Uniform
from cpx.errors import InvalidOption
from cpx.modelling.base import with_oracle
from cpx.modelling.instances import from_dict
from cpx.models import Problem
from cpx.models.monomial.explainers.rule import RuleExplainer

X = [1, 0, 1, 1, 0, 0]


@pytest.fixture(scope="module")
def problem() -> Problem:
    background = np.random.default_rng(0).integers(0, 2, (40, 6))
    explainer = RuleExplainer(lambda z: z[:, 0] & z[:, 2], background, distribution=Uniform(6))
    return explainer.problem(X, k=3)


def test_the_oracle_is_no_part_of_the_statement(problem: Problem) -> None:
    assert isinstance(problem.oracle, Oracle)
    bare = from_dict(problem.to_dict())
    assert bare.oracle is None
    assert bare.to_dict() == problem.to_dict()
    assert replace(problem, k=2).oracle is None
    assert with_oracle(bare, problem.oracle).oracle is problem.oracle
    assert bare.oracle is None


def test_a_problem_is_pickled_without_it(problem: Problem) -> None:
    # The classifier is a lambda, which cannot be pickled.
    twin = pickle.loads(pickle.dumps(problem))
    assert twin.oracle is None
    assert twin.to_dict() == problem.to_dict()


def test_labels_and_agreement() -> None:
    oracle = Oracle(lambda z: z.sum(axis=1), [1, 0, 1], Uniform(3))
    assert oracle.label == 2
    rows, agreement = oracle.draw(200, [1], np.random.default_rng(0))
    np.testing.assert_array_equal(agreement, rows == [1, 0, 1])
    assert agreement[:, 1].all()
    np.testing.assert_array_equal(oracle.same(rows), rows.sum(axis=1) == 2)


def test_a_saved_instance_is_refused(problem: Problem) -> None:
    bare = from_dict(problem.to_dict())
    for isolate in (False, True):
        with pytest.raises(InvalidOption, match="asks the classifier, and this problem has only"):
            solve(bare, "certificates", isolate=isolate)
    with pytest.raises(InvalidOption, match="asks the classifier"):
        compare([bare], "certificates")
    (skipped,) = compare([bare], "search,certificates").skipped
    assert skipped.configuration == "certificates"


def test_isolation_is_not_for_what_asks_the_classifier(problem: Problem) -> None:
    result = solve(problem, "certificates", isolate=True)
    assert result.status is Status.FEASIBLE
    assert result.memory is None
    assert any("ran in the process that has it" in text for text in result.warnings)


def test_one_comparison_of_engines_and_heuristics(problem: Problem) -> None:
    comparison = compare([problem], "cpsat,greedy,beam,certificates", time_limit=60)
    assert not comparison.failed
    found = {run.engine: run.result for run in comparison.runs}
    assert found["cpsat"].status is Status.OPTIMAL
    for name in ("greedy", "beam", "certificates"):
        assert found[name].status is Status.FEASIBLE
        assert found[name].bound is None
        assert found[name].explanation is not None
        assert found[name].explanation.features == (0, 2)


def test_default_lists_are_exact() -> None:
    for wanted in (None, "all"):
        assert all(backend_class(name.partition(":")[0]).exact for name in engine_names(wanted))
    assert engine_names("beam,search") == ["beam", "search"]
