"""A SAT solver that can be interrupted and reports every model it finds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from cpx.processes.threads import start_thread

# Latency of a stop; each look costs microseconds.
_POLL_SECONDS = 0.02
# Clauses added between two looks at the stop signal, a few milliseconds of work.
_CHUNK = 4096
# CaDiCaL cannot be interrupted at all. Glucose looks at interrupts and conflict budgets only
# when it restarts, which on these formulas has taken it up to 25 s; MiniSat, the default, looks
# at once.
SOLVERS = (
    "minisat22",
    "minisat-gh",
    "glucose3",
    "glucose4",
    "glucose42",
    "maplechrono",
    "maplecm",
    "maplesat",
    "mergesat3",
)


class Stopped(Exception):
    """The search was told to stop; raised to leave it, never shown to the user."""


class Oracle:
    """A native SAT solver in the guise of PySAT's ``Solver``.

    PySAT's algorithms mistake an interrupted call for an unsatisfiable one in several
    places. Here such a call raises :class:`Stopped`, so no conclusion is ever drawn from it.

    should_stop: Asked about every 20 ms, in a thread of its own while :meth:`watched`, and between
        calls.
    seen: Called with each model.
    solver: One of PySAT's that can be interrupted.

    >>> models = []
    >>> oracle = Oracle(should_stop=lambda: False, seen=models.append)
    >>> oracle.load([[1, 2], [-1]])
    >>> oracle.solve_limited(), models
    (True, [[-1, 2]])
    >>> oracle.delete()
    """

    def __init__(
        self,
        should_stop: Callable[[], bool],
        seen: Callable[[list[int]], None],
        solver: str = SOLVERS[0],
    ) -> None:
        from pysat.solvers import Solver

        self._native = Solver(name=solver)
        self._should_stop, self._seen = should_stop, seen
        self._deadline: float | None = None
        self._lock = threading.Lock()
        self._added = self._calls = 0

    # ------------------------------------------------------------- stopping

    def check(self) -> None:
        """Raise :class:`Stopped` when it is time to stop."""
        if self._stopping():
            raise Stopped

    def _stopping(self) -> bool:
        deadline = self._deadline
        return self._should_stop() or (deadline is not None and time.perf_counter() > deadline)

    @contextmanager
    def slice(self, seconds: float) -> Iterator[None]:
        """Leave the block after so many seconds, ready for further calls.

        Clauses added inside stay, so the block may only add implied ones.
        """
        self._deadline = time.perf_counter() + seconds
        try:
            yield
        except Stopped:
            if self._should_stop():
                raise
        finally:
            with self._lock:  # else the watcher could interrupt after the clearing
                self._deadline = None
                self._native.clear_interrupt()
            self._native.conf_budget(-1)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Interrupt calls inside the block when it is time to stop."""
        done = threading.Event()

        def watch() -> None:
            # Repeated: an interrupt that falls between two calls may be cleared.
            while not done.wait(_POLL_SECONDS):
                with self._lock:
                    if self._stopping():
                        self._native.interrupt()

        ended = start_thread(watch)
        try:
            yield
        finally:
            done.set()
            ended.wait()

    # ------------------------------------------------------ PySAT's interface

    def load(self, clauses: Iterable[list[int]]) -> None:
        """Add clauses, looking at the stop signal in between."""
        remaining = iter(clauses)
        while chunk := list(islice(remaining, _CHUNK)):
            self.check()
            for clause in chunk:
                self._native.add_clause(clause)

    def add_clause(self, clause: list[int]) -> None:
        """Add one clause; every few thousand, look at the stop signal."""
        self._native.add_clause(clause)
        self._added += 1
        if self._added % _CHUNK == 0:
            self.check()

    def solve_limited(
        self, assumptions: Iterable[int] = (), expect_interrupt: bool = True
    ) -> bool | None:
        """Solve; None only when a conflict budget is spent.

        The interpreter lock is always released, so ``expect_interrupt`` has no effect.
        """
        self.check()
        self._calls += 1
        answer: bool | None = self._native.solve_limited(list(assumptions), expect_interrupt=True)
        if answer is None:
            self.check()
        elif answer:
            self._seen(self._native.get_model())
        return answer

    def propagate(self, assumptions: list[int], phase_saving: int = 0) -> tuple[bool, list[int]]:
        """Propagate by unit clauses."""
        self.check()
        consistent, literals = self._native.propagate(assumptions, phase_saving)
        return consistent, literals

    def statistics(self) -> dict[str, int]:
        """Return how often it was called, and what the native solver counted."""
        return {"calls": self._calls, **self._native.accum_stats()}

    def delete(self) -> None:
        """Free the native solver; not while :meth:`watched`."""
        with self._lock:
            self._native.delete()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)
