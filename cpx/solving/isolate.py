"""Our end of a worker process: send a job, listen, interrupt, kill, conclude."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from cpx.answers.result import Result, Termination, TracePoint
from cpx.backends import backend as find_backend
from cpx.backends.base import Event, Outcome, Progress, encoding_for
from cpx.backends.settings import configured
from cpx.errors import InvalidOption
from cpx.modelling.base import Problem
from cpx.options import SolveOptions
from cpx.processes.children import OUT_OF_MEMORY
from cpx.processes.interrupts import noted
from cpx.processes.limits import Limits, MemoryGroup, kills_for_memory
from cpx.processes.overtime import OutOfTime
from cpx.processes.usage import process_seconds
from cpx.solving.conclude import conclude
from cpx.solving.servers import Server

GRACE = 0.9
"""Seconds past 1.05 times a limit after which a worker is killed, at the latest."""

# To check the answer of a worker that was killed takes a few times as long as to weigh one.
_WEIGHINGS = 3

# Seconds after the deadline of a worker in which its last solutions can still be weighed.
_WEIGHING = 0.5

# After Ctrl-C an engine has this long to hand over its incumbent; CBC alone may take 3 seconds.
_FAREWELL = 4.0
_TICK = 0.05
# How much of what a worker printed last is looked at.
_LAST_BYTES = 4096


def run_isolated(
    problem: Problem,
    backend: str,
    options: SolveOptions,
    listen: Callable[[Event], None] | None = None,
    limits: Limits | None = None,
    *,
    cancel: threading.Event | None = None,
    kill: threading.Event | None = None,
    known: SimpleQueue[tuple[int, ...]] | None = None,
    wait: threading.Event | None = None,
) -> Result:
    """Solve in a worker process that is killed when it overstays the limit.

    problem, backend, options, listen: As for :func:`cpx.solving.run`.
    limits: Memory and cores of the worker, and where it prints.
    cancel: Stops the solve like Ctrl-C when it is set from another thread.
    kill: Ends it at once.
    known: Solutions, as features, that are found elsewhere while it runs: the engine may stop at
        its bound when that meets the value of one, or begin its next phase with it.
    wait: While it is set, the worker does nothing, where the system can stop processes.
    Returns: The worker's own, or one made of its last events when it was killed or died. The limit
        counts from the moment the worker starts to state the problem: loading the engine, once per
        worker, is not part of it.
    """
    engine = find_backend(backend)
    options = configured(engine, options)
    limits = limits or Limits()
    with noted(cancel := cancel or threading.Event()):
        group = _memory_group(limits.memory)
        confined = {
            "memory": limits.memory,
            "group": None if group is None else str(group.folder),
            "cores": limits.cores,
            "log": None if limits.log is None else str(limits.log.resolve()),
        }
        try:
            job = _Job(Server.take(engine.full_name), Progress(problem, options, listen), cancel)
            job.kill_at, job.known, job.wait_at = kill, known, wait
            result = _run(job, engine.full_name, confined, limits.quiet)
            peak = None if group is None else group.peak()
            return result if peak is None else replace(result, memory=peak)
        finally:
            if group is not None:
                group.remove()


def _memory_group(memory: int | None) -> MemoryGroup | None:
    if memory is not None:
        with suppress(OSError):
            return MemoryGroup(memory)
    return None


def _run(job: _Job, backend: str, limits: dict[str, Any], quiet: bool) -> Result:
    worker, problem, options = job.worker, job.progress.problem, job.progress.options
    if options.hint_features is not None:
        # Known also when the worker has no time to say so.
        job.progress.found(problem.explanation(options.hint_features))
    try:
        if quiet and limits["log"] is None:
            # A folder of its own for each run would cost more time than the fork does.
            worker.tidy()
            limits["log"] = str(worker.child.folder / "printed.txt")
        hears = job.known is not None
        asked = {"backend": backend, "hears": hears, **limits}
        try:
            worker.send(asked, (options, bare(problem)))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise InvalidOption(_not_sent(problem, error)) from error
        result = job.wait()
    except BaseException:
        job.kill()
        worker.end()
        raise
    if result is None:
        result = job.conclude(backend, limits)
    if not job.reusable:
        worker.end()
        return result
    if job.killed:
        worker.tidy()
    worker.give_back(backend)
    cpu = result.times.cpu if job.cpu is None else job.cpu
    return replace(result, memory=job.memory, times=replace(result.times, cpu=cpu))


def bare(problem: Problem) -> Problem:
    """Return the problem without what can be made again and what stays in this process."""
    alone = copy.copy(problem)
    held = vars(alone)
    for name in _made_again(type(alone)):
        held.pop(name, None)
    return alone


@cache
def _made_again(kind: type[Problem]) -> list[str]:
    parts = (part for cls in kind.__mro__ for part in vars(cls).items())
    return [name for name, value in parts if isinstance(value, cached_property)]


def _not_sent(problem: Problem, why: object) -> str:
    return (
        f"a {type(problem).__name__} cannot be handed to a worker process ({why}): solve it with "
        "isolate=False"
    )


class _Job:
    """One solve in one worker."""

    def __init__(self, worker: Server, progress: Progress, cancel: threading.Event) -> None:
        self.worker, self.progress, self.cancel = worker, progress, cancel
        progress.late = lambda: self._overdue(_WEIGHING)
        self.kill_at: threading.Event | None = None
        self.known: SimpleQueue[tuple[int, ...]] | None = None
        self.wait_at: threading.Event | None = None
        self.waits = False
        self.pid: int | None = None
        self.deadline: float | None = None
        # Its processor time before the clock started, when it was looked at, and at a kill.
        self._spent_before = self._spent_at = self._spent = 0.0
        self.killed = False
        self.exit: int | None = None
        self._kills_before = kills_for_memory()
        self.cpu: float | None = None
        self.memory: int | None = None
        self.reusable = False
        # The phase that the child has entered, and when.
        self._phase: str | None = None
        self._entered = 0.0

    def wait(self) -> Result | None:
        """Handle messages until the child is gone; return its result if it sent one."""
        result: Result | None = None
        while True:
            try:
                message = self._next()
                if message is None:
                    continue
                if "loaded" in message:
                    continue  # asked for by who had it prepared
                if "started" in message:
                    self._start(message["started"])
                elif "phase" in message:
                    self._phase, self._entered = message["phase"], time.perf_counter()
                    self.progress.times.update(message["times"])
                elif "event" in message:
                    self._replay(message)
                elif "result" in message:
                    self.wait_at = None  # nothing is left but to end
                    result = Result.from_dict(message["result"])
                elif "refused" in message:
                    raise InvalidOption(_not_sent(self.progress.problem, message["refused"]))
                elif "invalid" in message:
                    raise InvalidOption(message["invalid"])
                elif "exit" in message:
                    self.exit, self.reusable = message["exit"], True
                    self.cpu, self.memory = message["cpu"], message["memory"]
                    if self.cpu is not None:  # programs that were killed are not in it
                        self.cpu = max(self.cpu, self._spent)
                    return result
                else:
                    self.exit = self.worker.child.process.wait()
                    return result
            except KeyboardInterrupt:
                self._interrupt()

    def _next(self) -> dict[str, Any] | None:
        if self.cancel.is_set() and not self.progress.interrupted:
            self._interrupt()
        self._look_at_spent()
        if self._overdue() or (self.kill_at is not None and self.kill_at.is_set()):
            self.kill()
        self._take_turns()
        # Who waits does not read, and what is sent to it would fill the pipe.
        while self.known is not None and not self.waits and not self.known.empty():
            self.worker.send({"known": self.known.get()})
        try:
            return self.worker.messages.get(timeout=_TICK)
        except Empty:
            return None

    def _overdue(self, by: float = 0.0) -> bool:
        return self.deadline is not None and time.perf_counter() > self.deadline + by

    def _look_at_spent(self) -> None:
        """Move the deadline to now once the limit of processor time is overstayed."""
        limit, now = self.progress.options.cpu_limit, time.perf_counter()
        if limit is None or self.pid is None or now < self._spent_at + _TICK:
            return
        self._spent_at = now
        if process_seconds(self.pid) - self._spent_before > 1.05 * limit + GRACE:
            self.deadline = now if self.deadline is None else min(self.deadline, now)

    def _take_turns(self) -> None:
        """Stop the child and what it has started, or let them go on."""
        waits = self.wait_at is not None and self.wait_at.is_set()
        waits = waits and not (self.killed or self.progress.interrupted)
        if waits != self.waits and self.pid is not None and hasattr(signal, "SIGSTOP"):
            self.waits = waits
            self._signal(signal.SIGSTOP if waits else signal.SIGCONT)

    def _start(self, pid: int) -> None:
        self.pid = pid
        self.progress.started = time.perf_counter()
        limit = self.progress.options.time_limit
        if self.progress.options.cpu_limit is not None:
            self._spent_before = process_seconds(pid)
        if limit is not None:
            self.deadline = self.progress.started + 1.05 * limit + GRACE

    def _leave(self, seconds: float) -> None:
        """Kill earlier where the answer takes long to check: up to half the grace is for that."""
        limit = self.progress.options.time_limit
        if limit is not None and self.deadline is not None:
            latest = self.progress.started + 1.05 * limit + GRACE - min(seconds, GRACE / 2)
            self.deadline = min(self.deadline, latest)

    def _replay(self, message: dict[str, Any]) -> None:
        point = TracePoint.from_json(message["event"])
        if message["features"] is not None:
            began = time.thread_time()
            with suppress(OutOfTime):  # a solution that is not measured in time is not counted
                self.progress.found(self.progress.problem.explanation(message["features"]))
            self._leave(_WEIGHINGS * (time.thread_time() - began))
        if point.bound is not None:
            self.progress.bound(point.bound)

    def _interrupt(self) -> None:
        """Pass Ctrl-C on; kill at the second one, or when the farewell takes too long."""
        if self.progress.interrupted:
            self.kill()
            return
        self.progress.stop()
        self._signal(signal.SIGINT)
        farewell = time.perf_counter() + _FAREWELL
        self.deadline = farewell if self.deadline is None else min(self.deadline, farewell)

    def kill(self) -> None:
        """End the child and whatever it started."""
        if not self.killed:
            self.killed = True
            self._spent = 0.0 if self.pid is None else process_seconds(self.pid)
            if hasattr(signal, "SIGKILL"):
                self._signal(signal.SIGKILL)
            else:
                self.worker.child.kill()

    def _signal(self, number: int) -> None:
        if self.pid is None:
            self.worker.child.kill()
            return
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return

    def conclude(self, backend: str, limits: dict[str, Any]) -> Result:
        """Make a result of the last events of a child that sent none."""
        words = [] if limits["log"] is None else _last_lines(Path(limits["log"]))
        if self._phase is not None:
            self.progress.times[self._phase] += time.perf_counter() - self._entered
        if self.progress.interrupted:
            outcome = Outcome(False, Termination.INTERRUPTED, "killed after an interrupt")
        elif self.killed:
            outcome = Outcome(False, Termination.TIME_LIMIT, "killed at the time limit")
        elif self.exit == -int(getattr(signal, "SIGKILL", 9)):
            killed = kills_for_memory()
            if killed is None or killed != self._kills_before:
                outcome = Outcome(False, Termination.MEMORY_LIMIT, "killed by the system")
            else:
                outcome = Outcome(False, Termination.INTERRUPTED, "killed from outside")
        elif limits["memory"] is not None and _lacked_memory(self.exit, words):
            outcome = Outcome(False, Termination.MEMORY_LIMIT, "ended at the memory limit")
        else:
            outcome = Outcome(False, Termination.SOLVER_ERROR, _ended(self.exit, words))
        problem, options = self.progress.problem, self.progress.options
        engine = find_backend(backend)
        form = encoding_for(engine, problem, options.encoding, options.seconds, options.warm_start)
        return conclude(self.progress, outcome, engine, form, (), self.cpu or 0.0)


def _lacked_memory(status: int | None, words: list[str]) -> bool:
    """Whether a worker with a limit of memory ended for want of it, as far as can be told."""
    if status == -signal.SIGABRT:
        # As C++ ends a program whose allocation fails; and for many other reasons.
        return not words or any("alloc" in line or "memory" in line for line in words)
    return status == OUT_OF_MEMORY


def _ended(status: int | None, words: list[str]) -> str:
    """Say how a worker ended, with the last line that it printed."""
    how = f"the worker ended with status {status}"
    if status is not None and status < 0:
        with suppress(ValueError):
            how = f"the worker was ended by {signal.Signals(-status).name}"
    return f"{how}: {words[-1]}" if words else how


def _last_lines(log: Path) -> list[str]:
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _LAST_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
        return [line.strip() for line in lines if line.strip()]
    return []
