"""One solve of a random instance: engine, encoding, options, isolation, interruption."""

from __future__ import annotations

import _thread
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cpx.answers.result import Result, Status
from cpx.backends import backend, backend_class, names
from cpx.backends.base import takes
from cpx.modelling import instances
from cpx.modelling.base import Problem
from cpx.modelling.encodings import encodings_of
from cpx.options import SolveOptions
from cpx.processes.interrupts import interrupt
from cpx.solving.run import run
from cpx.testing.truth import Truth

__all__ = ["Ask", "Shell", "ask", "draw_ask", "engines", "interrupts_of_the_user"]

Shell = Callable[[list[str]], tuple[int, str]]
"""Runs the command ``cpx`` with arguments; returns its exit code and what it printed."""

_ORDERS = "best-of-orders:5"
_BREEDING = 0.05
"""Seconds for the genetic algorithm, which knows no end of its own but after 1,000 generations."""

HOW = ("here", "cancelled", "interrupted", "isolated", "shell")
_SHARES = (0.87, 0.07, 0.03, 0.015, 0.015)


@dataclass(frozen=True)
class Ask:
    """How an instance is solved.

    Attributes
    ----------
    engine, encoding : str
        An encoding of ``""`` is none: the engine takes none, or the default is asked for.
    hint : list of int or None
    time_limit, gap : float or None
    threads, seed : int
    how : str
        ``here``, in this process; ``cancelled`` from another thread, or ``interrupted`` as by
        Ctrl-C, ``after`` so many seconds; ``isolated``, in a worker; ``shell``, by ``cpx solve``.
    after : float
    """

    engine: str
    encoding: str = ""
    hint: list[int] | None = None
    time_limit: float | None = None
    gap: float | None = None
    threads: int = 1
    seed: int = 0
    how: str = "here"
    after: float = 0.0

    @property
    def patient(self) -> bool:
        """Whether nothing stops the engine before it is done."""
        return self.time_limit is None and self.gap is None and not self.cut_short

    @property
    def cut_short(self) -> bool:
        """Whether the solve is stopped from outside."""
        return self.how in ("cancelled", "interrupted")

    @property
    def options(self) -> SolveOptions:
        """The options of the solve."""
        return SolveOptions(
            time_limit=self.time_limit,
            threads=self.threads,
            seed=self.seed,
            gap=self.gap,
            hint=self.hint,
            encoding=self.encoding or None,
        )

    def arguments(self) -> list[str]:
        """Return the options of ``cpx solve`` that say the same, but for how it is stopped."""
        found = [
            "--backend",
            self.engine,
            "--threads",
            str(self.threads),
            "--seed",
            str(self.seed),
        ]
        for option in ("encoding", "time_limit", "gap"):
            if (value := getattr(self, option)) not in (None, ""):
                found += ["--" + option.replace("_", "-"), str(value)]
        if self.hint:
            found += ["--hint", ",".join(map(str, self.hint))]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return what is not as usual, as JSON values."""
        usual = asdict(Ask(""))
        return {key: value for key, value in asdict(self).items() if value != usual[key]}


def engines(problem: Problem, only: str = "") -> list[str]:
    """Return the engines and methods that take a problem and need no classifier.

    With ``only`` those of that family, or the one engine of that name: also one with options, a
    portfolio, or another that is asked by name alone.
    """
    if only and not (only in names() and backend_class(only)._in_all):
        engine = backend(only)
        return [only] if not engine._asks_classifier and takes(engine, problem) else []
    found = []
    for name in names():
        family = backend_class(name)
        if family._asks_classifier or not family._in_all or only not in ("", name):
            continue
        if family.available() and takes(family(), problem):
            found += [_ORDERS] if name == "best-of-orders" else family.installed()
    return found


def draw_ask(rng: np.random.Generator, problem: Problem, right: Truth, engine: str) -> Ask:
    """Return a random way to solve a problem with an engine."""

    def chance(share: float) -> bool:
        return bool(rng.random() < share)

    stated = encodings_of(problem) if backend(engine).needs_model else []
    limit = float(f"{10 ** rng.uniform(-4, 0):.2g}") if chance(0.25) else None
    how = str(rng.choice(HOW, p=_SHARES))
    hint = _hint(rng, right) if chance(0.5) else None
    if how == "shell" and not hint:
        hint = None  # the shell has no way to say that the empty rule is known
    if engine == "genetic":
        limit = min(_BREEDING, limit or _BREEDING)
    return Ask(
        engine,
        encoding=str(rng.choice(stated)) if stated and chance(0.7) else "",
        hint=hint,
        time_limit=limit,
        gap=float(rng.choice([0.0, 0.01, 0.1, 0.5, 2.0])) if chance(0.1) else None,
        threads=2 if chance(0.06) else 1,
        seed=int(rng.integers(0, 2**31)) if chance(0.3) else 0,
        how=how,
        after=float(f"{10 ** rng.uniform(-4, -1.5):.2g}")
        if how in ("cancelled", "interrupted")
        else 0.0,
    )


def _hint(rng: np.random.Generator, right: Truth) -> list[int]:
    """Return a best solution, any allowed one, or any set of features at all."""
    style = rng.random()
    if style < 0.25 and right.best is not None:
        return sorted(right.best[1])
    drawn = [np.flatnonzero(rng.random(right.n) < rng.uniform(0, 0.8)) for _ in range(12)]
    allowed = [features for features in drawn if right.value(features.tolist()) is not None]
    return [int(j) for j in (allowed[0] if allowed and style < 0.8 else drawn[0])]


# ---------------------------------------------------------------------- solving

_imported: set[tuple[str, str]] = set()


def ask(problem: Problem, how: Ask, folder: Path, shell: Shell | None) -> Result | None:
    """Solve a problem; return None where an interrupt came before or after the solve itself.

    Without a shell, what would be solved in one is solved in a worker.
    """
    if how.how == "shell" and shell is not None:
        return _in_shell(problem, how, folder, shell)
    if how.how in ("isolated", "shell"):
        return run(problem, how.engine, how.options, isolate=True)
    if not how.cut_short:
        return run(problem, how.engine, how.options)
    if (problem.kind, how.engine) not in _imported:
        # Packages that are interrupted while they are imported cannot be imported again.
        run(problem, how.engine, SolveOptions(time_limit=10.0))
        _imported.add((problem.kind, how.engine))
    if how.how == "interrupted":
        return _interrupted(how.after, lambda: run(problem, how.engine, how.options))
    cancel = threading.Event()
    timer = threading.Timer(how.after, cancel.set)
    timer.start()
    try:
        return run(problem, how.engine, how.options, cancel=cancel)
    finally:
        timer.cancel()
        timer.join()


def _interrupted(after: float, solve: Callable[[], Result]) -> Result | None:
    """Interrupt the main thread while it solves; nothing of it is left afterwards."""
    fired = threading.Event()

    def fire() -> None:
        fired.set()
        _ours.set()
        _thread.interrupt_main()

    timer = threading.Timer(after, fire)
    try:
        try:
            timer.start()  # which a short time interrupts already
            return solve()
        finally:
            with suppress(KeyboardInterrupt, RuntimeError):
                timer.cancel()
                timer.join()
                time.sleep(0.001 if fired.is_set() else 0)
    except KeyboardInterrupt:
        if not fired.is_set():
            raise
    return None


_ours = threading.Event()
"""Set while an interrupt of `_interrupted` is on its way to the main thread."""


@contextmanager
def interrupts_of_the_user() -> Iterator[threading.Event]:
    """Set an event at each signal of the block but those of `_interrupted`.

    What a solve makes of a signal does not say whose it was. Signals reach the main thread only.
    """
    users = threading.Event()

    def handle(number: int, frame: object) -> None:
        if _ours.is_set():
            _ours.clear()
        else:
            users.set()
        interrupt()

    handlers = {}
    if threading.current_thread() is threading.main_thread():
        found = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        handlers = {number: handler for number, handler in found.items() if callable(handler)}
    _ours.clear()
    try:
        for number in handlers:
            signal.signal(number, handle)
        yield users
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _in_shell(problem: Problem, how: Ask, folder: Path, shell: Shell) -> Result:
    """Do ``cpx solve`` and ``cpx check`` on files; raise AssertionError where they disagree."""
    instance, answer = folder / "instance.json", folder / "answer.json"
    instances.save(problem, instance)
    arguments = ["solve", str(instance), *how.arguments(), "--json", "-o", str(answer)]
    answer.unlink(missing_ok=True)
    code, printed = shell(arguments)
    assert answer.exists(), f"cpx solve ended with {code}: {printed}"
    result = Result.from_dict(json.loads(answer.read_text(encoding="utf-8")))
    assert code == _CODES[str(result.status)], f"{result.status}, {code}"
    if result.status in (Status.OPTIMAL, Status.FEASIBLE, Status.INFEASIBLE):
        code, printed = shell(["check", str(instance), str(answer)])
        assert code == 0, f"cpx check: {printed}"
    return result


_CODES = {"OPTIMAL": 0, "INFEASIBLE": 0, "FEASIBLE": 3, "UNKNOWN": 4, "ERROR": 1}
