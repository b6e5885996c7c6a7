"""Another objective with the same solutions: what is told of it, and what is not claimed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cpx import KMonomial, NegativeOnly, Samples
from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.options import SolveOptions
from cpx.solving.inner_solves import solve_stand_in

# The empty rule covers three that disagree; the first feature one, and it misses one.
SAMPLES = Samples([[1, 1], [1, 0], [0, 1], [0, 1], [0, 0]], [1, 0, 1, 0, 0])
ASKED, OTHER = KMonomial(SAMPLES, k=1), NegativeOnly(SAMPLES, k=1)


def ran(act, **options):
    chosen = SolveOptions(**options)
    progress = Progress(ASKED, chosen)
    return progress, solve_stand_in(SimpleNamespace(solve=act), OTHER, chosen, progress)


def finds(proved: bool, claimed: int | None = None, bound: int | None = None):
    def act(problem, options, progress):
        progress.found(problem.explanation([0]))
        if bound is not None:
            progress.bound(bound)
        return Outcome(proved, Termination.COMPLETED, "done", claimed=claimed)

    return act


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (finds(True, 1), "value 1, bound 1"),
        (finds(False, 1, bound=0), "value 1, bound 0"),
        (finds(False, 1), "value 1, no bound"),
    ],
)
def test_what_is_proved_of_the_other_objective_is_told_and_not_claimed(act, told) -> None:
    progress, outcome = ran(act)
    assert outcome.warnings == [f"the objective of the encoding: {told}"]
    assert (outcome.proved, outcome.claimed) == (False, None)
    assert (progress.objective, progress.best_bound) == (2, None)


@pytest.mark.parametrize("proved", [False, True])
def test_that_there_is_no_solution_is_the_same_for_both(proved: bool) -> None:
    _, outcome = ran(lambda *_: Outcome(proved, Termination.COMPLETED))
    assert (outcome.proved, outcome.warnings) == (proved, [])


def test_a_hint_is_a_solution_of_both() -> None:
    _, outcome = ran(lambda *_: Outcome(False, Termination.TIME_LIMIT), hint=[1], gap=0.5)
    assert outcome.warnings == ["the objective of the encoding: value 1, no bound"]
    assert outcome.termination is Termination.TIME_LIMIT


def test_a_claim_that_is_refuted_is_a_failure() -> None:
    _, outcome = ran(finds(True, 7))
    assert (outcome.proved, outcome.claimed) == (False, None)
    assert outcome.wrong == "the engine claims the optimum 7, a solution has 1"
    assert outcome.warnings == []
