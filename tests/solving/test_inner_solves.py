"""The second problem that breaks ties: what it is given, and what is not claimed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.modelling.encodings import encoding_names
from cpx.models.expected_prediction.cases import random_expectation
from cpx.options import SolveOptions
from cpx.solving.inner_solves import break_ties


@pytest.mark.parametrize(("proved", "met"), [(True, False), (False, True), (False, False)])
def test_ties_are_broken_once_there_is_a_proof(proved: bool, met: bool) -> None:
    problem = random_expectation(0)
    best = problem.explanation(problem.required)
    step = problem._tie_step(problem.evaluate(best).objective)
    for encoding in (encoding_names(step)[-1], "of another package"):
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
        assert stated == (encoding if encoding in encoding_names(step) else None)
        assert (hint, gap) == (best.features, None)
        assert known.features == best.features
        assert outcome.warnings == ["slow", "late"]
