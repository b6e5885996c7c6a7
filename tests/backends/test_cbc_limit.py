"""CBC is asked to end before its limit, and killed at it, by a clock of ours."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cpx.answers.result import Termination
from cpx.backends.base import Progress
from cpx.backends.milp import backend, cbc
from cpx.models.rule_set.cases import random_selection
from cpx.options import SolveOptions


class Clock:
    """Stands for the clock, and for a CBC that ends some seconds after it was asked to."""

    def __init__(self, obeys_after: float) -> None:
        self.now, self.obeys_after = 0.0, obeys_after
        self.asked_at = self.killed_at = float("inf")
        self.exit_status = 0

    def __call__(self, *_: Any) -> Clock:
        return self

    __enter__ = __call__

    def __exit__(self, *_: object) -> None:
        pass

    def perf_counter(self) -> float:
        return self.now

    def running(self) -> bool:
        self.now += 0.05
        ends = min(self.asked_at + self.obeys_after, self.killed_at)
        return self.now < ends

    def lines(self) -> list[bytes]:
        return []

    def interrupt(self) -> None:
        self.asked_at = self.now

    def kill(self) -> None:
        self.killed_at = self.now


@pytest.mark.parametrize("limit", [1.0, 5.0, 60.0])
@pytest.mark.parametrize("obeys_after", [0.01, 100.0])
def test_it_ends_by_the_limit(monkeypatch: Any, limit: float, obeys_after: float) -> None:
    clock = Clock(obeys_after)
    monkeypatch.setattr(cbc, "Console", clock)
    monkeypatch.setattr(cbc, "time", clock)
    cbc.CbcSolver()._run(["cbc"], Path(), limit)
    assert 0.8 * limit < clock.asked_at < limit
    assert clock.now <= limit + 0.1


@pytest.mark.parametrize("asked", [False, True])
def test_an_end_of_its_own_after_it_was_asked_is_one_at_the_limit(asked: bool) -> None:
    progress = Progress(random_selection(5), SolveOptions(time_limit=60))
    engine = SimpleNamespace(raw_status="Optimal - objective value 18.00000000", stopped=asked)
    why = backend._why_stopped(cast(Any, engine), progress)
    assert why == (Termination.TIME_LIMIT if asked else Termination.SOLVER_ERROR)
