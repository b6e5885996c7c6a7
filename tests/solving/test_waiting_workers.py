"""Workers that are told to wait: stopped with their programs, and never left so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import ClassVar

import numpy as np
import pytest

import cpx
from cpx.answers.result import Result, Status, Termination
from cpx.backends.base import Event
from cpx.options import SolveOptions
from cpx.solving.isolate import run_isolated
from cpx.solving.servers import prepare, shutdown
from tests.processor_time import processor_seconds

from ..compare.helpers import marked, stopped

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="states are read in /proc")


@pytest.fixture(scope="module")
def mark() -> Iterator[str]:
    mark = f"CPX_WAITING_TEST={os.getpid()}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(*mark.split("="))
        shutdown()
        yield mark
        shutdown()
        assert not marked(mark, workers=True)


def _hard() -> cpx.KMonomial:
    """No engine of a test proves this within seconds; the first solutions come at once."""
    rng = np.random.default_rng(1)
    return cpx.KMonomial(cpx.Samples(rng.random((400, 40)) < 0.6, rng.random(400) < 0.4), k=6)


def _soon(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


class _Solve:
    """A solve in a thread, which may have to wait once it has found something."""

    begun: ClassVar[list[_Solve]] = []

    def __init__(self, engine: str, waits: bool = True, limit: float | None = None) -> None:
        self.wait, self.cancel, self.kill = (threading.Event() for _ in range(3))
        self.known: SimpleQueue[tuple[int, ...]] = SimpleQueue()
        self.events: list[Event] = []
        self.result: Result | None = None
        prepare(engine, wait=lambda: True)

        def heard(event: Event) -> None:
            self.events.append(event)
            if waits and len(self.events) == 1:
                self.wait.set()

        def work() -> None:
            self.result = run_isolated(
                _hard(),
                engine,
                SolveOptions(time_limit=limit),
                heard,
                cancel=self.cancel,
                kill=self.kill,
                known=self.known,
                wait=self.wait,
            )

        self._thread = threading.Thread(target=work)
        self._thread.start()
        self.begun.append(self)

    def end(self) -> Result:
        self.begun.remove(self)
        self._thread.join(60)
        assert self.result is not None
        return self.result


@pytest.fixture(autouse=True)
def _none_is_left() -> Iterator[None]:
    """End what a test that fails has begun."""
    yield
    while _Solve.begun:
        _Solve.begun[0].kill.set()
        _Solve.begun[0].end()


def test_it_does_nothing_until_it_is_let_go_and_then_hears_and_answers(mark: str) -> None:
    solve = _Solve("maxsat:lsu")
    _soon(lambda: stopped(marked(mark, workers=True)))
    # What it had said before is on its way.
    said = -1
    while said < len(solve.events):
        said = len(solve.events)
        time.sleep(0.5)
    best = cpx.solve(_hard(), "beam").explanation
    assert best is not None
    solve.known.put(best.features)
    time.sleep(0.5)
    assert len(solve.events) == said
    assert not solve.known.empty()
    solve.wait.clear()
    _soon(lambda: len(solve.events) > said and solve.known.empty())
    assert not stopped(marked(mark, workers=True))
    solve.cancel.set()
    assert solve.end().status is Status.FEASIBLE


def test_programs_of_an_engine_wait_with_it(mark: str) -> None:
    solve = _Solve("milp:cbc", waits=False)
    _soon(lambda: any("cbc" in _command(pid) for pid in marked(mark)))
    solve.wait.set()
    _soon(lambda: any("cbc" in _command(pid) for pid in stopped(marked(mark))))
    solve.kill.set()
    solve.end()
    assert not any("cbc" in _command(pid) for pid in marked(mark))


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().partition("\0")[0]


@pytest.mark.parametrize("how", ["cancel", "kill"])
def test_an_end_reaches_who_waits(mark: str, how: str) -> None:
    solve = _Solve("maxsat:lsu")
    _soon(lambda: stopped(marked(mark, workers=True)))
    began = processor_seconds()
    getattr(solve, how).set()
    result = solve.end()
    assert processor_seconds() - began < 40
    assert result.objective == solve.events[-1].point.objective
    assert (
        result.termination
        is {
            "cancel": Termination.INTERRUPTED,
            "kill": Termination.TIME_LIMIT,
        }[how]
    )
    assert not stopped(marked(mark))


def test_the_limit_ends_who_is_never_let_go(mark: str) -> None:
    for limit in (1.0, 5.0, 25.0):
        solve = _Solve("maxsat:lsu", limit=limit)
        result = solve.end()
        if solve.events:
            break  # on a busy machine a limit may be over before it waits
    assert (result.termination, result.raw_status) == (
        Termination.TIME_LIMIT,
        "killed at the time limit",
    )
    assert not stopped(marked(mark))


_KILLED = """
import threading
from cpx.options import SolveOptions
from cpx.solving.isolate import run_isolated
from tests.solving.test_waiting_workers import _hard

wait = threading.Event()
run_isolated(_hard(), "maxsat", SolveOptions(), lambda event: wait.set(), wait=wait)
"""


def test_none_is_left_stopped_when_we_are_killed(mark: str) -> None:
    root = Path(__file__).parents[2]
    ours = subprocess.Popen([sys.executable, "-c", _KILLED], cwd=root)
    _soon(lambda: stopped(marked(mark, workers=True)))
    ours.send_signal(signal.SIGKILL)
    ours.wait()
    # The idle workers of this process have the mark as well.
    _soon(lambda: not stopped(marked(mark)))
