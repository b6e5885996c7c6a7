"""Seconds, processor time and peak memory of a piece of work in its own process."""

from __future__ import annotations

import multiprocessing
import resource
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from cpx import Result
from cpx.models.base import Problem
from cpx.options import SolveOptions
from cpx.solving.run import run

_PATIENCE = 6


class Timed(NamedTuple):
    """A result, and the seconds of processor and wall that it took."""

    result: Result
    cpu: float
    wall: float


def solve_by_cpu(
    problem: Problem, engine: str, limit: float, encoding: str | None = None
) -> Timed:
    """Solve in this process and stop after seconds of processor time.

    On a machine with other work a wall limit would be a smaller one; that of the solve is a few
    times as long, for what does not hear the stop.
    """
    cancel, done = threading.Event(), threading.Event()
    start, cpu = time.perf_counter(), time.process_time()

    def watch() -> None:
        while not done.wait(0.02):
            if time.process_time() - cpu > limit:
                cancel.set()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        options = SolveOptions(time_limit=_PATIENCE * limit, encoding=encoding)
        result = run(problem, engine, options, cancel=cancel)
    finally:
        done.set()
        watcher.join()
    return Timed(result, time.process_time() - cpu, time.perf_counter() - start)


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
