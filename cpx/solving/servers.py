"""Servers: processes that have loaded an engine and fork a worker for each solve."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from cpx.backends import Backend
from cpx.backends import backend as find_backend
from cpx.processes.children import Child, module, python_environment
from cpx.processes.messages import Inbox, Outbox, unpack

_TICK = 0.05

# One pool per class: a worker that served several would carry all their libraries.
_idle: defaultdict[type[Backend], list[Server]] = defaultdict(list)
_lock = threading.Lock()


def _pool(backend: str) -> list[Server]:
    return _idle[type(find_backend(backend))]


class Server:
    """A server process and the thread that reads its messages."""

    @classmethod
    def take(cls, backend: str) -> Server:
        """Return one that has loaded the engine, or a new one."""
        pool = _pool(backend)
        with _lock:
            server = pool.pop() if pool else None
        if server is not None and not server.child.running():
            server.end()
            server = None
        return server or cls()

    def give_back(self, backend: str) -> None:
        """Keep it for the next job with an engine of the class."""
        with _lock:
            _pool(backend).append(self)

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
        # What cleans temporary folders may have removed it while the server was idle.
        self.child.folder.mkdir(mode=0o700, exist_ok=True)
        for path in self.child.folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):  # another program has it open, where that is forbidden
                    path.unlink()

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
        servers = [server for pool in _idle.values() for server in pool]
        _idle.clear()
    for server in servers:
        server.close()


atexit.register(shutdown)


def prepare(*backends: str, wait: Callable[[], bool] = lambda: False) -> None:
    """Let workers load engines, while this process has something else to do.

    The next :func:`run_isolated` with an engine of the same family takes one.

    *backends: One worker for each.
    wait: While it returns True, wait for all of them.
    """
    servers = [(backend, Server.take(backend)) for backend in backends]
    for backend, server in servers:
        server.send({"backend": backend})
    try:
        for _, server in servers:
            while wait():
                with suppress(Empty):
                    server.messages.get(timeout=_TICK)
                    break
    finally:
        for backend, server in servers:
            server.give_back(backend)
