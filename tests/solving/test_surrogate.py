"""Another objective, or one for ties: what is told of it, and what is not claimed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cpx import KMonomial, NegativeOnly, Samples
from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.models.expected_prediction.cases import random_expectation
from cpx.options import SolveOptions
from cpx.solving.inner_solves import break_ties, solve_stand_in

# The empty rule covers three that disagree; the first feature one, and it misses one.
SAMPLES = Samples([[1, 1], [1, 0], [0, 1], [0, 1], [0, 0]], [1, 0, 1, 0, 0])
ASKED, OTHER = KMonomial(SAMPLES, k=1), NegativeOnly(SAMPLES, k=1)


def ran(act, **options):
    chosen = SolveOptions(**options)
    progress = Progress(ASKED, chosen)
    return progress, solve_stand_in(
        SimpleNamespace(solve=act, accepts=lambda step: True), OTHER, chosen, progress
    )


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


@pytest.mark.parametrize(("proved", "met"), [(True, False), (False, True), (False, False)])
def test_ties_are_broken_once_there_is_a_proof(proved: bool, met: bool) -> None:
    problem = random_expectation(0)
    best = problem.explanation(problem.required)
    step = problem.tie_step(problem.evaluate(best).objective)
    for encoding in (step.encoding_names()[-1], "of another package"):
        options = SolveOptions(encoding=encoding, gap=0.5)
        progress = Progress(problem, options)
        progress.found(best)
        if met:
            progress.bound(progress.objective)
        asked = []

        def act(step, options, inner, asked=asked):
            asked.append((options.encoding, options.hint, options.gap, inner.explanation))
            return Outcome(False, Termination.TIME_LIMIT, warnings=["slow", "late"])

        first = Outcome(proved, Termination.COMPLETED, warnings=["slow"])
        outcome = break_ties(
            SimpleNamespace(solve=act, accepts=lambda step: True), first, options, progress
        )
        assert (outcome.proved, outcome.best_of_ties) == (proved, False)
        if not proved and not met:
            assert (asked, outcome.warnings) == ([], ["slow"])
            continue
        ((stated, hint, gap, known),) = asked
        # The second problem need not be one that another package states.
        assert stated == (encoding if encoding in step.encoding_names() else None)
        assert (hint, gap) == (best.features, None)
        assert known.features == best.features
        assert outcome.warnings == ["slow", "late"]
