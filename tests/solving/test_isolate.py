"""What a worker is sent, and what is made of its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import Empty, SimpleQueue
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cpx import solve
from cpx.answers.explanation import Explanation
from cpx.answers.result import Result, Termination, TracePoint
from cpx.backends.base import Progress
from cpx.errors import InvalidOption
from cpx.modelling.base import with_oracle
from cpx.models.rule_set.cases import random_selection
from cpx.options import SolveOptions
from cpx.solving import isolate
from cpx.solving.isolate import (
    GRACE,
    _ended,
    _Job,
    _lacked_memory,
    _last_lines,
    _run,
    bare,
)


def test_what_can_be_made_again_is_not_sent() -> None:
    problem = random_selection(5)
    before = problem.selection_form, problem.total, problem.covers
    made = {"selection_form", "total", "covers"}
    assert made <= {*vars(problem)}
    alone = bare(problem)
    assert not made & {*vars(alone)}
    assert alone.to_dict() == problem.to_dict()
    assert problem.selection_form is before[0]


def test_the_classifier_is_not_sent() -> None:
    problem = with_oracle(random_selection(5), cast(Any, object()))
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
    # With a reader the job goes on, and lacks what it asks.
    assert done.stderr.endswith("KeyError: 'asked'\n") if there else not done.stderr


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
    assert now + kept <= job.deadline <= time.perf_counter() + kept


def test_what_is_heard_without_a_limit_has_no_deadline() -> None:
    problem = random_selection(5)
    job = _Job(cast(Any, None), Progress(problem, SolveOptions()), threading.Event())
    assert (job.killed, job.reusable) == (False, False)
    message = {"event": TracePoint(0.1, None, 1).to_json(), "features": [0]}
    for deadline in (None, 1e12):
        job.deadline = deadline
        job._replay(message)
        assert job.deadline == deadline
    assert job.progress.best_bound == 1
    assert job.progress.explanation == problem.explanation([0])
    job._replay({"event": TracePoint(0.2, None, None).to_json(), "features": None})
    assert job.progress.best_bound == 1


@pytest.mark.parametrize(
    ("weighing", "least", "most"), [(0.05, 0.15, 0.4), (0.3, GRACE / 2, GRACE / 2)]
)
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


def test_a_solution_that_takes_too_long_to_measure_is_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forever(*_: Any) -> Any:
        while True:
            sum(range(100))

    job = _Job(cast(Any, None), Progress(random_selection(5), SolveOptions()), threading.Event())
    job.deadline = time.perf_counter() - 60
    monkeypatch.setattr(type(job.progress.problem), "evaluate", forever)
    job._replay({"event": TracePoint(0.1, None, 1).to_json(), "features": [0]})
    assert (job.progress.explanation, job.progress.best_bound) == (None, 1)


class _Worker:
    """A worker that says what the test gives it, and notes what is done to it."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages: SimpleQueue[dict[str, Any]] = SimpleQueue()
        for message in messages:
            self.messages.put(message)
        self.told: list[Any] = []
        self.child = SimpleNamespace(
            kill=lambda: self.told.append("kill"), process=SimpleNamespace(wait=lambda: -11)
        )
        self.end = lambda: self.told.append("end")

    def send(self, *messages: Any) -> None:
        self.told += messages


def _job(*messages: dict[str, Any], **options: Any) -> tuple[_Job, _Worker]:
    worker = _Worker(*messages)
    progress = Progress(random_selection(5), SolveOptions(**options))
    return _Job(cast(Any, worker), progress, threading.Event()), worker


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped there")
def test_who_waits_is_let_go_when_it_has_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "killpg", lambda *which: sent.append(which))
    # The answer was on its way when the worker was stopped, before it could end.
    answer = {"result": solve(random_selection(5), "search").to_dict()}
    job, _ = _job({"started": 7}, {"phase": None, "times": {}}, answer, {"closed": True})
    job.wait_at = threading.Event()
    job.wait_at.set()
    assert job.wait() is not None
    assert sent == [(7, signal.SIGSTOP), (7, signal.SIGCONT)]


def test_a_hint_is_known_of_a_worker_that_ends_without_a_word() -> None:
    job, worker = _job({"closed": True}, hint=(0,))
    limits = {"memory": None, "log": None}
    result = _run(job, "search", limits, quiet=False)
    problem = job.progress.problem
    assert result.objective == problem.evaluate(problem.explanation([0])).objective
    asked, (options, sent), *after = worker.told
    assert asked == {"backend": "search", "hears": False, **limits}
    assert options == job.progress.options
    assert sent.to_dict() == problem.to_dict()
    assert after == ["end"]


def test_a_worker_that_gets_no_job_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*messages: Any) -> None:
        raise TypeError("cannot pickle a lock")

    job, worker = _job()
    monkeypatch.setattr(worker, "send", refuse)
    with pytest.raises(InvalidOption, match=r"cannot be handed .* \(cannot pickle a lock\)"):
        _run(job, "search", {"memory": None, "log": None}, quiet=False)
    assert job.killed
    assert worker.told == ["kill", "end"]


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("cpu", [None, 12.5])
@pytest.mark.parametrize(("quiet", "log"), [(True, None), (True, "mine"), (False, None)])
def test_a_worker_that_can_go_on_is_tidied_and_given_back(
    quiet: bool, log: str | None, cpu: float | None, killed: bool, tmp_path: Path
) -> None:
    job, worker = _job()
    known = solve(job.progress.problem, "search", isolate=False)

    def wait() -> Result:
        job.reusable, job.killed, job.cpu, job.memory = True, killed, cpu, 77
        return known

    vars(job)["wait"] = wait
    vars(worker)["tidy"] = lambda: worker.told.append("tidy")
    vars(worker)["give_back"] = worker.told.append
    worker.child.folder = tmp_path
    result = _run(job, "search", {"log": log}, quiet=quiet)
    assert (result.memory, result.objective) == (77, known.objective)
    assert result.times.cpu == (known.times.cpu if cpu is None else cpu)
    # What it prints goes where it is asked to, or into a folder that is clean.
    printed = str(tmp_path / "printed.txt") if quiet and log is None else log
    before = ["tidy"] if quiet and log is None else []
    after = ["tidy"] if killed else []
    asked = {"backend": "search", "hears": False, "log": printed}
    told = [each[0] if isinstance(each, tuple) else each for each in worker.told]
    assert told == [*before, asked, job.progress.options, *after, "search"]


def test_a_group_for_memory_is_made_where_there_is_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def made(memory: int) -> str:
        if memory > 9:
            raise OSError
        return f"group of {memory}"

    monkeypatch.setattr(isolate, "MemoryGroup", made)
    assert [isolate._memory_group(memory) for memory in (None, 9, 10)] == [
        *(None, "group of 9", None),
    ]


def test_a_group_for_memory_is_removed_however_a_job_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    problem, removed = random_selection(5), []
    group = SimpleNamespace(folder=tmp_path, peak=lambda: 77, remove=lambda: removed.append(1))
    own = solve(problem, "search")
    monkeypatch.setattr(isolate, "_memory_group", lambda memory: group)
    monkeypatch.setattr(isolate.Server, "take", lambda backend: _Worker())
    monkeypatch.setattr(isolate, "_run", lambda job, backend, limits, quiet: own)
    assert isolate.run_isolated(problem, "search", SolveOptions()).memory == 77
    assert len(removed) == 1
    monkeypatch.delattr(isolate, "_run")
    with pytest.raises(NameError):
        isolate.run_isolated(problem, "search", SolveOptions())
    assert len(removed) == 2


def test_a_job_listens_until_its_child_is_gone() -> None:
    job, _ = _job(
        {"loaded": True},
        {"started": 7},
        {"phase": "solve", "times": {"state": 0.25}},
        {"event": TracePoint(0.1, None, 1).to_json(), "features": [0]},
        {"exit": 0, "cpu": 1.5, "memory": 99},
        time_limit=2,
    )
    assert job.wait() is None
    assert (job.pid, job.exit, job.cpu, job.memory, job.reusable) == (7, 0, 1.5, 99, True)
    assert job.deadline is not None
    assert job.progress.times["state"] == 0.25
    assert (job.progress.best_bound, job._phase) == (1, "solve")
    assert job._entered > 0
    job, _ = _job({"closed": True})
    assert (job.wait(), job.exit, job.reusable) == (None, -11, False)
    own = solve(random_selection(5), "search")
    job, _ = _job({"result": own.to_dict()}, {"exit": 0, "cpu": 0.0, "memory": 1})
    assert job.wait() == own
    job, _ = _job({"refused": "it is too wide"})
    with pytest.raises(InvalidOption, match="it is too wide"):
        job.wait()


def test_ctrl_c_while_nothing_is_heard_is_an_interrupt() -> None:
    job, worker = _job()
    heard = iter([KeyboardInterrupt, Empty, {"exit": 0, "cpu": 0.0, "memory": 1}])

    def get(timeout: float) -> Any:
        if isinstance(message := next(heard), type):
            raise message
        return message

    cast(Any, worker).messages = SimpleNamespace(get=get)
    assert job.wait() is None
    assert job.progress.interrupted
    assert job.exit == 0


def test_what_is_overdue_or_to_be_killed_is_killed_once() -> None:
    for late, asked in ((False, False), (True, False), (False, True)):
        job, worker = _job()
        job.deadline = time.perf_counter() + (-1 if late else 60)
        job.kill_at = threading.Event()
        if asked:
            job.kill_at.set()
        job._next()
        job._next()
        assert worker.told == ["kill"] * (late or asked)
        assert job.killed == (late or asked)
    job, worker = _job()
    assert job._next() is None
    assert not job.killed


@pytest.mark.parametrize(("spent", "late"), [(2.9, False), (3.1, True)])
def test_a_worker_that_overstays_its_processor_time_is_killed(
    monkeypatch: pytest.MonkeyPatch, spent: float, late: bool
) -> None:
    monkeypatch.setattr(os, "killpg", lambda *which: None)
    used = iter((5.0, 5.0 + spent, 9.0))
    monkeypatch.setattr(isolate, "process_seconds", lambda pid: next(used))
    worker = _Worker()
    job = _Job(
        cast(Any, worker),
        Progress(random_selection(5), SolveOptions(cpu_limit=2)),
        threading.Event(),
    )
    job._start(1)
    job._next()
    assert job.killed == late
    # A program that was killed with it is in no account of the system.
    worker.messages.put({"exit": 0, "cpu": 0.3, "memory": 1})
    job._spent_at += 60
    job.wait()
    assert job.cpu == (9.0 if late else 0.3)
    # What it said last is still weighed, as at a limit of time.
    assert not job._overdue(by=0.5)


def test_solutions_found_elsewhere_are_handed_on_and_a_cancel_is_an_interrupt() -> None:
    job, worker = _job({"loaded": 1}, {"loaded": 2})
    job.known = SimpleQueue()
    job.known.put((0, 2))
    job.known.put((1,))
    assert job._next() == {"loaded": 1}
    assert worker.told == [{"known": (0, 2)}, {"known": (1,)}]
    job.cancel.set()
    assert job._next() == {"loaded": 2}
    # Not started yet, it cannot be interrupted gently; a second look does not do it again.
    assert job.progress.interrupted
    assert worker.told[2:] == ["kill"]
    job._next()
    assert worker.told[2:] == ["kill"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signals end processes there")
def test_a_child_is_signalled_with_what_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(os, "killpg", lambda *args: sent.append(args))
    job, worker = _job()
    job.pid = 7
    job.kill()
    job.kill()
    assert (sent, worker.told) == ([(7, signal.SIGKILL)], [])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signals end processes there")
@pytest.mark.parametrize(
    ("state", "memory", "words", "termination", "raw"),
    [
        ({"killed": True}, None, "", Termination.TIME_LIMIT, "killed at the time limit"),
        ({"exit": 3}, None, "", Termination.SOLVER_ERROR, "the worker ended with status 3"),
        ({"exit": 3}, None, "bad luck", Termination.SOLVER_ERROR, "status 3: bad luck"),
        ({"exit": -9}, None, "", Termination.INTERRUPTED, "killed from outside"),
        ({"exit": -9, "before": 1}, None, "", Termination.MEMORY_LIMIT, "killed by the system"),
        ({"exit": -6}, 10**9, "", Termination.MEMORY_LIMIT, "ended at the memory limit"),
        ({"exit": -6}, None, "", Termination.SOLVER_ERROR, "ended by SIGABRT"),
        ({"exit": 1}, 10**9, "", Termination.SOLVER_ERROR, "ended with status 1"),
    ],
)
def test_what_is_made_of_a_child_that_sent_no_result(
    state: dict[str, Any], memory: int | None, words: str, termination: Any, raw: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("cpx.solving.isolate.kills_for_memory", lambda: 2)
    job, _ = _job()
    job._kills_before = state.pop("before", 2)
    vars(job).update(state)
    job.progress.found(job.progress.problem.explanation([0]))
    log = tmp_path / "log.txt"
    log.write_text(f"first\n{words}\n" if words else "")
    limits = {"memory": memory, "log": str(log) if words else None}
    result = job.conclude("search", limits)
    assert result.termination is termination
    assert result.raw_status.endswith(raw)
    # What it found last is known, and nothing is proved.
    assert result.objective is not None
    assert result.bound is None
    failed = termination is Termination.SOLVER_ERROR
    assert result.error == (result.raw_status if failed else "")
    assert result.times.cpu == 0
    assert result.times.solve == 0


def test_the_phase_that_a_child_ended_in_counts_to_its_end() -> None:
    job, _ = _job()
    job.killed, job.cpu = True, 2.5
    entered = time.perf_counter() - 3
    job._phase, job._entered = "solve", entered
    job.progress.stop()
    job.progress.found(job.progress.problem.explanation([0]))
    result = job.conclude("search", {"memory": None, "log": None})
    assert (result.bound, result.error) == (None, "")
    assert 3 <= result.times.solve <= time.perf_counter() - entered
    assert result.times.cpu == 2.5
    assert result.raw_status == "killed after an interrupt"


def test_the_last_lines_of_a_log_are_read(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    assert _last_lines(log) == []
    log.write_text("one\n\n  two  \n")
    assert _last_lines(log) == ["one", "two"]
    log.write_text("x" * 4096 + "\nend\n")
    assert _last_lines(log) == ["x" * 4091, "end"]
