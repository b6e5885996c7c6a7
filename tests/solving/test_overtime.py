"""Every phase hears the time limit and Ctrl-C: what is slow here never ends by itself."""

from __future__ import annotations

import _thread
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cpx
from cpx.answers.result import Status, Termination
from cpx.backends.cpsat import CpSat
from cpx.check import UNDECIDED
from cpx.models.monomial.problem import MONOMIAL_ENCODINGS, WeightedProblem
from cpx.models.sufficient_reason.cases import three_definitions
from cpx.options import SolveOptions
from cpx.processes.overtime import _POLL_SECONDS, OutOfTime, stopped_when
from cpx.processes.threads import start_thread
from cpx.solving import run as solving
from cpx.solving.run import run

ENGINES = ["cpsat", "maxsat:rc2", "milp:highs", "milp:cbc", "cpmpy:ortools"]


def forever(*args: Any, **more: Any) -> Any:
    """Work in Python that looks at no clock."""
    while True:
        sum(range(100))


def problem(seed: int = 0, d: int = 12, k: int = 4) -> cpx.KMonomial:
    rng = np.random.default_rng(seed)
    return cpx.KMonomial(cpx.Samples(rng.random((80, d)) < 0.8, rng.random(80) < 0.5), k=k)


@pytest.fixture
def slow_stating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WeightedProblem, "model", forever)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.usefixtures("slow_stating")
def test_stating_is_ended_by_the_limit(engine: str) -> None:
    result = cpx.solve(problem(), engine, time_limit=0.2, warm_start=False)
    assert result.termination is Termination.TIME_LIMIT
    assert result.status is Status.UNKNOWN
    assert result.raw_status == "stopped while the problem was stated"


@pytest.mark.usefixtures("slow_stating")
def test_what_was_found_before_is_kept() -> None:
    hinted = cpx.solve(problem(), "cpsat", time_limit=0.2, hint=[0, 1], warm_start=False)
    assert hinted.status is Status.FEASIBLE
    assert hinted.objective == problem().evaluate(problem().explanation([0, 1])).objective
    assert hinted.verified


@pytest.mark.usefixtures("slow_stating")
def test_stating_is_ended_by_a_cancel() -> None:
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    result = run(problem(), "cpsat", SolveOptions(warm_start=False), cancel=cancel)
    assert result.termination is Termination.INTERRUPTED


def test_compiling_is_ended_by_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    from cpx.backends.cpsat import compile as compiling

    monkeypatch.setattr(compiling, "compile_cp_model", forever)
    result = cpx.solve(problem(), "cpsat", time_limit=0.2, warm_start=False)
    assert (result.status, result.termination) == (Status.UNKNOWN, Termination.TIME_LIMIT)


def test_a_preferred_encoding_that_is_slow_to_state_gives_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = next(e for e in MONOMIAL_ENCODINGS if e.name == "triples")
    slow = replace(own, build=forever, searches=False)
    encodings = tuple(slow if e.name == "triples" else e for e in cpx.KMonomial.encodings)
    monkeypatch.setattr(cpx.KMonomial, "encodings", encodings)
    monkeypatch.setattr(CpSat, "_preferred_encodings", ("triples",))
    monkeypatch.setattr(solving, "_STATING", 0.001)
    asked = problem()
    result = cpx.solve(asked, "cpsat", time_limit=200, warm_start=False)
    assert result.status is Status.OPTIMAL
    assert result.encoding == asked.encodings[0].name
    assert any("'triples' took too much" in warning for warning in result.warnings)
    assert result.objective == cpx.solve(asked, "search").objective


# ------------------------------------------------------------------------ checking


def test_a_check_that_looks_at_no_clock_is_ended_and_confirms_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cpx.models.sufficient_reason.judge.Cells", forever)
    asked = cpx.SufficientReason(three_definitions(), (1, 1, 1), "attributes", "sufficient")
    result = cpx.solve(asked, "hitting-sets", time_limit=0.2, hint=[0, 1, 2])
    assert result.status in (Status.OPTIMAL, Status.FEASIBLE)
    assert not result.verified
    assert f"not verified: {UNDECIDED}" in result.warnings


# ------------------------------------------------------------------ the mechanism


def test_nothing_is_raised_once_the_block_is_left() -> None:
    for turn in range(200):
        over = threading.Event()
        try:
            with stopped_when(over.is_set):
                over.set()
                if turn % 2:
                    time.sleep(0.0005 * (turn % 60))
        except OutOfTime:
            pass
        for _ in range(50):
            sum(range(10))  # where a late one would be raised


def no_late_one_comes() -> None:
    until = time.monotonic() + 5 * _POLL_SECONDS
    while time.monotonic() < until:
        sum(range(10))  # where it would be raised


def test_nothing_is_raised_after_an_interrupt_while_the_block_is_left() -> None:
    for turn in range(60):
        over = threading.Event()
        timer = threading.Timer(0.00002 * turn, _thread.interrupt_main)
        try:
            timer.start()
            with stopped_when(over.is_set):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            with suppress(KeyboardInterrupt):
                timer.join()
                time.sleep(0.001)
        over.set()
    no_late_one_comes()


def test_nothing_is_raised_after_an_interrupt_while_the_watcher_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(work: Callable[[], object]) -> None:
        start_thread(work)
        raise KeyboardInterrupt

    monkeypatch.setattr("cpx.processes.overtime.start_thread", interrupted)
    over = threading.Event()
    with pytest.raises(KeyboardInterrupt), stopped_when(over.is_set):
        pass
    over.set()
    no_late_one_comes()


def test_what_is_lost_in_a_destructor_is_raised_again() -> None:
    lost: list[object] = []

    def losing() -> None:
        try:
            forever()
        except OutOfTime as error:  # as a destructor of a package does
            lost.append(error)
        forever()

    with pytest.raises(OutOfTime), stopped_when(lambda: True):
        losing()
    assert len(lost) == 1


def test_profilers_go_on_after_a_block_that_was_stopped() -> None:
    code = """
import cProfile
from cpx.processes.overtime import OutOfTime, stopped_when
try:
    with stopped_when(lambda: True):
        while True:
            pass
except OutOfTime:
    pass
def call(): pass
with cProfile.Profile():
    call()
"""
    subprocess.run([sys.executable, "-c", code], timeout=120, check=True)


def test_a_block_that_ends_is_not_touched() -> None:
    with stopped_when(lambda: False):
        value = sum(range(1000))
    assert value == 499500


def test_blocks_within_blocks() -> None:
    def inner() -> Iterator[int]:
        with stopped_when(lambda: False):
            yield from range(10**9)

    with pytest.raises(OutOfTime), stopped_when(lambda: True):
        for _ in inner():
            pass
