"""The worker program, spoken to through pipes: what it answers, confines, kills and leaves."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from cpx import KMonomial, Samples, backends
from cpx.answers.result import TracePoint
from cpx.backends import Event
from cpx.backends.base import require
from cpx.options import SolveOptions
from cpx.processes.children import OUT_OF_MEMORY
from cpx.processes.messages import Inbox, pack, unpack
from cpx.solving import worker
from tests.processor_time import processor_seconds

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers do not fork there")

PROBLEM = KMonomial(Samples([[1, 0], [0, 1]], [1, 0]), k=1)
FREE = {**dict.fromkeys(("log", "cores", "group", "memory")), "hears": False}
Messages = list[dict[str, Any]]


class Conversation:
    """What the worker reads and writes, and what was done around it.

    ``script`` is the solve: it gets the progress and returns what is put into the result.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read, self.write = os.pipe()
        self.out, self.into = os.pipe()
        self.answers: Messages = []
        self.done: list[str] = []
        self.waiting: list[tuple[object, object]] = []
        self.on: dict[str, Callable[[dict[str, Any]], None]] = {}
        self.script: Callable[[Any], dict[str, Any]] = lambda progress: {}
        engine = SimpleNamespace(requires={}, _preload=lambda: self.done.append("preload"))
        worker._preload.cache_clear()
        # First: a module that is imported now takes the real engines with it.
        monkeypatch.setattr("cpx.solving.run.run", self._run)
        monkeypatch.setattr(backends, "backend", lambda name: engine)
        monkeypatch.setattr(worker, "_STDIN", self.read)
        monkeypatch.setattr(worker, "claim_stdout", lambda: self.into)
        monkeypatch.setattr(worker, "remove_own_folder", lambda: self.done.append("removed"))
        monkeypatch.setattr(worker.interrupts, "ignore", lambda: self.done.append("ignored"))

    def _run(self, problem, engine, options, *, isolate, listen, entered, began) -> Any:
        told: list[Any] = []
        progress = SimpleNamespace(problem=problem, found=told.append, told=told, started=None)
        began(progress)
        entered({"state": 0.5}, "compile")
        listen(Event(TracePoint(0.1, 1, None), problem.explanation([0])))
        listen(Event(TracePoint(0.2, 1, 1)))
        given = {"engine": engine, "isolate": isolate, "options": options.to_dict()}
        given |= {"clock": time.perf_counter() - progress.started, "of": problem.to_dict()}
        given |= self.script(progress)
        return SimpleNamespace(to_dict=lambda: given)

    def send(self, *messages: object) -> None:
        for message in messages:
            os.write(self.write, b"".join(pack(message)))

    def job(self, problem: object = PROBLEM, **confined: Any) -> None:
        """Send a job, or the one after those before it: what comes during one is for it."""
        asked = {"backend": "mine", **FREE, **confined}
        self.waiting.append((asked, (SolveOptions(seed=7), problem)))

    def served(self) -> Messages:
        """Let the worker do all jobs; return its answers."""

        def listen() -> None:
            for frame in Inbox(self.out).frames():
                answer = unpack(frame)
                self.answers.append(answer)
                for key, react in self.on.items():
                    if key in answer:
                        react(answer)
                if "exit" in answer and not self.waiting:
                    os.close(self.write)
                    return
                if "exit" in answer:
                    self.send(*self.waiting.pop(0))

        self.send(*self.waiting.pop(0))

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            worker.main()
        finally:
            os.close(self.into)
            thread.join()
        return self.answers


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Conversation]:
    conversation = Conversation(monkeypatch)
    yield conversation
    for end in (conversation.read, conversation.out):
        os.close(end)
    worker._preload.cache_clear()


def named(answers: Messages, key: str) -> Any:
    (found,) = (answer for answer in answers if key in answer)
    return found[key]


def gone(pid: int) -> bool:
    """Say whether a process ends, in ten seconds at most."""
    for _ in range(200):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def is_open(fd: int) -> bool:
    with suppress(OSError):
        os.fstat(fd)
        return True
    return False


def ends_with_its_parent() -> int:
    """Return the signal that this process gets when its parent ends."""
    number = ctypes.c_int(signal.SIGKILL)
    if sys.platform == "linux":
        number.value = 0
        ctypes.CDLL(None).prctl(2, ctypes.byref(number))  # PR_GET_PDEATHSIG
    return number.value


def test_what_is_said_of_a_job(talk: Conversation) -> None:
    talk.script = lambda progress: {
        "ended": ends_with_its_parent(),
        "open": is_open(talk.into),
        "session": os.getsid(0),
        "pid": os.getpid(),
        "frozen": gc.get_freeze_count(),
        "signals": signal.getsignal(signal.SIGTERM) is signal.getsignal(signal.SIGINT) is not None,
        "done": [*talk.done],
        "cpu": time.process_time(),
    }
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    before, opened = resource.getrusage(resource.RUSAGE_CHILDREN), len(os.listdir("/dev/fd"))
    talk.send({"known": [0]}, {"backend": "mine"})  # the first is of a job that has ended
    talk.job()
    talk.job()
    answers = talk.served()
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert answers[0] == {"loaded": "mine"}
    first, second = answers[1:7], answers[7:]
    assert [*map(next, map(iter, first))] == [
        *("started", "phase", "event", "event", "result", "exit"),
    ]
    result = first[4]["result"]
    pid = first[0]["started"]
    assert result["pid"] == result["session"] == pid != os.getpid()
    assert result["ended"] == signal.SIGKILL
    # On Linux it writes there itself.
    assert result["open"] == (sys.platform == "linux")
    assert result["frozen"]
    assert result["signals"]
    assert (result["engine"], result["isolate"]) == ("mine", False)
    assert result["options"]["seed"] == 7
    assert 0 <= result["clock"] < 60
    assert result["of"] == PROBLEM.to_dict()
    # The engine is loaded once, and in the server.
    assert result["done"] == ["ignored", "preload"]
    assert first[1] == {"phase": "compile", "times": {"state": 0.5}}
    assert first[2] == {"event": TracePoint(0.1, 1, None).to_json(), "features": [0]}
    assert first[3] == {"event": TracePoint(0.2, 1, 1).to_json(), "features": None}
    used = first[5]
    assert used["exit"] == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # Another test may have left a process that ends meanwhile.
    assert result["cpu"] <= used["cpu"] <= took - second[-1]["cpu"] + 1e-4
    # The ends of the pipe to the worker and from it, of which two are closed by now.
    assert len(os.listdir("/dev/fd")) == opened - 2
    assert 10**7 < used["memory"] < 2 * 10**10
    assert second[0]["started"] != pid
    assert second[-1]["exit"] == 0
    assert talk.done == ["ignored", "preload", "removed"]
    assert gone(pid)


def test_what_a_job_leaves_running_is_killed(talk: Conversation) -> None:
    def script(progress: Any) -> dict[str, Any]:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        return {"left": child.pid}

    talk.script = script
    talk.job()
    assert gone(named(talk.served(), "result")["left"])


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (KeyboardInterrupt(), 1, ""),
        (MemoryError(), OUT_OF_MEMORY, ""),
        (ValueError("wrong"), 1, "ValueError: wrong"),
    ],
)
def test_how_a_job_ends(
    talk: Conversation, error: BaseException, status: int, words: str, tmp_path
) -> None:
    def script(progress: Any) -> dict[str, Any]:
        os.write(1, b"to the output\n")
        sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)  # not that of pytest
        raise error

    log = tmp_path / "log"
    log.write_text("before\n")
    talk.script = script
    talk.job(log=str(log))
    answers = talk.served()
    assert not [answer for answer in answers if "result" in answer]
    assert named(answers, "exit") == status
    printed = log.read_text()
    assert printed.startswith("before\nto the output\n")
    assert words in printed
    assert ("Traceback" in printed) == bool(words)


def test_a_job_that_is_killed(talk: Conversation) -> None:
    talk.script = lambda progress: os.kill(os.getpid(), signal.SIGKILL) or {}
    talk.job()
    assert named(talk.served(), "exit") == -signal.SIGKILL


def test_the_first_signal_interrupts_a_job_and_later_ones_do_nothing(talk: Conversation) -> None:
    def script(progress: Any) -> dict[str, Any]:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)
            return {"interrupted": True}
        return {}

    talk.script = script
    talk.job()
    # In the child of a fork the double of ``ignore`` would let the second one through.
    ignored = [signal.SIGINT, signal.SIGTERM]
    worker.interrupts.ignore = lambda: [signal.signal(n, signal.SIG_IGN) for n in ignored]
    handlers = {number: signal.getsignal(number) for number in ignored}
    try:
        assert named(talk.served(), "result")["interrupted"]
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@pytest.mark.skipif(sys.platform != "linux", reason="cores and memory are limited on Linux")
def test_a_job_is_confined(talk: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    talk.script = lambda progress: {
        "cores": sorted(os.sched_getaffinity(0)),
        "memory": resource.getrlimit(resource.RLIMIT_AS)[0],
        "groups": groups,
    }
    groups: list[str] = []
    monkeypatch.setattr(worker.MemoryGroup, "enter", groups.append)
    core = min(os.sched_getaffinity(0))
    free = resource.getrlimit(resource.RLIMIT_AS)[0]
    limit = (2**50 if free == resource.RLIM_INFINITY else free) - 2**20
    talk.job(cores=[core], memory=limit)
    talk.job(memory=limit, group="/a/group")
    talk.job()
    results = [answer["result"] for answer in talk.served() if "result" in answer]
    assert [result["groups"] for result in results] == [[], ["/a/group"], []]
    assert results[0]["cores"] == [core]
    assert results[1]["cores"] == sorted(os.sched_getaffinity(0))
    assert results[0]["memory"] == limit
    assert results[1]["memory"] == results[2]["memory"] == free


def test_solutions_of_others_are_heard_of(talk: Conversation) -> None:
    def script(progress: Any) -> dict[str, Any]:
        end = time.monotonic() + 30
        while len(progress.told) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        return {"told": [list(found.features) for found in progress.told]}

    talk.script = script
    talk.on["started"] = lambda answer: talk.send({"known": [1]}, {"known": [0]})
    talk.job(hears=True)
    assert named(talk.served(), "result")["told"] == [[1], [0]]


def test_solutions_for_one_that_has_just_ended_are_dropped(talk: Conversation) -> None:
    # The pipe to it is closed, the server is not told of its end yet.
    def script(progress: Any) -> dict[str, Any]:
        os.closerange(3, 64)
        os.write(1, b"")
        time.sleep(0.5)
        os._exit(3)

    talk.script = script
    talk.on["phase"] = lambda answer: (time.sleep(0.2), talk.send({"known": [0]}))
    talk.job(hears=True)
    assert named(talk.served(), "exit") == 3


class _Nowhere:
    def __reduce__(self) -> Any:
        return importlib.import_module, ("no_such_module_at_all",)


def test_a_problem_that_cannot_be_read_is_refused(talk: Conversation) -> None:
    talk.job(_Nowhere())
    answers = talk.served()
    assert named(answers, "refused") == "No module named 'no_such_module_at_all'"
    assert named(answers, "exit") == 0


def test_without_a_reader_a_job_and_its_server_end(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, end = os.getpid(), os._exit

    def leave(status: int) -> None:
        if os.getpid() != mine:
            end(status)
        raise SystemExit(status)

    monkeypatch.setattr(os, "_exit", leave)
    started: list[int] = []

    def closed(answer: dict[str, Any]) -> None:
        started.append(answer["started"])
        os.close(talk.write)

    def script(progress: Any) -> dict[str, Any]:
        os.close(talk.write)  # only who started the server has it
        time.sleep(60)
        return {}

    talk.script = script
    talk.on["started"] = closed
    talk.job()
    begun = processor_seconds()
    with pytest.raises(SystemExit) as left:
        talk.served()
    assert left.value.code == 0
    (pid,) = started
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    assert processor_seconds() - begun < 30
    assert talk.done[-1] == "removed"


def test_without_forks_the_server_works_itself(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "fork")
    talk.job()
    answers = talk.served()
    assert answers[0] == {"started": os.getpid()}
    assert named(answers, "result")["engine"] == "mine"
    assert answers[-1] == {"exit": 0, "cpu": None, "memory": None}


_MODULES_OF_A_SOLVE = """
import sys
from cpx import KMonomial, Samples
from cpx.options import SolveOptions
from cpx.solving import worker
from cpx.solving.run import run
worker._preload(sys.argv[1])
before = {*sys.modules}
rows = [[i >> j & 1 for j in range(6)] for i in range(64)]
problem = KMonomial(Samples(rows, [i % 3 == 0 or i % 7 < 3 for i in range(64)]), k=3)
result = run(problem, sys.argv[1], SolveOptions(), isolate=False)
assert (str(result.status), result.verified) == ("OPTIMAL", True)
print(*before & {"pandas"}, *{*sys.modules} - before)
import pandas
assert pandas.Series([1, 2]).sum() == 3
"""


@pytest.mark.parametrize(
    "engine",
    ["search", "milp", *(pytest.param(e, marks=pytest.mark.slow) for e in ("cpsat", "maxsat"))],
)
def test_a_worker_has_all_that_a_solve_imports_and_no_tables(engine: str) -> None:
    require(backends.backend(engine))
    command = [sys.executable, "-c", _MODULES_OF_A_SOLVE, engine]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_a_version_of_ortools_that_needs_more_of_pandas_gets_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(name: str) -> None:
        raise AttributeError(f"{sys.modules['pandas']} has no DataFrame")

    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setattr(worker, "import_module", load)
    worker._without_pandas(backends.backend("cpsat"))
    assert "pandas" not in sys.modules
