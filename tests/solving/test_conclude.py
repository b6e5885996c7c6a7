"""What is made of an engine's report: trace, versions, warnings, time for the check."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from cpx import KMonomial, Samples, check, solve
from cpx.answers.result import Status, Termination
from cpx.backends.base import Outcome, Progress
from cpx.modelling.encodings import find_encoding
from cpx.options import SolveOptions
from cpx.solving.conclude import _seconds_to_check, _unfaithful, conclude
from cpx.support.versions import installed_version

PROBLEM = KMonomial(Samples([[1, 1], [1, 0], [1, 1], [0, 0]], [1, 1, 0, 0]), k=1)
ENGINE = cast(
    Any,
    SimpleNamespace(
        _asks_classifier=False, name="", solver="", full_name="", requires={}, _provenance=dict
    ),
)


@pytest.mark.parametrize("engine", ["search", "cpsat", "maxsat", "milp", "beam"])
def test_the_trace_ends_with_the_answer_and_cpx_is_among_the_versions(engine: str) -> None:
    result = solve(PROBLEM, engine)
    last = result.trace[-1]
    assert (last.objective, last.bound) == (result.objective, result.bound)
    assert result.versions["cpx-explain"] == installed_version("cpx-explain")


def test_an_encoding_that_an_engine_has_no_use_for_changes_nothing() -> None:
    result = solve(PROBLEM, "search", encoding="table1-literal")
    assert (result.status, result.bound, result.verified) == (Status.OPTIMAL, 1, True)
    assert result.warnings == ("backend search does not honour encoding",)


@pytest.mark.parametrize(
    ("limit", "seconds"), [(None, check.SECONDS), (40.0, 41.6), (1.0, 0.65), (0.1, 0.3)]
)
def test_the_check_gets_what_is_left_of_the_limit(limit: float | None, seconds: float) -> None:
    progress = SimpleNamespace(options=SimpleNamespace(time_limit=limit), elapsed=1.0)
    assert _seconds_to_check(cast(Any, progress)) == pytest.approx(seconds)


@pytest.mark.parametrize(("claimed", "told"), [(None, False), (1, False), (0, True)])
def test_a_claim_for_another_problem_is_told_where_it_differs(
    claimed: int | None, told: bool
) -> None:
    outcome = Outcome(True, Termination.COMPLETED, "", claimed=claimed)
    warning = _unfaithful(find_encoding(KMonomial, "table1-literal"), outcome, 1)
    assert ("claims the value" in warning) == told
    assert warning.endswith("its bound is that of a relaxation, and valid")


def test_what_is_reported_after_the_end_changes_nothing() -> None:
    """A thread that was left behind may still find something."""
    progress = Progress(PROBLEM, SolveOptions())
    progress.found(PROBLEM.explanation([]))
    outcome = Outcome(False, Termination.COMPLETED)
    result = conclude(progress, outcome, ENGINE, find_encoding(KMonomial), [], 0.0)
    progress.found(PROBLEM.explanation([0]))
    progress.bound(1)
    assert (
        (progress.objective, progress.best_bound) == (result.objective, result.bound) == (2, None)
    )


@pytest.mark.parametrize("proved", [False, True])
def test_what_is_proved_has_its_value_as_the_bound(proved: bool) -> None:
    progress = Progress(PROBLEM, SolveOptions())
    progress.found(PROBLEM.explanation([0]))
    outcome = Outcome(proved, Termination.COMPLETED, claimed=1)
    result = conclude(progress, outcome, ENGINE, find_encoding(KMonomial), [], 0.0)
    assert (result.objective, result.bound) == (1, 1 if proved else None)
    assert result.status is (Status.OPTIMAL if proved else Status.FEASIBLE)
    assert result.verified


@pytest.mark.parametrize("proved", [False, True])
def test_the_best_of_ties_is_told_of_an_optimum_alone(
    proved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cpx.check.violations", lambda *asked: [])
    progress = Progress(PROBLEM, SolveOptions())
    progress.found(PROBLEM.explanation([0]))
    outcome = Outcome(proved, Termination.COMPLETED, claimed=1, best_of_ties=True)
    found = conclude(progress, outcome, ENGINE, find_encoding(KMonomial), [], 0.0).explanation
    assert found is not None
    assert found.claim is not None
    assert found.claim.best_of_ties == proved
