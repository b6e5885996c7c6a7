"""What engines are given to start from, and what is told of it."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from cpx import (
    KMonomial,
    MaxPrecision,
    Samples,
    SufficientReason,
    solve,
)
from cpx.answers.result import Status
from cpx.backends import backend
from cpx.backends.base import Progress
from cpx.backends.search import Search
from cpx.library import make
from cpx.models.rule_set.cases import random_learning, random_selection
from cpx.models.sufficient_reason.cases import three_definitions
from cpx.options import SolveOptions
from cpx.solving import warm_start
from cpx.solving.warm_start import Start, start_for
from cpx.trees import read_sklearn

ENGINES = ("cpsat", "maxsat:rc2", "maxsat:lsu", "milp:highs", "milp:cbc")


@pytest.fixture(scope="module")
def majoritary() -> SufficientReason:
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(21, max_depth=5, random_state=0).fit(X, y)
    problem = SufficientReason(read_sklearn(forest, rule="vote"), X[19])
    assert problem.definition == "majoritary"
    assert len(problem.losses.tree) > 100
    return problem


@pytest.fixture(scope="module")
def optimum(majoritary: SufficientReason) -> object:
    return solve(majoritary, "milp").objective


@pytest.mark.parametrize("engine", ENGINES)
def test_the_start_is_named(engine: str, majoritary: SufficientReason, optimum: object) -> None:
    result = solve(majoritary, engine)
    assert (result.status, result.objective) == (Status.OPTIMAL, optimum)
    assert result.verified
    assert "of the deletion before" in result.warnings[-1]


@pytest.mark.parametrize("engine", ["maxsat:rc2", "maxsat:lsu"])
def test_an_engine_without_time_is_as_good_as_deletion(
    engine: str, majoritary: SufficientReason
) -> None:
    problem = replace(majoritary, level="conditions")
    result = solve(problem, engine, time_limit=0.5)
    assert result.objective <= solve(problem, "best-of-orders").objective


def test_a_hint_is_where_the_start_begins(majoritary: SufficientReason) -> None:
    best = solve(majoritary, "milp").explanation
    result = solve(majoritary, "maxsat:rc2", hint=best)
    assert result.explanation.features == best.features
    assert "found nothing better" in result.warnings[-1]


def test_what_has_no_solution_or_is_small_has_no_start(majoritary: SufficientReason) -> None:
    barred = replace(majoritary, forbidden=tuple(f"x{i}" for i in range(30)))
    for problem in (barred, SufficientReason(three_definitions(), (1, 1, 1))):
        result = solve(problem, "maxsat:rc2")
        assert not any("before" in warning for warning in result.warnings)
    assert solve(barred, "cpsat").status is Status.INFEASIBLE


def test_the_answer_is_told_from_the_start_by_its_rules() -> None:
    problem = random_selection(5)
    progress = Progress(problem, SolveOptions())
    start = Start(backend("cpsat"), progress)
    start.look()
    (told,) = start.told(progress)
    assert told.startswith("the answer is that of the local search before")
    assert progress.explanation is not None
    progress.explanation = problem.explanation([] if progress.explanation.features else [0])
    (told,) = start.told(progress)
    assert told.endswith("the answer is the first of the sets of that value")


def test_a_start_begins_with_the_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    class Watched:
        @staticmethod
        def available() -> bool:
            return True

        @staticmethod
        def solve(problem, options, progress) -> None:
            begun.append(progress.explanation)

    monkeypatch.setattr(warm_start, "find_backend", lambda name: Watched)
    problem = random_selection(5)
    for hint in (None, problem.explanation([0])):
        progress = Progress(problem, SolveOptions())
        if hint is not None:
            progress.found(hint)
        Start(backend("cpsat"), progress).look()
    assert begun == [None, problem.explanation([0])]


def test_who_may_be_handed_a_start() -> None:
    selection, rule = random_learning(4), planted()
    told = {
        name: [start_for(backend(name), problem) is not None for problem in (selection, rule)]
        for name in ("column-generation", "local-search", "cpsat", "milp", "search")
    }
    assert told == {
        "column-generation": [False, False],
        "local-search": [False, False],
        "cpsat": [True, True],
        "milp": [True, True],
        "search": [True, False],
    }


def test_an_engine_with_arrays_that_takes_a_start_wants_it() -> None:
    class Slow(Search):
        _start = "needed"

    found = start_for(Slow(), planted())
    assert (found.called, found.hint) == ("beam search", True)


@pytest.mark.parametrize(
    ("engine", "options", "begun"),
    [
        ("cpsat", {}, True),
        ("search", {}, True),
        ("column-generation", {}, False),
        ("cpsat", {"warm_start": False}, False),
    ],
)
def test_a_start_is_looked_for_where_one_is_wanted(
    engine: str, options: dict[str, bool], begun: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, solve_by = [], warm_start._solve_by
    monkeypatch.setattr(
        warm_start, "_solve_by", lambda *known: asked.append(known) or solve_by(*known)
    )
    result = solve(random_learning(4), engine, isolate=False, **options)
    told = any("of the local search before" in warning for warning in result.warnings)
    assert (bool(asked), told) == (begun, begun)


def planted() -> KMonomial:
    return KMonomial(make("planted", m=200, d=10, k=2).samples, k=2)


def test_the_time_of_the_processor_is_that_of_the_solve() -> None:
    before = time.process_time()
    result = solve(random_learning(4), "search", isolate=False)
    assert 0 < result.times.cpu <= time.process_time() - before


def test_engines_that_take_no_start_are_left_alone_with_a_rule() -> None:
    progress = Progress(planted(), SolveOptions())
    assert Start(backend("cpsat"), progress).told(progress) == []
    assert progress.explanation is None


@pytest.mark.parametrize("kind", [KMonomial, MaxPrecision])
@pytest.mark.parametrize("engine", ["milp:highs", "milp:cbc"])
def test_branch_and_cut_starts_from_a_beam_search(engine: str, kind: type) -> None:
    table = make("planted", m=200, d=10, k=2).samples
    problem = kind(table, k=2)
    best = solve(problem, "search")
    result = solve(problem, engine, time_limit=60)
    assert "of the beam search before" in result.warnings[-1]
    assert result.verified
    sign = 1 if problem.sense == "min" else -1
    assert sign * result.objective <= sign * solve(problem, "beam").objective
    assert sign * result.bound <= sign * best.objective <= sign * result.objective
    for samples, warm in ((table, False), (Samples(table.agreement[:20], table.same[:20]), True)):
        own = solve(kind(samples, k=2), engine, time_limit=5, warm_start=warm)
        assert not any("before" in warning for warning in own.warnings)
