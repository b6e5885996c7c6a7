"""Dinkelbach's method with an engine that does what the test says."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from cpx import MaxPrecision, Samples
from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome, Progress
from cpx.options import SolveOptions
from cpx.solving.dinkelbach import dinkelbach

# The precisions are 2/5 of the empty rule, 2/3 of the first feature and 2/4 of the second.
PROBLEM = MaxPrecision(Samples([[1, 1], [1, 1], [1, 0], [0, 1], [0, 1]], [1, 1, 0, 0, 0]), k=1)


class Scripted(Backend):
    """Plays one act in each step; the last one again and again, to the hundredth step."""

    name = "scripted"

    def __init__(self, *acts: Callable[[object, Progress], Outcome]) -> None:
        self.acts, self.steps = acts, 0

    def solve(self, problem, options, progress):
        self.steps += 1
        assert self.steps < 100, "goes on for ever"
        return self.acts[min(self.steps, len(self.acts)) - 1](problem, progress)


def finds(feature, termination=Termination.COMPLETED, proved=False, claimed=None):
    def act(problem, progress):
        progress.found(problem.explanation([] if feature is None else [feature]))
        return Outcome(proved, termination, "done", claimed=claimed)

    return act


def ran(*acts, stopped=False, problem=PROBLEM):
    progress = Progress(problem, SolveOptions())
    if stopped:
        progress.stop()
    return progress, dinkelbach(Scripted(*acts), problem, SolveOptions(), progress)


def test_what_is_known_without_a_step() -> None:
    progress, outcome = ran(stopped=True)
    assert (progress.objective, progress.best_bound) == (Fraction(2, 5), 1)
    assert outcome.raw_status == "0 steps, the last not begun"
    assert (outcome.proved, outcome.termination) == (False, Termination.INTERRUPTED)


def test_a_first_rule_that_meets_the_bound_is_proved_without_a_step() -> None:
    problem = MaxPrecision(Samples([[1, 0], [1, 1]], [1, 1]), k=1)
    progress, outcome = ran(problem=problem)
    assert progress.objective == progress.best_bound == outcome.claimed == 1
    assert outcome.proved
    assert outcome.raw_status.startswith("0 steps")


def test_it_ends_where_nothing_is_better() -> None:
    progress, outcome = ran(finds(0))
    assert outcome.raw_status == "2 steps, the last done"
    assert (progress.objective, outcome.claimed) == (Fraction(2, 3), Fraction(2, 3))
    # What the engine did not prove is not proved.
    assert not outcome.proved
    assert progress.best_bound == 1
    assert outcome.termination is Termination.COMPLETED


def test_a_proof_of_the_last_step_is_one_of_the_whole() -> None:
    def proves(problem, progress):
        progress.found(problem.explanation([0]))
        return Outcome(True, Termination.COMPLETED, "done", claimed=progress.objective)

    progress, outcome = ran(proves)
    assert progress.objective == progress.best_bound == outcome.claimed == Fraction(2, 3)
    assert (outcome.proved, outcome.raw_status) == (True, "2 steps, the last done")


@pytest.mark.parametrize("stopped", [False, True])
def test_a_step_that_is_cut_short_is_the_last(stopped: bool) -> None:
    def act(problem, progress):
        if stopped:
            progress.stop()
        return finds(1, Termination.MEMORY_LIMIT)(problem, progress)

    progress, outcome = ran(act)
    assert progress.objective == Fraction(1, 2)
    assert outcome.raw_status == "1 step, the last done"
    assert (outcome.proved, outcome.termination) == (False, Termination.MEMORY_LIMIT)


def test_a_stop_between_steps_is_told() -> None:
    def act(problem, progress):
        progress.stop()
        return finds(1)(problem, progress)

    _, outcome = ran(act)
    assert outcome.termination is Termination.INTERRUPTED


def test_a_claim_that_is_refuted_ends_it_and_proves_nothing() -> None:
    _, outcome = ran(finds(1), finds(0, proved=True, claimed=-5))
    assert not outcome.proved
    assert outcome.wrong.startswith("step 2: ")


def test_no_rule_is_allowed() -> None:
    problem = MaxPrecision(Samples([[1, 1], [1, 0]], [1, 0]), k=1, min_precision="0.9")
    nothing = Outcome(True, Termination.COMPLETED, "none")
    forbidden = MaxPrecision(problem.samples, k=0, min_precision="0.9")
    progress, outcome = ran(lambda step, inner: nothing, problem=forbidden)
    assert progress.objective is None
    assert (outcome.proved, outcome.raw_status) == (True, "1 step, the last none")
