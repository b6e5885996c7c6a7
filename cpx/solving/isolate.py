"""Our end of a worker process: send a job, listen, interrupt, kill, conclude."""

from __future__ import annotations

import atexit
import copy
import os
import pickle
import shutil
import signal
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from queue import Empty, SimpleQueue
from typing import Any

from cpx.answers.result import Result, Termination, TracePoint
from cpx.backends import backend as find_backend
from cpx.backends.base import Event, Outcome, Progress
from cpx.errors import InvalidOption
from cpx.models.base import Problem
from cpx.options import SolveOptions
from cpx.processes.children import OUT_OF_MEMORY, Child, module, python_environment
from cpx.processes.interrupts import noted
from cpx.processes.messages import Inbox, Outbox, unpack
from cpx.solving.conclude import conclude
from cpx.solving.match import encoding_of

__all__ = ["GRACE", "prepare", "run_isolated", "shutdown"]

GRACE = 0.7
"""Seconds past ``1.05 * time_limit`` after which a worker is killed."""

# After Ctrl-C an engine has this long to hand over its incumbent; CBC alone may take 3 seconds.
_FAREWELL = 4.0
_TICK = 0.05

# One pool per family: a worker that served several would carry all their libraries.
_idle: defaultdict[str, list[_Worker]] = defaultdict(list)
_lock = threading.Lock()


class _Worker:
    """A server process and the thread that reads its messages."""

    def __init__(self) -> None:
        # Temporary files of a killed engine have nobody else to remove them.
        self.child = Child(
            module("cpx.solving.worker"),
            "cpx-worker-",
            environment=python_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self._outbox = Outbox(self.child.stdin.fileno())
        self.messages: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._thread = threading.Thread(target=self._read, name="cpx-worker", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for frame in Inbox(self.child.stdout.fileno()).frames():
            self.messages.put(unpack(frame))
        self.messages.put({"closed": True})

    def send(self, *messages: object) -> None:
        """Send messages, unless it is dead, which shows as soon as it is listened to."""
        with suppress(BrokenPipeError):
            for message in messages:
                self._outbox.send(message)

    def tidy(self) -> None:
        """Remove what the last job left in the folder for temporary files."""
        for path in self.child.folder.iterdir():
            shutil.rmtree(path, ignore_errors=True)

    def close(self) -> None:
        """End an idle server."""
        self.child.stdin.close()
        self.child.wait(2)
        self.end()

    def end(self) -> None:
        """End the server at once."""
        self.child.kill()
        self._thread.join()
        self.child.end()


def shutdown() -> None:
    """End all idle workers; the next isolated solve starts a new one."""
    with _lock:
        workers = [worker for pool in _idle.values() for worker in pool]
        _idle.clear()
    for worker in workers:
        worker.close()


atexit.register(shutdown)


def prepare(backend: str) -> None:
    """Start a worker and let it load an engine, while this process has something else to do.

    The next :func:`run_isolated` with an engine of the same family takes it.
    """
    worker = _Worker()
    worker.send({"backend": backend})
    with _lock:
        _idle[backend.partition(":")[0]].append(worker)


def run_isolated(
    problem: Problem,
    backend: str,
    options: SolveOptions,
    listen: Callable[[Event], None] | None = None,
    *,
    memory: int | None = None,
    cancel: threading.Event | None = None,
) -> Result:
    """Solve in a worker process that is killed when it overstays the limit.

    Parameters
    ----------
    problem, backend, options, listen
        As for :func:`cpx.solving.run`.
    memory : int, optional
        Bytes of address space the worker may use.
    cancel : threading.Event, optional
        Stops the solve like Ctrl-C when it is set from another thread.

    Returns
    -------
    Result
        The worker's own, or one made of its last events when it was killed or died. The
        limit counts from the moment the worker starts to state the problem: loading the
        engine, once per worker, is not part of it.
    """
    engine = find_backend(backend)
    options = engine.configured(options)
    with noted(cancel := cancel or threading.Event()):
        return _run(problem, engine.full_name, options, listen, memory, cancel)


def _run(
    problem: Problem,
    backend: str,
    options: SolveOptions,
    listen: Callable[[Event], None] | None,
    memory: int | None,
    cancel: threading.Event,
) -> Result:
    pool = _idle[backend.partition(":")[0]]
    with _lock:
        worker = pool.pop() if pool else None
    if worker is not None and not worker.child.running():
        worker.end()
        worker = None
    worker = worker or _Worker()
    job = _Job(worker, Progress(problem, options, listen), cancel)
    if options.hint_features is not None:
        # Known also when the worker has no time to say so.
        job.progress.found(problem.explanation(options.hint_features))
    try:
        asked = {"backend": backend, "options": options, "memory": memory}
        try:
            worker.send(asked, _bare(problem))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise InvalidOption(_not_sent(problem, error)) from error
        result = job.wait()
    except BaseException:
        job.kill()
        worker.end()
        raise
    if result is None:
        result = job.conclude(backend, limited=memory is not None)
    if job.reusable:
        if job.killed:
            worker.tidy()
        with _lock:
            pool.append(worker)
    else:
        worker.end()
    return result


def _bare(problem: Problem) -> Problem:
    """Return the problem without what can be made again and what stays in this process."""
    bare = copy.copy(problem)
    held = vars(bare)
    held.pop("_oracle", None)
    for cls in type(bare).__mro__:
        for name, value in vars(cls).items():
            if isinstance(value, cached_property):
                held.pop(name, None)
    return bare


def _not_sent(problem: Problem, why: object) -> str:
    return (
        f"a {type(problem).__name__} cannot be handed to a worker process ({why}): solve it with "
        "isolate=False"
    )


class _Job:
    """One solve in one worker."""

    def __init__(self, worker: _Worker, progress: Progress, cancel: threading.Event) -> None:
        self.worker, self.progress, self.cancel = worker, progress, cancel
        self.pid: int | None = None
        self.deadline: float | None = None
        self.killed = False
        self.exit: int | None = None
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
                if "started" in message:
                    self._start(message["started"])
                elif "phase" in message:
                    self._phase, self._entered = message["phase"], time.perf_counter()
                    self.progress.times.update(message["times"])
                elif "event" in message:
                    self._replay(message)
                elif "result" in message:
                    result = replace(Result.from_dict(message["result"]), memory=message["memory"])
                elif "refused" in message:
                    raise InvalidOption(_not_sent(self.progress.problem, message["refused"]))
                elif "exit" in message:
                    self.exit, self.reusable = message["exit"], True
                    return result
                else:
                    self.exit = self.worker.child.process.wait()
                    return result
            except KeyboardInterrupt:
                self._interrupt()

    def _next(self) -> dict[str, Any] | None:
        if self.cancel.is_set() and not self.progress.interrupted:
            self._interrupt()
        if self.deadline is not None and time.perf_counter() > self.deadline:
            self.kill()
        try:
            return self.worker.messages.get(timeout=_TICK)
        except Empty:
            return None

    def _start(self, pid: int) -> None:
        self.pid = pid
        self.progress.started = time.perf_counter()
        limit = self.progress.options.time_limit
        if limit is not None:
            self.deadline = self.progress.started + 1.05 * limit + GRACE

    def _replay(self, message: dict[str, Any]) -> None:
        point = TracePoint.from_json(message["event"])
        if message["features"] is not None:
            self.progress.found(self.progress.problem.explanation(message["features"]))
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

    def conclude(self, backend: str, limited: bool) -> Result:
        """Make a result of the last events of a child that sent none."""
        if self._phase is not None:
            self.progress.times[self._phase] += time.perf_counter() - self._entered
        if self.progress.interrupted:
            outcome = Outcome(False, Termination.INTERRUPTED, "killed after an interrupt")
        elif self.killed:
            outcome = Outcome(False, Termination.TIME_LIMIT, "killed at the time limit")
        elif self.exit == -int(getattr(signal, "SIGKILL", 9)):
            outcome = Outcome(False, Termination.MEMORY_LIMIT, "killed by the system")
        elif limited and self.exit in (-signal.SIGABRT, OUT_OF_MEMORY):
            outcome = Outcome(False, Termination.MEMORY_LIMIT, "ended at the memory limit")
        else:
            outcome = Outcome(
                False, Termination.SOLVER_ERROR, f"the worker ended with status {self.exit}"
            )
        problem, options = self.progress.problem, self.progress.options
        engine = find_backend(backend)
        form = encoding_of(engine, problem, options.encoding)
        return conclude(self.progress, outcome, engine, form, (), 0.0)
