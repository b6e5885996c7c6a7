"""What a worker is sent, and what is made of its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cpx.answers.explanation import Explanation
from cpx.answers.result import TracePoint
from cpx.backends.base import Progress
from cpx.options import SolveOptions
from cpx.solving.isolate import GRACE, _ended, _Job, _lacked_memory, bare
from cpx.testing.rule_sets import random_selection


def test_what_can_be_made_again_is_not_sent() -> None:
    problem = random_selection(5)
    before = problem.form, problem.total, problem.covers
    made = {"form", "total", "covers"}
    assert made <= {*vars(problem)}
    alone = bare(problem)
    assert not made & {*vars(alone)}
    assert alone.to_dict() == problem.to_dict()
    assert problem.form is before[0]


def test_the_classifier_is_not_sent() -> None:
    problem = random_selection(5).with_oracle(cast(Any, object()))
    assert bare(problem).oracle is None
    assert problem.oracle is not None


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signals end processes there")
@pytest.mark.parametrize(
    ("status", "words", "lacked"),
    [
        (-signal.SIGABRT, [], True),
        (-signal.SIGABRT, ["what(): std::bad_alloc"], True),
        (-signal.SIGABRT, ["out of memory", "core dumped"], True),
        (-signal.SIGABRT, ["assertion failed"], False),
        (-signal.SIGSEGV, ["out of memory"], False),
        (1, [], False),
    ],
)
def test_an_abort_is_a_want_of_memory_unless_it_says_otherwise(status, words, lacked) -> None:
    assert _lacked_memory(status, words) == lacked


def test_how_a_worker_ended_is_told_with_its_last_words() -> None:
    assert _ended(3, []) == "the worker ended with status 3"
    words = ["one", "two", "three"]
    assert _ended(-signal.SIGTERM, words) == "the worker was ended by SIGTERM: three"
    assert _ended(None, []) == "the worker ended with status None"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers do not fork there")
@pytest.mark.parametrize("there", [False, True])
def test_a_child_whose_server_was_killed_ends_without_a_word(there: bool) -> None:
    code = """
import os, sys
from cpx.processes.messages import Outbox
from cpx.solving.worker import _child
out, into = os.pipe()
if sys.argv[1] == "False":
    os.close(out)
job = dict.fromkeys(("log", "cores", "group", "memory"))
sys.exit(_child(job, Outbox(into), None))
"""
    command = [sys.executable, "-c", code, str(there)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    # With a reader the job goes on, and lacks its problem.
    assert done.stderr.endswith("KeyError: 'problem'\n") if there else not done.stderr


@pytest.mark.parametrize("before", [False, True])
def test_the_second_interrupt_kills(before: bool) -> None:
    told: list[str] = []
    job = SimpleNamespace(
        progress=SimpleNamespace(interrupted=before, stop=lambda: told.append("stop")),
        kill=lambda: told.append("kill"),
        _signal=lambda number: told.append(signal.Signals(number).name),
        deadline=None,
    )
    _Job._interrupt(cast(Any, job))
    assert told == (["kill"] if before else ["stop", "SIGINT"])
    assert (job.deadline is None) == before


@pytest.mark.parametrize(("left", "kept"), [(None, 4.0), (1.0, 1.0), (9.0, 4.0)])
def test_an_interrupt_leaves_time_to_answer_but_not_more_than_there_was(left, kept) -> None:
    now = time.perf_counter()
    job = SimpleNamespace(
        progress=SimpleNamespace(interrupted=False, stop=lambda: None),
        _signal=lambda number: None,
        deadline=None if left is None else now + left,
    )
    _Job._interrupt(cast(Any, job))
    assert job.deadline == pytest.approx(now + kept, abs=0.5)


def test_what_is_heard_without_a_limit_has_no_deadline() -> None:
    problem = random_selection(5)
    job = _Job(cast(Any, None), Progress(problem, SolveOptions()), threading.Event())
    assert (job.killed, job.reusable) == (False, False)
    message = {"event": TracePoint(0.1, None, 1).to_json(), "features": [0]}
    for deadline in (None, 7.0):
        job.deadline = deadline
        job._replay(message)
        assert job.deadline == deadline
    assert job.progress.best_bound == 1
    assert job.progress.explanation == problem.explanation([0])
    job._replay({"event": TracePoint(0.2, None, None).to_json(), "features": None})
    assert job.progress.best_bound == 1


@pytest.mark.parametrize(("weighing", "least", "most"), [(0.05, 0.15, 0.4), (0.3, 0.475, 0.475)])
def test_a_worker_is_killed_early_enough_to_check_its_answer(
    monkeypatch: pytest.MonkeyPatch, weighing: float, least: float, most: float
) -> None:
    problem = random_selection(5)
    job = _Job(cast(Any, None), Progress(problem, SolveOptions(time_limit=4)), threading.Event())
    job._start(1)
    assert job.deadline == pytest.approx(job.progress.started + 4.2 + GRACE)
    last, found = job.deadline, job.progress.found

    def slow(explanation: Explanation) -> Any:
        end = time.thread_time() + weighing
        while time.thread_time() < end:
            pass
        return found(explanation)

    def hear() -> None:
        job._replay({"event": TracePoint(0.1, None, 0).to_json(), "features": [0]})

    hear()
    assert last - job.deadline < 0.1
    monkeypatch.setattr(job.progress, "found", slow)
    hear()
    assert least - 1e-6 <= last - job.deadline <= most + 1e-6
    # An answer that is weighed sooner takes nothing back.
    kept = job.deadline
    monkeypatch.setattr(job.progress, "found", found)
    hear()
    assert job.deadline == kept
