"""Seconds, processor time and peak memory of a piece of work in its own process."""

from __future__ import annotations

import multiprocessing
import os
import resource
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cpx import Result
from cpx.modelling.base import Problem
from cpx.options import SolveOptions
from cpx.solving.run import run

_PATIENCE = 6


class Timed(NamedTuple):
    """A result, and the seconds of processor and wall that it took."""

    result: Result
    cpu: float
    wall: float


def solve_by_cpu(
    problem: Problem,
    engine: str,
    limit: float,
    encoding: str | None = None,
    patience: float = _PATIENCE,
    warm_start: bool = True,
    threads: int = 1,
) -> Timed:
    """Solve and stop after seconds of processor time, those of all processes started for it.

    On a machine with other work a wall limit would be a smaller one; that of the solve is
    ``patience`` times as long, for what does not hear the stop.
    """
    cancel, done = threading.Event(), threading.Event()
    start, cpu = time.perf_counter(), _cpu()

    def watch() -> None:
        while not done.wait(0.05):
            if _cpu() - cpu > limit:
                cancel.set()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        options = SolveOptions(
            time_limit=patience * limit, encoding=encoding, warm_start=warm_start, threads=threads
        )
        result = run(problem, engine, options, cancel=cancel)
    finally:
        done.set()
        watcher.join()
    return Timed(result, _cpu() - cpu, time.perf_counter() - start)


def _cpu() -> float:
    """Return the processor time of this process and of all that it started."""
    used = os.times()
    ticks, own = 0, time.process_time() + used.children_user + used.children_system
    waiting = _children(os.getpid())
    while waiting:
        pid = waiting.pop()
        with suppress(OSError):  # it has ended, and whoever started it has its time
            fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
            waiting += _children(pid)
    return own + ticks / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[str]:
    found: list[str] = []
    with suppress(OSError):  # there is no such folder outside Linux
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += (task / "children").read_text("utf-8").split()
    return found


def in_own_process(work: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Run ``work(*arguments)`` in a fresh interpreter.

    Returns
    -------
    dict
        ``value``, ``seconds``, and ``memory``, the peak resident size in MB of the whole
        process, interpreter and libraries included.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(there, work, arguments))
    process.start()
    there.close()
    try:
        return here.recv()
    finally:
        process.join()


def _measure(pipe: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    start = time.perf_counter()
    value = work(*arguments)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pipe.send({"value": value, "seconds": seconds, "memory": peak})
