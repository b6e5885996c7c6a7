"""The worker program: ``python -m cpx.solving.worker``.

It gets the names of engines to load, and jobs, each followed by its options and its problem.
It sends ``{"loaded": name}`` for an engine without a job. Of a job it sends
``{"started": pid}`` when the clock of a solve starts, ``{"phase": ...}`` and ``{"event": ...}``
on the way, ``{"result": ...}`` at the end, or ``{"refused": why}`` where the problem is of a
class that is not found here, and ``{"exit": status}`` when the child is gone, with what it has
used: ``cpu`` seconds and ``memory``, the programs that it started included. While it works it may
get ``{"known": features}``, solutions that were found elsewhere, if the job has said that it
``hears`` them.
Where the system has no fork, jobs run in the server itself: a kill takes the server along, and
solutions of others are not heard of.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cpx.backends.base import versions_of
from cpx.errors import InvalidOption
from cpx.processes import interrupts
from cpx.processes.calls import claim_stdout
from cpx.processes.children import OUT_OF_MEMORY, end_with_parent, find_guard, remove_own_folder
from cpx.processes.limits import MemoryGroup, limit_address_space
from cpx.processes.messages import Inbox, Outbox, unpack
from cpx.support.families import families
from cpx.support.one_thread import find_libraries
from cpx.support.own_files import run_files
from cpx.support.versions import installed_version

if TYPE_CHECKING:
    from cpx.backends import Backend, Progress

_STDIN = 0
_MEMORY_UNIT = 1 if sys.platform == "darwin" else 1024


def main() -> None:
    """Serve jobs until standard input ends."""
    out = claim_stdout()
    outbox = Outbox(out)
    interrupts.ignore()
    run_files()
    inbox = Inbox(_STDIN)
    frames = inbox.frames()
    for frame in frames:
        job = unpack(frame)
        if "known" in job:  # of a job that has ended
            continue
        _preload(job["backend"])
        if "hears" not in job:
            outbox.send({"loaded": job["backend"]})
            continue
        # Its own parts are read where it is solved.
        job["asked"] = next(frames)
        if hasattr(os, "fork"):
            _serve_in_child(job, out, inbox)
        else:
            outbox.send({"started": os.getpid()})
            _work(job, outbox)
            outbox.send({"exit": 0, "cpu": None, "memory": None})
    remove_own_folder()


@cache
def _preload(name: str) -> None:
    """Load an engine before the fork, so that the next job finds it in memory: once."""
    from cpx.backends import backend

    # NumPy's own are what it imports itself, when a solve first needs them.
    for module in ("cpx.solving.run", "numpy.ma", "numpy.random"):
        import_module(module)
    # What families register for any solve; one may stand on a family that is left out.
    for family in families():
        for named in (family.judges, family.starts, family.beams):
            for value in named.values():
                with suppress(ModuleNotFoundError):
                    import_module(value.partition(":")[0])
    engine = backend(name)
    _without_pandas(engine)
    # The solve itself says what is wrong, such as a library that is not there.
    with suppress(Exception):
        engine._preload()
    # Read and found once, not once for each child.
    versions_of(engine)
    with suppress(Exception):
        engine._provenance()
    find_guard()
    find_libraries()
    installed_version("cpx-explain")


def _without_pandas(engine: Backend) -> None:
    """Import OR-Tools, for an engine that will, without what it has in it only for tables.

    Of pandas it needs the names of two classes. All of it is 25 MB in 350 modules, whose pages
    the system counts again for each child, and again at its end.
    """
    ours = type(engine).__module__.startswith("cpx.")
    if not ours or "pandas" in sys.modules or not {"cpmpy", "ortools"} & engine.requires.keys():
        return
    names = ModuleType("pandas")
    vars(names).update(Index=type("Index", (), {}), Series=type("Series", (), {}))
    sys.modules["pandas"] = names
    # A version that needs more gets it, when the engine is loaded.
    with suppress(ImportError, AttributeError):
        import_module("ortools.sat.python.cp_model")
    del sys.modules["pandas"]


def _serve_in_child(job: dict[str, Any], out: int, told: Inbox) -> None:
    ours, theirs = os.pipe()
    heard, passed_on = os.pipe()
    # What is not looked at by the collector is not copied for the child.
    gc.freeze()
    ends, server = end_with_parent(), os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        os.close(passed_on)
        # A session of its own: a kill reaches the programs the engine starts as well.
        os.setsid()
        ends()
        if os.getppid() != server:  # it ended before that
            os._exit(1)
        # Elsewhere it may outlive a server that is killed, and who asked waits for both.
        shortcut = out if sys.platform.startswith("linux") else None
        hears = Inbox(heard) if job["hears"] else None
        os._exit(_child(job, Outbox(theirs, shortcut), hears))
    os.close(theirs)
    os.close(heard)
    job.clear()  # the problem is in the memory of the child
    outbox, inbox, solutions = Outbox(out), Inbox(ours), Outbox(passed_on)
    more = True
    # Standard input ends when the parent is gone, and then nobody wants the answer.
    while more:
        ready = select.select([ours, _STDIN], [], [])[0]
        if ours in ready:
            # Only whole messages go on: a child may be killed while it writes one.
            whole, more = inbox.arrived()
            for frame in whole:
                outbox.send_raw(frame)
            continue
        whole, there = told.arrived()
        if not there:
            os.killpg(pid, signal.SIGKILL)
            remove_own_folder()
            os._exit(0)
        with suppress(BrokenPipeError):
            for frame in whole:
                solutions.send_raw(frame)
    os.close(ours)
    os.close(passed_on)
    # Its group is there as long as it is not waited for, and so is what it has left running.
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    os.killpg(pid, signal.SIGKILL)
    _, status, used = os.wait4(pid, 0)
    outbox.send(
        {
            "exit": os.waitstatus_to_exitcode(status),
            "cpu": used.ru_utime + used.ru_stime,
            "memory": used.ru_maxrss * _MEMORY_UNIT,
        }
    )


def _child(job: dict[str, Any], outbox: Outbox, inbox: Inbox | None) -> int:
    """Do a job in a process of its own; return its exit status."""
    try:
        interrupts.once()
        _confine(job)
        outbox.send({"started": os.getpid()})
        _work(job, outbox, inbox)
    except KeyboardInterrupt:
        return 1
    except MemoryError:
        return OUT_OF_MEMORY
    except BaseException:
        # A server that was killed takes the pipe with it, and this process next.
        if not outbox.abandoned:
            sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _confine(job: dict[str, Any]) -> None:
    """Keep to the file for what is printed, the cores and the memory that the job has."""
    if job["log"] is not None:
        log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
    if job["cores"] is not None:
        os.sched_setaffinity(0, job["cores"])
    if job["group"] is not None:
        MemoryGroup.enter(job["group"])
    elif job["memory"] is not None:
        limit_address_space(job["memory"])


def _work(job: dict[str, Any], outbox: Outbox, inbox: Inbox | None = None) -> None:
    from cpx.backends import Event
    from cpx.processes.threads import start_thread
    from cpx.solving.run import run

    started = time.perf_counter()

    def listen(event: Event) -> None:
        found = event.explanation
        features = None if found is None else list(found.features)
        outbox.send({"event": event.point.to_json(), "features": features})

    def entered(times: dict[str, float], name: str | None) -> None:
        outbox.send({"phase": name, "times": times})

    def began(progress: Progress) -> None:
        # Whoever waits counts the time that it takes to unpack the problem, too.
        progress.started = started
        if inbox is not None:
            start_thread(lambda: _hear(inbox, progress))

    try:
        options, problem = unpack(job.pop("asked"))
    except (ImportError, AttributeError) as error:
        outbox.send({"refused": str(error)})
        return
    try:
        result = run(
            problem,
            job["backend"],
            options,
            isolate=False,
            listen=listen,
            entered=entered,
            began=began,
        )
    except InvalidOption as error:  # such as a cluster that cannot be reached
        outbox.send({"invalid": str(error)})
        return
    outbox.send({"result": result.to_dict()})


def _hear(inbox: Inbox, progress: Progress) -> None:
    """Report solutions that were found elsewhere, measured here, until there are no more."""
    for frame in inbox.frames():
        progress.found(progress.problem.explanation(unpack(frame)["known"]))


if __name__ == "__main__":
    main()
