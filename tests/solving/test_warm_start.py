"""What a start is told to come from, and that it begins with what is known."""

from __future__ import annotations

import pytest

from cpx.backends import backend
from cpx.backends.base import Progress
from cpx.options import SolveOptions
from cpx.solving import warm_start
from cpx.solving.warm_start import Start
from cpx.testing.rule_sets import random_selection


def test_the_answer_is_told_from_the_start_by_its_rules() -> None:
    problem = random_selection(5)
    progress = Progress(problem, SolveOptions())
    start = Start(backend("cpsat"), progress)
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
        Start(backend("cpsat"), progress)
    assert begun == [None, problem.explanation([0])]
