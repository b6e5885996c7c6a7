"""The worker program: ``python -m cpx.solving.worker``.

Protocol: one JSON object per line. In: a job, or the name of an engine to load. Out:
``{"started": pid}`` when the clock of the solve starts, ``{"event": ...}`` at improvements,
``{"result": ...}`` at the end, and ``{"exit": status}`` when the child is gone. Where the
system has no fork, jobs run in the server itself and a kill takes the server along.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

Send = Callable[[dict[str, Any]], None]

_CHUNK = 1 << 16


def main() -> None:
    """Serve jobs until standard input ends."""
    out = _claim_stdout()
    # Ctrl-C at the terminal is the parent's to handle; it passes it on to the child.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def send(message: dict[str, Any]) -> None:
        os.write(out, json.dumps(message).encode() + b"\n")

    for line in _lines(sys.stdin.fileno()):
        job = json.loads(line)
        if "preload" in job:
            _preload(job["preload"])
            continue
        _preload(job["backend"])
        if hasattr(os, "fork"):
            _serve_in_child(job, send)
        else:
            send({"started": os.getpid()})
            _work(job, send)
            send({"exit": 0})


def _claim_stdout() -> int:
    """Keep standard output for the protocol; what engines print goes to standard error."""
    out = os.dup(1)
    os.dup2(2, 1)
    return out


def _lines(fd: int) -> Any:
    buffer = b""
    while chunk := os.read(fd, _CHUNK):
        buffer += chunk
        while b"\n" in buffer:
            line, _, buffer = buffer.partition(b"\n")
            yield line


def _preload(name: str) -> None:
    """Import the engine before the fork, so that the next job finds it in memory."""
    from cpx.backends import backend_class

    import_module("cpx.solving")
    import_module("cpx.instances")
    backend_class(name.partition(":")[0]).preload()


def _serve_in_child(job: dict[str, Any], send: Send) -> None:
    alive, held = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(alive)
        # A session of its own: a kill reaches the programs the engine starts as well.
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        send({"started": os.getpid()})
        code = 1
        try:
            _work(job, send)
            code = 0
        finally:
            os._exit(code)
    os.close(held)
    # The child's end of the pipe closes when it ends; standard input ends when the parent
    # is gone, and then nobody wants the answer.
    while alive not in (ready := select.select([alive, sys.stdin], [], [])[0]):
        if ready and not os.read(sys.stdin.fileno(), 1):
            os.killpg(pid, signal.SIGKILL)
            os._exit(0)
    os.close(alive)
    _, status = os.waitpid(pid, 0)
    send({"exit": os.waitstatus_to_exitcode(status)})


def _work(job: dict[str, Any], send: Send) -> None:
    from cpx.backends import Event
    from cpx.instances import from_dict
    from cpx.options import SolveOptions
    from cpx.solving import run

    if job.get("memory") is not None:
        _limit_memory(job["memory"])

    def listen(event: Event) -> None:
        found = event.explanation
        features = None if found is None else list(found.features)
        send({"event": event.point.to_json(), "features": features})

    problem = from_dict(job["problem"])
    result = run(problem, job["backend"], SolveOptions(**job["options"]), listen=listen)
    send({"result": result.to_dict(), "memory": _peak_memory()})


def _limit_memory(limit: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _peak_memory() -> int | None:
    """Return the peak resident memory of this process in bytes, where the system tells."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    main()
