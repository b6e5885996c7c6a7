"""The engine that is asked where none is named, and when its clock begins."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx import SufficientReason
from cpx.backends import backend, backend_class
from cpx.backends.base import takes
from cpx.library import make
from cpx.models.expected_prediction.explainer import ExpectationExplainer
from cpx.models.sufficient_reason.cases import three_definitions
from cpx.solving.run import default_engine
from cpx.testing.cases import cases


def test_it_can_solve_every_kind() -> None:
    for case in cases():
        engine = default_engine(case.problem)
        assert takes(backend(engine), case.problem), case
        if case.problem.kind == "rule-set-learning":
            assert engine == "column-generation"
        elif case.problem.kind == "contrast":
            assert engine == "hitting-sets"
        elif takes(backend("search"), case.problem):
            assert engine == "search"
        elif takes(backend("cpsat"), case.problem):
            assert engine == "cpsat"


def test_an_encoding_needs_an_engine_that_states() -> None:
    problem = make("planted", 60, 8, 2, 0)
    assert cpx.solve(problem).backend == "search"
    result = cpx.solve(problem, encoding="clausal")
    assert result.backend == "cpsat"
    assert not [told for told in result.warnings if "does not honour" in told]


def test_where_the_search_is_not_there_another_one_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backend_class("search"), "available", classmethod(lambda cls: False))
    assert default_engine(make("planted", 60, 8, 2, 0)) == "cpsat"


def test_a_reason_without_a_statement_is_solved() -> None:
    reason = SufficientReason(three_definitions(), (1, 1, 1), "attributes", "sufficient")
    assert reason._unstated
    result = cpx.solve(reason)
    assert result.backend == "hitting-sets"
    assert result.status.value == "OPTIMAL"
    assert result.verified


def test_an_expectation_that_only_the_search_takes_is_solved() -> None:
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    explainer = ExpectationExplainer(model, X, distribution="mixture", components=2)
    problem = explainer.problem(X[70], 2)
    assert not takes(backend("cpsat"), problem)
    result = cpx.solve(problem, isolate=False)
    assert (result.backend, result.status) == ("search", "OPTIMAL")


@pytest.mark.parametrize("engine", ["milp:highs", "milp:scip", "milp:glpk"])
def test_an_engine_that_we_stop_is_not_said_to_be_interrupted(engine: str) -> None:
    family = backend_class("milp")
    if not family.available() or engine not in family.installed():
        pytest.skip(f"{engine} is not installed")
    for seed in range(4):
        result = cpx.solve(make("planted", 200, 20, 3, seed), engine, warm_start=False)
        assert result.status.value == "OPTIMAL"
        for word in ("nterrupt", "no solution", "-9"):
            assert word not in result.raw_status


# What all engines need is imported once, where processes can be forked.
_FIRST = """
import os, sys, cpx
from cpx.library import make
from cpx.backends import backend, progress
problem = make("planted", 60, 8, 2, 0)
*forked, engine = sys.argv[1:]
for name in forked:
    if os.fork() == 0:
        engine = name
        break
    os.wait()
def init(self, *given):
    print({name for name in backend(engine).requires if name not in sys.modules}, flush=True)
    os._exit(0)
progress.Progress.__init__ = init
cpx.solve(problem, engine)
"""


def test_imports_come_before_the_clock() -> None:
    engines = ["cpsat", "maxsat", "milp"]
    for given in [engines] if hasattr(os, "fork") else [[engine] for engine in engines]:
        command = [sys.executable, "-c", _FIRST, *given]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["set()"] * len(given)
